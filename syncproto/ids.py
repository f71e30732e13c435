"""Identifiers: time-ordered ids for what is made, derived ids for what follows from something else.

Never reads a clock or draws randomness; both come in as arguments.
"""

import hashlib
from typing import NewType

import rfc8785

EntityId = NewType("EntityId", bytes)
ReplicaId = NewType("ReplicaId", bytes)
DeviceId = NewType("DeviceId", bytes)

ID_BYTES = 16
TIME_BYTES = 6
TIME_MS_MAX = (1 << (8 * TIME_BYTES)) - 1
ZERO_ID = EntityId(bytes(ID_BYTES))

_REPLICA_AS = b"placet replica 1\0"
_RANDOM_FROM = 9  # bytes 9..15 are random in full: version and variant bits lie before them

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]


def _stamped(ms: int, tail: bytes, version: int) -> EntityId:
    """Lay out an RFC 9562 UUID: 48 bits of time, version, variant, the rest from `tail` (10 bytes)."""
    body = bytearray(ms.to_bytes(TIME_BYTES, "big") + tail)
    body[6] = body[6] & 0x0F | version << 4
    body[8] = body[8] & 0x3F | 0x80
    return EntityId(bytes(body))


def uuid7(ms: int, randomness: bytes) -> EntityId:
    """Make a UUIDv7 (RFC 9562 §5.7) from Unix time in milliseconds and 10 random bytes."""
    assert len(randomness) == ID_BYTES - TIME_BYTES
    return _stamped(max(0, min(ms, TIME_MS_MAX)), randomness, 7)


def digest(tag: str, *parts: Json) -> bytes:
    """Hash JSON values under a domain tag: SHA-256 over the RFC 8785 form of `[tag, *parts]`, 32 bytes."""
    return hashlib.sha256(rfc8785.dumps([tag, *parts])).digest()


def derived_id(tag: str, *parts: Json, time_of: EntityId) -> EntityId:
    """Derive a UUIDv8 that every device computes alike; it keeps the 48-bit time prefix of `time_of`.

    The prefix keeps neighbours together in the store's trees, where random keys cost an order of magnitude.
    """
    ms = int.from_bytes(time_of[:TIME_BYTES], "big")
    return _stamped(ms, digest(tag, *parts)[: ID_BYTES - TIME_BYTES], 8)


def replica_id(ms: int, key: bytes, nonce: bytes) -> ReplicaId:
    """Make the id (UUIDv8) of the replica that this public key begins at Unix time `ms` with a random nonce.

    It follows from the key, so that no other device can begin a replica under the same id.
    """
    tail = hashlib.sha256(_REPLICA_AS + key + nonce).digest()[: ID_BYTES - TIME_BYTES]
    return ReplicaId(_stamped(max(0, min(ms, TIME_MS_MAX)), tail, 8))


def text(identifier: bytes) -> str:
    """Write an id as 32 hexadecimal digits, the random part first, so that a short prefix is unique."""
    return (identifier[_RANDOM_FROM:] + identifier[:_RANDOM_FROM]).hex()


def from_text(written: str) -> EntityId:
    """Read what `text` wrote. Raises ValueError with what was seen."""
    try:
        raw = bytes.fromhex(written)
    except ValueError:
        raw = b""
    if len(raw) != ID_BYTES or len(written) != 2 * ID_BYTES:
        raise ValueError(f"not an id of 32 hexadecimal digits: {written[:64]!r}")
    cut = ID_BYTES - _RANDOM_FROM
    return EntityId(raw[cut:] + raw[:cut])
