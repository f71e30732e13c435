"""Places in an ordered list as text: between any two there is always room for a third.

Never renumbers what is already placed, so that inserts made on two devices keep their places.
"""

from syncproto.ids import EntityId

# In the order of ASCII, so that comparing texts byte by byte compares places.
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_VALUE = {digit: value for value, digit in enumerate(_DIGITS)}
_BASE = len(_DIGITS)
_MIDDLE = _DIGITS[_BASE // 2]
_OWN_DIGITS = 3


def between(a: str | None, b: str | None) -> str:
    """Return a place after `a` and before `b`; None stands for the start and the end of the list.

    A place is a fraction in base 62 without trailing zeros. Appending and prepending count upwards in
    blocks that widen only when full, so a list that grows at its end keeps short places: 2 digits for the
    first few thousand, 5 for the first quarter of a million.
    Raises ValueError where a place is malformed, or `a` is not before `b` (two devices may have chosen the
    same one): look for the next higher place, then ask again.
    """
    if not all(is_place(given) for given in (a, b) if given is not None):
        raise ValueError(f"not places: {a!r}, {b!r}")
    if a is None:
        return _MIDDLE if b is None else _before(b)
    if b is None:
        return _after(a)
    if a >= b:
        raise ValueError(f"no room between {a[:40]!r} and {b[:40]!r}")
    return _midway(a, b)


def own(a: str | None, b: str | None, entity: EntityId) -> str:
    """Return a place after `a` and before `b` that is this entity's own.

    It ends in digits that follow from the entity's id, so that two devices that put different things into
    the same gap do not choose the same place: there would be no room between them. Raises as `between`.
    """
    place = between(a, b)
    number = int.from_bytes(entity[-4:], "big")
    high, last = divmod(number, _BASE - 1)
    digits = _digits_of(high, _OWN_DIGITS - 1) + _DIGITS[last + 1]  # a place does not end in a zero
    while b is not None and place + digits >= b:
        place += "0"  # `b` begins with `place`, and has more than zeros after it
    return place + digits


def is_place(written: object) -> bool:
    """Say whether `written` is a place: base-62 text, not empty, without a trailing zero."""
    return isinstance(written, str) and written[-1:] not in ("", "0") and _VALUE.keys() >= set(written)


def _number(digits: str, width: int) -> int:
    total = 0
    for digit in digits[:width].ljust(width, "0"):
        total = total * _BASE + _VALUE[digit]
    return total


def _digits(number: int, width: int) -> str:
    return _digits_of(number, width).rstrip("0")


def _digits_of(number: int, width: int) -> str:
    written = ""
    for _ in range(width):
        number, value = divmod(number, _BASE)
        written = _DIGITS[value] + written
    return written


def _after(a: str) -> str:
    highs = len(a) - len(a.lstrip("z"))
    width = 2 * highs + 1  # the block after n highest digits has n + 1 digits; its first is not the highest
    return _digits(_number(a, width) + 1, width)


def _before(b: str) -> str:
    zeros = len(b) - len(b.lstrip("0"))
    width = 2 * zeros + 1
    lower = _digits(_number(b, width) - 1, width)
    return lower or "0" * width + "z"


def _midway(a: str, b: str) -> str:
    width = max(len(a), len(b)) + 1
    middle = _digits((_number(a, width) + _number(b, width)) // 2, width)
    return next(cut for end in range(1, width + 1) if (cut := middle[:end].rstrip("0")) > a)
