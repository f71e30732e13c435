"""The one-time code by which two people, or one with two devices, pair: three digits, a dash, three digits.

Never long enough to be tried offline: it counts only inside SPAKE2, where each try is charged.
"""

import re
from collections.abc import Callable

DIGITS = 6
_SPACE = 10**DIGITS
_DRAWN_BYTES = 4
_FAIR = (1 << 8 * _DRAWN_BYTES) // _SPACE * _SPACE
_WRITTEN = re.compile(r"\s*([0-9]{3})[\s-]*([0-9]{3})\s*")


def draw(randomness: Callable[[int], bytes]) -> str:
    """Return a new code, each as likely as any other."""
    while True:
        drawn = int.from_bytes(randomness(_DRAWN_BYTES), "big")
        if drawn < _FAIR:
            digits = f"{drawn % _SPACE:0{DIGITS}}"
            return f"{digits[:3]}-{digits[3:]}"


def read(text: str) -> str | None:
    """Return the code that a person typed, in the form of `draw`; None where the text is none."""
    written = _WRITTEN.fullmatch(text)
    return None if written is None else f"{written[1]}-{written[2]}"


def secret(code: str) -> bytes:
    """Return what both sides put into SPAKE2 for a code, as `draw` and `read` write it."""
    return b"placet code\0" + code.encode("ascii")
