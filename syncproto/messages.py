"""The messages of a conversation between two devices, each with one canonical form as a frame.

Never decides what to send next; the session does.
"""

from collections.abc import Sequence
from typing import Annotated

import msgspec

from syncproto import codec
from syncproto.codec import Value
from syncproto.commit import BASE_HEADS_MAX, SignedCommit, is_valid_clock
from syncproto.errors import RemoteProtocolError, UnsupportedVersion
from syncproto.ids import ID_BYTES, ReplicaId
from syncproto.vector_clock import Head, VectorClock

VERSIONS = (2,)
VERSIONS_MAX = 64
FRAME_BYTES_MAX = 1 << 20
FRAME_ITEMS_MAX = 64 * 1024
PAGE_BYTES_MIN = 4 * 1024
PAGE_BYTES_MAX = 768 * 1024
STATE_HASH_BYTES = 32
VECTOR_PART_HEADS = BASE_HEADS_MAX
GREETING_HEADS_MAX = 1 << 22
REASON_CHARS_MAX = 200
WANTED_HEADS_MAX = 4096
_WANTED = "wanted"


class Hello(msgspec.Struct, frozen=True, array_like=True, tag=1):
    """The first frame of each side: its protocol versions, its vault, and which commits it has.

    `vector` is the first part of its vector: if it has VECTOR_PART_HEADS heads, further parts follow. `more`
    has the heads that `wanted_entry` makes, or nothing; a reader ignores what it does not know in it.
    """

    versions: list[int]
    vault: bytes
    replica: ReplicaId | None
    vector: VectorClock
    state_hash: bytes
    more: dict[str, Value]


def wanted_entry(heads: VectorClock) -> dict[str, Value]:
    """Return what a Hello says of commits that its sender wants again, nothing if it wants none."""
    return {_WANTED: [list(head) for head in heads]} if heads else {}


def wanted_heads(hello: Hello) -> list[Head]:
    """Return the commits that the sender of a Hello wants again: those that are heads, and not too many."""
    rows = hello.more.get(_WANTED)
    heads: list[Head] = []
    for row in rows[:WANTED_HEADS_MAX] if isinstance(rows, list) else []:
        match row:
            case [bytes() as replica, int() as counter, bytes() as digest]:
                heads.append(Head(ReplicaId(replica), counter, digest))
    return heads


class Commits(msgspec.Struct, frozen=True, array_like=True, tag=2):
    """A page of commits in the feed order of the sender; each run in it ends in a signature."""

    commits: list[SignedCommit]


class Ack(msgspec.Struct, frozen=True, array_like=True, tag=3):
    """The answer to one page, once it is durable: how the vector of its sender changed since it last told.

    `heads` came to it, `gone` left it. `state_hash` belongs to the vector after that.
    """

    heads: VectorClock
    gone: VectorClock
    state_hash: bytes


class Ping(msgspec.Struct, frozen=True, array_like=True, tag=4):
    """A question whether the other side is still there."""

    nonce: int


class Pong(msgspec.Struct, frozen=True, array_like=True, tag=5):
    """The answer to a ping."""

    nonce: int


class Bye(msgspec.Struct, frozen=True, array_like=True, tag=6):
    """The last frame: why the sender closes the link."""

    reason: str


class Heads(msgspec.Struct, frozen=True, array_like=True, tag=7):
    """A further part of the vector in a Hello, or an earlier part of the change in an Ack."""

    heads: VectorClock
    gone: VectorClock


class _AnyHello(msgspec.Struct, frozen=True, array_like=True):
    """The part of a Hello that every version has in common; what comes after it is ignored."""

    kind: int
    versions: Annotated[list[int], msgspec.Meta(max_length=VERSIONS_MAX)]


Message = Hello | Commits | Ack | Ping | Pong | Bye | Heads

_any_hello = msgspec.msgpack.Decoder(_AnyHello)
_decoder: msgspec.msgpack.Decoder[Message] = msgspec.msgpack.Decoder(Message)


def encode_message(message: Message) -> bytes:
    """Return the frame of a message: its only canonical form."""
    return codec.encode(message)


def decode_message(frame: bytes) -> Message:
    """Return the message in a frame. Raises RemoteProtocolError if malformed, too large, out of range."""
    if len(frame) > FRAME_BYTES_MAX:
        raise RemoteProtocolError(f"a frame of {len(frame)} bytes exceeds {FRAME_BYTES_MAX} bytes")
    message = codec.decode(frame, _decoder, FRAME_ITEMS_MAX)
    match message:
        case Hello():
            _check_hello(message)
            _check_vector(message.vector)
            _check_state_hash(message.state_hash)
        case Ack():
            _check_vector(message.heads, message.gone)
            _check_state_hash(message.state_hash)
        case Heads():
            _check_vector(message.heads, message.gone)
        case Ping() | Pong():
            codec.check_value(message.nonce)
    return message


def versions_in_hello(frame: bytes) -> list[int] | None:
    """Return the versions in a Hello of any version, None if the frame is no Hello.

    Every version keeps this part of a Hello in its place. Otherwise two devices without a common version
    could not report that as the reason.
    """
    try:
        hello = _any_hello.decode(frame) if len(frame) <= FRAME_BYTES_MAX else None
    except (msgspec.MsgspecError, RecursionError):
        return None
    return None if hello is None or hello.kind != 1 else hello.versions


def decode_greeting(frame: bytes) -> Message:
    """Decode the first frame of a sender: a Hello of a version in common, or what should not come first.

    Raises UnsupportedVersion for a Hello without a common version, which may have any form beyond its
    versions (PROTOCOL.md §11), and RemoteProtocolError for what is no message.
    """
    try:
        message = decode_message(frame)
    except RemoteProtocolError:
        versions = versions_in_hello(frame)
        if versions is not None:
            require_shared_version(versions)
        raise
    if isinstance(message, Hello):
        require_shared_version(message.versions)
    return message


def require_shared_version(versions: Sequence[int]) -> None:
    """Raise UnsupportedVersion if this side speaks none of these versions."""
    if not set(versions) & set(VERSIONS):
        raise UnsupportedVersion(versions, newer=max(versions, default=0) > max(VERSIONS))


def _check_hello(hello: Hello) -> None:
    codec.check_value(hello.versions)
    codec.check_value(hello.more)
    if len(hello.vault) != ID_BYTES:
        raise RemoteProtocolError("out of range: vault id")
    if hello.replica is not None and len(hello.replica) != ID_BYTES:
        raise RemoteProtocolError("out of range: replica id")


def _check_vector(*parts: VectorClock) -> None:
    if not all(is_valid_clock(part) for part in parts):
        raise RemoteProtocolError("out of range: version vector")


def _check_state_hash(state_hash: bytes) -> None:
    if len(state_hash) != STATE_HASH_BYTES:
        raise RemoteProtocolError("out of range: state hash")
