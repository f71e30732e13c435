"""The conversation: one table of (state, event, outcome), held to the session both ways, and what it sends.

Never takes a frame's word for what it is: peers' frames are written by hand here.
"""

import random
from collections.abc import Callable, Sequence

import pytest

from syncproto import codec, messages
from syncproto.commit import SignedCommit, seal
from syncproto.faults import LocalProtocolError, OtherVersion, ProtocolError, RemoteProtocolError
from syncproto.flight import FLIGHT_BYTES_FIRST, WINDOW_PAGES
from syncproto.heads import Clock, Head
from syncproto.ids import ReplicaId
from syncproto.messages import Ack, Bye, Commits, Hello, Ping, Pong, read, write
from syncproto.session import (
    Acked,
    Closed,
    Compared,
    Greeted,
    PageWanted,
    Send,
    Session,
    Standing,
    State,
    Take,
)
from tests.syncproto import strategies as draw

VAULT, OTHER_VAULT = bytes(16), bytes([1]) * 16
OWN, PEERS = ReplicaId(b"o" * 16), ReplicaId(b"p" * 16)
COMMIT = draw.signed(seal(draw.first_commit())).signed
PAGE_BYTES_FIRST = FLIGHT_BYTES_FIRST // 2


def head(replica: ReplicaId, counter: int, branch: int = 0) -> Head:
    """Return a head; `branch` tells apart commits of one counter."""
    return Head(replica, counter, bytes([branch]) * 8)


def standing(*heads: Head, state: int = 0) -> Standing:
    """Return what a store holds."""
    return Standing(tuple(sorted(heads)), bytes([state]) * 32)


def hello(vault: bytes = VAULT, versions: Sequence[int] = (1,), vector: Clock = (), state: int = 0) -> bytes:
    """Write a peer's Hello."""
    return write(Hello(list(versions), vault, None, vector, bytes([state]) * 32, {}))


def ack(*vector: Head, state: int = 0) -> bytes:
    """Write a peer's Ack."""
    return write(Ack(tuple(sorted(vector)), bytes([state]) * 32))


def new(own: Standing | None = None) -> Session:
    """Return a session that has said nothing."""
    return Session(VAULT, OWN, own or standing())


def streaming(own: Standing | None = None, vector: Clock = (), state: int = 0) -> Session:
    """Return a session that has greeted and was greeted."""
    made = new(own)
    made.hello()
    made.receive(hello(vector=vector, state=state))
    return made


# -- the table ------------------------------------------------------------------------------------------

# What a peer or the owner of a session may do; where it depends on what is outstanding, the name says so.
EVENTS: dict[str, Callable[[Session], object]] = {
    "peer: hello": lambda one: one.receive(hello()),
    "peer: hello of another vault": lambda one: one.receive(hello(vault=OTHER_VAULT)),
    "peer: hello without a common version": lambda one: one.receive(hello(versions=[0, 2])),
    "peer: a page": lambda one: one.receive(write(Commits([COMMIT]))),
    "peer: a page beyond the window": lambda one: one.receive(write(Commits([COMMIT]))),
    "peer: an empty page": lambda one: one.receive(write(Commits([]))),
    "peer: an ack that is owed": lambda one: one.receive(ack(head(OWN, 9))),
    "peer: an ack for no page": lambda one: one.receive(ack()),
    "peer: ping": lambda one: one.receive(write(Ping(7))),
    "peer: pong": lambda one: one.receive(write(Pong(7))),
    "peer: bye": lambda one: one.receive(write(Bye("tired"))),
    "peer: bytes that are no frame": lambda one: one.receive(b"\xc1"),
    "own: hello": lambda one: one.hello(),
    "own: bye": lambda one: one.bye("done"),
    "own: wanted, with nothing new": lambda one: one.wanted(),
    "own: wanted, with something new": lambda one: one.wanted(),
    "own: wanted, with a full window": lambda one: one.wanted(),
    "own: a page that was wanted": lambda one: one.page([COMMIT], 5, standing()),
    "own: a page with nothing in it": lambda one: one.page([], 5, standing()),
    "own: a page that was not wanted": lambda one: one.page([COMMIT], 5, standing()),
    "own: taken, with a page to answer": lambda one: one.taken([], False, standing()),
    "own: taken, with no page to answer": lambda one: one.taken([], False, standing()),
}

