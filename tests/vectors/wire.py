"""The bytes, implemented a second time from PROTOCOL.md: ids, canonical forms, commits, frames, signatures.

Never imports what it is there to check; it knows msgpack, hashlib and Ed25519, nothing of Placet's.
"""

import hashlib
import itertools
import json
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import msgpack  # type: ignore[import-untyped]
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

Pairs = list[tuple[Any, Any]]

COMMIT_BYTES_MAX, COMMIT_ITEMS_MAX = 262_144, 32_768
FRAME_BYTES_MAX, FRAME_ITEMS_MAX = 1_048_576, 65_536
OPERATIONS_MAX, HEADS_MAX, NAME_CHARS_MAX, DEPTH_MAX = 2_048, 1_024, 128, 16
INT_MAX = 2**63 - 1


class InvalidEncoding(Exception):
    """What a reader must refuse; `outcome` is the class that the vector files name."""

    def __init__(self, outcome: str) -> None:
        super().__init__(outcome)
        self.outcome = outcome


WHOLE_KINDS = ("ask", "change_set", "decision", "device", "passkey")


def require(holds: bool, outcome: str) -> None:
    """Refuse with an outcome unless something holds."""
    if not holds:
        raise InvalidEncoding(outcome)


# -- canonical MessagePack ----------------------------------------------------------------------------


def in_order(value: Any) -> Any:
    """Put the keys of every map in order of their UTF-8 bytes."""
    if isinstance(value, msgpack.ExtType):
        return value
    if isinstance(value, dict):
        return {key: in_order(value[key]) for key in sorted(value, key=lambda key: key.encode())}
    if isinstance(value, list | tuple):
        return [in_order(member) for member in value]
    return value


def pack(value: Any) -> bytes:
    """Write a value in its one form."""
    return bytes(msgpack.packb(in_order(value), use_bin_type=True))


def count(value: Any) -> int:
    """Count items: each scalar, container, key and value is one. Maps are lists of pairs here."""
    if isinstance(value, Map):
        return 1 + sum(count(key) + count(member) for key, member in value.pairs)
    if isinstance(value, list):
        return 1 + sum(count(member) for member in value)
    return 1


class Map(NamedTuple):
    """A map as it was spelled, repetitions included."""

    pairs: Pairs


def _strict(value: Any, depth: int = 0) -> Any:
    """Turn what was read into plain values, refusing what no message may hold."""
    require(depth < 200, "malformed")
    if isinstance(value, Map):
        require(all(isinstance(key, str) for key, _ in value.pairs), "malformed")
        return {key: _strict(member, depth + 1) for key, member in value.pairs}
    if isinstance(value, list):
        return [_strict(member, depth + 1) for member in value]
    require(is_dropped(value) or value is None or type(value) in (bool, int, float, str, bytes), "malformed")
    return value


def is_dropped(value: Any) -> bool:
    """Say whether a value is what is left of one that was dropped."""
    return isinstance(value, msgpack.ExtType) and value.code == 1 and len(value.data) == 32


def dropped(value: Any) -> Any:
    """Return what is left of a value that is dropped."""
    return msgpack.ExtType(1, hashlib.sha256(pack(value)).digest())


def unpack(raw: bytes, items_max: int) -> Any:
    """Read a message that must be in its one form. Raises Fault: too-large, malformed, not-canonical."""
    try:
        spelled = msgpack.unpackb(raw, raw=False, strict_map_key=False, object_pairs_hook=Map)
    except Exception as fault:
        raise InvalidEncoding("malformed") from fault
    require(count(spelled) <= items_max, "too-large")
    value = _strict(spelled)
    require(pack(value) == raw, "not-canonical")
    return value


def check_value(value: Any, depth: int = 0) -> None:
    """Refuse numbers beyond their range, containers that are too deep, and what was dropped."""
    require(not is_dropped(value), "malformed")
    if isinstance(value, float):
        require(math.isfinite(value), "out-of-range")
    elif isinstance(value, int):
        require(-(2**63) <= value <= INT_MAX, "out-of-range")
    elif isinstance(value, list | dict):
        require(depth < DEPTH_MAX, "out-of-range")
        for member in value.values() if isinstance(value, dict) else value:
            check_value(member, depth + 1)


# -- RFC 8785 by hand ---------------------------------------------------------------------------------


def _number(value: float) -> str:
    """Write a number as ECMAScript does."""
    if isinstance(value, int):
        return str(value)
    if value == 0:
        return "0"
    mantissa, _, exponent = repr(abs(value)).partition("e")
    full, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (full + fraction).lstrip("0")
    point = len(full) + int(exponent or 0) - (len(full + fraction) - len(digits))
    digits = digits.rstrip("0")
    sign = "-" if value < 0 else ""
    if 0 < point <= 21:
        body = digits.ljust(point, "0")
        return sign + body[:point] + ("." + body[point:] if len(body) > point else "")
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    e = point - 1
    rest = "." + digits[1:] if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{rest}e{'+' if e >= 0 else '-'}{abs(e)}"


