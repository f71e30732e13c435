"""What the id of an item or of an ask follows from: what it proposes, what it writes, what its verdicts need.

Never reads what was stored: nobody can make another content fit an id, so whoever shows it may.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from syncproto.codec import Value
from syncproto.ids import ID_BYTES, DeviceId, EntityId, Json, derived_id, id_to_text

FINGERPRINT_BYTES: Final = 32
DEVICE_BYTES: Final = 32
KEY_CHARS_MAX: Final = 200
"""How long the key of an ask is."""


class Presence(StrEnum):
    """What shows that a person decided, beside the person's own program on the device of the agent."""

    OTHER_DEVICE = "other_device"
    PASSKEY = "passkey"


class Requirement(NamedTuple):
    """What a verdict needs in order to count. `home` is the device on which the agent works."""

    presence: Presence
    home: DeviceId


class ItemName(NamedTuple):
    """What the id of an item follows from.

    `follows` is the decided item that proposed the same before, if there was one. `entity` is what the item
    writes, None if it makes that. `requirement` is None if every verdict of a person counts.
    """

    fingerprint: bytes
    follows: EntityId | None
    entity: EntityId | None
    requirement: Requirement | None = None

    def item_id(self, time_of: EntityId) -> EntityId:
        """Return the id of the item; it has the time of another id."""
        parts: list[Json] = [
            self.fingerprint.hex(),
            None if self.follows is None else id_to_text(self.follows),
        ]
        if self.entity is not None or self.requirement is not None:
            parts.append(_text_or_none(self.entity))
        if self.requirement is not None:
            parts += [self.requirement.presence.value, self.requirement.home.hex()]
        return derived_id("item", *parts, time_of=time_of)


def ask_id(agent: EntityId, key: str, home: DeviceId, presence: Presence | None) -> EntityId:
    """Return the id of the ask that an agent makes under a key of its own."""
    needed = None if presence is None else presence.value
    return derived_id("ask", id_to_text(agent), key, home.hex(), needed, time_of=agent)


def fields_of_name(name: ItemName) -> dict[str, Value]:
    """Return the fields by which a decision or a change item shows what an id follows from."""
    fields: dict[str, Value] = {
        "entity": name.entity,
        "fingerprint": name.fingerprint,
        "follows": name.follows,
    }
    if name.requirement is not None:
        fields |= {"presence": name.requirement.presence.value, "home": name.requirement.home}
    return fields


def name_shown_in(fields: Mapping[str, Value], item: EntityId) -> ItemName | None:
    """Return the name that these fields show an item to have; None if they show none, or not this item's."""
    fingerprint, follows, entity = (fields.get(field) for field in ("fingerprint", "follows", "entity"))
    if not isinstance(fingerprint, bytes) or len(fingerprint) != FINGERPRINT_BYTES:
        return None
    if not (_is_id_or_none(follows) and _is_id_or_none(entity)):
        return None
    for requirement in {_requirement_in(fields), None}:
        name = ItemName(fingerprint, _id_or_none(follows), _id_or_none(entity), requirement)
        if (entity or requirement) and name.item_id(time_of=item) == item:
            return name
    return None


def requirement_of_ask(fields: Mapping[str, Value], ask: EntityId) -> Requirement | None:
    """Return what verdicts on an ask need; None if they need nothing, or if its id does not follow."""
    agent, key, requirement = fields.get("agent_id"), fields.get("key"), _requirement_in(fields)
    if requirement is None or not isinstance(key, str) or len(key) > KEY_CHARS_MAX:
        return None
    if not isinstance(agent, bytes) or len(agent) != ID_BYTES:
        return None
    follows = ask_id(EntityId(agent), key, requirement.home, requirement.presence) == ask
    return requirement if follows else None


def _requirement_in(fields: Mapping[str, Value]) -> Requirement | None:
    presence, home = fields.get("presence"), fields.get("home")
    if not isinstance(presence, str) or presence not in _PRESENCES:
        return None
    if not isinstance(home, bytes) or len(home) != DEVICE_BYTES:
        return None
    return Requirement(Presence(presence), DeviceId(home))


_PRESENCES = frozenset(presence.value for presence in Presence)


def _is_id_or_none(value: Value) -> bool:
    return value is None or (isinstance(value, bytes) and len(value) == ID_BYTES)


def _id_or_none(value: Value) -> EntityId | None:
    return EntityId(value) if isinstance(value, bytes) else None


def _text_or_none(identifier: EntityId | None) -> str | None:
    return None if identifier is None else id_to_text(identifier)
