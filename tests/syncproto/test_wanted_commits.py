"""Commits that a peer wants again, because it has only what is left of their values.

Never reads a store: what a page of such a commit does is in `tests/store/test_dropped_values.py`.
"""

from typing import Any

import pytest

from syncproto.messages import WANTED_HEADS_MAX, Hello, decode_message, encode_message
from syncproto.session import PageRequest, Session, StatesCompared, StoreState
from syncproto.vector_clock import VectorClock
from tests.syncproto.sessions import COMMIT, OWN, PEERS, VAULT, ack, head, standing

WANTED = (head(OWN, 3), head(PEERS, 1))


def greeted(more: dict[str, Any], own: StoreState | None = None) -> Session:
    """Return a session whose peer has the same commits, and says `more`."""
    own = own or standing(head(OWN, 3))
    session = Session(VAULT, OWN, own)
    session.hello_frames()
    session.receive(encode_message(Hello([2], VAULT, None, own.heads.clock, bytes(32), more)))
    return session


def requests(session: Session) -> list[VectorClock]:
    """Return what is asked for page by page, while each page is empty."""
    again: list[VectorClock] = []
    while (request := session.next_page_request()) is not None:
        again.append(request.again)
        left = () if request.again else None
        session.page_frame([], request.after, standing(head(OWN, 3)), whole=not request.again, left=left)
    return again


def test_a_hello_names_what_is_wanted_and_the_other_side_is_asked_for_it_first() -> None:
    session = Session(VAULT, PEERS, standing(head(OWN, 3)), WANTED)
    (frame,) = session.hello_frames()
    hello = decode_message(frame)
    assert isinstance(hello, Hello)
    assert requests(greeted(hello.more)) == [WANTED, ()]


def test_a_hello_that_wants_nothing_says_nothing_more() -> None:
    hello = decode_message(Session(VAULT, PEERS, standing()).hello_frames()[0])
    assert isinstance(hello, Hello)
    assert hello.more == {}


def test_what_was_sent_again_is_acknowledged_and_the_feed_goes_on_where_it_was() -> None:
    own = standing(head(OWN, 3))
    session = greeted({"wanted": [list(head(OWN, 3))]}, own)
    request = session.next_page_request()
    assert request is not None
    assert (request.again, request.after) == ((head(OWN, 3),), 0)
    assert session.page_frame([COMMIT], request.after, own, left=()) is not None
    assert session.next_page_request() == PageRequest(0, own.heads, request.bytes_max)
    assert session.page_frame([], 7, own, whole=True) is None
    # The peer's vector is the same, and its state is another.
    session.receive(ack(state=5))
    assert session.is_idle
    session.feed_grew()
    after = session.next_page_request()
    assert after is not None
    assert (after.after, after.again) == (7, ())


@pytest.mark.parametrize(
    "wanted",
    [7, "x", {"a": 1}, [7], [[]], [["x", 1, b"h"]], [[OWN, "1", b"h"]], [[OWN, 1]], [[OWN, 1, b"h", 2]]],
)
def test_what_is_no_head_is_passed_over(wanted: Any) -> None:
    assert requests(greeted({"wanted": wanted})) == [()]


def test_not_more_is_sent_again_than_a_hello_may_want() -> None:
    heads = [list(head(OWN, number)) for number in range(1, 5000)]
    assert sum(map(len, requests(greeted({"wanted": heads})))) == WANTED_HEADS_MAX


def regaining(own: StoreState) -> Session:
    """Return a session that is in step with its peer, and whose side has regained values of its commit."""
    session = greeted({}, own)
    request = session.next_page_request()
    assert request is not None
    session.page_frame([], 1, own, whole=True)
    session.send_again([head(OWN, 3)])
    return session


def test_what_was_regained_is_sent_once_to_a_peer_that_holds_the_same_commits() -> None:
    own = standing(head(OWN, 3))
    session = regaining(own)
    assert not session.is_idle
    assert requests(session) == [(head(OWN, 3),)]
    assert session.is_idle


def test_what_was_regained_waits_while_the_peer_lacks_the_commit() -> None:
    own = standing(head(OWN, 3))
    session = Session(VAULT, OWN, own)
    session.hello_frames()
    session.receive(encode_message(Hello([2], VAULT, None, (), bytes(32), {})))
    session.send_again([head(OWN, 3)])
    request = session.next_page_request()
    assert request is not None
    assert request.again == ()
    assert session.page_frame([COMMIT], 1, own, whole=True) is not None
    assert session.next_page_request() is None
    session.receive(ack(head(OWN, 3)))
    request = session.next_page_request()
    assert request is not None
    assert request.again == (head(OWN, 3),)


def test_states_are_compared_once_the_peer_has_answered_what_was_regained() -> None:
    own = standing(head(OWN, 3))
    session = regaining(own)
    fuller = standing(head(OWN, 3), state=5)
    request = session.next_page_request()
    assert request is not None
    assert session.page_frame([COMMIT], request.after, fuller, left=()) is not None
    assert session.compare_states() is None
    (_, compared) = session.receive(ack(state=5))
    assert compared == StatesCompared(True, fuller.heads)


def test_commits_for_which_a_page_had_no_room_come_with_the_next_one() -> None:
    own = standing(head(OWN, 3))
    session = greeted({"wanted": [list(wanted) for wanted in WANTED]}, own)
    first = session.next_page_request()
    assert first is not None
    assert session.page_frame([COMMIT], first.after, own, left=WANTED[1:]) is not None
    assert requests(session) == [WANTED[1:], ()]


def test_a_page_that_was_read_before_a_fork_was_known_is_read_anew() -> None:
    session = greeted({"wanted": [list(head(OWN, 3))]}, standing(head(OWN, 3)))
    first = session.next_page_request()
    assert first is not None
    forked = standing(head(OWN, 3), head(OWN, 3, 1))
    assert session.page_frame([COMMIT], first.after, forked, left=()) is None
    second = session.next_page_request()
    assert second is not None
    assert second.again == first.again
