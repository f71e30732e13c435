"""Which device let another one into the vault, and since when this device knows it.

Never hides a member because its entry was written in an odd way, or with another date.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from daemon.peers.roster import member_records
from daemon.peers.roster.member_records import Member
from store.fold.entity import Entity
from store.fold.entity_state import DELETED
from store.fold.field_versions import Version
from store.local import peer_records
from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto import codec
from syncproto.ids import DeviceId

JOINING_GRACE_MS = 600_000
"""How long after a device joined, what arrives still counts as what the vault had before."""
NOT_NEWS_MS = 0
"""The time of members that this device found in the vault when it joined: they are no news."""

AdmissionsSeen = Mapping[DeviceId, tuple[bytes, int]]
"""The mark under which this device first saw each member, and when (Unix time in ms).

The entry of the device itself has the time when it joined its vault.
"""


class Admitter(NamedTuple):
    """The device whose write let another one in, and when by its clock (Unix time in ms)."""

    device: DeviceId
    at_ms: int


def find_admitter(snapshot: Snapshot, device: DeviceId) -> Admitter | None:
    """Return the device that let another one in last, None if no write says so, as for the first device.

    The answer is the device that signed the winning version, whatever that version says. A certificate alone
    counts too, unless the device itself wrote one: a newcomer writes the entries of those whom it met.
    """
    entity = snapshot.entity(member_records.roster_entity_id(device))
    if entity is None:
        return None
    versions = _admitting_versions(snapshot, device, entity)
    if not versions:
        versions = entity.versions("certificate")
        if any(_writer(snapshot, version) == device for version in versions):
            return None
    latest = max(versions, key=lambda version: version.source.order, default=None)
    return None if latest is None else Admitter(_writer(snapshot, latest), latest.source.ms)


def admission_mark(snapshot: Snapshot, device: DeviceId) -> bytes:
    """Return a mark that changes whenever a device is let in again, empty if no write lets it in."""
    entity = snapshot.entity(member_records.roster_entity_id(device))
    versions = [] if entity is None else _admitting_versions(snapshot, device, entity)
    return codec.encode(sorted({version.source.head for version in versions})) if versions else b""


def _admitting_versions(snapshot: Snapshot, device: DeviceId, entity: Entity) -> list[Version]:
    """Return the versions that let a device in: of `added_by`, and those that undo a removal."""
    versions = [entity.version("added_by")]
    for field in ("removed", DELETED):
        undone = [version for version in entity.versions(field) if version.value is False]
        # A newcomer that knows of its removal undoes it in its own entry too. Another device's write counts
        # more, since nobody lets itself in.
        by_others = [version for version in undone if _writer(snapshot, version) != device]
        versions.append(next(iter(by_others or undone), None))
    return [version for version in versions if version is not None]


def _writer(snapshot: Snapshot, version: Version) -> DeviceId:
    return snapshot.device_of(version.source.head.replica)


# -- since when a member is known -------------------------------------------------------------------------


def first_seen_ms(
    admissions_seen: AdmissionsSeen, own: DeviceId, device: DeviceId, mark: bytes, now_ms: int
) -> int:
    """Return when this device first saw another one as a member: now, if that is not stored yet."""
    stored = admissions_seen.get(device)
    if stored is not None and stored[0] == mark:
        return stored[1]
    _, joined_ms = admissions_seen.get(own, (b"", None))
    # A time before the joining, as after a clock was set back, is not within the grace time. So it hides
    # nobody.
    was_there = joined_ms is not None and joined_ms <= now_ms <= joined_ms + JOINING_GRACE_MS
    return NOT_NEWS_MS if was_there else now_ms


def unsaved_admissions(
    snapshot: Snapshot, members: Mapping[DeviceId, Member | None], now_ms: int
) -> dict[DeviceId, tuple[bytes, int] | None]:
    """Return what is to be stored of some devices: mark and time of new members, None for what is gone.

    Of `members`, those that are None are no entries of the roster any more.
    """
    own = snapshot.device
    admissions_seen = peer_records.admissions_seen(snapshot, [own, *members])
    rows: dict[DeviceId, tuple[bytes, int] | None] = {}
    for device, member in members.items():
        if device == own:
            continue
        row = None
        if member is not None and not member.removed:
            mark = admission_mark(snapshot, device)
            row = mark, first_seen_ms(admissions_seen, own, device, mark, now_ms)
        if row != admissions_seen.get(device):
            rows[device] = row
    return rows


def save_admissions_seen(transaction: Transaction, devices: Iterable[DeviceId]) -> None:
    """Store which of these devices are members now. Forget who is none any more: so its return is news."""
    members = {device: member_records.read_member(transaction, device) for device in devices}
    for device, row in unsaved_admissions(transaction, members, transaction.now_ms()).items():
        if row is None:
            peer_records.forget_admission(transaction, device)
        else:
            peer_records.record_admission(transaction, device, *row)


def save_own_joining(transaction: Transaction, *, another_vault: bool) -> None:
    """Record when this device joined its vault: the members that it finds there are no news.

    `another_vault`: it was in another one before.
    """
    own = transaction.device
    if another_vault or own not in peer_records.admissions_seen(transaction):
        peer_records.record_admission(transaction, own, b"", transaction.now_ms())
