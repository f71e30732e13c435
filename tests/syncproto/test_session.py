"""The conversation on one link: greetings, pages, acknowledgements, and forks of replicas.

Never takes a frame's word for what it is: peers' frames are written by hand here.
"""

import pytest

from syncproto import codec, messages
from syncproto.commit import SignedCommit
from syncproto.errors import RemoteProtocolError, UnsupportedVersion
from syncproto.head_set import NO_HEADS, HeadSet
from syncproto.messages import Ack, Bye, Commits, Hello, Ping, Pong, decode_message, encode_message
from syncproto.send_window import WINDOW_BYTES_FIRST, WINDOW_PAGES
from syncproto.session import (
    AckReceived,
    ByeReceived,
    HelloReceived,
    PageRequest,
    SendFrame,
    Session,
    StatesCompared,
    StoreCommits,
    StoreState,
)
from syncproto.vector_clock import VectorClock
from tests.syncproto.sessions import COMMIT, OWN, PEERS, VAULT, ack, head, hello, new, standing

PAGE_BYTES_FIRST = WINDOW_BYTES_FIRST // 2


def streaming(own: StoreState | None = None, vector: VectorClock = (), state: int = 0) -> Session:
    """Return a session that has greeted and was greeted."""
    session = new(own)
    session.hello_frames()
    session.receive(hello(vector=vector, state=state))
    return session


# -- greetings ------------------------------------------------------------------------------------------


def test_commits_before_hello_are_the_peers_fault():
    session = new()
    session.hello_frames()
    with pytest.raises(RemoteProtocolError, match="Commits before Hello"):
        session.receive(encode_message(Commits([COMMIT])))


def test_a_frame_before_this_side_said_hello_is_refused():
    with pytest.raises(RemoteProtocolError, match="before this side said hello"):
        new().receive(hello())


def test_the_greeting_says_who_speaks_and_what_is_held():
    own = standing(head(OWN, 3), state=9)
    message = decode_message(Session(VAULT, OWN, own).hello_frames()[0])
    assert message == Hello([2], VAULT, OWN, own.heads.clock, own.state_hash, {})


def test_a_peer_that_speaks_a_newer_version_too_is_welcome():
    session = new()
    session.hello_frames()
    assert isinstance(session.receive(hello(versions=[7, 2]))[0], HelloReceived)


@pytest.mark.parametrize(
    ("frame", "newer"),
    [
        (hello(versions=[0, 3]), True),
        (hello(versions=[1]), False),
        (hello(versions=[]), False),
        (codec.encode([1, [3], "in another form"]), True),
        (codec.encode([1, [-1]]), False),
    ],
)
def test_a_peer_without_a_common_version_is_known_for_newer_or_older(frame, newer):
    session = new()
    session.hello_frames()
    with pytest.raises(UnsupportedVersion, match="no common version: it speaks") as fault:
        session.receive(frame)
    assert fault.value.newer is newer


def test_a_hello_of_this_version_in_another_form_is_a_fault_as_any_other():
    for frame in (codec.encode([1, [1, 2], "in another form"]), b"\xc1"):
        session = new()
        session.hello_frames()
        with pytest.raises(RemoteProtocolError) as fault:
            session.receive(frame)
        assert not isinstance(fault.value, UnsupportedVersion)
    with pytest.raises(RemoteProtocolError) as fault:
        streaming().receive(codec.encode([1, [3], "in another form"]))
    assert not isinstance(fault.value, UnsupportedVersion)


def test_two_that_hold_the_same_compare_their_states_at_once():
    own = standing(head(OWN, 3), state=9)
    for state, agree in ((9, True), (8, False)):
        session = Session(VAULT, OWN, own)
        session.hello_frames()
        result = session.receive(hello(vector=own.heads.clock, state=state))
        assert result == [HelloReceived(own.heads), StatesCompared(agree, own.heads)]


def test_two_that_hold_different_commits_compare_nothing():
    session = Session(VAULT, OWN, standing(head(OWN, 3)))
    session.hello_frames()
    assert session.receive(hello()) == [HelloReceived(NO_HEADS)]


# -- sending --------------------------------------------------------------------------------------------


def test_after_the_greeting_the_first_page_is_wanted_once():
    session = streaming(vector=(head(PEERS, 2),))
    assert session.next_page_request() == PageRequest(0, HeadSet((head(PEERS, 2),)), PAGE_BYTES_FIRST)
    assert session.next_page_request() is None
    rested = [session.is_idle]
    assert session.page_frame([], 7, standing()) is None
    rested.append(session.is_idle)
    session.feed_grew()
    assert [*rested, session.is_idle] == [False, True, False]
    assert session.next_page_request() == PageRequest(7, HeadSet((head(PEERS, 2),)), PAGE_BYTES_FIRST)