# Which states an event can meet at all: nothing is outstanding before the greeting.
OUTSTANDING = {
    "peer: a page beyond the window",
    "peer: an ack that is owed",
    "own: wanted, with a full window",
    "own: a page that was wanted",
    "own: a page with nothing in it",
    "own: taken, with a page to answer",
}

FAULT, BUG = RemoteProtocolError.__name__, LocalProtocolError.__name__
OTHER = OtherVersion.__name__
N, G, S, C = State.NEW, State.GREETING, State.STREAMING, State.CLOSED

# event: for each state that it can meet, what comes of it and the state after it.
TABLE: dict[str, dict[State, tuple[str, State]]] = {
    "peer: hello": {N: (FAULT, N), G: ("Greeted Compared", S), S: (FAULT, S), C: ("", C)},
    "peer: hello of another vault": {N: (FAULT, N), G: (FAULT, G), S: (FAULT, S), C: ("", C)},
    "peer: hello without a common version": {N: (FAULT, N), G: (OTHER, G), S: (FAULT, S), C: ("", C)},
    "peer: a page": {N: (FAULT, N), G: (FAULT, G), S: ("Take", S), C: ("", C)},
    "peer: a page beyond the window": {S: (FAULT, S), C: ("", C)},
    "peer: an empty page": {N: (FAULT, N), G: (FAULT, G), S: (FAULT, S), C: ("", C)},
    "peer: an ack that is owed": {S: ("Acked", S), C: ("", C)},
    "peer: an ack for no page": {N: (FAULT, N), G: (FAULT, G), S: (FAULT, S), C: ("", C)},
    "peer: ping": {N: (FAULT, N), G: (FAULT, G), S: ("Send", S), C: ("", C)},
    "peer: pong": {N: (FAULT, N), G: (FAULT, G), S: ("", S), C: ("", C)},
    "peer: bye": {N: ("Closed", C), G: ("Closed", C), S: ("Closed", C), C: ("", C)},
    "peer: bytes that are no frame": {N: (FAULT, N), G: (FAULT, G), S: (FAULT, S), C: ("", C)},
    "own: hello": {N: ("frame", G), G: (BUG, G), S: (BUG, S), C: (BUG, C)},
    "own: bye": {N: ("frame", C), G: ("frame", C), S: ("frame", C), C: ("frame", C)},
    "own: wanted, with nothing new": {
        N: ("nothing", N),
        G: ("nothing", G),
        S: ("nothing", S),
        C: ("nothing", C),
    },
    "own: wanted, with something new": {
        N: ("nothing", N),
        G: ("nothing", G),
        S: ("page", S),
        C: ("nothing", C),
    },
    "own: wanted, with a full window": {S: ("nothing", S), C: ("nothing", C)},
    "own: a page that was wanted": {S: ("frame", S), C: ("nothing", C)},
    "own: a page with nothing in it": {S: ("nothing", S), C: ("nothing", C)},
    "own: a page that was not wanted": {N: (BUG, N), G: (BUG, G), S: (BUG, S), C: (BUG, C)},
    "own: taken, with a page to answer": {S: ("frame", S), C: ("frame", C)},
    "own: taken, with no page to answer": {N: (BUG, N), G: (BUG, G), S: (BUG, S), C: (BUG, C)},
}


