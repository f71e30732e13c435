"""Canonical MessagePack: one byte string for each value, bounded before it is built.

Never builds an object from bytes whose items have not been counted, and never accepts a second spelling.
"""

import hashlib
import math
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from syncproto.faults import RemoteProtocolError

DEPTH_MAX = 16
INT_MIN, INT_MAX = -(1 << 63), (1 << 63) - 1
DIGEST_BYTES = 32
REDACTED = 1
REDACTED_BYTES = 2 + 1 + DIGEST_BYTES

T = TypeVar("T")


class Redacted:
    """What is left of a field's value that was dropped: SHA-256 of its canonical encoding."""

    __slots__ = ("digest",)

    def __init__(self, digest: bytes) -> None:
        self.digest = digest

    def __eq__(self, other: object) -> bool:
        """Compare digests: two that are equal stand for the same value."""
        return isinstance(other, Redacted) and other.digest == self.digest

    def __hash__(self) -> int:
        """Hash the digest."""
        return hash(self.digest)

    def __repr__(self) -> str:
        """Show enough of the digest to tell two apart."""
        return f"Redacted({self.digest[:4].hex()}…)"


if TYPE_CHECKING:
    Value = None | bool | int | float | str | bytes | list["Value"] | dict[str, "Value"] | Redacted
else:
    # msgspec tells no text from bytes inside a union; `check_value` holds decoded values to the union above.
    Value = Any


def _extension(value: object) -> msgspec.msgpack.Ext:
    if isinstance(value, Redacted):
        return msgspec.msgpack.Ext(REDACTED, value.digest)
    raise TypeError(f"{type(value).__name__} is not a journal value")


def read_extension(code: int, body: memoryview) -> Redacted:
    """Read the one extension type that there is, for a decoder's `ext_hook`; refuse every other."""
    if code != REDACTED or len(body) != DIGEST_BYTES:
        raise RemoteProtocolError("another extension type than that of a dropped value")
    return Redacted(bytes(body))


_encoder = msgspec.msgpack.Encoder(order="deterministic", enc_hook=_extension)
_plain = msgspec.msgpack.Decoder()


def encode(value: Any) -> bytes:
    """Write a value: shortest forms, map keys in order of their bytes."""
    return _encoder.encode(value)


def plain(raw: bytes) -> Any:
    """Read bytes that this device itself encoded and kept."""
    return _plain.decode(raw)


def decode(raw: bytes, decoder: msgspec.msgpack.Decoder[T], items_max: int) -> T:
    """Read what `encode` wrote.

    Raises RemoteProtocolError for too many or too deeply nested items, another type, or another spelling of
    the same value (wide integers, unsorted or duplicate keys, trailing bytes).
    """
    if items_exceed(raw, items_max):
        raise RemoteProtocolError(f"more than {items_max} items")
    try:
        value = decoder.decode(raw)
        same = _encoder.encode(value) == raw
    except (msgspec.MsgspecError, RecursionError, TypeError, ValueError, OverflowError) as fault:
        raise RemoteProtocolError(f"undecodable: {str(fault)[:200]}") from fault
    if not same:
        raise RemoteProtocolError("not canonical MessagePack")
    return value


def redacted(value: Value) -> Redacted:
    """Return what a value leaves behind where it is dropped."""
    return Redacted(hashlib.sha256(encode(value)).digest())


def check_value(value: object, depth: int = 0) -> None:
    """Raise RemoteProtocolError unless `value` is a whole journal value: no extension, NaN, huge integer."""
    kind = type(value)
    if kind is str or kind is bytes or kind is bool or value is None:
        return
    if isinstance(value, int | float):
        _check_number(value)
    elif depth >= DEPTH_MAX:
        raise RemoteProtocolError(f"nested deeper than {DEPTH_MAX}")
    elif isinstance(value, list):
        for member in value:
            check_value(member, depth + 1)
    elif isinstance(value, dict):
        for member in value.values():
            check_value(member, depth + 1)
    else:
        raise RemoteProtocolError("an extension type where none may be")


def _check_number(value: float) -> None:
    if isinstance(value, int):
        if not INT_MIN <= value <= INT_MAX:
            raise RemoteProtocolError("integer beyond 64 signed bits")
    elif not math.isfinite(value):
        raise RemoteProtocolError("not a finite number")


def _sizes() -> list[tuple[int, int, int]]:
    """Tabulate, for each leading byte: bytes of its length field, bytes of body, items per unit of length.

    Where there is a length field, the body is that many bytes or none.
    """
    table = [(0, 0, 0)] * 256
    for n in range(16):
        table[0x80 + n] = (0, 0, 2 * n)
        table[0x90 + n] = (0, 0, n)
    for n in range(32):
        table[0xA0 + n] = (0, n, 0)
    for lead, width in ((0xC4, 1), (0xC5, 2), (0xC6, 4), (0xD9, 1), (0xDA, 2), (0xDB, 4)):
        table[lead] = (width, 1, 0)
    for lead, width, each in ((0xDC, 2, 1), (0xDD, 4, 1), (0xDE, 2, 2), (0xDF, 4, 2)):
        table[lead] = (width, 0, each)
    for lead, body in ((0xCA, 4), (0xCB, 8), (0xCC, 1), (0xCD, 2), (0xCE, 4), (0xCF, 8)):
        table[lead] = (0, body, 0)
    for lead, body in ((0xD0, 1), (0xD1, 2), (0xD2, 4), (0xD3, 8)):
        table[lead] = (0, body, 0)
    table[DIGEST_LEAD[0]] = (0, REDACTED_BYTES - 1, 0)
    return table


DIGEST_LEAD = bytes([0xC7, DIGEST_BYTES, REDACTED])
_SIZES = _sizes()
_EXTENSIONS = frozenset({0xC1, 0xC7, 0xC8, 0xC9, 0xD4, 0xD5, 0xD6, 0xD7, 0xD8})


def items_exceed(raw: bytes, items_max: int) -> bool:
    """Say whether a message has more than so many items, counting them without building them.

    Each item takes a byte or more, so short messages need no counting. A map's keys and values both count.
    A dropped value counts one. Raises RemoteProtocolError at any other extension in a message that it does
    count: behind one, the count would lose its place.
    """
    if len(raw) <= items_max:
        return False
    at, items, open_items, end = 0, 0, 1, len(raw)
    while at < end and open_items:
        lead = raw[at]
        if lead in _EXTENSIONS and raw[at : at + len(DIGEST_LEAD)] != DIGEST_LEAD:
            raise RemoteProtocolError("another extension type than that of a dropped value")
        width, body, each = _SIZES[lead]
        at += 1
        if width:
            length = int.from_bytes(raw[at : at + width], "big")
            at += width + (length if body else 0)
            added = length * each
        else:
            at += body
            added = each
        open_items += added - 1
        items += 1
        if items + open_items > items_max:
            return True
    return False
