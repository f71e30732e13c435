"""Recover the arguments of a call from what a model wrote.

Never repairs: text that holds no JSON object is refused, with what was seen.
"""

import json
import math
import re
from typing import Any

from daemon.agents.tools import ArgumentFault, Arguments

TEXT_CHARS_MAX = 64 * 1024
DEPTH_MAX = 12
_FENCED = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL | re.IGNORECASE)
_INT_BITS_MAX = 63


def recovered(written: str | dict[str, Any]) -> Arguments:
    """Read arguments from plain JSON, a fenced block, or the first balanced object (DOMAIN.md §3).

    Raises ArgumentFault where there is no object, or one that the journal could not keep.
    """
    found = written if isinstance(written, dict) else _object_in(written)
    if found is None:
        seen = str(written)[:80]
        raise ArgumentFault(f"arguments must be one JSON object, not {seen!r}")
    _check_plain(found, 0)
    return found


def _object_in(written: str) -> dict[str, Any] | None:
    """Find the object, looking where models put it."""
    if len(written) > TEXT_CHARS_MAX:
        raise ArgumentFault(f"arguments of {len(written)} characters, at most {TEXT_CHARS_MAX}")
    fenced = _FENCED.search(written)
    for candidate in (written, fenced.group(1) if fenced else "", _balanced(written)):
        found = _parsed(candidate)
        if found is not None:
            return found
    return None


def _parsed(candidate: str) -> dict[str, Any] | None:
    """Parse one JSON object, or say None.

    A line break within a text passes: servers that bind answers by a grammar let models write it.
    """
    try:
        found = json.loads(candidate, strict=False)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _balanced(written: str) -> str:
    """Return the first object whose braces balance, braces inside of strings aside; empty if none does."""
    start = written.find("{")
    depth, quoted, escaped = 0, False, False
    for at in range(max(start, 0), len(written)):
        sign = written[at]
        if escaped:
            escaped = False
        elif quoted:
            escaped, quoted = sign == "\\", sign != '"'
        elif sign == '"':
            quoted = True
        elif sign in "{}":
            depth += 1 if sign == "{" else -1
            if depth == 0:
                return written[start : at + 1]
    return ""


def _check_plain(value: object, depth: int) -> None:
    """Raise ArgumentFault for what the log cannot carry: huge numbers, NaN, half surrogates, deep nesting."""
    if depth > DEPTH_MAX:
        raise ArgumentFault(f"arguments nested deeper than {DEPTH_MAX}")
    if isinstance(value, dict):
        for key, member in value.items():
            _check_plain(key, depth + 1)
            _check_plain(member, depth + 1)
    elif isinstance(value, list):
        for member in value:
            _check_plain(member, depth + 1)
    elif isinstance(value, str):
        _check_text(value)
    elif isinstance(value, float) and not math.isfinite(value):
        raise ArgumentFault("a number that is not finite")
    elif isinstance(value, int) and value.bit_length() > _INT_BITS_MAX:
        raise ArgumentFault("a number beyond 64 bits")


def _check_text(value: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError as fault:
        raise ArgumentFault("text that is not valid Unicode") from fault
