"""Which devices are in the vault by one device alone: those that a person may want to remove with it.

Never believes what any entry says of who let a device in, only who wrote its certificate.
"""

from collections.abc import Mapping, Sequence

from daemon.peers.roster import member_records
from daemon.peers.roster.member_records import Member
from store.fold.entity_state import DELETED
from store.queries import device_entries
from store.snapshot import Snapshot
from syncproto.ids import DeviceId

_NEVER = 1 << 63


def devices_admitted_by(
    snapshot: Snapshot, device: DeviceId, members: Mapping[DeviceId, Member]
) -> list[DeviceId]:
    """Return the devices that came here after a device, and that nobody let in who is trusted without it.

    Trusted are this device, those that were entered here before that device, and whom they entered, and so
    on. So the answer does not depend on who else claims to have entered a device: a key of no member, or a
    device that the attacker let in, does not make it trusted. What a removed device wrote counts up to its
    removal.
    """
    entered: dict[DeviceId, list[tuple[int, DeviceId]]] = {}
    first: dict[DeviceId, int] = {}
    of_entity = {member_records.roster_entity_id(other): other for other in members}
    writes = device_entries.writes_of_field(snapshot, "certificate", dict.fromkeys(of_entity, 0))
    for write in writes:
        if member_records.is_genuine(write.entity, write.value):
            other = of_entity[write.entity]
            first.setdefault(other, write.seq)
            entered.setdefault(write.writer, []).append((write.seq, other))
    earlier = [other for other in members if first[other] < first[device]]
    reached = dict.fromkeys([snapshot.device, *earlier])
    removed_at = _first_removals(snapshot, [other for other in members if members[other].removed])
    waiting = list(reached)
    while waiting:
        writer = waiting.pop()
        for position, other in entered.get(writer, ()):
            if other not in reached and other != device and position < removed_at.get(writer, _NEVER):
                reached[other] = None
                waiting.append(other)
    return [other for other in members if other not in reached and other != device]


def _first_removals(snapshot: Snapshot, devices: Sequence[DeviceId]) -> dict[DeviceId, int]:
    """Return where in the feed each of these devices was removed first: a later write cannot change that."""
    of_entity = {member_records.roster_entity_id(device): device for device in devices}
    removals: dict[DeviceId, int] = {}
    for field in ("removed", DELETED):
        for write in device_entries.writes_of_field(snapshot, field, dict.fromkeys(of_entity, 0)):
            if write.value is True:
                device = of_entity[write.entity]
                removals[device] = min(write.seq, removals.get(device, write.seq))
    return removals