def jcs(value: Any) -> str:
    """Write JSON in the canonical form of RFC 8785: keys in order of their UTF-16 units, no spaces."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return "[" + ",".join(map(jcs, value)) + "]"
    ordered = sorted(value, key=lambda key: key.encode("utf-16-be"))
    return "{" + ",".join(f"{jcs(key)}:{jcs(value[key])}" for key in ordered) + "}"


# -- ids ----------------------------------------------------------------------------------------------


def _stamped(first_48: bytes, other_80: bytes, version: int) -> bytes:
    number = int.from_bytes(first_48 + other_80, "big")
    number = number & ~(0xF << 76) | version << 76
    number = number & ~(0x3 << 62) | 0x2 << 62
    return number.to_bytes(16, "big")


def uuid7(ms: int, randomness: bytes) -> bytes:
    """Make an id."""
    return _stamped(min(max(ms, 0), 2**48 - 1).to_bytes(6, "big"), randomness, 7)


def digest(tag: str, parts: list[Any]) -> bytes:
    """Hash JSON values under a tag."""
    return hashlib.sha256(jcs([tag, *parts]).encode()).digest()


def derived_id(tag: str, parts: list[Any], time_of: bytes) -> bytes:
    """Derive an id that keeps the time of another."""
    return _stamped(time_of[:6], digest(tag, parts)[:10], 8)


def replica_id(ms: int, public_key: bytes, nonce: bytes) -> bytes:
    """Make the id of a replica that a key begins."""
    follows = hashlib.sha256(b"placet replica 1\x00" + public_key + nonce).digest()
    return _stamped(min(max(ms, 0), 2**48 - 1).to_bytes(6, "big"), follows[:10], 8)


def text(identifier: bytes) -> str:
    """Write an id with its seven random bytes first."""
    document = identifier.hex()
    return document[18:] + document[:18]


# -- keys and commits ---------------------------------------------------------------------------------


class Device(NamedTuple):
    """A signing device, made from a name."""

    seed: bytes

    @property
    def key(self) -> Ed25519PrivateKey:
        """Return the private key."""
        return Ed25519PrivateKey.from_private_bytes(self.seed)

    @property
    def public_key(self) -> bytes:
        """Return the public key."""
        return self.key.public_key().public_bytes_raw()

    @property
    def id(self) -> bytes:
        """Return SHA-256 of the key's SubjectPublicKeyInfo, whose header RFC 8410 fixes."""
        return hashlib.sha256(bytes.fromhex("302a300506032b6570032100") + self.public_key).digest()


def device(name: str) -> Device:
    """Make a device of a name."""
    return Device(hashlib.sha256(name.encode()).digest())


def redacted(body: bytes, *names: str) -> bytes:
    """Drop values of more than 128 bytes from a commit's bytes: those of some fields, or all."""
    commit = msgpack.unpackb(body, raw=False)
    for operation in commit[7]:
        for name, value in operation[3].items():
            if (name in names or not names) and not is_dropped(value) and len(pack(value)) > 128:
                operation[3][name] = dropped(value)
    return pack(commit)


def hash_of(body: bytes) -> bytes:
    """Hash a commit's bytes: whatever was or was not dropped from them, it is the same."""
    return hashlib.sha256(redacted(body)).digest()


def signature(owner: Device, body: bytes) -> bytes:
    """Sign a commit's bytes."""
    return owner.key.sign(b"placet commit 1\x00" + hash_of(body))


def head(commit: list[Any], body: bytes) -> list[Any]:
    """Return the head that a commit is."""
    return [commit[1], commit[2], hash_of(body)]


Check = Callable[[Any], bool]


def is_int(value: Any) -> bool:
    """Say whether a value is an integer, and not a boolean."""
    return type(value) is int


def is_id(value: Any, size: int = 16) -> bool:
    """Say whether a value is so many bytes."""
    return isinstance(value, bytes) and len(value) == size


def typed(values: Any, *types: type | tuple[type | None, ...]) -> bool:
    """Say whether a value is an array of these types, no more and no fewer; None stands for nil."""
    if not isinstance(values, list) or len(values) != len(types):
        return False
    for value, kinds in zip(values, types, strict=True):
        allowed = kinds if isinstance(kinds, tuple) else (kinds,)
        if not any(value is None if kind is None else type(value) is kind for kind in allowed):
            return False
    return True


def check_clock_types(clock: Any) -> None:
    """Refuse what is no array of [replica, counter, hash]."""
    require(all(typed(element, bytes, int, bytes) for element in clock), "malformed")


