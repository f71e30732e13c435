"""Commits: what one transaction did, signed by the device that did it, kept and passed on verbatim.

Never looks at what their operations mean.

Long values count in a commit's hash by their own hashes, so that they may be dropped later: what is left is
the same commit, with the same signature.
"""

import hashlib
import itertools
from collections.abc import Container, Iterable, Mapping
from enum import IntEnum
from typing import NamedTuple

import msgspec

from syncproto import codec
from syncproto.codec import Redacted, Value
from syncproto.faults import CommitTooLarge, LocalProtocolError, RemoteProtocolError
from syncproto.heads import HASH8_BYTES, Clock, Head
from syncproto.hlc import COUNT_MAX, MS_MAX, Stamp
from syncproto.ids import ID_BYTES, TIME_BYTES, EntityId, ReplicaId, replica_id
from syncproto.keys import KEY_BYTES, SIGNATURE_BYTES, Signer, verify

FORMAT = 1
COMMIT_BYTES_MAX = 256 * 1024
ITEMS_MAX = 32 * 1024
OPERATIONS_MAX = 2048
NAME_CHARS_MAX = 128
BASE_HEADS_MAX = 1024
HASH_BYTES = 32
NONCE_BYTES = HASH_BYTES
COUNTER_MAX = (1 << 63) - 1

LONG_BYTES = 128

_SIGNED_AS = b"placet commit 1\0"
_LONG_TEXT_BYTES = LONG_BYTES - 2  # beside the header of a text of that length, or of bytes
_SHORT_TEXT_CHARS = _LONG_TEXT_BYTES // 4  # not long, whatever the characters
_CUT_MAX = 4  # beyond that, looking for each costs more than encoding all again


class By(IntEnum):
    """Whose write it is."""

    SYSTEM = 0
    AGENT = 1
    USER = 2


