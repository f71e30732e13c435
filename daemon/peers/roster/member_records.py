"""The roster: which devices are members of the vault, as the synced `device` entities say.

Never trusts a name: a member is its certificate, and the id of its entity must follow from the key in it.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from daemon.peers.transport.identity import public_key_of
from store.fold import founding
from store.fold.entity import Entity
from store.queries import field_changes
from store.snapshot import Snapshot
from store.transaction import EntityWrite
from syncproto import commit as commits
from syncproto.codec import Value
from syncproto.commit import SignedCommit
from syncproto.ids import DeviceId, EntityId
from syncproto.keys import device_id_of_key
from syncproto.vector_clock import EMPTY_CLOCK

KIND = founding.DEVICE
DEVICE_NAME_CHARS_MAX = 64
BEACON_BYTES = 32
_BEACON_PARTS = 2
_REMOVED_MARK_BYTES = 8


@dataclass(frozen=True, slots=True)
class Member:
    """A device in the roster. Removed devices stay in it, so that they stay outside."""

    device: DeviceId
    name: str
    public_key: bytes
    certificate: bytes
    removed: bool
    beacon: bytes | None = None
    """The key by which members recognise its announcements on a local network, None if it has none."""


class BeaconKeys(NamedTuple):
    """This device's own beacon key, None if it is no member, and the keys of the other members."""

    own: bytes | None
    others: Mapping[DeviceId, bytes]


@lru_cache(1024)
def roster_entity_id(device: DeviceId) -> EntityId:
    """Return the id of a device's roster entity, the same on every device."""
    return founding.roster_entity_id(device)


def read_members(snapshot: Snapshot) -> dict[DeviceId, Member]:
    """Return all that were ever members, removed ones too. An entity that contradicts itself is no member."""
    entities = [*snapshot.entities(KIND), *snapshot.entities(KIND, removed=True)]
    members = (_member(snapshot, entity) for entity in entities)
    return {member.device: member for member in members if member is not None}


def _member(snapshot: Snapshot, entity: Entity) -> Member | None:
    # All versions that nothing was written after: a false certificate that another device wrote at the same
    # time shuts nobody out.
    current = [version.value for version in entity.versions("certificate")]
    genuine = _genuine_certificate(entity.id, current)
    if genuine is None and current:
        # A false certificate that was written later shuts nobody out either. Only the owner of the key can
        # make a genuine one, so an earlier one counts.
        genuine = _genuine_certificate(entity.id, _written_certificates(snapshot, entity.id))
    return None if genuine is None else _make_member(entity, *genuine)


def _genuine_certificate(entity: EntityId, certificates: Iterable[Value]) -> tuple[bytes, bytes] | None:
    """Return the first certificate that belongs to this entity, after its key; None if there is none."""
    for certificate in certificates:
        key = _key_of(entity, certificate)
        if key is not None and isinstance(certificate, bytes):
            return key, certificate
    return None


def is_genuine(entity: EntityId, certificate: Value) -> bool:
    """Return whether a value is a certificate of the key from which the id of an entry follows."""
    return _key_of(entity, certificate) is not None


def _written_certificates(snapshot: Snapshot, entity: EntityId) -> list[Value]:
    """Return all certificates ever written to an entity, the last first: the same on every device."""
    writes = sorted(
        field_changes.operations_touching(snapshot, entity, "certificate"),
        key=lambda write: write.source.order,
        reverse=True,
    )
    return [write.operation.fields.get("certificate") for write in writes]


def _key_of(entity: EntityId, certificate: Value) -> bytes | None:
    """Return the key in a certificate, None if it is no certificate or belongs to another entity."""
    if not isinstance(certificate, bytes):
        return None
    try:
        public_key = public_key_of(certificate)
    except ValueError:
        return None
    return public_key if roster_entity_id(device_id_of_key(public_key)) == entity else None


def _make_member(entity: Entity, public_key: bytes, certificate: bytes) -> Member:
    device = device_id_of_key(public_key)
    return Member(
        device,
        entity.text("name") or device.hex()[:8],
        public_key,
        certificate,
        _is_removed(entity),
        _beacon(entity)[0],
    )


