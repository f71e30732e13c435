"""The session: the conversation on one link, as a state machine without I/O.

Never waits, stores or sends: it returns what to send and what to store, and its caller reports the result.

The theory: each device has for every replica a chain of commits without gaps, so how far it has come is a
vector of heads, one for each end of a chain. Both sides say theirs (Hello, then Heads), and each sends from
its log whatever is not covered by the other's vector, causes before effects. A page of commits counts as
taken only once the other side has stored it and said so (Ack); what is under way is bounded by a window.
Nobody keeps a queue for a peer: after a break both say their vectors again. When the vectors are equal, both
compare the hash of their state, which is then equal too, unless there is a fault.
"""

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from syncproto import messages
from syncproto.commit import SignedCommit
from syncproto.errors import LocalProtocolError, RemoteProtocolError
from syncproto.head_set import NO_HEADS, HeadSet
from syncproto.ids import ReplicaId
from syncproto.messages import Ack, Bye, Commits, Heads, Hello, Message, Ping, Pong
from syncproto.peer_vector import PeerVector, change_parts, parts_of, single_counter
from syncproto.resending import Resending
from syncproto.send_window import WINDOW_PAGES, SendWindow
from syncproto.vector_clock import EMPTY_CLOCK, Head, VectorClock


class SessionState(Enum):
    """The stage of the conversation."""

    NEW = "new"
    GREETING = "greeting"
    STREAMING = "streaming"
    CLOSED = "closed"


class StoreState(NamedTuple):
    """What a store contains at one moment: the heads of its vector, and the state hash for it."""

    heads: HeadSet
    state_hash: bytes


class SendFrame(NamedTuple):
    """Send this frame."""

    frame: bytes


class StoreCommits(NamedTuple):
    """Store these commits in one transaction, then call `ack_frames`."""

    commits: list[SignedCommit]


class StatesCompared(NamedTuple):
    """Both sides had the same commits; `agree` if their state hashes were equal."""

    agree: bool
    heads: HeadSet


class HelloReceived(NamedTuple):
    """The first frame of the peer has come: `next_page_request` may return a request from now on."""

    heads: HeadSet


class AckReceived(NamedTuple):
    """The peer has stored a page durably, and has these commits now."""

    heads: HeadSet


class ByeReceived(NamedTuple):
    """The peer closes the conversation."""

    reason: str


SessionEvent = SendFrame | StoreCommits | StatesCompared | HelloReceived | AckReceived | ByeReceived


class PageRequest(NamedTuple):
    """A page to read from the feed: what the peer lacks beyond a position, up to about `bytes_max`.

    If it has `again`, the page has as many of those commits, in their order, and ends at `after`.
    """

    after: int
    peer_heads: HeadSet
    bytes_max: int
    again: VectorClock = EMPTY_CLOCK