def clock_in_range(clock: list[Any]) -> bool:
    """Say whether heads are in range, in order, each once, and not too many."""
    fits = all(is_id(r) and 1 <= n <= INT_MAX and is_id(h, 32) for r, n, h in clock)
    return fits and len(clock) <= HEADS_MAX and all(a < b for a, b in itertools.pairwise(clock))


def _check_types(commit: Any) -> None:
    """Refuse what is not laid out as a commit."""
    nil = None
    require(typed(commit, int, bytes, int, bytes, list, list, (bytes, nil), list), "malformed")
    _, _, _, _, stamp, author, _, operations = commit
    require(typed(stamp, int, int) and typed(author, int, (bytes, nil)), "malformed")
    require(author[0] in {0, 1, 2}, "malformed")
    for operation in operations:
        layout = (bytes, str, list, dict, (bytes, nil), int, (dict, nil))
        require(typed(operation, *layout) and operation[5] in {0, 1, 2}, "malformed")
        check_clock_types(operation[2])


def _check_operation(operation: list[Any]) -> None:
    entity, kind, base, fields, effect, _, origin = operation
    require(is_id(entity) and 0 < len(kind) <= NAME_CHARS_MAX, "out-of-range")
    require(effect is None or is_id(effect), "out-of-range")
    require(clock_in_range(base), "out-of-range")
    for name, value in fields.items():
        require(0 < len(name) <= NAME_CHARS_MAX, "out-of-range")
        if not is_dropped(value):
            check_value(value)
        require(
            not is_dropped(value) or kind not in ("ask", "change_set", "decision", "device", "passkey"),
            "malformed",
        )
    check_value(origin)


def _follows(replica: bytes, key: bytes, nonce: bytes) -> bytes:
    """Return the id that this key and nonce give at the time in a replica's id."""
    return replica_id(int.from_bytes(replica[:6], "big"), key, nonce)


def read_commit(body: bytes, signed: bytes = bytes(64)) -> list[Any]:
    """Read a commit's bytes. Raises Fault of any class but those that a store alone can see."""
    require(len(body) <= COMMIT_BYTES_MAX, "too-large")
    require(len(signed) in {0, 64}, "malformed")
    commit = unpack(body, COMMIT_ITEMS_MAX)
    _check_types(commit)
    version, replica, counter, previous, (ms, n), (_, agent), key, operations = commit
    first = counter == 1
    require(version == 2 and is_id(replica) and 1 <= counter <= INT_MAX, "out-of-range")
    require(is_id(previous, 32), "out-of-range")
    require(is_id(key, 32) if first else key is None, "out-of-range")
    require(not first or replica == _follows(replica, key, previous), "foreign-replica")
    require(0 <= ms < 2**48 and 0 <= n < 2**32, "out-of-range")
    require(agent is None or is_id(agent), "out-of-range")
    require(0 < len(operations) <= OPERATIONS_MAX, "out-of-range")
    require(len({operation[0] for operation in operations}) == len(operations), "out-of-range")
    for operation in operations:
        _check_operation(operation)
    assert isinstance(commit, list)
    return commit


# -- frames -------------------------------------------------------------------------------------------


def _check_hello(frame: list[Any]) -> None:
    layout = (int, list, bytes, (bytes, None), list, bytes, dict)
    require(typed(frame, *layout) and all(map(is_int, frame[1])), "malformed")
    _, versions, vault, replica, vector, state, more = frame
    check_clock_types(vector)
    check_value(versions)
    check_value(more)
    require(is_id(vault) and (replica is None or is_id(replica)), "out-of-range")
    require(clock_in_range(vector) and is_id(state, 32), "out-of-range")


def _check_ack(frame: list[Any]) -> None:
    require(typed(frame, int, list, list, bytes), "malformed")
    _check_heads(frame[1:3])
    require(is_id(frame[3], 32), "out-of-range")


def _check_heads(parts: list[Any]) -> None:
    for part in parts:
        check_clock_types(part)
    require(all(map(clock_in_range, parts)), "out-of-range")


def read_frame(raw: bytes) -> list[Any]:
    """Read a frame. Raises Fault: too-large, malformed, not-canonical, out-of-range."""
    require(len(raw) <= FRAME_BYTES_MAX, "too-large")
    frame = unpack(raw, FRAME_ITEMS_MAX)
    require(isinstance(frame, list) and len(frame) > 0 and is_int(frame[0]), "malformed")
    assert isinstance(frame, list)
    match frame[0]:
        case 1:
            _check_hello(frame)
        case 2:
            require(typed(frame, int, list), "malformed")
            require(all(typed(element, bytes, bytes) for element in frame[1]), "malformed")
        case 3:
            _check_ack(frame)
        case 4 | 5:
            require(typed(frame, int, int), "malformed")
            check_value(frame[1])
        case 6:
            require(typed(frame, int, str), "malformed")
        case 7:
            require(typed(frame, int, list, list), "malformed")
            _check_heads(frame[1:])
        case _:
            raise InvalidEncoding("malformed")
    return frame
