"""Canonical MessagePack: one byte string per value, with its size checked before anything is built.

Never builds an object from bytes whose items were not counted, and never accepts a second spelling.
"""

import hashlib
import math
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from syncproto.errors import RemoteProtocolError

DEPTH_MAX = 16
INT_MIN, INT_MAX = -(1 << 63), (1 << 63) - 1
DIGEST_BYTES = 32
REDACTED_EXTENSION_CODE = 1
REDACTED_BYTES = 2 + 1 + DIGEST_BYTES

T = TypeVar("T")


class Redacted:
    """What is left of a value that was dropped from a field: SHA-256 of its canonical encoding."""

    __slots__ = ("digest",)

    def __init__(self, digest: bytes) -> None:
        self.digest = digest

    def __eq__(self, other: object) -> bool:
        """Compare digests: equal digests stand for the same value."""
        return isinstance(other, Redacted) and other.digest == self.digest

    def __hash__(self) -> int:
        """Hash the digest."""
        return hash(self.digest)

    def __repr__(self) -> str:
        """Return enough of the digest to tell two apart."""
        return f"Redacted({self.digest[:4].hex()}…)"


if TYPE_CHECKING:
    Value = None | bool | int | float | str | bytes | list["Value"] | dict[str, "Value"] | Redacted
else:
    # msgspec cannot decode this union, since bytes and text overlap; `check_value` checks the decoded values.
    Value = Any


def _extension(value: object) -> msgspec.msgpack.Ext:
    if isinstance(value, Redacted):
        return msgspec.msgpack.Ext(REDACTED_EXTENSION_CODE, value.digest)
    raise TypeError(f"{type(value).__name__} is not a journal value")


def decode_extension(code: int, body: memoryview) -> Redacted:
    """Decode the only extension type, as the `ext_hook` of a decoder; refuse every other."""
    if code != REDACTED_EXTENSION_CODE or len(body) != DIGEST_BYTES:
        raise RemoteProtocolError("another extension type than that of a dropped value")
    return Redacted(bytes(body))


_encoder = msgspec.msgpack.Encoder(order="deterministic", enc_hook=_extension)
_plain = msgspec.msgpack.Decoder()


def encode(value: Any) -> bytes:
    """Return the canonical bytes of a value: shortest forms, map keys in the order of their bytes."""
    return _encoder.encode(value)


def decode_trusted(raw: bytes) -> Any:
    """Decode bytes that this device encoded and stored itself, without the checks of `decode`."""
    return _plain.decode(raw)


def decode(raw: bytes, decoder: msgspec.msgpack.Decoder[T], items_max: int) -> T:
    """Decode what `encode` returned.

    Raises RemoteProtocolError for too many or too deeply nested items, for another type, and for another
    spelling of the same value (wide integers, unsorted or duplicate keys, trailing bytes).
    """
    if items_exceed(raw, items_max):
        raise RemoteProtocolError(f"more than {items_max} items")
    try:
        value = decoder.decode(raw)
        # Encoding again is the whole test of the canonical form: there is only one.
        is_canonical = _encoder.encode(value) == raw
    except (msgspec.MsgspecError, RecursionError, TypeError, ValueError, OverflowError) as fault:
        raise RemoteProtocolError(f"undecodable: {str(fault)[:200]}") from fault
    if not is_canonical:
        raise RemoteProtocolError("not canonical MessagePack")
    return value


def redaction_of(value: Value) -> Redacted:
    """Return what is left of a value if it is dropped."""
    return Redacted(hashlib.sha256(encode(value)).digest())


def check_value(value: object, depth: int = 0) -> None:
    """Raise RemoteProtocolError if `value` is no journal value: extension, NaN, integer over 64 bits."""
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
        raise RemoteProtocolError("an extension type in a place where none may be")


def are_equal(value: object, other: object) -> bool:
    """Return whether two journal values are the same value: the same canonical bytes (PROTOCOL.md §3).

    For Python, 1 equals 1.0 and True, and 0.0 equals -0.0.
    """
    return value is other or (value == other and encode(value) == encode(other))


def _check_number(value: float) -> None:
    if isinstance(value, int):
        if not INT_MIN <= value <= INT_MAX:
            raise RemoteProtocolError("integer beyond 64 signed bits")
    elif not math.isfinite(value):
        raise RemoteProtocolError("not a finite number")


def _sizes() -> list[tuple[int, int, int]]:
    """Return, for each leading byte: bytes of its length field, bytes of body, items per unit of length.

    With a length field, a body of 1 means as many bytes as the field says.
    """
    table = [(0, 0, 0)] * 256
    for n in range(16):
        table[0x80 + n] = (0, 0, 2 * n)
        table[0x90 + n] = (0, 0, n)
    for n in range(32):
        table[0xA0 + n] = (0, n, 0)
    for lead, width in ((0xC4, 1), (0xC5, 2), (0xC6, 4), (0xD9, 1), (0xDA, 2), (0xDB, 4)):
        table[lead] = (width, 1, 0)
    for lead, width, each_size in ((0xDC, 2, 1), (0xDD, 4, 1), (0xDE, 2, 2), (0xDF, 4, 2)):
        table[lead] = (width, 0, each_size)
    for lead, body in ((0xCA, 4), (0xCB, 8), (0xCC, 1), (0xCD, 2), (0xCE, 4), (0xCF, 8)):
        table[lead] = (0, body, 0)
    for lead, body in ((0xD0, 1), (0xD1, 2), (0xD2, 4), (0xD3, 8)):
        table[lead] = (0, body, 0)
    table[DIGEST_LEAD[0]] = (0, REDACTED_BYTES - 1, 0)
    return table


DIGEST_LEAD = bytes([0xC7, DIGEST_BYTES, REDACTED_EXTENSION_CODE])
_SIZES = _sizes()
# 0xC1 is no extension; it is among them because no value begins with it.
_EXTENSIONS = frozenset({0xC1, 0xC7, 0xC8, 0xC9, 0xD4, 0xD5, 0xD6, 0xD7, 0xD8})


def items_exceed(raw: bytes, items_max: int) -> bool:
    """Return whether a message has more than `items_max` items, without building them.

    A key and a value of a map count one each, and a dropped value counts one. Raises RemoteProtocolError at
    any other extension in a message that is counted: its length is not known, so counting could not go on.
    """
    # Each item takes a byte or more, so short messages need no counting.
    if len(raw) <= items_max:
        return False
    offset, items, open_items, end = 0, 0, 1, len(raw)
    while offset < end and open_items:
        lead = raw[offset]
        if lead in _EXTENSIONS and raw[offset : offset + len(DIGEST_LEAD)] != DIGEST_LEAD:
            raise RemoteProtocolError("another extension type than that of a dropped value")
        width, body, each_size = _SIZES[lead]
        offset += 1
        if width:
            length = int.from_bytes(raw[offset : offset + width], "big")
            offset += width + (length if body else 0)
            added = length * each_size
        else:
            offset += body
            added = each_size
        open_items += added - 1
        items += 1
        # Members count as soon as a header announces them: five bytes can announce 2^32 - 1.
        if items + open_items > items_max:
            return True
    return False