class Session:
    """One side of a conversation.

    Call `hello_frames` once and send what it returns, in order, before anything else. Pass every frame of the
    peer to `receive`. Call `feed_grew` after each change of the feed. Whenever `next_page_request` returns a
    request, read that page and call `page_frame`.

    `now_s` is the time by a clock that does not go back; only differences count. The session makes pages as
    long as the line transfers in about a second. Without `now_s`, it assumes a fast line.
    """

    def __init__(
        self, vault: bytes, replica: ReplicaId | None, own: StoreState, wanted: VectorClock = ()
    ) -> None:
        self.state = SessionState.NEW
        self._vault = vault
        self._replica = replica
        self._own = own
        self._wanted = wanted
        self._resending = Resending()
        self._told = NO_HEADS
        """The vector of this side, as the peer knows it once it has read what was sent."""
        self._peer = PeerVector()
        self._hello: Hello | None = None
        self._hello_heads = 0
        self._last_hello_head: Head | None = None
        self._peer_state_hash: bytes | None = None
        """What belongs to the vector that the peer reported, None if it was compared already."""
        self._cursor = 0
        self._window = SendWindow()
        self._unanswered = 0
        self._grown = False
        self._asked = False
        self._stale = False

    @property
    def peer_vector(self) -> VectorClock:
        """Return the commits that the peer is known to have. Costs a sort: see `peer_heads`."""
        return self._peer.known.clock

    @property
    def peer_replica(self) -> ReplicaId | None:
        """Return as which replica the peer wrote when it said hello, None before it did or wrote."""
        return None if self._hello is None else self._hello.replica

    @property
    def peer_heads(self) -> HeadSet:
        """Return the heads of the commits that the peer is known to have."""
        return self._peer.known

    @property
    def is_idle(self) -> bool:
        """Return whether everything sent was acknowledged and nothing more is known to be missing."""
        waiting = (
            self._window.pages_in_flight or self._unanswered or self._grown or self._resending or self._asked
        )
        return self.state is SessionState.STREAMING and not waiting

    @property
    def is_level(self) -> bool:
        """Return whether the peer is known to have exactly the commits of this side."""
        return self.state is not SessionState.NEW and self._peer.known == self._own.heads

    @property
    def pages_in_flight(self) -> int:
        """Return how many pages were sent and are not yet acknowledged."""
        return self._window.pages_in_flight

    # -- sending --------------------------------------------------------------------------------------

    def hello_frames(self) -> list[bytes]:
        """Return the first frame, and those that tell the rest of a vector that one frame cannot tell."""
        if self.state is not SessionState.NEW:
            raise LocalProtocolError("hello was said already")
        self.state = SessionState.GREETING
        own = self._own
        first, *parts = parts_of(own.heads.clock)
        greeting = Hello(
            list(messages.VERSIONS),
            self._vault,
            self._replica,
            first,
            own.state_hash,
            messages.wanted_entry(self._wanted),
        )
        fits = len(own.heads) <= messages.GREETING_HEADS_MAX
        self._told = own.heads if fits else HeadSet(own.heads.clock[: messages.GREETING_HEADS_MAX])
        return [
            messages.encode_message(greeting),
            *(messages.encode_message(Heads(part, ())) for part in parts),
        ]

    def feed_grew(self) -> None:
        """Record that the feed may contain more than at the last page."""
        self._grown = True

    def feed_reaches(self, position: int) -> None:
        """Record how far the feed reaches now: only beyond the last page is anything to send."""
        self._grown = self._grown or position > self._cursor

    def send_again(self, heads: Sequence[Head]) -> None:
        """Record commits of which this side came to hold more values: the peer may lack them too."""
        self._resending.regain(heads)

    def next_page_request(self) -> PageRequest | None:
        """Return the next page to read and send, None while nothing is to send or the window is full."""
        is_resent = self._resending.is_due(level=self.is_level)
        is_due = self._grown or is_resent
        ready = self.state is SessionState.STREAMING and is_due and not self._asked
        page_bytes = self._window.next_page_bytes if ready else 0
        if not page_bytes:
            return None
        if is_resent:
            self._asked = True
            return PageRequest(self._cursor, self._peer.known, page_bytes, self._resending.take())
        # Cleared before the page is read: what comes to the feed meanwhile sets it again, and is not missed.
        self._grown, self._asked = False, True
        return PageRequest(self._cursor, self._peer.known, page_bytes)

    def page_frame(
        self,
        commits: Sequence[SignedCommit],
        end: int,
        own: StoreState,
        now_s: float = 0.0,
        *,
        whole: bool = False,
        left: VectorClock | None = None,
    ) -> bytes | None:
        """Return the frame of the page that was requested, None if there is nothing to send now.

        `end` is the feed position up to which the peer now has, or is being sent, everything. `own` is the
        state of the store when the page was read. If the page is `whole`, the feed contained nothing beyond
        it, and the next request comes after the feed has grown. If the request had `again`, `left` are those
        of its commits for which the page had no room.
        """
        if not self._asked:
            raise LocalProtocolError("a page that was not wanted")
        stale, self._asked, self._stale = self._stale, False, False
        restarted = self._update_own(own)
        # A page that was read before the feed is gone through again may lack what the peer lacks.
        if self.state is not SessionState.STREAMING or restarted or stale:
            self._resending.put_back()
            return None
        self._resending.put_back(left or ())
        self._cursor = end
        if not commits:
            self._window.note_idle()
            return None
        frame = messages.encode_message(Commits(list(commits)))
        self._window.note_sent(len(frame), now_s)
        if left is not None:
            self._resending.note_sent(self._window.pages_in_flight)
        if whole:
            self._window.note_idle()
        else:
            self._grown = True
        return frame

    def ack_frames(self, heads: Sequence[Head], forked: bool, own: StoreState) -> list[bytes]:
        """Return the Ack for the oldest page that is not yet answered; call it once the page is durable.

        If the vector changed by more than one frame can tell, other frames come before the Ack.

        `heads` are the commits that were new. If a replica has `forked`, the vector of the peer covers fewer
        commits than its counters suggested: the session goes through the feed again for what the peer lacks.
        """
        if not self._unanswered:
            raise LocalProtocolError("no page waits for an Ack")
        self._unanswered -= 1
        self._update_own(own)
        if forked:
            self._restart_feed()
        # What the peer sent, it has: it is not sent back.
        self._peer.add_sent(heads, own.heads)
        *parts, last = change_parts(own.heads.changes_since(self._told))
        self._told = own.heads
        frames = [messages.encode_message(Heads(came, left)) for came, left in parts]
        return [*frames, messages.encode_message(Ack(*last, own.state_hash))]

    def _update_own(self, own: StoreState) -> bool:
        """Record the state of this side; return whether the feed must be gone through again for the peer.

        Counters stand for chains as long as each replica has one chain. They no longer do if a replica has
        forked, or if this side has passed the counter of a head of the peer without having that commit.
        """
        before, self._own = self._own.heads, own
        forked = passed = False
        # Of most replicas nothing is new: only the others are looked at.
        for replica in own.heads.differing_replicas(before):
            then, now = single_counter(before.heads_of(replica)), single_counter(own.heads.heads_of(replica))
            forked = forked or (then is not None and now is None)
            beyond = self._peer.known.heads_of(replica) - own.heads.heads_of(replica)
            # Such a head was beyond this side's commits, and so counted as proof that the peer has all
            # before it.
            passed = passed or any(
                (counter if then is None else then) < counter <= (now or 0) for _, counter, _ in beyond
            )
        if forked or passed:
            self._restart_feed()
        return forked or passed

    def _restart_feed(self) -> None:
        """Go through the feed from its beginning for what the peer lacks; the peer skips what it has."""
        self._cursor, self._grown, self._stale = 0, True, self._asked

    def ping_frame(self, nonce: int) -> bytes:
        """Return a frame that the peer answers at once if it is still there."""
        return messages.encode_message(Ping(nonce))

    def bye_frame(self, reason: str) -> bytes:
        """Return the last frame, and close the session."""
        self.state = SessionState.CLOSED
        return messages.encode_message(Bye(reason[: messages.REASON_CHARS_MAX]))

    # -- receiving ------------------------------------------------------------------------------------

    def receive(self, frame: bytes, now_s: float = 0.0) -> list[SessionEvent]:
        """Process a frame of the peer; return the events that follow from it, in order.

        Raises RemoteProtocolError if the peer breaks the protocol: send `bye_frame` and close the link.
        """
        if self.state is SessionState.CLOSED:
            return []
        is_first = self.state is SessionState.GREETING and self._hello is None
        message = messages.decode_greeting(frame) if is_first else messages.decode_message(frame)
        if isinstance(message, Bye):
            self.state = SessionState.CLOSED
            return [ByeReceived(message.reason[: messages.REASON_CHARS_MAX])]
        if self.state is SessionState.GREETING:
            return self._receive_hello(message)
        if self.state is not SessionState.STREAMING:
            raise RemoteProtocolError(f"{type(message).__name__} before this side said hello")
        return self._receive_message(message, now_s)

    def _receive_hello(self, message: Message) -> list[SessionEvent]:
        if self._hello is None:
            if not isinstance(message, Hello):
                raise RemoteProtocolError(f"{type(message).__name__} before Hello")
            if message.vault != self._vault:
                raise RemoteProtocolError("another vault")
            self._hello, part = message, message.vector
            self._resending.ask(messages.wanted_heads(message))
        # A vector that is told for the first time has nothing that could be gone.
        elif isinstance(message, Heads) and not message.gone:
            part = message.heads
        else:
            raise RemoteProtocolError(f"{type(message).__name__} inside the vector of a Hello")
        self._check_greeting(part)
        self._peer.report(part, (), len(self._own.heads))
        # A full part: another one follows, and until then it is not known what the peer lacks.
        if len(part) == messages.VECTOR_PART_HEADS:
            return []
        self.state = SessionState.STREAMING
        self._peer.settle()
        self._grown = True
        return [HelloReceived(self._peer.known), *self._note_peer_state(self._hello.state_hash)]

    def _check_greeting(self, part: VectorClock) -> None:
        """Raise RemoteProtocolError if a part of the peer's vector is out of order or beyond the limit."""
        if part and self._last_hello_head is not None and part[0] <= self._last_hello_head:
            raise RemoteProtocolError("the vector of a Hello is not in order")
        self._hello_heads += len(part)
        if self._hello_heads > messages.GREETING_HEADS_MAX:
            raise RemoteProtocolError(f"a Hello of more than {messages.GREETING_HEADS_MAX} heads")
        self._last_hello_head = part[-1] if part else self._last_hello_head

    def _receive_message(self, message: Message, now_s: float) -> list[SessionEvent]:
        match message:
            case Commits(commits=commits):
                # The window bounds what waits here for the store, however fast a peer sends.
                if not commits or self._unanswered >= WINDOW_PAGES:
                    raise RemoteProtocolError("a page that is empty or beyond the window")
                self._unanswered += 1
                return [StoreCommits(commits)]
            case Heads(heads=heads, gone=gone):
                self._peer.report(heads, gone, len(self._own.heads))
                # The state hash that was kept belongs to the vector before this part of a change.
                self._peer_state_hash = None
                return []
            case Ack(heads=heads, gone=gone, state_hash=state_hash):
                # Otherwise a peer could acknowledge more than was sent, and the window would count wrong.
                if not self._window.pages_in_flight:
                    raise RemoteProtocolError("an Ack for no page")
                self._window.note_acked(now_s)
                self._resending.note_acked()
                self._peer.report(heads, gone, len(self._own.heads))
                self._peer.settle()
                return [AckReceived(self._peer.known), *self._note_peer_state(state_hash)]
            case Ping(nonce=nonce):
                return [SendFrame(messages.encode_message(Pong(nonce)))]
            case Pong():
                return []
        raise RemoteProtocolError(f"{type(message).__name__} after Hello")

    def _note_peer_state(self, state_hash: bytes) -> list[SessionEvent]:
        """Keep the state that the peer reports until both sides have the same commits."""
        self._peer_state_hash = state_hash
        compared = self.compare_states()
        return [] if compared is None else [compared]

    def compare_states(self) -> StatesCompared | None:
        """Compare state hashes once both sides have the same commits (law 3); None if nothing is to compare.

        Call it after `ack_frames` and `page_frame`: this side may have reached only now what the peer
        reported a moment ago.
        """
        state_hash, own = self._peer_state_hash, self._own
        # Not what the peer is known to have by now: its hash belongs to the vector that it reported.
        if state_hash is None or self._peer.reported != own.heads:
            return None
        # The peer's state was without values that were regained here; the answer to them tells another one.
        if not self._resending.is_answered:
            return None
        self._peer_state_hash = None
        return StatesCompared(state_hash == own.state_hash, own.heads)
