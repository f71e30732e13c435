"""The roster: which devices are members of the vault, as the synced `device` entities say.

Never trusts a name: a member is its certificate, and the id of its entity must follow from the key in it.
"""

import hashlib
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from daemon.peers.transport.identity import public_key_of
from daemon.words.devices import names_apart
from store.fold import founding
from store.fold.entity import Entity
from store.queries import device_entries
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto import commit as commits
from syncproto.codec import Value
from syncproto.commit import AuthorKind, SignedCommit
from syncproto.ids import DeviceId, EntityId
from syncproto.keys import device_id_of_key
from syncproto.mailboxes import sealing_keys
from syncproto.mailboxes.sealing_keys import PublishedKey
from syncproto.vector_clock import EMPTY_CLOCK

KIND = founding.DEVICE
DEVICE_NAME_CHARS_MAX = 64
BEACON_BYTES = 32
_BEACON_PARTS = 2
_REMOVED_MARK_BYTES = 8
_WRITES_MAX = 1000


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
    beacon_mark: Value = None
    """The mark of the devices that were removed when it made that key: see `removed_mark`."""
    sealing_key: PublishedKey | None = None
    """The key to which others seal what they leave for it in mailboxes, None if it has published none."""


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


def member_names(members: Mapping[DeviceId, Member]) -> dict[DeviceId, str]:
    """Return by which names people know devices, two of one name with the beginnings of their ids."""
    shown = names_apart({device.hex(): member.name for device, member in members.items()})
    return {device: shown[device.hex()] for device in members}


def has_other_members(snapshot: Snapshot) -> bool:
    """Report whether a device other than this one is a member of the vault."""
    return any(
        not member.removed for device, member in read_members(snapshot).items() if device != snapshot.device
    )


def read_member(snapshot: Snapshot, device: DeviceId) -> Member | None:
    """Return a device that was ever a member, as `read_members` does; None for any other."""
    entity = snapshot.entity(roster_entity_id(device))
    return None if entity is None or entity.kind != KIND else _member(snapshot, entity)


def _member(snapshot: Snapshot, entity: Entity) -> Member | None:
    current = [version.value for version in entity.versions("certificate")]
    genuine = {value for value in current if isinstance(value, bytes) and is_genuine(entity.id, value)}
    if genuine or not current:
        return make_member(entity, genuine, None)
    # A false certificate that was written later shuts nobody out. Only the owner of the key can make a
    # genuine one, so an earlier one counts.
    writes = device_entries.writes_of_field(snapshot, "certificate", {entity.id: 0})
    latest = max(
        (write for write in writes if is_genuine(entity.id, write.value)),
        key=lambda write: write.source.order,
        default=None,
    )
    return make_member(entity, genuine, None if latest is None else latest.value)


def make_member(entity: Entity, genuine: Container[Value], earlier: Value) -> Member | None:
    """Return the member that an entry describes, None if it has no genuine certificate.

    `genuine` has the genuine ones among its certificates. `earlier` is the best genuine one that was ever
    written to it: it counts if others wrote only false ones over it.
    """
    # All versions that nothing was written after: a false certificate that another device wrote at the same
    # time shuts nobody out.
    current = [version.value for version in entity.versions("certificate")]
    certificate = next(
        (value for value in current if isinstance(value, bytes) and value in genuine),
        earlier if current else None,
    )
    if not isinstance(certificate, bytes):
        return None
    public_key = public_key_of(certificate)
    device = device_id_of_key(public_key)
    name = entity.text("name")[:DEVICE_NAME_CHARS_MAX] or device.hex()[:8]
    return Member(
        device,
        name,
        public_key,
        certificate,
        _is_removed(entity),
        *_beacon(entity),
        _sealing_key(entity, public_key),
    )


def is_genuine(entity: EntityId, certificate: Value) -> bool:
    """Return whether a value is a certificate of the key from which the id of an entry follows."""
    if not isinstance(certificate, bytes):
        return False
    try:
        public_key = public_key_of(certificate)
    except ValueError:
        return False
    return roster_entity_id(device_id_of_key(public_key)) == entity