def _beacon(entity: Entity) -> tuple[bytes | None, Value]:
    """Return a device's beacon key, and the mark of the removed devices when it was made."""
    value = entity.value("beacon")
    if not isinstance(value, list) or len(value) != _BEACON_PARTS:
        return None, None
    key, removed_mark = value
    return key if isinstance(key, bytes) and len(key) == BEACON_BYTES else None, removed_mark


def _is_removed(entity: Entity) -> bool:
    """Return whether a device was removed, and no device that knew of that let it in again."""
    return not entity.visible or any(version.value is True for version in entity.versions("removed"))


def is_removed(snapshot: Snapshot, device: DeviceId) -> bool:
    """Return whether a device was let in once and is removed."""
    entity = snapshot.entity(roster_entity_id(device))
    return entity is not None and _is_removed(entity)


def commit_removes(signed: SignedCommit, device: DeviceId) -> bool:
    """Return whether a commit removes a device."""
    operations = commits.decode_commit(signed).commit.operations
    return any(
        operation.deletes or operation.fields.get("removed") is True
        for operation in operations
        if operation.entity == roster_entity_id(device)
    )


def introduction_write(
    snapshot: Snapshot, name: str, certificate: bytes, added_by: DeviceId | None = None
) -> EntityWrite | None:
    """Return the write that makes a device a member, None if it is one already.

    Both sides of a pairing write the same entity at the same time. They never conflict: what both write has
    the same values, and only the inviter writes `added_by`. That field marks the write that lets a device in.
    The device that let it in is the one that signed the write, whatever the value is.
    """
    public_key = public_key_of(certificate)
    device = device_id_of_key(public_key)
    entity = snapshot.entity(roster_entity_id(device))
    member = None if entity is None else _member(snapshot, entity)
    if member is not None and not member.removed and member.certificate == certificate:
        return None
    fields: dict[str, Value] = {"name": name, "public_key": public_key, "certificate": certificate}
    if added_by is not None:
        fields["added_by"] = added_by
    if entity is not None and entity.kind != KIND:
        # Something else was created under the device's id: a new creation founds the entry.
        return EntityWrite(roster_entity_id(device), KIND, fields, base=EMPTY_CLOCK)
    if entity is not None and _is_removed(entity):
        # Also if the entity has no genuine certificate: otherwise the removal would outlast the pairing.
        fields |= {"removed": False, "deleted": False}
    return EntityWrite(roster_entity_id(device), KIND, fields)


def beacon_is_current(snapshot: Snapshot, members: Mapping[DeviceId, Member]) -> bool:
    """Return whether no removed device knows this device's beacon key, or this device is no member itself."""
    entity = snapshot.entity(roster_entity_id(snapshot.device))
    if entity is None:
        return False
    key, removed_mark = _beacon(entity)
    return _is_removed(entity) or (key is not None and removed_mark == _removed_mark(members))


def beacon_renewal_write(snapshot: Snapshot, randomness: Callable[[int], bytes]) -> EntityWrite | None:
    """Return the write that gives this device a new beacon key, None if its key is current.

    Each device makes its own key, so that writes never conflict. All members know all keys. So after a
    removal every device makes a new one, which the removed device does not know.
    """
    members = read_members(snapshot)
    if beacon_is_current(snapshot, members):
        return None
    beacon: Value = [randomness(BEACON_BYTES), _removed_mark(members)]
    return EntityWrite(roster_entity_id(snapshot.device), KIND, {"beacon": beacon})


def _removed_mark(members: Mapping[DeviceId, Member]) -> bytes:
    """Return a mark that differs with the set of removed devices."""
    removed = sorted(device for device, member in members.items() if member.removed)
    return hashlib.sha256(b"".join(removed)).digest()[:_REMOVED_MARK_BYTES]


def removal_write(device: DeviceId) -> EntityWrite:
    """Return the write that removes a device."""
    return EntityWrite(roster_entity_id(device), KIND, {"removed": True})


def rename_write(device: DeviceId, name: str) -> EntityWrite:
    """Return the write that gives a device another name."""
    return EntityWrite(roster_entity_id(device), KIND, {"name": name})
