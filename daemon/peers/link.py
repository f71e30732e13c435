"""One link: drives the session over a wire, and the store from the session.

Never acknowledges what is not durable, and never holds more than the session's window in memory.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import structlog

from daemon.notifier import Notifier, Watch
from daemon.peers import roster
from daemon.peers.allowance import Allowance
from daemon.peers.pace import Pace, time_s
from daemon.peers.wire import LineLost, Wire
from store.faults import StoreError
from store.pages import FeedPage
from store.snapshot import Snapshot
from store.threads import StoreThreads
from store.transaction import Taken, Transaction
from syncproto import session as conversation
from syncproto.commit import Received, SignedCommit
from syncproto.faults import OtherVersion, RemoteProtocolError
from syncproto.heads import EMPTY, Clock
from syncproto.ids import DeviceId
from syncproto.messages import Bye, Pong, write
from syncproto.session import PageWanted, Session, Standing

ANSWERS_OWED_MAX = 32
FEW_COMMITS = 16
FEW_HEADS = 32
KERNEL_TICK_S = 0.02
"""The kernel counts time in ticks, of 10 ms at most: what it heard at the asking may seem older by that."""

log = structlog.get_logger("peers")

_Reading = tuple[FeedPage, Standing, bool]
"""A page, what was held when it was read, and whether the peer was no member any more."""
_Stored = tuple[Taken, Standing, int]
"""What a page brought, what was held then, and up to which feed position."""


class _Asked(Exception):
    """This side wants the link to end; the message is the reason that the peer is told."""


class _Left(Exception):
    """The peer said goodbye; the message is its reason."""


def standing(snapshot: Snapshot) -> Standing:
    """Return what the store holds."""
    return Standing(snapshot.vector(), snapshot.state_hash())


async def first(*events: asyncio.Event) -> None:
    """Wait until one of several events is set."""
    if any(event.is_set() for event in events):
        return
    waits = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()


class Link:
    """A link to one peer. `run` it once; `close` ends it; `greeted` and `ended` can be waited for."""

    def __init__(
        self,
        wire: Wire,
        peer: DeviceId,
        *,
        dialled: bool,
        db: StoreThreads,
        notifier: Notifier,
        changed: Callable[[], None],
        compared: Callable[[bool], None],
        pace: Pace,
        parted: Callable[[], None] = lambda: None,
        shortfall: Callable[[], str | None] = lambda: None,
        allowance: Allowance | None = None,
        came: Callable[[], None] = lambda: None,
    ) -> None:
        """`came` is told of whatever the peer sends, `parted` when it said goodbye."""
        self.peer = peer
        self.dialled = dialled
        self.remote = wire.remote
        self.greeted = asyncio.Event()
        self.ended = asyncio.Event()
        self.foreign: OtherVersion | None = None
        self.goodbye: str | None = None
        """Why the peer ended this link, where it said so."""
        self.agreed: bool | None = None
        """What the last comparison of states on this link came to."""
        self._agreed_at = EMPTY
        self._wire = wire
        self._db = db
        self._notifier = notifier
        self._changed = changed
        self._on_compared = compared
        self._on_parted = parted
        self._pace = pace
        self._shortfall = shortfall
        self._allowance = allowance
        self._came = came
        self._session: Session | None = None
        self._wake = asyncio.Event()
        self._close_asked = asyncio.Event()
        self._close_reason = ""
        # The reader leaves its answers to the writer: two readers that each wait until an answer is sent, for
        # the other to read on, would wait for ever.
        self._acks: list[bytes] = []
        self._pongs: list[bytes] = []
        self._answered = asyncio.Event()
        # Pages that are being stored, in their order: one is awaited, one lies here, and one waits to.
        self._pages: asyncio.Queue[asyncio.Future[_Stored]] = asyncio.Queue(1)
        self._level = 0
        """Up to this feed position the peer is known to hold all."""
        self._heard = Notifier()
        self._pings = 0
        self._pong_heard = 0
        self._owed_since_s = 0.0
        self._takes = 0
        self._frames = 0
        self._heads = FEW_HEADS + 1

    # -- for those who hold the link ------------------------------------------------------------------

    @property
    def peer_vector(self) -> Clock:
        """Return what the peer is known to hold."""
        return self._session.peer_vector if self._session else EMPTY

    @property
    def idle(self) -> bool:
        """Say whether all that was sent is acknowledged and nothing more is known to be wanted."""
        return self._session is not None and self._session.idle

    @property
    def end_asked(self) -> str | None:
        """Return why this link was asked to end, None where it was not."""
        return self._close_reason if self._close_asked.is_set() else None

    @property
    def may_differ(self) -> bool:
        """Say whether the peer can have found another state: it held the same, and none agreed there."""
        session = self._session
        return session is not None and session.level and session.peer_vector != self._agreed_at

    def close(self, reason: str) -> None:
        """Ask the link to end; the peer is told why."""
        self._close_reason = self._close_reason or reason
        self._close_asked.set()

    async def refuse(self, reason: str) -> None:
        """Say goodbye instead of running."""
        self.ended.set()
        try:
            await self._wire.send(write(Bye(reason)), self._pace.goodbye_s)
        except LineLost:
            # It left first.
            pass
        await self._wire.close()

    async def shows_life(self) -> bool:
        """Ask the peer for a sign of life; say whether anything came from it within the time for that."""
        seen, watch = self._frames, self._heard.watch()
        asked_s = time_s()
        try:
            async with asyncio.timeout(self._pace.life_s):
                if self._session is not None and self.greeted.is_set():
                    await self._ping(self._session)
                while self._frames == seen and not self.ended.is_set():
                    await watch.grown()
        except TimeoutError:
            # Its answer may wait behind a long page on a narrow line, or behind what the other side is doing.
            heard_ago_s = self._wire.heard_ago_s()
            return heard_ago_s is not None and heard_ago_s < time_s() - asked_s + KERNEL_TICK_S
        except LineLost:
            return False
        return not self.ended.is_set()

    @property
    def unanswered(self) -> bool:
        """Say whether the peer owes its first word, or an answer: to a page, or what it had time for."""
        if not (self.greeted.is_set() and self.idle):
            return True
        waits = time_s() - self._owed_since_s > self._pace.life_s
        return waits and self._pong_heard < self._pings

    async def answers(self) -> bool:
        """Ask the peer; say whether it answers this question in time, and not just its machine."""
        if self._session is None or not self.greeted.is_set() or self.ended.is_set():
            return False
        watch = self._heard.watch()
        try:
            async with asyncio.timeout(self._pace.life_s):
                number = await self._ping(self._session)
                while self._pong_heard < number and not self.ended.is_set():
                    await watch.grown()
        except (TimeoutError, LineLost):
            return False
        return self._pong_heard >= number

    async def quiet(self) -> bool:
        """Ask the peer for a sign of life; say whether it had nothing for us in between.

        Its pong comes after the commits that it held when asked, as far as its window let it send them.
        False also where the link has ended.
        """
        await first(self.greeted, self.ended)
        if self._session is None or self.ended.is_set():
            return False
        takes, watch = self._takes, self._heard.watch()
        try:
            number = await self._ping(self._session)
            # Somebody waits for this one.
            self._owed_since_s = float("-inf")
        except LineLost:
            # The parts of the link see it too, and end it.
            return False
        while self._pong_heard < number and not self.ended.is_set():
            await watch.grown(self._pace.silence_s)
        return self._takes == takes and not self.ended.is_set()

    # -- the conversation -----------------------------------------------------------------------------

    async def run(self) -> str:
        """Hold the conversation to its end; return why it ended."""
        # Opened before the store is first read, so that nothing falls between the two.
        watch = self._notifier.watch()
        try:
            session = await self._greet()
            return await self._converse(session, watch)
        except LineLost as fault:
            return str(fault)
        finally:
            self.ended.set()
            self._heard.tell()
            await self._wire.close()

    async def _greet(self) -> Session:
        def begin(snapshot: Snapshot) -> Session:
            vault = snapshot.vault()
            assert vault is not None, "a link before the first start was over"
            return Session(vault, snapshot.replica, standing(snapshot))

        self._session = session = await self._db.read(begin)
        await self._send(session.hello())
        return session

    async def _converse(self, session: Session, watch: Watch) -> str:
        parts: list[Coroutine[Any, Any, None]] = [
            self._read(session),
            self._store(session),
            self._write(session),
            self._follow(session, watch),
            self._beat(session),
            self._await_close(),
        ]
        tasks = [asyncio.create_task(part) for part in parts]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            while not self._pages.empty():
                self._pages.get_nowait().cancel()
        fault = next(iter(done)).exception()
        assert isinstance(fault, Exception), "a part of a link ended without a reason"
        return await self._end(session, fault)

    async def _end(self, session: Session, fault: Exception) -> str:
        """Tell the peer why, where it is still there; return the reason. A bug here is raised again."""
        peer = self.peer.hex()[:16]
        # Before the goodbye, which may take a while: nobody is to count on this link any more.
        self.ended.set()
        self._heard.tell()
        if isinstance(fault, LineLost | _Left):
            return str(fault)
        if isinstance(fault, OtherVersion):
            self.foreign = fault
            log.warning("peer speaks another version", peer=peer, seen=str(fault))
        elif isinstance(fault, RemoteProtocolError):
            log.warning("peer broke the protocol", peer=peer, seen=str(fault))
        elif isinstance(fault, StoreError):
            log.error("a peer's commits could not be stored", peer=peer, error=str(fault))
        told = str(fault) if isinstance(fault, _Asked | RemoteProtocolError) else "a fault on this side"
        try:
            await self._wire.send(session.bye(told), self._pace.goodbye_s)
        except LineLost:
            # It left first.
            pass
        if not isinstance(fault, _Asked | RemoteProtocolError | StoreError):
            raise fault
        return str(fault)

    async def _read(self, session: Session) -> None:
        try:
            await self._read_on(session)
        except LineLost:
            # What came whole need not be sent again.
            await self._pages.join()
            raise

    async def _read_on(self, session: Session) -> None:
        limit_s, trickle_bytes = self._pace.greeting_s, 0
        while True:
            frame = await self._wire.receive(limit_s, trickle_bytes)
            limit_s, trickle_bytes = self._pace.silence_s, self._pace.trickle_bytes
            self._frames += 1
            self._came()
            self._heard.tell()
            for event in session.receive(frame, time_s()):
                await self._follow_up(session, event)
            await self._hear_pong(frame)
            # Frames that are here already come without a wait: the rest of the daemon gets its turn between.
            await asyncio.sleep(0)
            await self._until_few_are_owed()

    async def _hear_pong(self, frame: bytes) -> None:
        """Note the answer to the last question, once what came before it is stored."""
        number = self._pings
        if frame == write(Pong(number)):
            await self._pages.join()
            self._pong_heard = number
            self._heard.tell()

    async def _leave_to_store(self, commits: list[SignedCommit]) -> None:
        """Have a page stored, after those before it, and read on meanwhile as far as there is room."""
        await self._until_allowed()
        shortfall = self._shortfall()
        if shortfall is not None:
            # It is dialled again, at growing intervals: that is how room that came back is noticed.
            log.warning("nothing is taken from a peer", peer=self.peer.hex()[:16], seen=shortfall)
            raise _Asked("this device has no room left")
        loop, size = asyncio.get_running_loop(), sum(len(one.body) for one in commits)

        def use(transaction: Transaction, page: Sequence[Received]) -> _Stored:
            taken = transaction.take_read(page)
            if self._allowance is not None and taken.new:
                # From here: what is stored counts, also where the link ends before that is known.
                loop.call_soon_threadsafe(self._allowance.spend, self.peer, size)
            return taken, standing(transaction), transaction.feed_end()

        stored = self._db.take(commits, use)
        try:
            await self._pages.put(stored)
        except asyncio.CancelledError:
            stored.cancel()
            raise

    async def _store(self, session: Session) -> None:
        while True:
            self._stored(session, *await (await self._pages.get()))
            self._pages.task_done()
            self._wake.set()
            self._changed()

    async def _follow_up(self, session: Session, event: conversation.Event) -> None:
        match event:
            case conversation.Take(commits=commits):
                await self._leave_to_store(commits)
            case conversation.Send(frame=frame):
                await self._pages.join()
                self._pongs.append(frame)
                session.grew()
            case conversation.Greeted():
                self.greeted.set()
            case conversation.Compared(agree=agree, vector=vector):
                self._compared(agree, vector)
            case conversation.Closed(reason=reason):
                self.goodbye = reason
                # What came before it counts: it may be what is held alike.
                await self._pages.join()
                self._on_parted()
                raise _Left(f"the other side said: {reason}")
            case conversation.Acked():
                pass
        self._wake.set()
        self._changed()

    def _stored(self, session: Session, taken: Taken, held: Standing, end: int) -> None:
        """Acknowledge a page that is durable."""
        self._takes += 1
        self._heads = len(held.vector)
        if taken.overtaken:
            log.warning("a peer held commits of this device's own that it lacked", peer=self.peer.hex()[:16])
        self._acks.append(session.taken(taken.heads, taken.forked, held))
        if session.peer_vector == held.vector:
            self._level = end
        self._compare(session)

    async def _until_allowed(self) -> None:
        """Wait while this peer has filled more of the disk than it may at once; the rest stays with it."""
        wait_s = 0.0 if self._allowance is None else self._allowance.wait_s(self.peer)
        if wait_s > 0:
            log.warning("a peer sends more than it may at once", peer=self.peer.hex()[:16], wait_s=wait_s)
            self._changed()
            await asyncio.sleep(wait_s)

    def _compare(self, session: Session) -> None:
        """Compare states where this side has come to hold what the peer said that it holds."""
        if (compared := session.compare()) is not None:
            self._compared(*compared)

    def _compared(self, agree: bool, vector: Clock) -> None:
        self.agreed, self._agreed_at = agree, vector if agree else EMPTY
        self._on_compared(agree)

    async def _until_few_are_owed(self) -> None:
        """Read no further while the peer asks faster than it reads the answers; the session never does."""
        while len(self._acks) + len(self._pongs) >= ANSWERS_OWED_MAX:
            self._answered.clear()
            self._wake.set()
            await self._answered.wait()

    async def _write(self, session: Session) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            await self._send_owed(self._acks)
            while (wanted := session.wanted()) is not None:
                await self._send_page(session, wanted)
                await self._send_owed(self._acks)
            await self._send_owed(self._pongs)

    async def _send_owed(self, owed: list[bytes]) -> None:
        while owed:
            await self._send(owed.pop(0))
            self._answered.set()

    async def _send_page(self, session: Session, wanted: PageWanted) -> None:
        def use(snapshot: Snapshot) -> _Reading:
            page = snapshot.page(wanted.peer_vector, wanted.after, wanted.bytes_max)
            return page, standing(snapshot), roster.is_removed(snapshot, self.peer)

        found = self._read_now(session, wanted, use)
        page, held, removed = await self._db.read(use) if found is None else found
        self._heads = len(held.vector)
        if removed and not (page.commits and roster.removes(page.commits[-1], self.peer)):
            # Those who close the door are on their way; nothing that came after it may go out before them.
            raise _Asked(roster.NO_MEMBER)
        frame = session.page(page.commits, page.end, held, time_s(), whole=page.whole)
        self._compare(session)
        if frame is not None:
            await self._send(frame)
        self._changed()

    def _read_now(
        self, session: Session, wanted: PageWanted, use: Callable[[Snapshot], _Reading]
    ) -> _Reading | None:
        """Read a page at once where it is short: a few commits for a peer that has acknowledged the others.

        To ask a thread takes several times as long. None where it may be more: each head is looked for, and a
        fork in all.
        """
        heads = max(self._heads, len(wanted.peer_vector))
        if session.under_way or self._db.feed_end - wanted.after > FEW_COMMITS or heads > FEW_HEADS:
            return None
        return self._db.read_now(lambda snapshot: None if snapshot.log.forks() else use(snapshot))

    async def _follow(self, session: Session, watch: Watch) -> None:
        while True:
            await watch.grown()
            if self._db.feed_end <= self._level:
                # The peer itself brought what was told.
                continue
            session.grew()
            self._wake.set()
            # The first commit goes at once; those that land within this time after it go together.
            await asyncio.sleep(self._pace.coalesce_s)

    async def _beat(self, session: Session) -> None:
        while True:
            await asyncio.sleep(self._pace.ping_s)
            await self._ping(session)

    async def _ping(self, session: Session) -> int:
        if self._pong_heard == self._pings:
            self._owed_since_s = time_s()
        self._pings += 1
        await self._send(session.ping(self._pings))
        return self._pings

    async def _await_close(self) -> None:
        await self._close_asked.wait()
        raise _Asked(self._close_reason)

    async def _send(self, frame: bytes) -> None:
        await self._wire.send(frame, self._pace.send_s, self._pace.trickle_bytes)
