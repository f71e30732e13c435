"""The send window: how many bytes may be in flight to a peer, by how long pages take to be acknowledged.

Never reads a clock: callers pass the time, in seconds of a clock that does not go back.
"""

from collections import deque
from typing import NamedTuple

from syncproto.messages import PAGE_BYTES_MAX, PAGE_BYTES_MIN

WINDOW_PAGES = 4
ACK_GOAL_S = 2.0
"""The time within which all bytes in flight should be acknowledged: a live change waits behind them.

It may be twice as long if even a short page takes long."""
WINDOW_BYTES_FIRST = 128 * 1024
WINDOW_BYTES_MIN = 2 * PAGE_BYTES_MIN
WINDOW_BYTES_MAX = WINDOW_PAGES * PAGE_BYTES_MAX
WINDOW_GROWTH = 4
"""How many times the bytes that arrived in time may be sent next: many lines bear one burst only."""


class _Page(NamedTuple):
    size: int
    bytes_in_flight: int
    sent_s: float


class SendWindow:
    """The pages that were sent and not yet acknowledged.

    All bytes that were in flight when a page was sent have arrived when its Ack comes. Bytes and time give
    the rate, even if several Acks come together. The time that a short page takes is the round trip and the
    disk of the peer. Shorter pages would not reduce it, so it is subtracted, up to half of the time measured.
    """

    def __init__(self) -> None:
        self._pages: deque[_Page] = deque()
        self._bytes = 0
        self._bytes_max = WINDOW_BYTES_FIRST
        self._round_trip_s = 0.0
        self._is_idle = False

    @property
    def pages_in_flight(self) -> int:
        """Return how many pages are not yet acknowledged."""
        return len(self._pages)

    @property
    def next_page_bytes(self) -> int:
        """Return how many bytes the next page may have, 0 while it has to wait."""
        if self._is_idle and not self._pages:
            # The rate of the line may have changed meanwhile: that of a mobile one drops within a moment.
            self._bytes_max = min(self._bytes_max, WINDOW_BYTES_FIRST)
        preferred = min(self._bytes_max // 2, PAGE_BYTES_MAX)
        room = self._bytes_max - self._bytes
        # No tiny pages: each costs the peer a transaction.
        return 0 if len(self._pages) >= WINDOW_PAGES or room < preferred // 2 else min(preferred, room)

    def note_idle(self) -> None:
        """Record that there is nothing left to send."""
        self._is_idle = True

    def note_sent(self, size: int, now_s: float) -> None:
        """Record a page that is sent now."""
        self._is_idle = False
        self._bytes += size
        self._pages.append(_Page(size, self._bytes, now_s))

    def note_acked(self, now_s: float) -> None:
        """Record that the oldest page was acknowledged, and adapt the window."""
        page = self._pages.popleft()
        self._bytes -= page.size
        took_s = max(now_s - page.sent_s, 0.0)
        if page.bytes_in_flight <= WINDOW_BYTES_MIN:
            self._round_trip_s = (self._round_trip_s + took_s) / 2
        # Never 0: a clock may show the same moment twice.
        transfer_s = max(took_s - self._round_trip_s, took_s / 2, 1e-6)
        bytes_in_goal = round(min(page.bytes_in_flight * ACK_GOAL_S / transfer_s, WINDOW_BYTES_MAX))
        if transfer_s <= ACK_GOAL_S:
            self._bytes_max = max(self._bytes_max, min(WINDOW_GROWTH * page.bytes_in_flight, bytes_in_goal))
        else:
            self._bytes_max = max(min(self._bytes_max, bytes_in_goal), WINDOW_BYTES_MIN)