def outcome(one: Session, event: str) -> tuple[str, State]:
    """Let an event happen; return what came of it in the table's words, and the state after it."""
    try:
        found = EVENTS[event](one)
    except ProtocolError as fault:
        return type(fault).__name__, one.state
    match found:
        case None:
            return "nothing", one.state
        case bytes():
            return "frame", one.state
        case PageWanted():
            return "page", one.state
        case list():
            return " ".join(type(each).__name__ for each in found), one.state
    raise AssertionError(found)


def prepared(event: str, state: State) -> Session:
    """Return a session in a state, with outstanding what the event's name says."""
    one = new()
    if state is not N:
        one.hello()
    if state in {S, C}:
        one.receive(hello())
        one.wanted()
        one.page([], 0, standing())
        _make_outstanding(one, event)
    if "something new" in event:
        one.grew()
    if state is C:
        one.bye("done")
    return one


def _make_outstanding(one: Session, event: str) -> None:
    sent = {"peer: an ack that is owed": 1, "own: wanted, with a full window": WINDOW_PAGES}.get(event, 0)
    came = {"peer: a page beyond the window": WINDOW_PAGES, "own: taken, with a page to answer": 1}.get(
        event, 0
    )
    for _ in range(sent):
        one.grew()
        one.wanted()
        one.page([COMMIT], 1, standing())
    for _ in range(came):
        one.receive(write(Commits([COMMIT])))
    if event in {"own: a page that was wanted", "own: a page with nothing in it"}:
        one.grew()
        assert one.wanted()


ROWS = [(event, state, row) for event, rows in TABLE.items() for state, row in rows.items()]


@pytest.mark.parametrize(("event", "state", "row"), ROWS, ids=[f"{s.value}, {e}" for e, s, _ in ROWS])
def test_each_row_of_the_table_holds(event, state, row):
    one = prepared(event, state)
    assert one.state is state
    assert outcome(one, event) == row


def test_the_table_has_every_event_in_every_state_that_it_can_meet():
    assert TABLE.keys() == EVENTS.keys()
    for event, rows in TABLE.items():
        assert set(rows) == ({S, C} if event in OUTSTANDING else {N, G, S, C}), event


class Count:
    """What is outstanding on both sides, counted apart from the session."""

    def __init__(self) -> None:
        self.unacked = self.untaken = 0
        self.asked = self.grown = False

    def name(self, event: str) -> bool:
        """Say whether an event's name is true now."""
        full = self.unacked >= WINDOW_PAGES
        return {
            "peer: a page": self.untaken < WINDOW_PAGES,
            "peer: a page beyond the window": self.untaken >= WINDOW_PAGES,
            "peer: an ack that is owed": self.unacked > 0,
            "peer: an ack for no page": self.unacked == 0,
            "own: wanted, with nothing new": not self.grown and not full,
            "own: wanted, with something new": self.grown and not self.asked and not full,
            "own: wanted, with a full window": full,
            "own: a page that was wanted": self.asked,
            "own: a page with nothing in it": self.asked,
            "own: a page that was not wanted": not self.asked,
            "own: taken, with a page to answer": self.untaken > 0,
            "own: taken, with no page to answer": self.untaken == 0,
        }.get(event, True)

    def note(self, event: str, came: str) -> None:
        """Note what came of an event."""
        if event == "own: taken, with a page to answer":
            self.untaken -= 1
        elif came == "Greeted Compared":
            self.grown = True
        elif came == "Take":
            self.untaken += 1
        elif came == "Acked":
            self.unacked -= 1
        elif came == "page":
            self.asked, self.grown = True, False
        elif event.startswith("own: a page") and came != BUG:
            self.asked = False
            self.unacked += came == "frame"
            self.grown = self.grown or came == "frame"


