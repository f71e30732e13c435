"""The session: the conversation on one link, as a state machine without I/O.

Never waits, stores or sends: it says what to send and what to store, and is told what came of it.
"""

from collections import Counter
from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from syncproto import messages
from syncproto.commit import SignedCommit
from syncproto.faults import LocalProtocolError, OtherVersion, RemoteProtocolError
from syncproto.flight import WINDOW_PAGES, Flight
from syncproto.heads import EMPTY, Clock, Head
from syncproto.ids import ReplicaId
from syncproto.messages import Ack, Bye, Commits, Hello, Message, Ping, Pong


class State(Enum):
    """Where the conversation is."""

    NEW = "new"
    GREETING = "greeting"
    STREAMING = "streaming"
    CLOSED = "closed"


class Standing(NamedTuple):
    """What a store holds at one moment: its vector and the state hash that belongs to it."""

    vector: Clock
    state_hash: bytes


class Send(NamedTuple):
    """Send this frame."""

    frame: bytes


class Take(NamedTuple):
    """Store these commits as one transaction, then call `taken`."""

    commits: list[SignedCommit]


class Compared(NamedTuple):
    """Both sides held the same commits; `agree` says whether their state hashes were equal."""

    agree: bool
    vector: Clock


class Greeted(NamedTuple):
    """The peer's first frame has come: from now on pages may be wanted."""

    vector: Clock


class Acked(NamedTuple):
    """The peer has made a page durable and told what it holds."""

    vector: Clock


class Closed(NamedTuple):
    """The peer has said goodbye."""

    reason: str


Event = Send | Take | Compared | Greeted | Acked | Closed


class PageWanted(NamedTuple):
    """What to read from the feed: beyond a position, what the peer lacks, up to about so many bytes."""

    after: int
    peer_vector: Clock
    bytes_max: int


def _chains(vector: Clock) -> dict[ReplicaId, int]:
    """Return how far a vector goes in each replica that is one chain in it."""
    heads = Counter(head.replica for head in vector)
    return {head.replica: head.counter for head in vector if heads[head.replica] == 1}


def _with_ends(vector: Clock, taken: Sequence[Head], own: Clock) -> Clock:
    """Return a peer's vector with commits in it that it sent, and that were new to this side.

    Each lies below one of them that is now a head of this side's own. Where a replica has forked, heads that
    these supersede stay beside them: that says nothing untrue, and the next Ack says it shorter.
    """
    chains, heads = _chains(own), set(vector)
    for end in set(taken) & set(own):
        older = [head for head in heads if head.replica == end.replica]
        if len(older) > 1 or end.replica not in chains:
            heads.add(end)
        elif not older or older[0].counter < end.counter:
            heads = heads - set(older) | {end}
    return tuple(sorted(heads))


def _require_spoken(versions: Sequence[int]) -> None:
    """Raise OtherVersion where none of these versions is spoken here."""
    if not set(versions) & set(messages.VERSIONS):
        raise OtherVersion(versions, newer=max(versions, default=0) > max(messages.VERSIONS))


