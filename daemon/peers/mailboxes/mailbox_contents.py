"""What mailboxes brought of some commits, and what lies in them for whom, as this device last saw it.

Never looks into a mailbox: what others have left there since is not known.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from daemon.peers.mailboxes.blob_reader import BlobStatus, BlobView
from daemon.peers.mailboxes.holders import find_lacks
from daemon.peers.roster.member_records import Member, member_names
from daemon.timestamps import iso_utc
from store.local import brought_commits
from store.snapshot import Snapshot
from syncproto.ids import DeviceId
from syncproto.mailboxes import exchange_rule, names


class MailboxDelivery(Struct, frozen=True):
    """A device for which commits lie in a mailbox: `waits` counts those that it is not known to have."""

    device_id: str
    name: str
    waits: int


class MailboxHolding(Struct, frozen=True):
    """What a mailbox has of the commits that were asked for.

    It `brought` so many to this device. So many lie there now (`holds`), in drops that this device wrote or
    has read, as of `looked_at`: null if it has not looked there since the daemon began.
    """

    mailbox: str
    brought: int
    holds: int
    looked_at: str | None
    devices: list[MailboxDelivery]


class SeenMailbox(NamedTuple):
    """A mailbox as this process saw it last: when (Unix time in ms), and the blobs there."""

    name: str
    looked_ms: int | None
    views: Sequence[BlobView]


def find_holdings(
    snapshot: Snapshot,
    positions: Sequence[int],
    seen_mailboxes: Sequence[SeenMailbox],
    members: Mapping[DeviceId, Member],
) -> list[MailboxHolding]:
    """Return what each mailbox has of the commits at some feed positions, which are in ascending order.

    `members` are the other ones. A mailbox that brought some is named also after it was removed.
    """
    brought = brought_commits.count_brought(snapshot, positions)
    wanted = exchange_rule.bits_at(positions)
    lacks = find_lacks(snapshot, members)
    vault = snapshot.vault()
    assert vault is not None, "a mailbox before the first start was over"
    names = member_names(members)
    open_names = {mailbox.name for mailbox in seen_mailboxes}
    removed = [SeenMailbox(name, None, ()) for name in brought if name not in open_names]
    holdings: list[MailboxHolding] = []
    for mailbox in sorted([*seen_mailboxes, *removed], key=lambda mailbox: mailbox.name):
        tags = _tags_of(vault, mailbox.views, members)
        contents, waits = 0, dict.fromkeys(members, 0)
        for view in mailbox.views:
            if view.status is not BlobStatus.DROP or not view.brings & wanted:
                continue
            contents |= view.brings & wanted
            for device in members:
                if view.readers & tags[device]:
                    waits[device] |= view.brings & wanted & lacks[device]
        looked_at = None if mailbox.looked_ms is None else iso_utc(mailbox.looked_ms)
        devices = [
            MailboxDelivery(device.hex(), names[device], bits.bit_count())
            for device, bits in sorted(waits.items())
            if bits
        ]
        holdings.append(
            MailboxHolding(
                mailbox.name, brought.get(mailbox.name, 0), contents.bit_count(), looked_at, devices
            )
        )
    return holdings


def _tags_of(
    vault: bytes, views: Sequence[BlobView], members: Mapping[DeviceId, Member]
) -> dict[DeviceId, set[bytes]]:
    """Return the tags of the keys that members have, by the roster and by what they left in a mailbox."""
    tags: dict[DeviceId, set[bytes]] = {device: set() for device in members}
    for device, member in members.items():
        if member.sealing_key is not None:
            tags[device].add(names.key_tag(vault, member.sealing_key.key.public))
    for view in views:
        if view.have is not None and view.sender in tags:
            tags[view.sender].add(names.key_tag(vault, view.have.key.key.public))
    return tags