@pytest.mark.parametrize("seed", range(20))
def test_whatever_happens_to_a_session_is_in_the_table(seed):
    chance, met = random.Random(seed), set()
    for _ in range(60):
        one, count = new(), Count()
        for _ in range(40):
            event = chance.choice([name for name in EVENTS if count.name(name) and _likely(chance, name)])
            before = one.state
            if event == "own: wanted, with something new" and before in {N, G}:
                one.grew()
                count.grown = True
            came, after = outcome(one, event)
            assert TABLE[event][before] == (came, after), (event, before)
            count.note(event, came)
            met.add((event, before))
    assert len(met) > 60


def _likely(chance: random.Random, event: str) -> bool:
    """Leave out most endings, so that conversations last."""
    return "bye" not in event or chance.random() < 0.05


# -- greetings ------------------------------------------------------------------------------------------


def test_commits_before_hello_are_the_peers_fault():
    one = new()
    one.hello()
    with pytest.raises(RemoteProtocolError, match="Commits before Hello"):
        one.receive(write(Commits([COMMIT])))


def test_a_frame_before_this_side_said_hello_is_refused():
    with pytest.raises(RemoteProtocolError, match="before this side said hello"):
        new().receive(hello())


def test_the_greeting_says_who_speaks_and_what_is_held():
    own = standing(head(OWN, 3), state=9)
    said = read(Session(VAULT, OWN, own).hello())
    assert said == Hello([1], VAULT, OWN, own.vector, own.state_hash, {})


def test_a_peer_that_speaks_a_newer_version_too_is_welcome():
    one = new()
    one.hello()
    assert isinstance(one.receive(hello(versions=[7, 1]))[0], Greeted)


@pytest.mark.parametrize(
    ("frame", "newer"),
    [
        (hello(versions=[0, 2]), True),
        (hello(versions=[0]), False),
        (hello(versions=[]), False),
        (codec.encode([1, [2], "in another form"]), True),
        (codec.encode([1, [-1]]), False),
    ],
)
def test_a_peer_without_a_common_version_is_known_for_newer_or_older(frame, newer):
    one = new()
    one.hello()
    with pytest.raises(OtherVersion, match="no common version: it speaks") as fault:
        one.receive(frame)
    assert fault.value.newer is newer


def test_a_hello_of_this_version_in_another_form_is_a_fault_as_any_other():
    for frame in (codec.encode([1, [1, 2], "in another form"]), b"\xc1"):
        one = new()
        one.hello()
        with pytest.raises(RemoteProtocolError) as fault:
            one.receive(frame)
        assert not isinstance(fault.value, OtherVersion)
    with pytest.raises(RemoteProtocolError) as fault:
        streaming().receive(codec.encode([1, [2], "in another form"]))
    assert not isinstance(fault.value, OtherVersion)


def test_two_that_hold_the_same_compare_their_states_at_once():
    own = standing(head(OWN, 3), state=9)
    for state, agree in ((9, True), (8, False)):
        one = Session(VAULT, OWN, own)
        one.hello()
        found = one.receive(hello(vector=own.vector, state=state))
        assert found == [Greeted(own.vector), Compared(agree, own.vector)]


def test_two_that_hold_different_commits_compare_nothing():
    one = Session(VAULT, OWN, standing(head(OWN, 3)))
    one.hello()
    assert one.receive(hello()) == [Greeted(())]


# -- sending --------------------------------------------------------------------------------------------


def test_after_the_greeting_the_first_page_is_wanted_once():
    one = streaming(vector=(head(PEERS, 2),))
    assert one.wanted() == PageWanted(0, (head(PEERS, 2),), PAGE_BYTES_FIRST)
    assert one.wanted() is None
    rested = [one.idle]
    assert one.page([], 7, standing()) is None
    rested.append(one.idle)
    one.grew()
    assert [*rested, one.idle] == [False, True, False]
    assert one.wanted() == PageWanted(7, (head(PEERS, 2),), PAGE_BYTES_FIRST)


LONG = SignedCommit(bytes(64 * 1024 - 200), b"")


