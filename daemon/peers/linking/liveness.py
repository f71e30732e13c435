"""Whether the peer of one link is alive and has caught up, as its pongs and its machine's kernel show.

Never ends a link: it answers questions, and its callers decide.
"""

import asyncio

from daemon.notifier import Notifier
from daemon.peers.transport.limits import PeerLimits, loop_time_s
from daemon.peers.transport.wire import ConnectionLost, Wire
from syncproto.messages import Pong, encode_message
from syncproto.session import Session

KERNEL_TICK_S = 0.02
"""The kernel counts time in ticks of at most 10 ms, so an answer may seem older than the question by that."""


async def wait_for_any(*events: asyncio.Event) -> None:
    """Wait until one of several events is set."""
    if any(event.is_set() for event in events):
        return
    waits = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()


class Liveness:
    """The pings, pongs and frames of one link. `greeted` and `ended` are events of the link.

    The link reports here what it receives and stores. No question can be asked before `begin`.
    """

    def __init__(self, wire: Wire, limits: PeerLimits, greeted: asyncio.Event, ended: asyncio.Event) -> None:
        self._wire = wire
        self._limits = limits
        self._greeted = greeted
        self._ended = ended
        self.begun = asyncio.Event()
        """Set once the whole greeting of this side is sent: no ping may come between its parts."""
        self._session: Session | None = None
        self._received = Notifier()
        self._pings = 0
        self._last_pong = 0
        self._awaiting_pong_since_s = 0.0
        self._stored_pages = 0
        self._frames = 0

    def begin(self, session: Session) -> None:
        """Use this session for pings from now on."""
        self._session = session
        self.begun.set()

    def count_frame(self) -> None:
        """Note that a frame arrived."""
        self._frames += 1
        self._received.notify()

    def count_stored_page(self) -> None:
        """Note that a page of the peer's commits was stored."""
        self._stored_pages += 1

    def pong_number(self, frame: bytes) -> int | None:
        """Return the number of the latest ping if this frame is the pong to it, else None."""
        return self._pings if frame == encode_message(Pong(self._pings)) else None

    def record_pong(self, number: int) -> None:
        """Note that a ping was answered, and that every page that came before the pong is stored."""
        self._last_pong = number
        self._received.notify()

    def notify_ended(self) -> None:
        """Wake all who wait for an answer; the link sets `ended` first."""
        self._received.notify()

    @property
    def is_pong_overdue(self) -> bool:
        """Return whether the peer owes a pong for longer than `liveness_s`, or one that somebody awaits."""
        waited_s = loop_time_s() - self._awaiting_pong_since_s
        return waited_s > self._limits.liveness_s and self._last_pong < self._pings

    async def ping(self, session: Session) -> int:
        """Send a ping; return its number. Raises ConnectionLost."""
        if self._last_pong == self._pings:
            self._awaiting_pong_since_s = loop_time_s()
        self._pings += 1
        frame = session.ping_frame(self._pings)
        await self._wire.send(frame, self._limits.send_s, self._limits.progress_bytes)
        return self._pings

    async def is_alive(self) -> bool:
        """Ping the peer; return whether anything came from it or from its machine within `liveness_s`."""
        frames, watch = self._frames, self._received.watch()
        asked_s = loop_time_s()
        try:
            async with asyncio.timeout(self._limits.liveness_s):
                if self._session is not None and self._greeted.is_set():
                    await self.ping(self._session)
                while self._frames == frames and not self._ended.is_set():
                    await watch.wait_for_growth()
        except TimeoutError:
            # The pong may be queued behind a long page on a slow connection, or the peer's daemon may be
            # busy. Then the acknowledgement by its machine's kernel is the sign of life.
            received_ago_s = self._wire.since_received_s()
            return received_ago_s is not None and received_ago_s < loop_time_s() - asked_s + KERNEL_TICK_S
        except ConnectionLost:
            return False
        return not self._ended.is_set()

    async def answers_ping(self) -> bool:
        """Ping the peer; return whether its daemon, not just its machine, answers within `liveness_s`."""
        if self._session is None or not self._greeted.is_set() or self._ended.is_set():
            return False
        watch = self._received.watch()
        try:
            async with asyncio.timeout(self._limits.liveness_s):
                number = await self.ping(self._session)
                while self._last_pong < number and not self._ended.is_set():
                    await watch.wait_for_growth()
        except (TimeoutError, ConnectionLost):
            return False
        return self._last_pong >= number

    async def has_nothing_to_send(self) -> bool:
        """Ping the peer; return whether no page of it was stored between the ping and the pong.

        The pong follows all commits that the peer had when it was asked, as far as its window lets it send
        them. Return False also if the link has ended.
        """
        await wait_for_any(self._greeted, self._ended)
        await wait_for_any(self.begun, self._ended)
        if self._session is None or self._ended.is_set():
            return False
        stored_pages, watch = self._stored_pages, self._received.watch()
        try:
            number = await self.ping(self._session)
            # A caller waits for this pong, so it counts as overdue from the start.
            self._awaiting_pong_since_s = float("-inf")
        except ConnectionLost:
            # The other tasks of the link see the loss too, and end the link.
            return False
        while self._last_pong < number and not self._ended.is_set():
            await watch.wait_for_growth(self._limits.silence_s)
        return self._stored_pages == stored_pages and not self._ended.is_set()
