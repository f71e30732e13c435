"""Values and bytes as JSON can carry them, both ways.

Never loses a type: what JSON would blur is marked with a key that begins with `$`.
"""

import re
from typing import Any

import msgpack  # type: ignore[import-untyped]

PLAIN_BYTES_MAX = 2_048
SAFE_INT_MAX = 2**53 - 1

_RUN = re.compile(rb"(.)\1{63,}", re.DOTALL)


def value(held: Any) -> Any:
    """Write a value: bytes as {"$bin": hex}, floats as {"$float": text}, wide integers as {"$int": text}.

    What is left of a dropped value is {"$dropped": hex}.
    """
    if isinstance(held, msgpack.ExtType):
        return {"$dropped": held.data.hex()}
    if isinstance(held, bytes):
        return {"$bin": held.hex()}
    if isinstance(held, float):
        return {"$float": repr(held)}
    if type(held) is int and abs(held) > SAFE_INT_MAX:
        return {"$int": str(held)}
    if isinstance(held, list | tuple):
        return [value(member) for member in held]
    if isinstance(held, dict):
        return {key: value(member) for key, member in held.items()}
    return held


def from_value(written: Any) -> Any:
    """Read what `value` wrote; {"$dropped": hex} stays as it is."""
    match written:
        case {"$bin": digits}:
            return bytes.fromhex(digits)
        case {"$float": digits}:
            return float(digits)
        case {"$int": digits}:
            return int(digits)
        case list():
            return [from_value(member) for member in written]
        case dict():
            return {key: from_value(member) for key, member in written.items()}
    return written


def raw(held: bytes) -> Any:
    """Write bytes as hex; long ones as a list of [hex, how often], in which runs of one byte are short."""
    if len(held) <= PLAIN_BYTES_MAX:
        return held.hex()
    parts: list[list[Any]] = []
    at = 0
    for run in _RUN.finditer(held):
        if run.start() > at:
            parts.append([held[at : run.start()].hex(), 1])
        parts.append([run[1].hex(), len(run[0])])
        at = run.end()
    if at < len(held):
        parts.append([held[at:].hex(), 1])
    return parts


def from_raw(written: Any) -> bytes:
    """Read what `raw` wrote."""
    if isinstance(written, str):
        return bytes.fromhex(written)
    return b"".join(bytes.fromhex(digits) * times for digits, times in written)
