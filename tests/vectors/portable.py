"""Values and bytes as JSON can carry them, both ways.

Never loses a type: what JSON would blur is marked with a key that begins with `$`.
"""

import re
from typing import Any

import msgpack  # type: ignore[import-untyped]

PLAIN_BYTES_MAX = 2_048
SAFE_INT_MAX = 2**53 - 1

_RUN = re.compile(rb"(.)\1{63,}", re.DOTALL)


def value(stored: Any) -> Any:
    """Write a value: bytes as {"$bin": hex}, floats as {"$float": text}, wide integers as {"$int": text}.

    What is left of a dropped value is {"$dropped": hex}.
    """
    if isinstance(stored, msgpack.ExtType):
        return {"$dropped": stored.data.hex()}
    if isinstance(stored, bytes):
        return {"$bin": stored.hex()}
    if isinstance(stored, float):
        return {"$float": repr(stored)}
    if type(stored) is int and abs(stored) > SAFE_INT_MAX:
        return {"$int": str(stored)}
    if isinstance(stored, list | tuple):
        return [value(member) for member in stored]
    if isinstance(stored, dict):
        return {key: value(member) for key, member in stored.items()}
    return stored


def from_value(document: Any) -> Any:
    """Read what `value` wrote; {"$dropped": hex} stays as it is."""
    match document:
        case {"$bin": digits}:
            return bytes.fromhex(digits)
        case {"$float": digits}:
            return float(digits)
        case {"$int": digits}:
            return int(digits)
        case list():
            return [from_value(member) for member in document]
        case dict():
            return {key: from_value(member) for key, member in document.items()}
    return document


def raw(stored: bytes) -> Any:
    """Write bytes as hex; long ones as a list of [hex, how often], in which runs of one byte are short."""
    if len(stored) <= PLAIN_BYTES_MAX:
        return stored.hex()
    parts: list[list[Any]] = []
    index = 0
    for run in _RUN.finditer(stored):
        if run.start() > index:
            parts.append([stored[index : run.start()].hex(), 1])
        parts.append([run[1].hex(), len(run[0])])
        index = run.end()
    if index < len(stored):
        parts.append([stored[index:].hex(), 1])
    return parts


def from_raw(document: Any) -> bytes:
    """Read what `raw` wrote."""
    if isinstance(document, str):
        return bytes.fromhex(document)
    return b"".join(bytes.fromhex(digits) * times for digits, times in document)
