"""Commits: what one transaction wrote, signed by its device, and passed on byte for byte.

Never interprets operations; the fold does.

The hash of a commit contains long values by their own hashes. They may therefore be dropped later: what is
left is the same commit, with the same signature.
"""

import hashlib
import itertools
from collections.abc import Container, Iterable, Mapping
from enum import IntEnum
from typing import NamedTuple

import msgspec

from syncproto import codec
from syncproto.codec import Redacted, Value
from syncproto.errors import CommitTooLarge, LocalProtocolError, RemoteProtocolError
from syncproto.hlc import COUNT_MAX, MS_MAX, Stamp
from syncproto.ids import ID_BYTES, TIME_BYTES, EntityId, ReplicaId, replica_id
from syncproto.keys import KEY_BYTES, SIGNATURE_BYTES, Signer, verify_signature
from syncproto.vector_clock import COMMIT_HASH_BYTES, Head, VectorClock

COMMIT_FORMAT = 2
COMMIT_BYTES_MAX = 256 * 1024
COMMIT_ITEMS_MAX = 32 * 1024
OPERATIONS_MAX = 2048
NAME_CHARS_MAX = 128
BASE_HEADS_MAX = 1024
NONCE_BYTES = COMMIT_HASH_BYTES
COUNTER_MAX = (1 << 63) - 1

LONG_VALUE_BYTES = 128

WHOLE_KINDS = frozenset({"ask", "change_set", "decision", "device", "passkey"})
"""The kinds whose values are never dropped: who is a member and what was decided is read from the log."""

# What a signature is over, not the format of commits: it stays although COMMIT_FORMAT is 2.
_SIGNED_AS = b"placet commit 1\0"
_LONG_TEXT_BYTES = LONG_VALUE_BYTES - 2  # without the header of a text, or of bytes, of that length
_SHORT_TEXT_CHARS = _LONG_TEXT_BYTES // 4  # never long: a character has four bytes at most
_CUT_MAX = 4  # for more values, searching each costs more than encoding the commit again


class AuthorKind(IntEnum):
    """Who decided on a write."""

    SYSTEM = 0
    AGENT = 1
    USER = 2