LONG = SignedCommit(bytes(64 * 1024 - 200), b"")


def exchange(session: Session, count: int, took_s: float, rest: bool = True) -> list[int]:
    """Let so many pages be sent and acknowledged, each so much later; return their sizes in KiB."""
    sizes: list[int] = []
    for end in range(count):
        wanted = session.next_page_request()
        assert wanted is not None
        sizes.append(wanted.bytes_max // 1024)
        commits = [LONG] * max(wanted.bytes_max // len(LONG.body), 1)
        assert session.page_frame(commits, end, standing(), 100.0 * end)
        session.receive(ack(), 100.0 * end + took_s)
    if rest:
        assert session.next_page_request()
        session.page_frame([], count, standing())
        session.feed_grew()
    return sizes


def test_pages_grow_while_they_come_through_in_time_and_begin_anew_after_a_rest():
    session = streaming()
    assert exchange(session, 5, 0.1) == [64, 127, 255, 510, 768]
    assert exchange(session, 3, 0.1) == [64, 127, 255]


def test_pages_of_a_line_that_is_narrow_stay_short_after_a_rest_too():
    session = streaming()
    assert exchange(session, 1, 10.0) == [64]
    assert exchange(session, 1, 10.0) == [6]


def test_to_who_tells_no_moments_every_line_is_a_fast_one():
    assert exchange(streaming(), 4, 0.0) == [64, 127, 255, 510]


def test_four_pages_go_unanswered_and_a_fifth_waits_for_an_ack():
    session = streaming()
    for end in range(WINDOW_PAGES):
        assert session.next_page_request()
        assert session.page_frame([COMMIT], end, standing())
    assert session.next_page_request() is None
    assert session.receive(ack(head(OWN, 1))) == [AckReceived(HeadSet((head(OWN, 1),)))]
    assert session.next_page_request()
    assert not session.is_idle


def test_an_ack_says_what_the_peer_holds_and_states_are_compared():
    own = standing(head(OWN, 1), state=5)
    session = streaming()
    session.next_page_request()
    session.page_frame([COMMIT], 1, own)
    assert session.receive(ack(*own.heads.clock, state=5)) == [
        AckReceived(own.heads),
        StatesCompared(True, own.heads),
    ]
    assert session.peer_vector == own.heads.clock


@pytest.mark.parametrize("state", [5, 6])
def test_what_a_peer_said_is_compared_once_this_side_has_come_to_hold_it(state):
    """Both sides write at once: the peer's Ack is here before its own page was stored."""
    both = standing(head(OWN, 1), head(PEERS, 1), state=5)
    session = streaming()
    session.next_page_request()
    session.page_frame([COMMIT], 1, standing(head(OWN, 1)))
    session.receive(encode_message(Commits([COMMIT])))
    assert session.receive(ack(*both.heads.clock, state=state)) == [AckReceived(both.heads)]
    assert session.compare_states() is None
    session.ack_frames([head(PEERS, 1)], False, both)
    assert session.compare_states() == StatesCompared(state == 5, both.heads)
    assert session.compare_states() is None


def test_what_a_peer_said_is_compared_with_what_is_held_when_a_page_is_read():
    store_state = standing(head(OWN, 1), state=5)
    session = streaming(vector=store_state.heads.clock, state=5)
    assert session.compare_states() is None
    session.next_page_request()
    session.page_frame([], 1, store_state)
    assert session.compare_states() == StatesCompared(True, store_state.heads)


def test_the_grown_feed_is_not_forgotten_while_a_page_is_being_read():
    session = streaming()
    assert session.next_page_request()
    session.feed_grew()
    assert session.page_frame([], 3, standing()) is None
    wanted = session.next_page_request()
    assert wanted is not None
    assert wanted.after == 3


def test_after_a_whole_page_nothing_is_wanted_until_the_feed_grows():
    session = streaming()
    assert session.next_page_request()
    assert session.page_frame([COMMIT], 1, standing(), whole=True)
    assert (session.next_page_request(), session.pages_in_flight) == (None, 1)
    session.feed_grew()
    wanted = session.next_page_request()
    assert wanted is not None
    session.feed_grew()
    assert session.page_frame([COMMIT], 2, standing(), whole=True)
    assert session.next_page_request() is not None


def test_a_page_is_asked_for_only_if_the_feed_reaches_beyond_the_last_one():
    session = streaming()
    assert session.next_page_request() is not None
    session.page_frame([COMMIT], 2, standing(), whole=True)
    session.feed_reaches(2)
    assert session.next_page_request() is None
    session.feed_reaches(3)
    assert session.next_page_request() is not None


def test_a_long_reason_is_cut_on_both_sides():
    long = "x" * 1000
    assert decode_message(new().bye_frame(long)) == Bye("x" * messages.REASON_CHARS_MAX)
    assert streaming().receive(encode_message(Bye(long))) == [ByeReceived("x" * messages.REASON_CHARS_MAX)]


def test_a_ping_is_answered_with_its_nonce():
    assert streaming().receive(encode_message(Ping(-5))) == [SendFrame(encode_message(Pong(-5)))]
    assert decode_message(streaming().ping_frame(6)) == Ping(6)


# -- taking ---------------------------------------------------------------------------------------------


def test_a_page_is_stored_before_it_is_acknowledged():
    session = streaming()
    assert session.receive(encode_message(Commits([COMMIT, SignedCommit(b"", b"")]))) == [
        StoreCommits([COMMIT, SignedCommit(b"", b"")])
    ]
    assert not session.is_idle
    after = standing(head(PEERS, 1), state=3)
    (frame,) = session.ack_frames([head(PEERS, 1)], False, after)
    assert decode_message(frame) == Ack(after.heads.clock, (), after.state_hash)
    assert session.peer_vector == after.heads.clock


def test_what_a_peer_sent_it_is_known_to_hold():
    session = streaming(vector=(head(PEERS, 1),))
    session.receive(encode_message(Commits([COMMIT])))
    session.receive(encode_message(Commits([COMMIT])))
    session.ack_frames(
        [head(PEERS, 2), head(PEERS, 3), head(OWN, 1)], False, standing(head(PEERS, 3), head(OWN, 1))
    )
    assert session.peer_vector == (head(OWN, 1), head(PEERS, 3))
    session.ack_frames([], False, standing(head(PEERS, 3), head(OWN, 1)))
    assert session.peer_vector == (head(OWN, 1), head(PEERS, 3))


def test_a_peer_is_not_taken_back_by_its_own_older_commits():
    session = streaming(vector=(head(PEERS, 9),))
    session.receive(encode_message(Commits([COMMIT])))
    session.ack_frames([head(PEERS, 2)], False, standing(head(PEERS, 2)))
    assert session.peer_vector == (head(PEERS, 9),)


# -- forks ----------------------------------------------------------------------------------------------


def caught_up(own: StoreState, vector: VectorClock) -> Session:
    """Return a session that has read the feed to position 50 and found nothing that the peer lacks."""
    session = streaming(own, vector)
    session.next_page_request()
    session.page_frame([], 50, own)
    return session


@pytest.mark.parametrize("answer", [True, False])
def test_a_fork_that_a_page_brings_sends_the_feed_again_from_its_beginning(answer):
    session = caught_up(standing(head(OWN, 5)), (head(OWN, 7, 1),))
    session.receive(encode_message(Commits([COMMIT])))
    heads = [head(OWN, 6, 1), head(OWN, 7, 1)]
    session.ack_frames(heads, answer, standing(head(OWN, 5), head(OWN, 7, 1)))
    assert session.peer_vector == (head(OWN, 7, 1),)
    wanted = session.next_page_request()
    assert wanted is not None
    assert wanted.after == 0


def test_a_fork_of_which_only_the_store_knows_sends_the_feed_again_from_its_beginning():
    session = streaming()
    session.receive(encode_message(Commits([COMMIT])))
    session.next_page_request()
    session.page_frame([], 50, standing())
    session.ack_frames([head(PEERS, 1)], True, standing(head(PEERS, 1)))
    wanted = session.next_page_request()
    assert wanted is not None
    assert wanted.after == 0


def test_a_fork_that_another_link_brought_sends_the_feed_again_too():
    session = caught_up(standing(head(OWN, 5)), (head(OWN, 7, 1),))
    session.feed_grew()
    assert session.next_page_request()
    # The page was read with counters that no longer mean what they did: it may leave out causes.
    assert session.page_frame([COMMIT], 60, standing(head(OWN, 5), head(OWN, 7, 1))) is None
    wanted = session.next_page_request()
    assert wanted is not None
    assert wanted.after == 0


def test_a_fork_met_while_a_page_is_being_read_sends_the_feed_again_too():
    session = caught_up(standing(head(OWN, 5)), (head(OWN, 7, 1),))
    session.receive(encode_message(Commits([COMMIT])))
    session.feed_grew()
    assert session.next_page_request()
    both = standing(head(OWN, 5), head(OWN, 7, 1))
    session.ack_frames([head(OWN, 7, 1)], True, both)
    assert session.page_frame([COMMIT], 60, both) is None
    wanted = session.next_page_request()
    assert wanted is not None
    assert wanted.after == 0
    assert session.page_frame([COMMIT], 60, both)


def test_coming_past_a_head_of_the_peers_without_it_sends_the_feed_again():
    own, peers = head(OWN, 5), head(OWN, 7, 1)
    session = caught_up(standing(own), (peers,))
    session.feed_grew()
    session.next_page_request()
    assert session.page_frame([], 60, standing(head(OWN, 6))) is None
    session.feed_grew()
    assert session.next_page_request() == PageRequest(60, HeadSet((peers,)), PAGE_BYTES_FIRST)
    assert session.page_frame([COMMIT], 70, standing(head(OWN, 8))) is None
    assert session.next_page_request() == PageRequest(0, HeadSet((peers,)), PAGE_BYTES_FIRST)


def test_coming_to_the_very_head_of_the_peers_is_no_surprise():
    session = caught_up(standing(head(OWN, 5)), (head(OWN, 7),))
    session.feed_grew()
    session.next_page_request()
    assert session.page_frame([], 60, standing(head(OWN, 7))) is None
    session.feed_grew()
    assert session.next_page_request() == PageRequest(60, HeadSet((head(OWN, 7),)), PAGE_BYTES_FIRST)


def test_coming_to_another_commit_of_the_number_of_the_peers_head_sends_the_feed_again():
    peers = head(OWN, 7, 1)
    session = caught_up(standing(head(OWN, 5)), (peers,))
    session.feed_grew()
    session.next_page_request()
    assert session.page_frame([COMMIT], 60, standing(head(OWN, 7))) is None
    assert session.next_page_request() == PageRequest(0, HeadSet((peers,)), PAGE_BYTES_FIRST)


def test_a_commit_of_the_number_of_the_peers_head_does_not_take_its_place():
    session = streaming(vector=(head(PEERS, 4, 1),))
    session.receive(encode_message(Commits([COMMIT])))
    session.ack_frames([head(PEERS, 4)], False, standing(head(PEERS, 4)))
    assert session.peer_vector == (head(PEERS, 4, 1),)


def test_where_a_replica_forked_all_heads_of_the_peers_are_kept():
    both = (head(PEERS, 4), head(PEERS, 4, 1))
    session = streaming(standing(*both), both)
    session.receive(encode_message(Commits([COMMIT])))
    session.ack_frames([head(PEERS, 5)], False, standing(head(PEERS, 5), head(PEERS, 4, 1)))
    assert set(session.peer_vector) == {*both, head(PEERS, 5)}


def test_where_only_the_peer_knows_of_a_fork_none_of_its_heads_is_dropped():
    both = (head(PEERS, 4, 1), head(PEERS, 6))
    session = streaming(vector=both)
    session.receive(encode_message(Commits([COMMIT])))
    session.ack_frames([head(PEERS, 4), head(PEERS, 5)], False, standing(head(PEERS, 5)))
    assert set(session.peer_vector) == {*both, head(PEERS, 5)}


def test_the_window_is_the_one_that_the_protocol_states():
    assert WINDOW_PAGES == 4


def test_where_this_side_knows_of_a_fork_a_peers_one_head_stays_beside_the_new_one():
    session = streaming(standing(head(PEERS, 4)), (head(PEERS, 4),))
    session.receive(encode_message(Commits([COMMIT])))
    session.ack_frames([head(PEERS, 6, 1)], True, standing(head(PEERS, 4), head(PEERS, 6, 1)))
    assert set(session.peer_vector) == {head(PEERS, 4), head(PEERS, 6, 1)}


def test_a_replica_that_is_met_for_the_first_time_is_no_surprise():
    session = caught_up(standing(), (head(PEERS, 5),))
    session.feed_grew()
    session.next_page_request()
    assert session.page_frame([COMMIT], 60, standing(head(PEERS, 7)))
    assert session.next_page_request() == PageRequest(60, HeadSet((head(PEERS, 5),)), PAGE_BYTES_FIRST)
