"""Every event of a session in every state that it can meet, against one table.

Never opens a socket: frames are handed over by the test.
"""

import random
from collections.abc import Callable

import pytest

from syncproto.errors import LocalProtocolError, ProtocolError, RemoteProtocolError, UnsupportedVersion
from syncproto.messages import Bye, Commits, Heads, Ping, Pong, encode_message
from syncproto.send_window import WINDOW_PAGES
from syncproto.session import (
    PageRequest,
    Session,
    SessionState,
)
from tests.syncproto.sessions import COMMIT, OTHER_VAULT, OWN, ack, head, hello, new, standing

# What a peer or the owner of a session may do; if it depends on what is outstanding, the name says so.
EVENTS: dict[str, Callable[[Session], object]] = {
    "peer: hello": lambda session: session.receive(hello()),
    "peer: hello of another vault": lambda session: session.receive(hello(vault=OTHER_VAULT)),
    "peer: hello without a common version": lambda session: session.receive(hello(versions=[0, 3])),
    "peer: a page": lambda session: session.receive(encode_message(Commits([COMMIT]))),
    "peer: a page beyond the window": lambda session: session.receive(encode_message(Commits([COMMIT]))),
    "peer: an empty page": lambda session: session.receive(encode_message(Commits([]))),
    "peer: an ack that is owed": lambda session: session.receive(ack(head(OWN, 9))),
    "peer: an ack for no page": lambda session: session.receive(ack()),
    "peer: ping": lambda session: session.receive(encode_message(Ping(7))),
    "peer: pong": lambda session: session.receive(encode_message(Pong(7))),
    "peer: bye": lambda session: session.receive(encode_message(Bye("tired"))),
    "peer: heads": lambda session: session.receive(encode_message(Heads((), ()))),
    "peer: bytes that are no frame": lambda session: session.receive(b"\xc1"),
    "own: hello": lambda session: session.hello_frames(),
    "own: bye": lambda session: session.bye_frame("done"),
    "own: wanted, with nothing new": lambda session: session.next_page_request(),
    "own: wanted, with something new": lambda session: session.next_page_request(),
    "own: wanted, with a full window": lambda session: session.next_page_request(),
    "own: a page that was wanted": lambda session: session.page_frame([COMMIT], 5, standing()),
    "own: a page with nothing in it": lambda session: session.page_frame([], 5, standing()),
    "own: a page that was not wanted": lambda session: session.page_frame([COMMIT], 5, standing()),
    "own: taken, with a page to answer": lambda session: session.ack_frames([], False, standing()),
    "own: taken, with no page to answer": lambda session: session.ack_frames([], False, standing()),
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


OTHER = UnsupportedVersion.__name__


N, G, S, C = SessionState.NEW, SessionState.GREETING, SessionState.STREAMING, SessionState.CLOSED


# event: for each state that it can meet, what comes of it and the state after it.
TABLE: dict[str, dict[SessionState, tuple[str, SessionState]]] = {
    "peer: hello": {N: (FAULT, N), G: ("HelloReceived StatesCompared", S), S: (FAULT, S), C: ("", C)},
    "peer: hello of another vault": {N: (FAULT, N), G: (FAULT, G), S: (FAULT, S), C: ("", C)},
    "peer: hello without a common version": {N: (FAULT, N), G: (OTHER, G), S: (FAULT, S), C: ("", C)},
    "peer: a page": {N: (FAULT, N), G: (FAULT, G), S: ("StoreCommits", S), C: ("", C)},
    "peer: a page beyond the window": {S: (FAULT, S), C: ("", C)},
    "peer: an empty page": {N: (FAULT, N), G: (FAULT, G), S: (FAULT, S), C: ("", C)},
    "peer: an ack that is owed": {S: ("AckReceived", S), C: ("", C)},
    "peer: an ack for no page": {N: (FAULT, N), G: (FAULT, G), S: (FAULT, S), C: ("", C)},
    "peer: ping": {N: (FAULT, N), G: (FAULT, G), S: ("SendFrame", S), C: ("", C)},
    "peer: pong": {N: (FAULT, N), G: (FAULT, G), S: ("", S), C: ("", C)},
    "peer: bye": {N: ("ByeReceived", C), G: ("ByeReceived", C), S: ("ByeReceived", C), C: ("", C)},
    "peer: heads": {N: (FAULT, N), G: (FAULT, G), S: ("", S), C: ("", C)},
    "peer: bytes that are no frame": {N: (FAULT, N), G: (FAULT, G), S: (FAULT, S), C: ("", C)},
    "own: hello": {N: ("frames", G), G: (BUG, G), S: (BUG, S), C: (BUG, C)},
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
    "own: taken, with a page to answer": {S: ("frames", S), C: ("frames", C)},
    "own: taken, with no page to answer": {N: (BUG, N), G: (BUG, G), S: (BUG, S), C: (BUG, C)},
}


def outcome(session: Session, event: str) -> tuple[str, SessionState]:
    """Let an event happen; return what came of it in the table's words, and the state after it."""
    try:
        result = EVENTS[event](session)
    except ProtocolError as fault:
        return type(fault).__name__, session.state
    match result:
        case None:
            return "nothing", session.state
        case bytes():
            return "frame", session.state
        case PageRequest():
            return "page", session.state
        case [bytes(), *_]:
            return "frames", session.state
        case list():
            return " ".join(type(element).__name__ for element in result), session.state
    raise AssertionError(result)


def prepared(event: str, state: SessionState) -> Session:
    """Return a session in a state, with outstanding what the event's name says."""
    session = new()
    if state is not N:
        session.hello_frames()
    if state in {S, C}:
        session.receive(hello())
        session.next_page_request()
        session.page_frame([], 0, standing())
        _make_outstanding(session, event)
    if "something new" in event:
        session.feed_grew()
    if state is C:
        session.bye_frame("done")
    return session


def _make_outstanding(session: Session, event: str) -> None:
    sent = {"peer: an ack that is owed": 1, "own: wanted, with a full window": WINDOW_PAGES}.get(event, 0)
    came = {"peer: a page beyond the window": WINDOW_PAGES, "own: taken, with a page to answer": 1}.get(
        event, 0
    )
    for _ in range(sent):
        session.feed_grew()
        session.next_page_request()
        session.page_frame([COMMIT], 1, standing())
    for _ in range(came):
        session.receive(encode_message(Commits([COMMIT])))
    if event in {"own: a page that was wanted", "own: a page with nothing in it"}:
        session.feed_grew()
        assert session.next_page_request()


ROWS = [(event, state, row) for event, rows in TABLE.items() for state, row in rows.items()]


@pytest.mark.parametrize(("event", "state", "row"), ROWS, ids=[f"{s.value}, {e}" for e, s, _ in ROWS])
def test_each_row_of_the_table_holds(event, state, row):
    session = prepared(event, state)
    assert session.state is state
    assert outcome(session, event) == row


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
        """Return whether an event's name is true now."""
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
        elif came == "HelloReceived StatesCompared":
            self.grown = True
        elif came == "StoreCommits":
            self.untaken += 1
        elif came == "AckReceived":
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
        session, count = new(), Count()
        for _ in range(40):
            event = chance.choice([name for name in EVENTS if count.name(name) and _likely(chance, name)])
            before = session.state
            if event == "own: wanted, with something new" and before in {N, G}:
                session.feed_grew()
                count.grown = True
            came, after = outcome(session, event)
            assert TABLE[event][before] == (came, after), (event, before)
            count.note(event, came)
            met.add((event, before))
    assert len(met) > 60


def _likely(chance: random.Random, event: str) -> bool:
    """Leave out most endings, so that conversations last."""
    return "bye" not in event or chance.random() < 0.05