class Author(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Who made the commit: a kind of author and, where an agent did, which."""

    by: By
    agent: EntityId | None = None


class Operation(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One write to one entity.

    `base` is the entity's clock as its author saw it before writing, empty where it creates the entity.
    `effect` names the change item whose confirmation caused the write. `origin` is provenance from before
    Placet (an import), a map of free form.
    """

    entity: EntityId
    kind: str
    base: Clock
    fields: dict[str, Value]
    effect: EntityId | None
    by: By
    origin: dict[str, Value] | None

    @property
    def creates(self) -> bool:
        """Say whether this operation brings its entity into being."""
        return not self.base

    @property
    def deletes(self) -> bool:
        """Say whether this operation is a tombstone."""
        return self.fields.get("deleted") is True


class Commit(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The content of a commit; `key` is there in a replica's first commit only and binds it to a device.

    In that first commit `previous` is no hash but a nonce: from it and the key follows the replica's id.
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
    """A commit as it travels and rests: its canonical bytes and the signature (64 bytes) over them.

    The signature is empty inside a run: the signature at the run's end vouches for what it chains, and a
    store keeps and passes on only signatures that it has checked.
    """

    body: bytes
    signature: bytes


class Received(NamedTuple):
    """A commit that has been read and found well-formed; its signature has not been checked."""

    commit: Commit
    head: Head
    hash: bytes
    signed: SignedCommit


_decoder = msgspec.msgpack.Decoder(Commit, ext_hook=codec.read_extension)


def _hash(commit: Commit, body: bytes, long: list[Value]) -> bytes:
    """Return what the next commit of its replica names as `previous`: SHA-256 of a commit's hash form.

    That is its bytes, with every long value of a field dropped; which those are is known.
    """
    return hashlib.sha256(_hash_form(commit, body, long)).digest()


def _hash_form(commit: Commit, body: bytes, long: list[Value]) -> bytes:
    """Return a commit's bytes with every long value of a field dropped.

    A few are cut out where they stand, as long as their bytes stand there alone; otherwise all is encoded
    again, whose cost does not grow with what the values hold.
    """
    if len(long) > _CUT_MAX:
        return codec.encode(_shortened(commit))
    form = body
    for value in long:
        encoded = codec.encode(value)
        at = form.find(encoded)
        # Forwards too: a search from the end compares over and over what repeats itself.
        if form.find(encoded, at + 1) >= 0:
            return codec.encode(_shortened(commit))
        left = codec.DIGEST_LEAD + hashlib.sha256(encoded).digest()
        form = b"".join((form[:at], left, form[at + len(encoded) :]))
    return form


def _shortened(commit: Commit) -> Commit:
    """Return a commit with every long value of a field dropped."""
    return msgspec.structs.replace(commit, operations=[_short(one) for one in commit.operations])


def is_long(value: Value) -> bool:
    """Say whether a field's value is long enough to be dropped later: more than 128 bytes as encoded."""
    kind = type(value)
    if kind is str:
        return len(value.encode()) > _LONG_TEXT_BYTES  # type: ignore[union-attr]
    if kind is bytes:
        return len(value) > _LONG_TEXT_BYTES  # type: ignore[arg-type]
    return (kind is list or kind is dict) and len(codec.encode(value)) > LONG_BYTES


def _short(operation: Operation, names: Container[str] | None = None) -> Operation:
    """Return an operation with its long values dropped, or those of some fields; itself where it has none."""
    fields: dict[str, Value] | None = None
    for name, value in operation.fields.items():
        if type(value) is str and len(value) <= _SHORT_TEXT_CHARS:
            continue
        if is_long(value) and (names is None or name in names):
            fields = operation.fields.copy() if fields is None else fields
            fields[name] = codec.redacted(value)
    return operation if fields is None else msgspec.structs.replace(operation, fields=fields)


def redact(commit: Commit, dropped: Mapping[EntityId, Container[str]]) -> bytes:
    """Return a commit's bytes without its long values in these fields: same hash, same signature."""
    shortened = [_short(one, dropped.get(one.entity, ())) for one in commit.operations]
    return codec.encode(msgspec.structs.replace(commit, operations=shortened))


def head_of(replica: ReplicaId, counter: int, digest: bytes) -> Head:
    """Return the head that a commit is."""
    return Head(replica, counter, digest[:HASH8_BYTES])


def seal(commit: Commit) -> Received:
    """Encode a commit of this device; its signature is empty until `sign` has made one.

    Raises CommitTooLarge where its bytes or items exceed the limits, and LocalProtocolError for other content
    that no peer would take.
    """
    try:
        body = codec.encode(commit)
        long = _check(commit, whole=True)
    except (RemoteProtocolError, TypeError, ValueError, OverflowError, RecursionError) as fault:
        raise LocalProtocolError(str(fault)) from fault
    if len(body) > COMMIT_BYTES_MAX:
        raise CommitTooLarge(f"a commit of {len(body)} bytes exceeds {COMMIT_BYTES_MAX} bytes")
    if codec.items_exceed(body, ITEMS_MAX):
        raise CommitTooLarge(f"a commit of more than {ITEMS_MAX} items")
    digest = _hash(commit, body, long)
    return Received(commit, head_of(commit.replica, commit.counter, digest), digest, SignedCommit(body, b""))


def sign(sealed: Received, signer: Signer) -> bytes:
    """Return the signature (64 bytes) over a commit, which vouches for the chain that ends in it."""
    return signer.sign(_SIGNED_AS + sealed.hash)


def read(signed: SignedCommit) -> Received:
    """Decode a commit from elsewhere. Raises RemoteProtocolError for anything but its one canonical form.

    What has not happened yet: its signature and its place on the chain are unchecked.
    """
    if len(signed.body) > COMMIT_BYTES_MAX:
        raise RemoteProtocolError(f"a commit of {len(signed.body)} bytes exceeds {COMMIT_BYTES_MAX} bytes")
    if len(signed.signature) not in (0, SIGNATURE_BYTES):
        raise RemoteProtocolError(f"a signature of {len(signed.signature)} bytes")
    commit = codec.decode(signed.body, _decoder, ITEMS_MAX)
    digest = _hash(commit, signed.body, _check(commit, whole=False))
    return Received(commit, head_of(commit.replica, commit.counter, digest), digest, signed)


def read_page(page: Iterable[SignedCommit]) -> list[Received]:
    """Decode commits from elsewhere, in their order. Raises RemoteProtocolError as `read` does."""
    return [read(signed) for signed in page]


def signature_holds(received: Received, public_key: bytes) -> bool:
    """Check the signature over a commit, which vouches for the chain that ends in it."""
    return verify(public_key, received.signed.signature, _SIGNED_AS + received.hash)


def _check(commit: Commit, *, whole: bool) -> list[Value]:
    """Raise RemoteProtocolError where a commit breaks a rule of PROTOCOL.md (Commits); return the long values
    of its fields. `whole`: none may be dropped, which its own author never does.
    """
    if commit.format != FORMAT:
        raise RemoteProtocolError(f"commit format {commit.format}, expected {FORMAT}")
    wrong = _out_of_range(commit)
    if wrong is not None:
        raise RemoteProtocolError(f"out of range: {wrong}")
    long: list[Value] = []
    for operation in commit.operations:
        _check_operation(operation, long, whole=whole)
    if len(commit.operations) > 1:
        entities = {operation.entity for operation in commit.operations}
        if len(entities) != len(commit.operations):
            raise RemoteProtocolError("out of range: more than one operation on an entity")
    return long


def _out_of_range(commit: Commit) -> str | None:
    """Name what of a commit, its operations aside, is out of range; None where nothing is."""
    key, agent, stamp = commit.key, commit.author.agent, commit.stamp
    return (
        "replica id"
        if len(commit.replica) != ID_BYTES
        else "counter"
        if not 1 <= commit.counter <= COUNTER_MAX
        else "hash of the previous commit, or nonce"
        if len(commit.previous) != HASH_BYTES
        else "stamp"
        if not (0 <= stamp.ms <= MS_MAX and 0 <= stamp.n <= COUNT_MAX)
        else "agent id"
        if agent is not None and len(agent) != ID_BYTES
        else "key"
        if (key is None) is (commit.counter == 1) or (key is not None and len(key) != KEY_BYTES)
        else "replica id"
        if key is not None and commit.replica != _following(commit, key)
        else "number of operations"
        if not 0 < len(commit.operations) <= OPERATIONS_MAX
        else None
    )


def _following(first: Commit, key: bytes) -> ReplicaId:
    """Return the id that a first commit's replica must have: that of its key and nonce, at its own time."""
    return replica_id(int.from_bytes(first.replica[:TIME_BYTES], "big"), key, first.previous)


def _check_operation(operation: Operation, long: list[Value], *, whole: bool) -> None:
    """Raise RemoteProtocolError where an operation is malformed; note the long values of its fields."""
    effect, base = operation.effect, operation.base
    if len(operation.entity) != ID_BYTES or not 0 < len(operation.kind) <= NAME_CHARS_MAX:
        raise RemoteProtocolError("out of range: entity id or kind")
    if (effect is not None and len(effect) != ID_BYTES) or (base and not is_clock(base)):
        raise RemoteProtocolError("out of range: effect or base")
    for name, value in operation.fields.items():
        if not 0 < len(name) <= NAME_CHARS_MAX:
            raise RemoteProtocolError("out of range: field name")
        if type(value) is str:
            if len(value) > _SHORT_TEXT_CHARS and is_long(value):
                long.append(value)
        elif whole or type(value) is not Redacted:
            codec.check_value(value)
            if is_long(value):
                long.append(value)
    if operation.origin is not None:
        codec.check_value(operation.origin)


def is_clock(clock: Clock) -> bool:
    """Say whether heads from outside are in range, in order, and without repetition."""
    if not clock:
        return True
    if len(clock) > BASE_HEADS_MAX:
        return False
    for head in clock:
        if len(head.replica) != ID_BYTES or len(head.hash8) != HASH8_BYTES:
            return False
        if not 1 <= head.counter <= COUNTER_MAX:
            return False
    return all(a < b for a, b in itertools.pairwise(clock))
