"""Who reads a mailbox, by the haves in sight: each data folder of a member is a holder by itself.

Never takes the word of one holder for another one: if a data folder was copied, each copy lacks its own.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from daemon.peers.mailboxes.blob_reader import BlobView, HaveView
from store.local import mailboxes, peer_records
from store.local.mailboxes import Holder, NoticedHave
from store.local.peer_records import PeerContact
from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto.ids import DeviceId
from syncproto.mailboxes import exchange_rule, names
from syncproto.mailboxes.exchange_rule import MemberView
from syncproto.mailboxes.sealing_keys import PublicSealingKey
from syncproto.vector_clock import EMPTY_CLOCK, VectorClock, is_covered_by_any

DAY_MS = 86_400_000
PREDECESSOR_MS = 2 * DAY_MS
"""After this time without a new have, another holder with this device's key is taken for gone."""


class Comparison(NamedTuple):
    """A member that has the same commits as this device, and whether it shows the same state."""

    device: DeviceId
    agree: bool


class SeenHave(NamedTuple):
    """The newest have of a holder that is in sight, and SHA-256 of its blob."""

    have: HaveView
    digest: bytes


def newest_haves(views: Iterable[BlobView], devices: Iterable[DeviceId]) -> dict[Holder, SeenHave]:
    """Return the newest have of each holder of some devices.

    One that is sealed to others does not say its holder: it is left out if its device left a newer one.
    """
    wanted = frozenset(devices)
    newest: dict[Holder, SeenHave] = {}
    for view in views:
        if view.have is None or view.sender is None or view.sender not in wanted:
            continue
        holder = Holder(view.sender, view.have.holder)
        if holder not in newest or newest[holder].have.number < view.have.number:
            newest[holder] = SeenHave(view.have, view.digest)
    latest: dict[DeviceId, int] = {}
    for holder, (have, _digest) in newest.items():
        latest[holder.device] = max(have.number, latest.get(holder.device, 0))
    return {
        holder: seen_have
        for holder, seen_have in sorted(newest.items())
        if seen_have.have.vector is not None or seen_have.have.number == latest[holder.device]
    }


def note_haves(
    transaction: Transaction,
    mailbox: str,
    own: DeviceId,
    haves: Mapping[Holder, SeenHave],
    now_ms: int,
) -> list[Comparison]:
    """Store what new haves say; return the members whose state can be compared with this device's.

    A have with a number that its holder has passed says nothing: whoever keeps the mailbox put it back.
    The first one of a further holder says what its device has, though more was heard of that before: a disk
    that was put back lacks what it had, and writes as the same replica.
    """
    noticed = mailboxes.noticed_haves(transaction, mailbox)
    contacts = peer_records.peer_contacts(transaction)
    comparisons: list[Comparison] = []
    heads, state_hash = transaction.heads().clock, transaction.state_hash()
    for holder, (have, digest) in sorted(haves.items(), key=lambda pair: (pair[1].have.number, pair[0])):
        if holder in noticed and have.number <= noticed[holder].number:
            continue
        follows = _follows_another(holder, have, noticed)
        noticed[holder] = NoticedHave(have.number, digest, now_ms)
        mailboxes.notice_have(transaction, mailbox, holder, noticed[holder])
        if have.vector is None or holder.device == own:
            continue
        if follows or not _is_known(transaction, have, contacts.get(holder.device)):
            peer_records.record_contact(transaction, holder.device, have.vector, now_ms, have.replica)
        if have.vector == heads:
            comparisons.append(Comparison(holder.device, have.state_hash == state_hash))
    return comparisons


def _follows_another(holder: Holder, have: HaveView, noticed: Mapping[Holder, NoticedHave]) -> bool:
    """Return whether a holder is new here, and began after all others of its device that are known."""
    before = [
        other.number for earlier, other in noticed.items() if earlier.device == holder.device and earlier.id
    ]
    return holder not in noticed and holder.id != b"" and bool(before) and have.number > max(before)


def _is_known(snapshot: Snapshot, have: HaveView, contact: PeerContact | None) -> bool:
    """Return whether what was heard of a replica over another way contains what its have says."""
    if contact is None or have.replica is None or contact.replica != have.replica or have.vector is None:
        return False
    return is_covered_by_any(have.vector, [contact.vector], snapshot.log)


def member_views(
    snapshot: Snapshot, mailbox: str, own: DeviceId, haves: Mapping[Holder, SeenHave], now_ms: int
) -> list[MemberView]:
    """Return what each holder in sight lacks. Another one of this device's key counts once it can be read."""
    vault = snapshot.vault()
    assert vault is not None, "a mailbox before the first start was over"
    noticed = mailboxes.noticed_haves(snapshot, mailbox)
    contacts = peer_records.peer_contacts(snapshot)
    devices = [holder.device for holder in haves]
    views: list[MemberView] = []
    for holder, (have, _digest) in haves.items():
        if holder not in noticed or (holder.device == own and have.vector is None):
            continue
        contact = contacts.get(holder.device)
        vector = _vector_of(have, contact, is_alone=devices.count(holder.device) == 1)
        tag = names.key_tag(vault, have.key.key.public)
        lacks = _lacks_of(snapshot, vector)
        views.append(MemberView(tag, lacks, now_ms - noticed[holder].noticed_ms))
    return views


def _vector_of(have: HaveView, contact: PeerContact | None, *, is_alone: bool) -> VectorClock:
    """Return what a holder has: what was heard of it last, if that is known to be of no other one."""
    if have.vector is None:
        return EMPTY_CLOCK if contact is None else contact.vector
    if contact is not None and is_alone and have.replica is not None and contact.replica == have.replica:
        return contact.vector
    return have.vector


def keys_of(haves: Mapping[Holder, SeenHave]) -> list[PublicSealingKey]:
    """Return the keys to which those who left haves want to be sealed to, each once."""
    return list(dict.fromkeys(have.key.key for have, _digest in haves.values()))


def find_lacks(snapshot: Snapshot, devices: Iterable[DeviceId]) -> dict[DeviceId, int]:
    """Return which commits of this store each device is not known to have: bits by position."""
    contacts = peer_records.peer_contacts(snapshot)
    return {
        device: _lacks_of(snapshot, contacts[device].vector if device in contacts else EMPTY_CLOCK)
        for device in devices
    }


def _lacks_of(snapshot: Snapshot, vector: VectorClock) -> int:
    return exchange_rule.bits_at(entry.seq for entry in snapshot.log.commits_lacking(vector, 0))
