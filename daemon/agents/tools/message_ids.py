"""Ids of an agent's messages, which sort in the order in which the messages were made.

Never follows a clock that goes back: the id of a message sorts after that of the message before it.
"""

from syncproto.ids import ID_BYTES, EntityId, derived_id, id_to_text

_TIME_BYTES = 6
_NUMBER_BITS = 12
_VERSION = 7 << _NUMBER_BITS
_LAST = ((1 << 8 * _TIME_BYTES) - 1, (1 << _NUMBER_BITS) - 1)


def next_message_id(fresh: EntityId, after: EntityId | None) -> EntityId:
    """Return a fresh UUIDv7 as the id of the message that follows `after`.

    The twelve bits after its time count the messages of one millisecond (RFC 9562, section 6.2, method 1).
    """
    place = (_ms(fresh), 0)
    if after is not None and place <= (_ms(after), _number(after)):
        ms, number = _ms(after), _number(after) + 1
        place = (ms + (number >> _NUMBER_BITS), number % (1 << _NUMBER_BITS))
    ms, number = min(place, _LAST)
    return EntityId(
        ms.to_bytes(_TIME_BYTES, "big") + (_VERSION | number).to_bytes(2, "big") + fresh[8:ID_BYTES]
    )


def _ms(identifier: EntityId) -> int:
    return int.from_bytes(identifier[:_TIME_BYTES], "big")


def _number(identifier: EntityId) -> int:
    return int.from_bytes(identifier[_TIME_BYTES:8], "big") % (1 << _NUMBER_BITS)


def confirmation_message_ids(decision: EntityId) -> tuple[EntityId, EntityId]:
    """Return the ids of the two messages about a confirmation: the action, and its result."""
    action = next_message_id(derived_id("action", id_to_text(decision), time_of=decision), None)
    return action, next_message_id(derived_id("tool_result", id_to_text(decision), time_of=decision), action)
