"""The roster: which devices are members of the vault, as the synced `device` entities say.

Never believes a name: a member is its certificate, and its entity's id must follow from that one's key.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from daemon.peers.identity import public_key_of
from store import history
from store.entity import Entity
from store.snapshot import Snapshot
from store.transaction import Write
from syncproto import commit as commits
from syncproto.codec import Value
from syncproto.commit import SignedCommit
from syncproto.ids import ZERO_ID, DeviceId, EntityId, derived_id
from syncproto.keys import device_id

KIND = "device"
NO_MEMBER = "no longer a member"
"""What is said on a link when it ends because the device at its other end was removed, or left."""
BEACON_BYTES = 32
_BEACON_PARTS = 2
_KEPT_FROM_BYTES = 8


@dataclass(frozen=True, slots=True)
class Member:
    """A device in the roster; `removed` ones stay in it, so that the door stays closed."""

    device: DeviceId
    name: str
    public_key: bytes
    certificate: bytes
    removed: bool
    beacon: bytes | None = None
    """The key by which members recognise this one's announcements on a local network; see `beacon`."""


@lru_cache(1024)
def entity_of(device: DeviceId) -> EntityId:
    """Return the id of a device's roster entity: one on every device."""
    return derived_id(KIND, device.hex(), time_of=ZERO_ID)


def read(snapshot: Snapshot) -> dict[DeviceId, Member]:
    """Return all that were ever members, removed ones included; what contradicts itself is no member."""
    entities = [*snapshot.entities(KIND), *snapshot.entities(KIND, removed=True)]
    members = (_member(snapshot, entity) for entity in entities)
    return {member.device: member for member in members if member is not None}


def _member(snapshot: Snapshot, entity: Entity) -> Member | None:
    # Any that nothing was written after: one that is none, written at the same time, shuts nobody out.
    standing = [version.value for version in entity.versions("certificate")]
    found = _genuine(entity.id, standing)
    if found is None and standing:
        # Nor does one written after it: only the key's holder makes one that is, so what stood before counts.
        found = _genuine(entity.id, _overwritten(snapshot, entity.id))
    return None if found is None else _with(entity, *found)


def _genuine(entity: EntityId, certificates: Iterable[Value]) -> tuple[bytes, bytes] | None:
    """Return the first certificate that is one for this entry, behind its key."""
    for certificate in certificates:
        key = _key_of(entity, certificate)
        if key is not None and isinstance(certificate, bytes):
            return key, certificate
    return None


def _overwritten(snapshot: Snapshot, entity: EntityId) -> list[Value]:
    """Return the certificates that were ever written to an entry, the last first: alike on every device."""
    writes = sorted(
        history.operations(snapshot, entity, "certificate"),
        key=lambda write: write.source.order,
        reverse=True,
    )
    return [write.operation.fields.get("certificate") for write in writes]


def _key_of(entity: EntityId, certificate: Value) -> bytes | None:
    """Return the key in a certificate, None where it is none or belongs to another entity."""
    if not isinstance(certificate, bytes):
        return None
    try:
        public_key = public_key_of(certificate)
    except ValueError:
        return None
    return public_key if entity_of(device_id(public_key)) == entity else None


def _with(entity: Entity, public_key: bytes, certificate: bytes) -> Member:
    device = device_id(public_key)
    return Member(
        device,
        entity.text("name") or device.hex()[:8],
        public_key,
        certificate,
        _removed(entity),
        _beacon(entity)[0],
    )


def _beacon(entity: Entity) -> tuple[bytes | None, Value]:
    """Return a device's beacon key, and of whom it was kept when it was made."""
    value = entity.value("beacon")
    if not isinstance(value, list) or len(value) != _BEACON_PARTS:
        return None, None
    key, kept_from = value
    return key if isinstance(key, bytes) and len(key) == BEACON_BYTES else None, kept_from


def _removed(entity: Entity) -> bool:
    """Say whether anyone removed the device and nobody who knew of that let it in again."""
    return not entity.visible or any(version.value is True for version in entity.versions("removed"))


def is_removed(snapshot: Snapshot, device: DeviceId) -> bool:
    """Say whether the door is closed to a device that was let in once."""
    entity = snapshot.entity(entity_of(device))
    return entity is not None and _removed(entity)


def removes(signed: SignedCommit, device: DeviceId) -> bool:
    """Say whether a commit closes the door to a device."""
    written = (one for one in commits.read(signed).commit.operations if one.entity == entity_of(device))
    return any(one.deletes or one.fields.get("removed") is True for one in written)


def introduce(
    snapshot: Snapshot, name: str, certificate: bytes, added_by: DeviceId | None = None
) -> Write | None:
    """Return the write that makes a device a member, None where it is one already.

    Two sides of a pairing make the same entity at the same time: what both write has the same values, and
    `added_by` is written by the inviter alone, so that they never conflict. It marks the write that lets a
    device in; who did is whoever wrote it, and not what it says.
    """
    public_key = public_key_of(certificate)
    device = device_id(public_key)
    entity = snapshot.entity(entity_of(device))
    known = None if entity is None else _member(snapshot, entity)
    if known is not None and not known.removed and known.certificate == certificate:
        return None
    fields: dict[str, Value] = {"name": name, "public_key": public_key, "certificate": certificate}
    if added_by is not None:
        fields["added_by"] = added_by
    if entity is not None and _removed(entity):
        # Also where the entry holds no certificate that is one: the removal would outlast the pairing.
        fields |= {"removed": False, "deleted": False}
    return Write(entity_of(device), KIND, fields)


def beacon_is_right(snapshot: Snapshot, everyone: Mapping[DeviceId, Member]) -> bool:
    """Say whether this device announces itself by a key that no removed device knows, or not at all."""
    entity = snapshot.entity(entity_of(snapshot.device))
    if entity is None:
        return False
    key, known = _beacon(entity)
    return _removed(entity) or (key is not None and known == _kept_from(everyone))


def beacon(snapshot: Snapshot, randomness: Callable[[int], bytes]) -> Write | None:
    """Return the write that gives this device a new beacon key, None where the one that it has is right.

    Each device makes its own, so that they never conflict; members know all of them. One that a removed
    device knows is worth nothing, so each removal is followed by new ones.
    """
    everyone = read(snapshot)
    if beacon_is_right(snapshot, everyone):
        return None
    made: Value = [randomness(BEACON_BYTES), _kept_from(everyone)]
    return Write(entity_of(snapshot.device), KIND, {"beacon": made})


def _kept_from(everyone: Mapping[DeviceId, Member]) -> bytes:
    """Return what tells one set of removed devices from another."""
    gone = sorted(device for device, member in everyone.items() if member.removed)
    return hashlib.sha256(b"".join(gone)).digest()[:_KEPT_FROM_BYTES]


def remove(device: DeviceId) -> Write:
    """Return the write that closes the door to a device."""
    return Write(entity_of(device), KIND, {"removed": True})


def rename(device: DeviceId, name: str) -> Write:
    """Return the write that gives a device another name."""
    return Write(entity_of(device), KIND, {"name": name})
