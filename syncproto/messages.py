"""The frames of a conversation: what two devices say to each other, in one canonical form each.

Never decides what to say next; the session does.
"""

from typing import Annotated

import msgspec

from syncproto import codec
from syncproto.codec import Value
from syncproto.commit import SignedCommit, is_clock
from syncproto.faults import RemoteProtocolError
from syncproto.heads import Clock
from syncproto.ids import ID_BYTES, ReplicaId

VERSIONS = (1,)
VERSIONS_MAX = 64
FRAME_BYTES_MAX = 1 << 20
FRAME_ITEMS_MAX = 64 * 1024
PAGE_BYTES_MIN = 4 * 1024
PAGE_BYTES_MAX = 768 * 1024
HASH_BYTES = 32
REASON_CHARS_MAX = 200


class Hello(msgspec.Struct, frozen=True, array_like=True, tag=1):
    """The first frame of each side: what it speaks, which vault it is in, and what it holds.

    `more` is empty in version 1; a reader passes over what it does not know in it.
    """

    versions: list[int]
    vault: bytes
    replica: ReplicaId | None
    vector: Clock
    state_hash: bytes
    more: dict[str, Value]


class Commits(msgspec.Struct, frozen=True, array_like=True, tag=2):
    """A page of commits in the sender's feed order; each run in it ends in a signature."""

    commits: list[SignedCommit]


class Ack(msgspec.Struct, frozen=True, array_like=True, tag=3):
    """The answer to one page, once it is durable: what the receiver now holds."""

    vector: Clock
    state_hash: bytes


class Ping(msgspec.Struct, frozen=True, array_like=True, tag=4):
    """A question whether the other side still lives."""

    nonce: int


class Pong(msgspec.Struct, frozen=True, array_like=True, tag=5):
    """The answer to a ping."""

    nonce: int


class Bye(msgspec.Struct, frozen=True, array_like=True, tag=6):
    """The last frame: why the sender closes."""

    reason: str


class _AnyHello(msgspec.Struct, frozen=True, array_like=True):
    """What is looked at in the Hello of another version: members that come after are passed over."""

    kind: int
    versions: Annotated[list[int], msgspec.Meta(max_length=VERSIONS_MAX)]


Message = Hello | Commits | Ack | Ping | Pong | Bye

_any_hello = msgspec.msgpack.Decoder(_AnyHello)
_decoder: msgspec.msgpack.Decoder[Message] = msgspec.msgpack.Decoder(Message)


def write(message: Message) -> bytes:
    """Return a message's one canonical form."""
    return codec.encode(message)


def read(frame: bytes) -> Message:
    """Read a frame. Raises RemoteProtocolError for anything malformed, too large or out of range."""
    if len(frame) > FRAME_BYTES_MAX:
        raise RemoteProtocolError(f"a frame of {len(frame)} bytes exceeds {FRAME_BYTES_MAX} bytes")
    message = codec.decode(frame, _decoder, FRAME_ITEMS_MAX)
    match message:
        case Hello():
            _check_hello(message)
            _check_standing(message)
        case Ack():
            _check_standing(message)
        case Ping() | Pong():
            codec.check_value(message.nonce)
    return message


def versions_in(frame: bytes) -> list[int] | None:
    """Return the versions that a Hello of whatever version names, None where the frame is no Hello at all.

    Of all that a Hello says, this part stays where it is: else nobody could say what keeps two devices apart.
    """
    try:
        hello = _any_hello.decode(frame) if len(frame) <= FRAME_BYTES_MAX else None
    except (msgspec.MsgspecError, RecursionError):
        return None
    return None if hello is None or hello.kind != 1 else hello.versions


def _check_hello(hello: Hello) -> None:
    codec.check_value(hello.versions)
    codec.check_value(hello.more)
    if len(hello.vault) != ID_BYTES:
        raise RemoteProtocolError("out of range: vault id")
    if hello.replica is not None and len(hello.replica) != ID_BYTES:
        raise RemoteProtocolError("out of range: replica id")


def _check_standing(message: Hello | Ack) -> None:
    if not is_clock(message.vector):
        raise RemoteProtocolError("out of range: version vector")
    if len(message.state_hash) != HASH_BYTES:
        raise RemoteProtocolError("out of range: state hash")
