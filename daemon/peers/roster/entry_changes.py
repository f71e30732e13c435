"""What changed in the roster since it was read last: a change costs what it changes, in a roster of any size.

Never reads an entry that did not change, and never checks a certificate again that it has checked.
"""

from collections.abc import Mapping
from typing import NamedTuple

from daemon.peers.roster import member_records
from daemon.peers.roster.member_records import Member
from daemon.peers.transport.identity import certificate_device
from store.fold.entity import Entity
from store.queries import device_entries
from store.queries.device_entries import FieldWrite
from store.snapshot import Snapshot
from syncproto.ids import DeviceId, EntityId
from syncproto.vector_clock import Head

WriteOrder = tuple[int, int, int, Head]


class KnownEntry(NamedTuple):
    """An entry as it was read last.

    `member` is None if no certificate in it is that of its key. `latest` is the best genuine one that was
    ever written to it, with the order of its write. `checked` says of each of its present certificates
    whether it is genuine.
    """

    member: Member | None
    latest: tuple[WriteOrder, bytes] | None
    checked: Mapping[bytes, bool]

    @property
    def device(self) -> DeviceId | None:
        """Return the device of the entry, None if none has shown that its key belongs to it."""
        return None if self.latest is None else certificate_device(self.latest[1])


class EntryChange(NamedTuple):
    """An entry that changed, None if it is an entry no more, and who entered its device since, and where.

    A position is that of a commit in this device's own feed.
    """

    entry: KnownEntry | None
    admissions: list[tuple[DeviceId, int]]


class RosterChanges(NamedTuple):
    """The entries that changed up to the feed position `newest`."""

    newest: int
    entries: Mapping[EntityId, EntryChange]


def read_changes(snapshot: Snapshot, entries: Mapping[EntityId, KnownEntry], after: int) -> RosterChanges:
    """Return what changed beyond a feed position; `entries` are all entries as they were up to there."""
    changed = device_entries.entries_changed(snapshot, after)
    unread = {
        entity: after if entity in entries else 0 for entity, entry in changed.items() if entry is not None
    }
    written: dict[EntityId, list[FieldWrite]] = {}
    for write in device_entries.writes_of_field(snapshot, "certificate", unread):
        if member_records.is_genuine(write.entity, write.value):
            written.setdefault(write.entity, []).append(write)
    return RosterChanges(
        device_entries.newest_change(snapshot),
        {
            entity: EntryChange(None, [])
            if entry is None
            else _change(entry, entries.get(entity), written.get(entity, []))
            for entity, entry in changed.items()
        },
    )


def _change(entity: Entity, before: KnownEntry | None, writes: list[FieldWrite]) -> EntryChange:
    """Return what an entry is after some writes of genuine certificates to it."""
    orders = [] if before is None or before.latest is None else [before.latest]
    orders += [(write.source.order, write.value) for write in writes if isinstance(write.value, bytes)]
    latest = max(orders, default=None)
    checked_before = {} if before is None else before.checked
    checked: dict[bytes, bool] = {}
    for version in entity.versions("certificate"):
        if isinstance(version.value, bytes):
            genuine = checked_before.get(version.value)
            if genuine is None:
                genuine = member_records.is_genuine(entity.id, version.value)
            checked[version.value] = genuine
    member = member_records.make_member(
        entity, {value for value in checked if checked[value]}, None if latest is None else latest[1]
    )
    return EntryChange(KnownEntry(member, latest, checked), [(write.writer, write.seq) for write in writes])
