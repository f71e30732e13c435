"""How many devices of the roster this device links with, and which: those that were entered here first.

Never follows what others wrote of an entry later, nor any clock: a member that has gone wrong lets in
thousands, dated as it likes, and writes to the entries of others too.
"""

from collections.abc import Mapping
from typing import Final

from daemon.peers.roster import member_records
from daemon.peers.roster.member_records import Member
from store.queries import field_changes
from store.snapshot import Snapshot
from syncproto.ids import DeviceId, EntityId

MEMBERS_MAX: Final = 256
"""The members that this device links with, itself included."""


def devices_left_out(snapshot: Snapshot, members: Mapping[DeviceId, Member]) -> frozenset[DeviceId]:
    """Return the members that this device does not link with, because the roster has too many.

    It keeps itself, those whose certificate it wrote itself, and then those whose certificate came first. It
    wrote the certificate of the device that let it in, and of those that it let in.
    """
    current = {
        member_records.roster_entity_id(device): device for device in members if not members[device].removed
    }
    if len(current) <= MEMBERS_MAX:
        return frozenset()
    ranking = [member_records.roster_entity_id(snapshot.device), *_entries_in_order(snapshot, current)]
    kept = [entity for entity in dict.fromkeys(ranking) if entity in current][:MEMBERS_MAX]
    return frozenset(current.values()) - {current[entity] for entity in kept}


def _entries_in_order(snapshot: Snapshot, current: Mapping[EntityId, DeviceId]) -> list[EntityId]:
    """Return the entries whose certificate this device wrote, then the first others, in feed order.

    The feed position of a commit is given here and never changes. Only a certificate of the entry's own key
    counts: otherwise a member could take places early, for devices that it shows later.
    """
    entered: dict[EntityId, None] = {}
    entered_here: dict[EntityId, None] = {}

    def counts(entity: EntityId, writer: DeviceId) -> bool:
        if entity not in current or entity in entered_here:
            return False
        return writer == snapshot.device or (entity not in entered and len(entered) < MEMBERS_MAX)

    for write in field_changes.operations_on_kind(snapshot, member_records.KIND, counts):
        entity, certificate = write.operation.entity, write.operation.fields.get("certificate")
        if member_records.is_genuine(entity, certificate):
            entered.setdefault(entity)
            if snapshot.device_of(write.source.head.replica) == snapshot.device:
                entered_here.setdefault(entity)
    return [*entered_here, *entered]
