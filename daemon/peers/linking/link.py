"""One link: it moves frames between a wire and a session, and commits between the session and the store.

Never acknowledges commits that are not durable, and never buffers more than the session's window.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Protocol

import structlog

from daemon.notifier import Notifier, NotifierWatch
from daemon.peers.linking import goodbyes
from daemon.peers.linking.exchange_faults import LinkFault, fault_here, fault_of_end
from daemon.peers.linking.goodbyes import CloseAsked, NoRoom, PeerLeft
from daemon.peers.linking.liveness import Liveness
from daemon.peers.linking.page_reading import PageRead, read_page, read_store_state
from daemon.peers.linking.rate_limit import StorageRateLimit
from daemon.peers.linking.stored_pages import StoredPages
from daemon.peers.roster import member_records
from daemon.peers.transport.limits import PeerLimits, loop_time_s
from daemon.peers.transport.wire import ConnectionLost, Wire
from store.file.errors import StoreError
from store.sentence import Sentence
from store.snapshot import Snapshot
from store.threads import StoreThreads
from store.transaction import AcceptedPage, Transaction
from syncproto import session as conversation
from syncproto.commit import DecodedCommit, SignedCommit
from syncproto.errors import RemoteProtocolError, UnsupportedVersion
from syncproto.head_set import NO_HEADS, HeadSet
from syncproto.ids import DeviceId, ReplicaId
from syncproto.messages import Bye, encode_message
from syncproto.session import PageRequest, Session, StoreState
from syncproto.vector_clock import EMPTY_CLOCK, VectorClock

ANSWERS_OWED_MAX = 32
INLINE_COMMITS_MAX = 16
INLINE_HEADS_MAX = 32
PAGE_READS_MAX = 3

log = structlog.get_logger("peers")

_PageStored = tuple[AcceptedPage, StoreState, int]
"""What a page brought, the state of the store after it, and the feed position that it ends at."""


class LinkObserver(Protocol):
    """What a link reports to whoever runs it, and the one question that it asks.

    All methods are called on the event loop; none may wait.
    """

    def progress_changed(self, link: "PeerLink") -> None:
        """Note that what is known of the peer changed, or that this side waits for the rate limit."""

    def frame_received(self, link: "PeerLink") -> None:
        """Note that a frame arrived, whatever it contains. Called before the session reads it."""

    def states_compared(self, link: "PeerLink", *, agree: bool) -> None:
        """Note whether both stores showed the same state at equal vectors.

        `link.states_agreed` has the outcome already.
        """

    def goodbye_received(self, link: "PeerLink") -> None:
        """Note that the peer ended the link; `link.peer_goodbye` gives its reason.

        Every page that came before it is stored.
        """

    def link_works(self, link: "PeerLink") -> None:
        """Note, each time, that a page was stored, the peer acknowledged one, or states were compared."""

    def fault_found(self, link: "PeerLink", fault: LinkFault) -> None:
        """Note the fault by which the link ends. Called before anyone can see that it has ended."""

    def page_stored(self, link: "PeerLink", accepted: AcceptedPage) -> None:
        """Note what a page brought: new commits, or values that this device lacked of those that it held."""

    def page_sent(self, link: "PeerLink", commits: int) -> None:
        """Note that a page of so many commits went to the peer."""

    def storage_shortfall(self) -> Sentence | None:
        """Return why there is no room to store anything, None if there is room.

        Asked before each page; a reason ends the link.
        """


class PeerLink:
    """A link to one peer. `run` it once; `close` ends it; `greeted` and `ended` can be awaited."""

    def __init__(
        self,
        wire: Wire,
        peer: DeviceId,
        *,
        dialled: bool,
        db: StoreThreads,
        notifier: Notifier,
        observer: LinkObserver,
        limits: PeerLimits,
        allowance: StorageRateLimit | None = None,
        find_wanted: Callable[[Snapshot], VectorClock] = lambda _snapshot: EMPTY_CLOCK,
    ) -> None:
        self.peer = peer
        self.dialled = dialled
        self.remote = wire.remote
        self.greeted = asyncio.Event()
        self.ended = asyncio.Event()
        self.peer_goodbye: str | None = None
        """The peer's reason for ending this link, None if it did not end it or gave none."""
        self.states_agreed: bool | None = None
        """The outcome of the last comparison of states on this link, None before the first."""
        self.liveness = Liveness(wire, limits, self.greeted, self.ended)
        self._agreed_at = NO_HEADS
        self._wire = wire
        self._db = db
        self._notifier = notifier
        self._observer = observer
        self._limits = limits
        self._allowance = allowance
        self._find_wanted = find_wanted
        self.wanted: VectorClock = EMPTY_CLOCK  # the commits that this side asks for once more
        self._session: Session | None = None
        self._write_wanted = asyncio.Event()
        self._close_asked = asyncio.Event()
        self._close_reason = ""
        # The reading task leaves its answers to the writing task. Otherwise two devices that each wait until
        # an answer is sent, before they read on, would wait for each other for ever.
        self._hellos: list[bytes] = []
        self._acks: list[bytes] = []
        self._pongs: list[bytes] = []
        self._answer_sent = asyncio.Event()
        # Pages that are being stored, in order: one is awaited, one queued, and one waits for room there.
        self._pages: asyncio.Queue[asyncio.Future[_PageStored]] = asyncio.Queue(1)
        self._stored = StoredPages()
        self._known_to_peer = 0  # The peer is known to have all commits up to this feed position.
        self._heads = INLINE_HEADS_MAX + 1

    # -- for callers ----------------------------------------------------------------------------------

    @property
    def peer_vector(self) -> VectorClock:
        """Return the commits that the peer is known to have."""
        return self._session.peer_vector if self._session else EMPTY_CLOCK

    @property
    def peer_replica(self) -> ReplicaId | None:
        """Return as which replica the peer wrote when the link began, None if it had not written."""
        return self._session.peer_replica if self._session else None

    @property
    def is_idle(self) -> bool:
        """Return whether the peer acknowledged all that was sent, and is not known to lack more."""
        return self._session is not None and self._session.is_idle

    @property
    def close_reason(self) -> str | None:
        """Return why this side asked the link to end, None if it did not."""
        return self._close_reason if self._close_asked.is_set() else None

    @property
    def may_have_diverged(self) -> bool:
        """Return whether the peer can have found another state: equal vectors, and no comparison agreed."""
        session = self._session
        return session is not None and session.is_level and session.peer_heads != self._agreed_at

    @property
    def owes_answer(self) -> bool:
        """Return whether the peer owes its greeting, an acknowledgement, or a pong that is overdue."""
        return not (self.greeted.is_set() and self.is_idle) or self.liveness.is_pong_overdue

    def close(self, reason: str) -> None:
        """Ask the link to end; the peer receives the first reason that was given."""
        self._close_reason = self._close_reason or reason
        self._close_asked.set()

    def send_again(self, heads: VectorClock) -> None:
        """Send commits to the peer once more: this device came to hold more of their values."""
        if self._session is not None:
            self._session.send_again(heads)
            self._write_wanted.set()

    async def refuse(self, reason: str) -> None:
        """Say goodbye instead of running."""
        self.ended.set()
        try:
            await self._wire.send(encode_message(Bye(reason)), self._limits.goodbye_s)
        except ConnectionLost:
            # The peer left first.
            pass
        await self._wire.close()

    # -- the conversation -----------------------------------------------------------------------------

    async def run(self) -> str:
        """Run the conversation to its end; return why it ended."""
        # The watch begins before the store is first read, so that no commit between the two is missed.
        watch = self._notifier.watch()
        try:
            session = await self._greet()
            return await self._converse(session, watch)
        except ConnectionLost as fault:
            return str(fault)
        except Exception as fault:
            self._observer.fault_found(self, fault_here(fault))
            raise
        finally:
            self.ended.set()
            self.liveness.notify_ended()
            await self._wire.close()

    async def _greet(self) -> Session:
        def begin(snapshot: Snapshot) -> Session:
            vault = snapshot.vault()
            assert vault is not None, "a link before the first start was over"
            self.wanted = self._find_wanted(snapshot)
            return Session(vault, snapshot.replica, read_store_state(snapshot), self.wanted)

        self._session = session = await self._db.read(begin)
        self._hellos += session.hello_frames()
        return session

    async def _converse(self, session: Session, watch: NotifierWatch) -> str:
        parts: list[Coroutine[Any, Any, None]] = [
            self._read(session),
            self._store_pages(session),
            self._write(session),
            self._follow_feed(session, watch),
            self._ping_regularly(session),
            self._await_close(),
        ]
        tasks = [asyncio.create_task(part) for part in parts]
        try:
            finished, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            while not self._pages.empty():
                self._pages.get_nowait().cancel()
        ends = [task.exception() for task in finished]
        # Several parts may end at one moment. That the connection was lost says the least of them.
        fault = next((end for end in ends if not isinstance(end, ConnectionLost)), ends[0])
        assert isinstance(fault, Exception), "a part of a link ended without a reason"
        return await self._end(session, fault)

    async def _end(self, session: Session, fault: Exception) -> str:
        """Send the peer a goodbye if it is still there; return the reason. A bug here is raised again."""
        peer = self.peer.hex()[:16]
        if (link_fault := fault_of_end(fault, self.peer_goodbye)) is not None:
            # Before anyone sees the end: who waits for all members must not take this one for simply away.
            self._observer.fault_found(self, link_fault)
        # Set before the goodbye, which may take a while: nobody may rely on this link any more.
        self.ended.set()
        self.liveness.notify_ended()
        if isinstance(fault, ConnectionLost | PeerLeft):
            return str(fault)
        if isinstance(fault, UnsupportedVersion):
            log.warning("peer speaks another version", peer=peer, seen=str(fault))
        elif isinstance(fault, RemoteProtocolError):
            log.warning("peer broke the protocol", peer=peer, seen=str(fault))
        elif isinstance(fault, StoreError):
            log.error("a peer's commits could not be stored", peer=peer, error=str(fault))
        reason = str(fault) if isinstance(fault, CloseAsked | RemoteProtocolError) else goodbyes.FAULT_HERE
        try:
            await self._wire.send(session.bye_frame(reason), self._limits.goodbye_s)
        except ConnectionLost:
            # The peer left first.
            pass
        if not isinstance(fault, CloseAsked | RemoteProtocolError | StoreError):
            raise fault
        return str(fault)

    async def _await_close(self) -> None:
        await self._close_asked.wait()
        raise CloseAsked(self._close_reason)

    async def _ping_regularly(self, session: Session) -> None:
        await self.liveness.begun.wait()
        while True:
            await asyncio.sleep(self._limits.ping_s)
            await self.liveness.ping(session)

    # -- receiving ------------------------------------------------------------------------------------

    async def _read(self, session: Session) -> None:
        try:
            await self._read_frames(session)
        except ConnectionLost:
            # Pages that arrived whole are stored first, so that the peer need not send them again.
            await self._pages.join()
            raise

    async def _read_frames(self, session: Session) -> None:
        limit_s, trickle_bytes = self._limits.greeting_s, self._limits.greeting_progress_bytes
        while True:
            frame = await self._wire.receive(limit_s, trickle_bytes)
            limit_s, trickle_bytes = self._limits.silence_s, self._limits.progress_bytes
            self.liveness.count_frame()
            self._observer.frame_received(self)
            for event in session.receive(frame, loop_time_s()):
                await self._handle_event(session, event)
            await self._record_pong(frame)
            # Frames that are here already are received without a wait. This gives the rest of the daemon its
            # turn between two of them.
            await asyncio.sleep(0)
            await self._wait_while_answers_pile_up()

    async def _record_pong(self, frame: bytes) -> None:
        """Record the answer to the last ping, once the pages that came before it are stored."""
        if (number := self.liveness.pong_number(frame)) is not None:
            await self._pages.join()
            self.liveness.record_pong(number)

    async def _handle_event(self, session: Session, event: conversation.SessionEvent) -> None:
        match event:
            case conversation.StoreCommits(commits=commits):
                await self._queue_page(commits)
            case conversation.SendFrame(frame=frame):
                await self._pages.join()
                self._pongs.append(frame)
                # The pong follows what is in the feed by now; without news, no page is read for it.
                session.feed_reaches(self._db.feed_end)
            case conversation.HelloReceived():
                self.greeted.set()
            case conversation.StatesCompared(agree=agree, heads=heads):
                self._record_comparison(agree, heads)
            case conversation.ByeReceived(reason=reason):
                self.peer_goodbye = reason
                # The pages before it count: with them, both may have the same commits.
                await self._pages.join()
                self._observer.goodbye_received(self)
                raise PeerLeft(f"the other side said: {reason}")
            case conversation.AckReceived():
                self._observer.link_works(self)
        self._write_wanted.set()
        self._observer.progress_changed(self)

    async def _queue_page(self, commits: list[SignedCommit]) -> None:
        """Have a page stored after those before it. Reading goes on meanwhile while the queue has room."""
        await self._wait_for_allowance()
        if (shortfall := self._observer.storage_shortfall()) is not None:
            # The peer is called again at growing intervals. That is how this side notices new room.
            log.warning("no commits are accepted from a peer", peer=self.peer.hex()[:16], seen=shortfall.text)
            raise NoRoom(shortfall)
        loop, size_bytes = asyncio.get_running_loop(), sum(len(commit.body) for commit in commits)

        def store_page(transaction: Transaction, page: Sequence[DecodedCommit]) -> _PageStored:
            accepted = transaction.accept_decoded_page(page)
            self._stored.note_stored()
            if self._allowance is not None and accepted.new_commits:
                # Charged on the store's thread: what is stored counts even if the link ends before that is
                # known here.
                loop.call_soon_threadsafe(self._allowance.record_stored, self.peer, size_bytes)
            return accepted, read_store_state(transaction), transaction.feed_end()

        stored = self._db.accept_page(commits, store_page)
        try:
            await self._pages.put(stored)
        except asyncio.CancelledError:
            stored.cancel()
            raise

    async def _wait_for_allowance(self) -> None:
        """Wait while this peer is over its rate limit; its further commits stay with it until then."""
        wait_s = 0.0 if self._allowance is None else self._allowance.wait_s(self.peer)
        if wait_s > 0:
            log.warning(
                "a peer sends more than its share and has to wait", peer=self.peer.hex()[:16], wait_s=wait_s
            )
            self._observer.progress_changed(self)
            await asyncio.sleep(wait_s)

    async def _wait_while_answers_pile_up(self) -> None:
        """Read no further while the peer asks faster than it reads the answers. No correct peer does so."""
        while len(self._acks) + len(self._pongs) >= ANSWERS_OWED_MAX:
            self._answer_sent.clear()
            self._write_wanted.set()
            await self._answer_sent.wait()

    # -- storing --------------------------------------------------------------------------------------

    async def _store_pages(self, session: Session) -> None:
        while True:
            self._acknowledge(session, *await (await self._pages.get()))
            self._pages.task_done()
            self._write_wanted.set()
            self._observer.progress_changed(self)

    def _acknowledge(self, session: Session, accepted: AcceptedPage, state: StoreState, end: int) -> None:
        """Acknowledge a page that is durable. `end` is the feed position after it."""
        self.liveness.count_stored_page()
        self._observer.link_works(self)
        self._heads = len(state.heads)
        if accepted.own_replica_ahead:
            log.warning(
                "a peer returned commits of this device that this device had lost", peer=self.peer.hex()[:16]
            )
        self._acks.extend(session.ack_frames(accepted.heads, accepted.forked, state))
        self._stored.note_acknowledged()
        self._observer.page_stored(self, accepted)
        if session.is_level:
            self._known_to_peer = end
        self._compare_states(session)

    def _compare_states(self, session: Session) -> None:
        """Compare states if this side now has the commits that the peer said that it has."""
        if (comparison := session.compare_states()) is not None:
            self._record_comparison(*comparison)

    def _record_comparison(self, agree: bool, heads: HeadSet) -> None:
        self._observer.link_works(self)
        self.states_agreed, self._agreed_at = agree, heads if agree else NO_HEADS
        self._observer.states_compared(self, agree=agree)

    # -- sending --------------------------------------------------------------------------------------

    async def _follow_feed(self, session: Session, watch: NotifierWatch) -> None:
        while True:
            await watch.wait_for_growth()
            if self._db.feed_end <= self._known_to_peer:
                # These commits came from the peer itself.
                continue
            session.feed_grew()
            self._write_wanted.set()
            # The first commit is sent at once; those that land within this time after it are sent together.
            await asyncio.sleep(self._limits.coalesce_s)

    async def _write(self, session: Session) -> None:
        # While the other side is read: two long greetings would wait for each other for ever.
        await self._send_answers(self._hellos)
        self.liveness.begin(session)
        while True:
            await self._write_wanted.wait()
            self._write_wanted.clear()
            await self._send_answers(self._acks)
            while (wanted := session.next_page_request()) is not None:
                await self._send_page(session, wanted)
                await self._send_answers(self._acks)
            await self._send_answers(self._pongs)

    async def _send_answers(self, frames: list[bytes]) -> None:
        while frames:
            await self._send(frames.pop(0))
            self._answer_sent.set()

    async def _send_page(self, session: Session, wanted: PageRequest) -> None:
        page, state, removed = await self._read_page(session, wanted)
        self._heads = len(state.heads)
        if removed and not (page.commits and member_records.commit_removes(page.commits[-1], self.peer)):
            # The roster's reader is about to end this link. The removal itself is the last commit that a
            # removed device may get.
            raise CloseAsked(goodbyes.NOT_A_MEMBER)
        frame = session.page_frame(
            page.commits, page.end, state, loop_time_s(), whole=page.whole, left=page.left
        )
        self._compare_states(session)
        if frame is not None:
            await self._send(frame)
            self._observer.page_sent(self, len(page.commits))
        self._observer.progress_changed(self)

    async def _read_page(self, session: Session, wanted: PageRequest) -> PageRead:
        """Read a page, and anew if a page of the peer came meanwhile: only now it is known to have that."""
        for _ in range(PAGE_READS_MAX - 1):
            known_pages = self._stored.acknowledged
            page_read = await self._read_once(session, wanted)
            if not await self._stored.settle(known_pages):
                return page_read
            wanted = wanted._replace(peer_heads=session.peer_heads)
        return await self._read_once(session, wanted)

    async def _read_once(self, session: Session, wanted: PageRequest) -> PageRead:
        """Read a short page at once, on the event loop, and a longer one on a thread.

        To ask a thread takes several times as long. A page is short if it has few commits, and the peer has
        acknowledged all pages before it. The cost also grows with the heads, and with any fork.
        """

        def read(snapshot: Snapshot) -> PageRead:
            return read_page(snapshot, wanted, self.peer)

        page_read = None
        few_commits = self._db.feed_end - wanted.after <= INLINE_COMMITS_MAX
        few_heads = max(self._heads, len(wanted.peer_heads)) <= INLINE_HEADS_MAX
        if few_commits and few_heads and not session.pages_in_flight:
            page_read = self._db.read_now(
                lambda snapshot: None if snapshot.log.chains.forked_replicas() else read(snapshot)
            )
        return await self._db.read(read) if page_read is None else page_read

    async def _send(self, frame: bytes) -> None:
        await self._wire.send(frame, self._limits.send_s, self._limits.progress_bytes)