class Author(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Who made the commit: a kind of author, and which agent if it was one."""

    by: AuthorKind
    agent: EntityId | None = None


class Operation(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One write to one entity.

    `base` is the clock of the entity as the author saw it before writing; it is empty if the operation
    creates the entity. `effect` is the change item whose confirmation caused the write. `origin` is
    provenance from before Placet (an import), a map without a fixed form.
    """

    entity: EntityId
    kind: str
    base: VectorClock
    fields: dict[str, Value]
    effect: EntityId | None
    by: AuthorKind
    origin: dict[str, Value] | None

    @property
    def creates(self) -> bool:
        """Return whether this operation creates its entity."""
        return not self.base

    @property
    def deletes(self) -> bool:
        """Return whether this operation is a tombstone."""
        return self.fields.get("deleted") is True


class Commit(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The content of a commit. Only the first commit of a replica has a `key`, which binds it to a device.

    In that first commit, `previous` is a nonce instead of a hash; the replica id is derived from both.
    """

    format: int
    replica: ReplicaId
    counter: int
    previous: bytes
    stamp: Stamp
    author: Author
    key: bytes | None
    operations: list[Operation]


class SignedCommit(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A commit as it is sent and stored: its canonical bytes and the signature (64 bytes) over them.

    The signature is empty inside a run: the one at the end vouches for the chain below it. A store keeps and
    sends only signatures that it has checked.
    """

    body: bytes
    signature: bytes


class DecodedCommit(NamedTuple):
    """A commit that was decoded and is well-formed; its signature has not been checked."""

    commit: Commit
    head: Head
    signed: SignedCommit

    @property
    def hash(self) -> bytes:
        """Return what the next commit of the replica names as `previous` (32 bytes)."""
        return self.head.hash


_decoder = msgspec.msgpack.Decoder(Commit, ext_hook=codec.decode_extension)


def _hash(commit: Commit, body: bytes, long: list[Value]) -> bytes:
    """Return the hash of a commit: SHA-256 of its hash form.

    `long` are the long values of the fields of this commit.
    """
    return hashlib.sha256(_hash_form(commit, body, long)).digest()


def _hash_form(commit: Commit, body: bytes, long: list[Value]) -> bytes:
    """Return the bytes of a commit with every long value of a field dropped.

    A few values are cut out of the bytes, which is faster than encoding the commit again. If the bytes of a
    value occur twice, or if there are many values, the whole commit is encoded again.
    """
    if len(long) > _CUT_MAX:
        return codec.encode(_commit_without_long(commit))
    form = body
    for value in long:
        encoded = codec.encode(value)
        index = form.find(encoded)
        # Searched forwards: `rfind` is quadratic on text that repeats itself, which a peer could send.
        if form.find(encoded, index + 1) >= 0:
            return codec.encode(_commit_without_long(commit))
        redacted = codec.DIGEST_LEAD + hashlib.sha256(encoded).digest()
        form = b"".join((form[:index], redacted, form[index + len(encoded) :]))
    return form


def _commit_without_long(commit: Commit) -> Commit:
    """Return a commit with every long value of a field dropped."""
    return msgspec.structs.replace(
        commit, operations=[_operation_without_long(operation) for operation in commit.operations]
    )


def is_long(value: Value) -> bool:
    """Return whether a value is long enough to be dropped later: more than 128 bytes when encoded."""
    kind = type(value)
    if kind is str:
        return len(value.encode()) > _LONG_TEXT_BYTES  # type: ignore[union-attr]
    if kind is bytes:
        return len(value) > _LONG_TEXT_BYTES  # type: ignore[arg-type]
    return (kind is list or kind is dict) and len(codec.encode(value)) > LONG_VALUE_BYTES


def _operation_without_long(operation: Operation, names: Container[str] | None = None) -> Operation:
    """Return an operation without its long values, or without those of the fields `names`."""
    fields: dict[str, Value] | None = None
    for name, value in operation.fields.items():
        if type(value) is str and len(value) <= _SHORT_TEXT_CHARS:
            continue
        if is_long(value) and (names is None or name in names):
            fields = operation.fields.copy() if fields is None else fields
            fields[name] = codec.redaction_of(value)
    return operation if fields is None else msgspec.structs.replace(operation, fields=fields)


def redact_values(commit: Commit, dropped: Mapping[EntityId, Container[str]]) -> bytes:
    """Return the bytes of a commit without the long values of these fields: same hash, same signature."""
    shortened = [
        _operation_without_long(operation, dropped.get(operation.entity, ()))
        for operation in commit.operations
    ]
    return codec.encode(msgspec.structs.replace(commit, operations=shortened))


def restore_values(commit: Commit, other: Commit) -> bytes | None:
    """Return the bytes of a commit with the values that only its other spelling has, None if there are none.

    Both have the same hash. The bytes can exceed the limits of a commit: see `exceeds_limits`.
    """
    operations = [
        _with_values_of(operation, other_operation)
        for operation, other_operation in zip(commit.operations, other.operations, strict=True)
    ]
    if all(fuller is operation for fuller, operation in zip(operations, commit.operations, strict=True)):
        return None
    return codec.encode(msgspec.structs.replace(commit, operations=operations))


def exceeds_limits(body: bytes) -> bool:
    """Return whether every peer would refuse a commit of these bytes."""
    return len(body) > COMMIT_BYTES_MAX or codec.items_exceed(body, COMMIT_ITEMS_MAX)


def without_long_values(commit: Commit) -> bytes:
    """Return the bytes of a commit without any of its long values: its hash form."""
    return codec.encode(_commit_without_long(commit))


def _with_values_of(operation: Operation, other: Operation) -> Operation:
    """Return an operation with the values that are dropped in it and not in the other."""
    restored = {
        name: other.fields[name]
        for name, value in operation.fields.items()
        if type(value) is Redacted and type(other.fields[name]) is not Redacted
    }
    if not restored:
        return operation
    return msgspec.structs.replace(operation, fields=operation.fields | restored)


def encode_commit(commit: Commit) -> DecodedCommit:
    """Encode a commit of this device; it is not signed yet (see `sign_commit`).

    Raises CommitTooLarge if its bytes or items exceed the limits, and LocalProtocolError for other content
    that a peer would refuse.
    """
    try:
        body = codec.encode(commit)
        long = _checked_long_values(commit, whole=True)
    except (RemoteProtocolError, TypeError, ValueError, OverflowError, RecursionError) as fault:
        raise LocalProtocolError(str(fault)) from fault
    # Before it is signed: a commit that its peers refuse would stop its replica for good (PROTOCOL.md §14).
    if len(body) > COMMIT_BYTES_MAX:
        raise CommitTooLarge(f"a commit of {len(body)} bytes exceeds {COMMIT_BYTES_MAX} bytes")
    if codec.items_exceed(body, COMMIT_ITEMS_MAX):
        raise CommitTooLarge(f"a commit of more than {COMMIT_ITEMS_MAX} items")
    digest = _hash(commit, body, long)
    return DecodedCommit(commit, Head(commit.replica, commit.counter, digest), SignedCommit(body, b""))


def sign_commit(commit: DecodedCommit, signer: Signer) -> bytes:
    """Return the signature (64 bytes) over a commit: it vouches for the whole chain up to it."""
    return signer.sign(_SIGNED_AS + commit.hash)


def decode_commit(signed: SignedCommit) -> DecodedCommit:
    """Decode a commit from elsewhere. Raises RemoteProtocolError for anything but its one canonical form.

    The signature of the commit and its place on the chain are not checked yet.
    """
    if len(signed.body) > COMMIT_BYTES_MAX:
        raise RemoteProtocolError(f"a commit of {len(signed.body)} bytes exceeds {COMMIT_BYTES_MAX} bytes")
    # Empty inside a run: the signature at its end vouches for this commit too (docs/decisions/0004).
    if len(signed.signature) not in (0, SIGNATURE_BYTES):
        raise RemoteProtocolError(f"a signature of {len(signed.signature)} bytes")
    commit = codec.decode(signed.body, _decoder, COMMIT_ITEMS_MAX)
    digest = _hash(commit, signed.body, _checked_long_values(commit, whole=False))
    return DecodedCommit(commit, Head(commit.replica, commit.counter, digest), signed)


def decode_page(page: Iterable[SignedCommit]) -> list[DecodedCommit]:
    """Decode commits from elsewhere, in their order. Raises RemoteProtocolError as `decode_commit` does."""
    return [decode_commit(signed) for signed in page]


def signature_holds(received: DecodedCommit, public_key: bytes) -> bool:
    """Return whether the signature over a commit is valid: it vouches for the whole chain up to it."""
    return verify_signature(public_key, received.signed.signature, _SIGNED_AS + received.hash)


def _checked_long_values(commit: Commit, *, whole: bool) -> list[Value]:
    """Check a commit against the rules of syncproto/PROTOCOL.md §4; return the long values of its fields.

    Raises RemoteProtocolError. With `whole`, no value may be dropped: an author never drops its own.
    """
    if commit.format != COMMIT_FORMAT:
        raise RemoteProtocolError(f"commit format {commit.format}, expected {COMMIT_FORMAT}")
    part = _out_of_range(commit)
    if part is not None:
        raise RemoteProtocolError(f"out of range: {part}")
    long: list[Value] = []
    for operation in commit.operations:
        _check_operation(operation, long, whole=whole)
    if len(commit.operations) > 1:
        entities = {operation.entity for operation in commit.operations}
        if len(entities) != len(commit.operations):
            raise RemoteProtocolError("out of range: more than one operation on an entity")
    return long


def _out_of_range(commit: Commit) -> str | None:
    """Return which part of a commit, its operations aside, is out of range; None if none is."""
    key, agent, stamp = commit.key, commit.author.agent, commit.stamp
    return (
        "replica id"
        if len(commit.replica) != ID_BYTES
        else "counter"
        if not 1 <= commit.counter <= COUNTER_MAX
        else "hash of the previous commit, or nonce"
        if len(commit.previous) != COMMIT_HASH_BYTES
        else "stamp"
        if not (0 <= stamp.ms <= MS_MAX and 0 <= stamp.n <= COUNT_MAX)
        else "agent id"
        if agent is not None and len(agent) != ID_BYTES
        else "key"
        if (key is None) is (commit.counter == 1) or (key is not None and len(key) != KEY_BYTES)
        else "replica id"
        if key is not None and commit.replica != _required_replica_id(commit, key)
        else "number of operations"
        if not 0 < len(commit.operations) <= OPERATIONS_MAX
        else None
    )


def _required_replica_id(first: Commit, key: bytes) -> ReplicaId:
    """Return the only replica id that a first commit may have: derived from its key, nonce and time."""
    return replica_id(int.from_bytes(first.replica[:TIME_BYTES], "big"), key, first.previous)


def _check_operation(operation: Operation, long: list[Value], *, whole: bool) -> None:
    """Raise RemoteProtocolError if an operation is malformed; add the long values of its fields to `long`."""
    effect, base = operation.effect, operation.base
    if len(operation.entity) != ID_BYTES or not 0 < len(operation.kind) <= NAME_CHARS_MAX:
        raise RemoteProtocolError("out of range: entity id or kind")
    if (effect is not None and len(effect) != ID_BYTES) or (base and not is_valid_clock(base)):
        raise RemoteProtocolError("out of range: effect or base")
    _check_fields(operation, long, is_whole=whole or operation.kind in WHOLE_KINDS)
    if operation.origin is not None:
        codec.check_value(operation.origin)


def _check_fields(operation: Operation, long: list[Value], *, is_whole: bool) -> None:
    """Raise RemoteProtocolError if a name or value is malformed, or dropped although all must be `whole`."""
    for name, value in operation.fields.items():
        if not 0 < len(name) <= NAME_CHARS_MAX:
            raise RemoteProtocolError("out of range: field name")
        if type(value) is str:
            if len(value) > _SHORT_TEXT_CHARS and is_long(value):
                long.append(value)
        # `check_value` refuses a dropped value: nobody may hide who is a member or what was decided.
        elif is_whole or type(value) is not Redacted:
            codec.check_value(value)
            if is_long(value):
                long.append(value)


def is_valid_clock(clock: VectorClock, heads_max: int = BASE_HEADS_MAX) -> bool:
    """Return whether heads from outside are in range, in order, without repetition, and not too many."""
    if not clock:
        return True
    if len(clock) > heads_max:
        return False
    for head in clock:
        if len(head.replica) != ID_BYTES or len(head.hash) != COMMIT_HASH_BYTES:
            return False
        if not 1 <= head.counter <= COUNTER_MAX:
            return False
    # `covers` searches long clocks by bisection, so their order must be certain.
    return all(a < b for a, b in itertools.pairwise(clock))