class Session:
    """One side of a conversation.

    Call `hello` once and send what it returns; give every frame to `receive`; after each change of the feed
    call `grew`; whenever `wanted` names a page, read it and call `page`.

    `now_s` is the moment by a clock that does not go back, of which only differences count: pages are as long
    as the line takes in about a second. To who tells no moments every line is a fast one.
    """

    def __init__(self, vault: bytes, replica: ReplicaId | None, standing: Standing) -> None:
        self.state = State.NEW
        self._vault = vault
        self._replica = replica
        self._own = standing
        self._peer_vector: Clock = EMPTY
        self._said: Standing | None = None
        self._cursor = 0
        self._flight = Flight()
        self._untaken = 0
        self._grown = False
        self._asked = False
        self._stale = False

    @property
    def peer_vector(self) -> Clock:
        """Return what the peer is known to hold."""
        return self._peer_vector

    @property
    def idle(self) -> bool:
        """Say whether everything sent was acknowledged and nothing more is known to be wanted."""
        waiting = self._flight.pages or self._untaken or self._grown or self._asked
        return self.state is State.STREAMING and not waiting

    @property
    def level(self) -> bool:
        """Say whether the peer is known to hold exactly what this side held last."""
        return self.state is not State.NEW and self._peer_vector == self._own.vector

    @property
    def under_way(self) -> int:
        """Return how many pages were sent and are not yet acknowledged."""
        return self._flight.pages

    # -- sending --------------------------------------------------------------------------------------

    def hello(self) -> bytes:
        """Return the first frame."""
        if self.state is not State.NEW:
            raise LocalProtocolError("hello was said already")
        self.state = State.GREETING
        own = self._own
        greeting = Hello(list(messages.VERSIONS), self._vault, self._replica, own.vector, own.state_hash, {})
        return messages.write(greeting)

    def grew(self) -> None:
        """Note that the feed may hold more than at the last page."""
        self._grown = True

    def wanted(self) -> PageWanted | None:
        """Name the next page to send; None while there is nothing to send or the window is full."""
        ready = self.state is State.STREAMING and self._grown and not self._asked
        page_bytes = self._flight.page_bytes if ready else 0
        if not page_bytes:
            return None
        self._grown, self._asked = False, True
        return PageWanted(self._cursor, self._peer_vector, page_bytes)

    def page(
        self,
        commits: Sequence[SignedCommit],
        end: int,
        standing: Standing,
        now_s: float = 0.0,
        *,
        whole: bool = False,
    ) -> bytes | None:
        """Return the frame for the page that was wanted, None where there is nothing to send now.

        `end` is the feed position up to which the peer now has, or is being sent, everything; `standing` is
        what the store held when the page was read. Where it is `whole`, beyond it the feed held nothing then,
        and no page is wanted until the feed grows.
        """
        if not self._asked:
            raise LocalProtocolError("a page that was not wanted")
        stale, self._asked, self._stale = self._stale, False, False
        surprised = self._stand(standing)
        if self.state is not State.STREAMING or surprised or stale:
            return None
        self._cursor = end
        if not commits:
            self._flight.rested()
            return None
        frame = messages.write(Commits(list(commits)))
        self._flight.sent(len(frame), now_s)
        if whole:
            self._flight.rested()
        else:
            self._grown = True
        return frame

    def taken(self, heads: Sequence[Head], forked: bool, standing: Standing) -> bytes:
        """Return the Ack for the oldest page not yet answered, once it is durable.

        `heads` are the commits that were new. Where a replica was seen to fork, the peer's vector means less
        than was thought: the feed is gone through again for what it lacks.
        """
        if not self._untaken:
            raise LocalProtocolError("no page waits for an Ack")
        self._untaken -= 1
        self._stand(standing)
        if forked:
            self._go_through_again()
        self._peer_vector = _with_ends(self._peer_vector, heads, standing.vector)
        return messages.write(Ack(standing.vector, standing.state_hash))

    def _stand(self, standing: Standing) -> bool:
        """Note what this side holds; say whether the feed must be gone through again for the peer.

        Counters stood for chains as long as one chain a replica was known. They do so no longer where a
        replica is seen to have forked, or where this side has come past a head of the peer's without it.
        """
        before, now = _chains(self._own.vector), _chains(standing.vector)
        self._own = standing
        forked = any(head.replica not in now for head in standing.vector if head.replica in before)
        passed = any(
            before.get(replica, counter) < counter <= now.get(replica, 0)
            for replica, counter, _ in set(self._peer_vector) - set(standing.vector)
        )
        if forked or passed:
            self._go_through_again()
        return forked or passed

    def _go_through_again(self) -> None:
        """Read the feed from its beginning for what the peer lacks; it skips what it has."""
        self._cursor, self._grown, self._stale = 0, True, self._asked

    def ping(self, nonce: int) -> bytes:
        """Return a frame that asks for a sign of life."""
        return messages.write(Ping(nonce))

    def bye(self, reason: str) -> bytes:
        """Return the last frame and close."""
        self.state = State.CLOSED
        return messages.write(Bye(reason[: messages.REASON_CHARS_MAX]))

    # -- receiving ------------------------------------------------------------------------------------

    def receive(self, frame: bytes, now_s: float = 0.0) -> list[Event]:
        """Take in a frame; return what follows from it, in order.

        Raises RemoteProtocolError where the peer breaks the protocol: say `bye` and close this link.
        """
        if self.state is State.CLOSED:
            return []
        message = self._read(frame)
        if isinstance(message, Bye):
            self.state = State.CLOSED
            return [Closed(message.reason[: messages.REASON_CHARS_MAX])]
        if self.state is State.GREETING:
            return self._greeted(message)
        if self.state is not State.STREAMING:
            raise RemoteProtocolError(f"{type(message).__name__} before this side said hello")
        return self._streamed(message, now_s)

    def _read(self, frame: bytes) -> Message:
        """Read a frame; where the first one is the Hello of a version that is not spoken here, say so."""
        try:
            return messages.read(frame)
        except RemoteProtocolError:
            versions = messages.versions_in(frame) if self.state is State.GREETING else None
            if versions is not None:
                _require_spoken(versions)
            raise

    def _greeted(self, message: Message) -> list[Event]:
        if not isinstance(message, Hello):
            raise RemoteProtocolError(f"{type(message).__name__} before Hello")
        _require_spoken(message.versions)
        if message.vault != self._vault:
            raise RemoteProtocolError("another vault")
        self.state = State.STREAMING
        self._peer_vector = message.vector
        self._grown = True
        return [Greeted(message.vector), *self._heard(message)]

    def _streamed(self, message: Message, now_s: float) -> list[Event]:
        match message:
            case Commits(commits=commits):
                if not commits or self._untaken >= WINDOW_PAGES:
                    raise RemoteProtocolError("a page that is empty or beyond the window")
                self._untaken += 1
                return [Take(commits)]
            case Ack(vector=vector):
                if not self._flight.pages:
                    raise RemoteProtocolError("an Ack for no page")
                self._flight.acked(now_s)
                self._peer_vector = vector
                return [Acked(vector), *self._heard(message)]
            case Ping(nonce=nonce):
                return [Send(messages.write(Pong(nonce)))]
            case Pong():
                return []
        raise RemoteProtocolError(f"{type(message).__name__} after Hello")

    def _heard(self, message: Hello | Ack) -> list[Event]:
        """Keep what the peer says that it holds, until it can be compared."""
        self._said = Standing(message.vector, message.state_hash)
        compared = self.compare()
        return [] if compared is None else [compared]

    def compare(self) -> Compared | None:
        """Compare state hashes once both sides hold the same commits (law 3); None where nothing is new.

        Call it after `taken` and `page`: what the peer said a moment ago may be what is held only now.
        """
        said, own = self._said, self._own
        if said is None or said.vector != own.vector:
            return None
        self._said = None
        return Compared(said.state_hash == own.state_hash, own.vector)
