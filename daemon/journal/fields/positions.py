"""Places in an ordered list as text: between any two there is always room for a third.

Never renumbers what is already placed, so that inserts made on two devices keep their places.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Final

from syncproto.ids import EntityId

PLACE_DIGITS_MAX: Final = 200
"""The digits of a longer text are no place. Honest lists stay far below: their places cost what they need."""

# In the order of ASCII, so that comparing texts byte by byte compares places.
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_VALUE = {digit: value for value, digit in enumerate(_DIGITS)}
_BASE = len(_DIGITS)
_MIDDLE = _DIGITS[_BASE // 2]
_OWN_DIGITS = 3


class NoRoom(ValueError):
    """Between two places there is no third one that is short enough, or they are the same."""


def position_between(a: str | None, b: str | None) -> str:
    """Return a place after `a` and before `b`; None stands for the start and the end of the list.

    A place is a fraction in base 62 without trailing zeros. Appending and prepending count upwards in
    blocks that widen only when full, so a list that grows at its end keeps short places: 2 digits for the
    first few thousand, 5 for the first quarter of a million.
    Raises ValueError if a place is malformed. Raises NoRoom, which is a ValueError, if `a` is not before `b`
    (two devices may have chosen the same one), or if they leave no place of at most 200 digits: look for
    the next higher place, then ask again.
    """
    if not all(is_position(bound) for bound in (a, b) if bound is not None):
        raise ValueError(f"not places: {str(a)[:40]!r}, {str(b)[:40]!r}")
    if a is not None and b is not None and a >= b:
        raise NoRoom(f"no room between {a[:40]!r} and {b[:40]!r}")
    if a is None:
        return _short(_MIDDLE if b is None else _position_before(b))
    return _short(_position_after(a) if b is None else _midway(a, b))


def _short(place: str) -> str:
    if len(place) > PLACE_DIGITS_MAX:
        raise NoRoom(f"the next place would have {len(place)} digits")
    return place


def position_of_its_own(a: str | None, b: str | None, entity: EntityId) -> str:
    """Return a place after `a` and before `b` that is this entity's own.

    It ends in digits that follow from the entity's id, so that two devices that put different things into
    the same gap do not choose the same place: there would be no room between them. Raises as `between`.
    """
    place = position_between(a, b)
    number = int.from_bytes(entity[-4:], "big")
    high, last = divmod(number, _BASE - 1)
    digits = _digits_of(high, _OWN_DIGITS - 1) + _DIGITS[last + 1]  # a place does not end in a zero
    while b is not None and place + digits >= b:
        place += "0"  # `b` begins with `place`, and has more than zeros after it
    return _short(place + digits)


def positions_between(a: str | None, b: str | None, entities: Sequence[EntityId]) -> dict[EntityId, str]:
    """Return places of their own for several entities, in their order. Raises as `position_between`.

    The middle one is placed first, so that many places between two are not longer than few.
    """
    if not entities:
        return {}
    middle = len(entities) // 2
    place = position_of_its_own(a, b, entities[middle])
    before = positions_between(a, place, entities[:middle])
    return before | {entities[middle]: place} | positions_between(place, b, entities[middle + 1 :])


def last_with_room(places: Iterable[str]) -> str | None:
    """Return the last of several places that leaves room after it, None if there is none.

    What is no place does not count.
    """
    return next((place for place in sorted(places, reverse=True) if _leaves_room(place)), None)


def position_right_after(last: str | None, used: Sequence[str]) -> str:
    """Return a place after `last` and before the next of those that are taken, which are sorted.

    If they leave no room, it is a place after all of them.
    """
    above = 0 if last is None else bisect_right(used, last)
    try:
        return position_between(last, used[above] if above < len(used) else None)
    except NoRoom:
        return position_between(last_with_room(used), None)


def _leaves_room(place: str) -> bool:
    """Return whether any number of places fit after one: the next wider block must be short enough too."""
    return is_position(place) and _block_digits(_highest_digits(place) + 1) + _OWN_DIGITS <= PLACE_DIGITS_MAX


def is_position(value: object) -> bool:
    """Say whether `written` is a place: base-62 text of 1 to 200 digits, without a trailing zero."""
    return (
        isinstance(value, str)
        and len(value) <= PLACE_DIGITS_MAX
        and value[-1:] not in ("", "0")
        and _VALUE.keys() >= set(value)
    )


def _number(digits: str, width: int) -> int:
    total = 0
    for digit in digits[:width].ljust(width, "0"):
        total = total * _BASE + _VALUE[digit]
    return total


def _digits(number: int, width: int) -> str:
    return _digits_of(number, width).rstrip("0")


def _digits_of(number: int, width: int) -> str:
    digits = ""
    for _ in range(width):
        number, value = divmod(number, _BASE)
        digits = _DIGITS[value] + digits
    return digits


def _highest_digits(place: str) -> int:
    return len(place) - len(place.lstrip("z"))


def _block_digits(highest: int) -> int:
    """Return how many digits a place has that begins with so many highest ones: as many again, and one."""
    return 2 * highest + 1


def _position_after(a: str) -> str:
    width = _block_digits(_highest_digits(a))
    return _digits(_number(a, width) + 1, width)


def _position_before(b: str) -> str:
    zeros = len(b) - len(b.lstrip("0"))
    width = 2 * zeros + 1
    lower = _digits(_number(b, width) - 1, width)
    return lower or "0" * width + "z"


def _midway(a: str, b: str) -> str:
    width = max(len(a), len(b)) + 1
    middle = _digits((_number(a, width) + _number(b, width)) // 2, width)
    return next(cut for end in range(1, width + 1) if (cut := middle[:end].rstrip("0")) > a)
