"""A vector that a Hello tells in parts: in one order, and not without end.

Never sends as many heads as the limit allows: the tests set a lower one.
"""

import pytest

from syncproto.errors import RemoteProtocolError
from syncproto.head_set import NO_HEADS, HeadSet
from syncproto.ids import ReplicaId
from syncproto.messages import Heads, Hello, decode_message, encode_message
from syncproto.peer_vector import parts_of
from syncproto.session import Session, StoreState
from syncproto.vector_clock import Head, VectorClock

PART, LIMIT = 4, 12


@pytest.fixture(autouse=True)
def low_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a part and a greeting short."""
    for module in ("messages", "peer_vector"):
        monkeypatch.setattr(f"syncproto.{module}.VECTOR_PART_HEADS", PART)
        monkeypatch.setattr(f"syncproto.{module}.GREETING_HEADS_MAX", LIMIT)


def heads(count: int, first: int = 0) -> VectorClock:
    return tuple(
        Head(ReplicaId(number.to_bytes(16, "big")), 1, bytes(32)) for number in range(first, first + count)
    )


def greeted(vector: VectorClock) -> Session:
    """Return a session that has received the first part of a vector."""
    session = Session(bytes(16), None, StoreState(NO_HEADS, bytes(32)))
    session.hello_frames()
    session.receive(encode_message(Hello([2], bytes(16), None, vector, bytes(32), {})))
    return session


def test_a_greeting_that_does_not_end_is_refused() -> None:
    session = greeted(heads(PART))
    for start in range(PART, LIMIT, PART):
        assert session.receive(encode_message(Heads(heads(PART, start), ()))) == []
    with pytest.raises(RemoteProtocolError, match=f"a Hello of more than {LIMIT} heads"):
        session.receive(encode_message(Heads(heads(PART, LIMIT), ())))


@pytest.mark.parametrize("start", [0, PART - 1])
def test_parts_that_are_not_in_order_are_refused(start: int) -> None:
    session = greeted(heads(PART))
    with pytest.raises(RemoteProtocolError, match="not in order"):
        session.receive(encode_message(Heads(heads(1, start), ())))


def test_a_vector_beyond_the_limit_is_told_as_far_as_it_may_be() -> None:
    own = Session(bytes(16), None, StoreState(HeadSet(heads(LIMIT + 5)), bytes(32)))
    first, *others = own.hello_frames()
    session = Session(bytes(16), None, StoreState(NO_HEADS, bytes(32)))
    session.hello_frames()
    for frame in (first, *others):
        session.receive(frame)
    assert session.peer_vector == heads(LIMIT)
    assert decode_message(others[-1]) == Heads((), ())
    assert [len(part) for part in parts_of(heads(LIMIT + 5))] == [PART, PART, PART, 0]
