"""Identifiers: time-ordered ids for new things, derived ids for what follows from other things.

Never reads a clock or draws randomness; both are arguments.
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
_RANDOM_FROM = 9  # bytes 9..15 are wholly random: version and variant bits come before them

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]


def _timed_uuid(ms: int, tail: bytes, version: int) -> EntityId:
    """Return an RFC 9562 UUID: 48 bits of time, version, variant, the rest from `tail` (10 bytes)."""
    body = bytearray(ms.to_bytes(TIME_BYTES, "big") + tail)
    body[6] = body[6] & 0x0F | version << 4
    body[8] = body[8] & 0x3F | 0x80
    return EntityId(bytes(body))


def uuid7(ms: int, randomness: bytes) -> EntityId:
    """Return a UUIDv7 (RFC 9562 §5.7) of a Unix time in milliseconds and 10 random bytes."""
    assert len(randomness) == ID_BYTES - TIME_BYTES
    return _timed_uuid(max(0, min(ms, TIME_MS_MAX)), randomness, 7)


def tagged_digest(tag: str, *parts: Json) -> bytes:
    """Hash JSON values under a domain tag: SHA-256 over the RFC 8785 form of `[tag, *parts]`, 32 bytes."""
    return hashlib.sha256(rfc8785.dumps([tag, *parts])).digest()


def derived_id(tag: str, *parts: Json, time_of: EntityId) -> EntityId:
    """Return a UUIDv8 that every device computes alike; it has the 48-bit time prefix of `time_of`.

    The prefix keeps neighbours together in the B-trees of the store: random keys cost ten times as much.
    """
    return _timed_uuid(id_ms(time_of), tagged_digest(tag, *parts)[: ID_BYTES - TIME_BYTES], 8)


def id_ms(identifier: bytes) -> int:
    """Return the time in an id, Unix time in milliseconds by the clock of its maker."""
    return int.from_bytes(identifier[:TIME_BYTES], "big")


def replica_id(ms: int, key: bytes, nonce: bytes) -> ReplicaId:
    """Return the id (UUIDv8) of the replica that a device begins at Unix time `ms` with a random nonce.

    It is derived from the public key, so that no other device can begin a replica under the same id.
    """
    tail = hashlib.sha256(_REPLICA_AS + key + nonce).digest()[: ID_BYTES - TIME_BYTES]
    return ReplicaId(_timed_uuid(max(0, min(ms, TIME_MS_MAX)), tail, 8))


def id_to_text(identifier: bytes) -> str:
    """Return an id as 32 hexadecimal digits, the random part first, so that a short prefix is unique."""
    return (identifier[_RANDOM_FROM:] + identifier[:_RANDOM_FROM]).hex()


def id_from_text(text: str) -> EntityId:
    """Return the id of a text that `id_to_text` returned. Raises ValueError with what was seen."""
    try:
        raw = bytes.fromhex(text)
    except ValueError:
        raw = b""
    # The text is measured too: `fromhex` skips spaces between the digits.
    if len(raw) != ID_BYTES or len(text) != 2 * ID_BYTES:
        raise ValueError(f"not an id of 32 hexadecimal digits: {text[:64]!r}")
    cut = ID_BYTES - _RANDOM_FROM
    return EntityId(raw[cut:] + raw[:cut])
