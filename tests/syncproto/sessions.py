"""Sessions in the states that tests begin with, and the frames of their peers.

Never checks anything.
"""

from collections.abc import Sequence

from syncproto.commit import encode_commit
from syncproto.head_set import HeadSet
from syncproto.ids import ReplicaId
from syncproto.messages import Ack, Hello, encode_message
from syncproto.session import (
    Session,
    StoreState,
)
from syncproto.vector_clock import Head, VectorClock
from tests.support import strategies as draw

VAULT, OTHER_VAULT = bytes(16), bytes([1]) * 16


OWN, PEERS = ReplicaId(b"o" * 16), ReplicaId(b"p" * 16)


COMMIT = draw.signed(encode_commit(draw.first_commit())).signed


def head(replica: ReplicaId, counter: int, branch: int = 0) -> Head:
    """Return a head; `branch` tells apart commits of one counter."""
    return Head(replica, counter, bytes([branch]) * 32)


def standing(*heads: Head, state: int = 0) -> StoreState:
    """Return what a store holds."""
    return StoreState(HeadSet(heads), bytes([state]) * 32)


def hello(
    vault: bytes = VAULT, versions: Sequence[int] = (2,), vector: VectorClock = (), state: int = 0
) -> bytes:
    """Write a peer's Hello."""
    return encode_message(Hello(list(versions), vault, None, vector, bytes([state]) * 32, {}))


def ack(*heads: Head, sample_heads: tuple[Head, ...] = (), state: int = 0) -> bytes:
    """Write a peer's Ack: these heads came to it, and those are gone."""
    return encode_message(Ack(tuple(sorted(heads)), tuple(sorted(sample_heads)), bytes([state]) * 32))


def new(own: StoreState | None = None) -> Session:
    """Return a session that has said nothing."""
    return Session(VAULT, OWN, own or standing())