def _beacon(entity: Entity) -> tuple[bytes | None, Value]:
    """Return a device's beacon key, and the mark of the removed devices when it was made."""
    value = entity.value("beacon")
    if not isinstance(value, list) or len(value) != _BEACON_PARTS:
        return None, None
    key, mark = value
    return key if isinstance(key, bytes) and len(key) == BEACON_BYTES else None, mark


def _sealing_key(entity: Entity, public_key: bytes) -> PublishedKey | None:
    """Return the newest key that a device has signed, whatever others wrote beside it."""
    values = [version.value for version in entity.versions("sealing_key")]
    keys = [sealing_keys.read_roster_value(value, public_key) for value in values]
    return max((key for key in keys if key is not None), key=lambda key: key.number, default=None)


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


def introduce(tx: Transaction, name: str, certificate: bytes, added_by: DeviceId | None = None) -> bool:
    """Make a device a member, whatever others wrote under its id; return False if it is one already."""
    for count in range(_WRITES_MAX):
        write = introduction_write(tx, name, certificate, added_by)
        if write is None:
            return count > 0
        # What founds an entry covers nothing that was written before, and any other write covers what a
        # thousand replicas wrote: a removal that it leaves takes another write.
        tx.commit([write], by=AuthorKind.SYSTEM)
    return True


def introduction_write(
    snapshot: Snapshot, name: str, certificate: bytes, added_by: DeviceId | None = None
) -> EntityWrite | None:
    """Return the next write that makes a device a member, None if it is one already: see `introduce`.

    Both sides of a pairing write the same entity at the same time. They never conflict: what both write has
    the same values, and only the inviter writes `added_by`. That field marks the write that lets a device in.
    The device that let it in is the one that signed the write, whatever the value is.
    """
    public_key = public_key_of(certificate)
    device = device_id_of_key(public_key)
    entity = snapshot.entity(roster_entity_id(device))
    member = None if entity is None or entity.kind != KIND else _member(snapshot, entity)
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


def beacon_is_current(own: Member | None, removed_mark: bytes) -> bool:
    """Return whether no removed device knows this device's beacon key, or this device is no member itself."""
    return own is None or own.removed or (own.beacon is not None and own.beacon_mark == removed_mark)


def own_keys_write(
    own: Member, removed_mark: bytes, sealing_key: Sequence[Value] | None, randomness: Callable[[int], bytes]
) -> EntityWrite | None:
    """Return the write that brings this device's keys in its entry up to date, None if they are.

    `sealing_key` is the value of its present sealing key, None if it has none.
    """
    fields: dict[str, Value] = {}
    if not beacon_is_current(own, removed_mark):
        fields |= beacon_write(own.device, removed_mark, randomness).fields
    if not sealing_key_is_current(own, sealing_key) and sealing_key is not None:
        fields["sealing_key"] = list(sealing_key)
    return EntityWrite(roster_entity_id(own.device), KIND, fields) if fields else None


def sealing_key_is_current(own: Member | None, sealing_key: Sequence[Value] | None) -> bool:
    """Return whether this device's entry has its present sealing key, or there is nothing to publish."""
    if own is None or own.removed or sealing_key is None:
        return True
    return own.sealing_key == sealing_keys.read_roster_value(list(sealing_key), own.public_key)


def beacon_write(device: DeviceId, removed_mark: bytes, randomness: Callable[[int], bytes]) -> EntityWrite:
    """Return the write that gives this device a new beacon key.

    Each device makes its own key, so that writes never conflict. All members know all keys. So after a
    removal every device makes a new one, which the removed device does not know.
    """
    beacon: Value = [randomness(BEACON_BYTES), removed_mark]
    return EntityWrite(roster_entity_id(device), KIND, {"beacon": beacon})


def removed_mark(removed: Iterable[DeviceId]) -> bytes:
    """Return a mark that differs with the set of removed devices, which come by id."""
    return hashlib.sha256(b"".join(removed)).digest()[:_REMOVED_MARK_BYTES]


def removal_write(device: DeviceId) -> EntityWrite:
    """Return the write that removes a device."""
    return EntityWrite(roster_entity_id(device), KIND, {"removed": True})


def rename_write(device: DeviceId, name: str) -> EntityWrite:
    """Return the write that gives a device another name."""
    return EntityWrite(roster_entity_id(device), KIND, {"name": name})