def exchange(one: Session, count: int, took_s: float, rest: bool = True) -> list[int]:
    """Let so many pages be sent and acknowledged, each so much later; return their sizes in KiB."""
    sizes: list[int] = []
    for end in range(count):
        wanted = one.wanted()
        assert wanted is not None
        sizes.append(wanted.bytes_max // 1024)
        commits = [LONG] * max(wanted.bytes_max // len(LONG.body), 1)
        assert one.page(commits, end, standing(), 100.0 * end)
        one.receive(ack(), 100.0 * end + took_s)
    if rest:
        assert one.wanted()
        one.page([], count, standing())
        one.grew()
    return sizes


def test_pages_grow_while_they_come_through_in_time_and_begin_anew_after_a_rest():
    one = streaming()
    assert exchange(one, 5, 0.1) == [64, 127, 255, 510, 768]
    assert exchange(one, 3, 0.1) == [64, 127, 255]


def test_pages_of_a_line_that_is_narrow_stay_short_after_a_rest_too():
    one = streaming()
    assert exchange(one, 1, 10.0) == [64]
    assert exchange(one, 1, 10.0) == [6]


def test_to_who_tells_no_moments_every_line_is_a_fast_one():
    assert exchange(streaming(), 4, 0.0) == [64, 127, 255, 510]


def test_four_pages_go_unanswered_and_a_fifth_waits_for_an_ack():
    one = streaming()
    for end in range(WINDOW_PAGES):
        assert one.wanted()
        assert one.page([COMMIT], end, standing())
    assert one.wanted() is None
    assert one.receive(ack(head(OWN, 1))) == [Acked((head(OWN, 1),))]
    assert one.wanted()
    assert not one.idle


def test_an_ack_says_what_the_peer_holds_and_states_are_compared():
    own = standing(head(OWN, 1), state=5)
    one = streaming()
    one.wanted()
    one.page([COMMIT], 1, own)
    assert one.receive(ack(*own.vector, state=5)) == [Acked(own.vector), Compared(True, own.vector)]
    assert one.peer_vector == own.vector


@pytest.mark.parametrize("state", [5, 6])
def test_what_a_peer_said_is_compared_once_this_side_has_come_to_hold_it(state):
    """Both sides write at once: the peer's Ack is here before its own page was stored."""
    both = standing(head(OWN, 1), head(PEERS, 1), state=5)
    one = streaming()
    one.wanted()
    one.page([COMMIT], 1, standing(head(OWN, 1)))
    one.receive(write(Commits([COMMIT])))
    assert one.receive(ack(*both.vector, state=state)) == [Acked(both.vector)]
    assert one.compare() is None
    one.taken([head(PEERS, 1)], False, both)
    assert one.compare() == Compared(state == 5, both.vector)
    assert one.compare() is None


def test_what_a_peer_said_is_compared_with_what_is_held_when_a_page_is_read():
    held = standing(head(OWN, 1), state=5)
    one = streaming(vector=held.vector, state=5)
    assert one.compare() is None
    one.wanted()
    one.page([], 1, held)
    assert one.compare() == Compared(True, held.vector)


def test_the_grown_feed_is_not_forgotten_while_a_page_is_being_read():
    one = streaming()
    assert one.wanted()
    one.grew()
    assert one.page([], 3, standing()) is None
    wanted = one.wanted()
    assert wanted is not None
    assert wanted.after == 3


def test_after_a_whole_page_nothing_is_wanted_until_the_feed_grows():
    one = streaming()
    assert one.wanted()
    assert one.page([COMMIT], 1, standing(), whole=True)
    assert (one.wanted(), one.under_way) == (None, 1)
    one.grew()
    wanted = one.wanted()
    assert wanted is not None
    one.grew()
    assert one.page([COMMIT], 2, standing(), whole=True)
    assert one.wanted() is not None


def test_a_long_reason_is_cut_on_both_sides():
    long = "x" * 1000
    assert read(new().bye(long)) == Bye("x" * messages.REASON_CHARS_MAX)
    assert streaming().receive(write(Bye(long))) == [Closed("x" * messages.REASON_CHARS_MAX)]


def test_a_ping_is_answered_with_its_nonce():
    assert streaming().receive(write(Ping(-5))) == [Send(write(Pong(-5)))]
    assert read(streaming().ping(6)) == Ping(6)


# -- taking ---------------------------------------------------------------------------------------------


def test_a_page_is_stored_before_it_is_acknowledged():
    one = streaming()
    assert one.receive(write(Commits([COMMIT, SignedCommit(b"", b"")]))) == [
        Take([COMMIT, SignedCommit(b"", b"")])
    ]
    assert not one.idle
    after = standing(head(PEERS, 1), state=3)
    assert read(one.taken([head(PEERS, 1)], False, after)) == Ack(after.vector, after.state_hash)
    assert one.peer_vector == after.vector


def test_what_a_peer_sent_it_is_known_to_hold():
    one = streaming(vector=(head(PEERS, 1),))
    one.receive(write(Commits([COMMIT])))
    one.receive(write(Commits([COMMIT])))
    one.taken([head(PEERS, 2), head(PEERS, 3), head(OWN, 1)], False, standing(head(PEERS, 3), head(OWN, 1)))
    assert one.peer_vector == (head(OWN, 1), head(PEERS, 3))
    one.taken([], False, standing(head(PEERS, 3), head(OWN, 1)))
    assert one.peer_vector == (head(OWN, 1), head(PEERS, 3))


def test_a_peer_is_not_taken_back_by_its_own_older_commits():
    one = streaming(vector=(head(PEERS, 9),))
    one.receive(write(Commits([COMMIT])))
    one.taken([head(PEERS, 2)], False, standing(head(PEERS, 2)))
    assert one.peer_vector == (head(PEERS, 9),)


# -- forks ----------------------------------------------------------------------------------------------


def caught_up(own: Standing, vector: Clock) -> Session:
    """Return a session that has read the feed to position 50 and found nothing that the peer lacks."""
    one = streaming(own, vector)
    one.wanted()
    one.page([], 50, own)
    return one


@pytest.mark.parametrize("told", [True, False])
def test_a_fork_that_a_page_brings_sends_the_feed_again_from_its_beginning(told):
    one = caught_up(standing(head(OWN, 5)), (head(OWN, 7, 1),))
    one.receive(write(Commits([COMMIT])))
    heads = [head(OWN, 6, 1), head(OWN, 7, 1)]
    one.taken(heads, told, standing(head(OWN, 5), head(OWN, 7, 1)))
    assert one.peer_vector == (head(OWN, 7, 1),)
    wanted = one.wanted()
    assert wanted is not None
    assert wanted.after == 0


def test_a_fork_of_which_only_the_store_knows_sends_the_feed_again_from_its_beginning():
    one = streaming()
    one.receive(write(Commits([COMMIT])))
    one.wanted()
    one.page([], 50, standing())
    one.taken([head(PEERS, 1)], True, standing(head(PEERS, 1)))
    wanted = one.wanted()
    assert wanted is not None
    assert wanted.after == 0


def test_a_fork_that_another_link_brought_sends_the_feed_again_too():
    one = caught_up(standing(head(OWN, 5)), (head(OWN, 7, 1),))
    one.grew()
    assert one.wanted()
    # The page was read with counters that no longer mean what they did: it may leave out causes.
    assert one.page([COMMIT], 60, standing(head(OWN, 5), head(OWN, 7, 1))) is None
    wanted = one.wanted()
    assert wanted is not None
    assert wanted.after == 0


def test_a_fork_met_while_a_page_is_being_read_sends_the_feed_again_too():
    one = caught_up(standing(head(OWN, 5)), (head(OWN, 7, 1),))
    one.receive(write(Commits([COMMIT])))
    one.grew()
    assert one.wanted()
    both = standing(head(OWN, 5), head(OWN, 7, 1))
    one.taken([head(OWN, 7, 1)], True, both)
    assert one.page([COMMIT], 60, both) is None
    wanted = one.wanted()
    assert wanted is not None
    assert wanted.after == 0
    assert one.page([COMMIT], 60, both)


def test_coming_past_a_head_of_the_peers_without_it_sends_the_feed_again():
    own, peers = head(OWN, 5), head(OWN, 7, 1)
    one = caught_up(standing(own), (peers,))
    one.grew()
    one.wanted()
    assert one.page([], 60, standing(head(OWN, 6))) is None
    one.grew()
    assert one.wanted() == PageWanted(60, (peers,), PAGE_BYTES_FIRST)
    assert one.page([COMMIT], 70, standing(head(OWN, 8))) is None
    assert one.wanted() == PageWanted(0, (peers,), PAGE_BYTES_FIRST)


def test_coming_to_the_very_head_of_the_peers_is_no_surprise():
    one = caught_up(standing(head(OWN, 5)), (head(OWN, 7),))
    one.grew()
    one.wanted()
    assert one.page([], 60, standing(head(OWN, 7))) is None
    one.grew()
    assert one.wanted() == PageWanted(60, (head(OWN, 7),), PAGE_BYTES_FIRST)


def test_coming_to_another_commit_of_the_number_of_the_peers_head_sends_the_feed_again():
    peers = head(OWN, 7, 1)
    one = caught_up(standing(head(OWN, 5)), (peers,))
    one.grew()
    one.wanted()
    assert one.page([COMMIT], 60, standing(head(OWN, 7))) is None
    assert one.wanted() == PageWanted(0, (peers,), PAGE_BYTES_FIRST)


def test_a_commit_of_the_number_of_the_peers_head_does_not_take_its_place():
    one = streaming(vector=(head(PEERS, 4, 1),))
    one.receive(write(Commits([COMMIT])))
    one.taken([head(PEERS, 4)], False, standing(head(PEERS, 4)))
    assert one.peer_vector == (head(PEERS, 4, 1),)


def test_where_a_replica_forked_all_heads_of_the_peers_are_kept():
    both = (head(PEERS, 4), head(PEERS, 4, 1))
    one = streaming(standing(*both), both)
    one.receive(write(Commits([COMMIT])))
    one.taken([head(PEERS, 5)], False, standing(head(PEERS, 5), head(PEERS, 4, 1)))
    assert set(one.peer_vector) == {*both, head(PEERS, 5)}


def test_where_only_the_peer_knows_of_a_fork_none_of_its_heads_is_dropped():
    both = (head(PEERS, 4, 1), head(PEERS, 6))
    one = streaming(vector=both)
    one.receive(write(Commits([COMMIT])))
    one.taken([head(PEERS, 4), head(PEERS, 5)], False, standing(head(PEERS, 5)))
    assert set(one.peer_vector) == {*both, head(PEERS, 5)}


def test_the_window_is_the_one_that_the_protocol_states():
    assert WINDOW_PAGES == 4


def test_where_this_side_knows_of_a_fork_a_peers_one_head_stays_beside_the_new_one():
    one = streaming(standing(head(PEERS, 4)), (head(PEERS, 4),))
    one.receive(write(Commits([COMMIT])))
    one.taken([head(PEERS, 6, 1)], True, standing(head(PEERS, 4), head(PEERS, 6, 1)))
    assert set(one.peer_vector) == {head(PEERS, 4), head(PEERS, 6, 1)}


def test_a_replica_that_is_met_for_the_first_time_is_no_surprise():
    one = caught_up(standing(), (head(PEERS, 5),))
    one.grew()
    one.wanted()
    assert one.page([COMMIT], 60, standing(head(PEERS, 7)))
    assert one.wanted() == PageWanted(60, (head(PEERS, 5),), PAGE_BYTES_FIRST)
