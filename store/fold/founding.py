"""Which creation founds an entity whose id is derived: the one whose fields give this id.

Never looks at who wrote it: whoever gives the right fields may.
"""

from syncproto.commit import Operation
from syncproto.ids import ID_BYTES, ZERO_ID, DeviceId, EntityId, derived_id, id_to_text
from syncproto.keys import KEY_BYTES, device_id_of_key

DEVICE = "device"
_FIELDS = {DEVICE: "public_key", "agent": "task_id", "agent_state": "agent_id"}
_TAGS = {"agent": "agent", "agent_state": "state"}


def roster_entity_id(device: DeviceId) -> EntityId:
    """Return the id of a device's roster entity, the same on every device."""
    return derived_id(DEVICE, device.hex(), time_of=ZERO_ID)


def may_be_founded(kind: str) -> bool:
    """Return whether a creation of this kind can found an entity."""
    return kind in _FIELDS


def founds(operation: Operation) -> bool:
    """Return whether an operation founds its entity.

    It creates the entity, has no effect, and its fields give the id. Other creations, of whatever kind and
    rank, cannot take such an entity away.
    """
    # An operation with an effect is only a proposal until a person confirms it (docs/decisions/0016).
    if operation.base or operation.effect is not None or operation.kind not in _FIELDS:
        return False
    value = operation.fields.get(_FIELDS[operation.kind])
    if not isinstance(value, bytes):
        return False
    if operation.kind == DEVICE:
        return len(value) == KEY_BYTES and operation.entity == roster_entity_id(device_id_of_key(value))
    if len(value) != ID_BYTES:
        return False
    identifier = EntityId(value)
    return operation.entity == derived_id(_TAGS[operation.kind], id_to_text(identifier), time_of=identifier)
