"""What is under way to a peer: how many bytes of it there may be, by how long pages take to be acknowledged.

Never reads a clock: moments are told, in seconds of a clock that does not go back.
"""

from collections import deque
from typing import NamedTuple

from syncproto.messages import PAGE_BYTES_MAX, PAGE_BYTES_MIN

WINDOW_PAGES = 4
FLIGHT_S = 2.0
"""So long may what is under way take until it is acknowledged: a live change waits behind it.

Where even a short page takes long it may be twice as much."""
FLIGHT_BYTES_FIRST = 128 * 1024
FLIGHT_BYTES_MIN = 2 * PAGE_BYTES_MIN
FLIGHT_BYTES_MAX = WINDOW_PAGES * PAGE_BYTES_MAX
GROWTH = 4
"""How many times what went through in time may be tried next: many lines take one burst, and no second."""


class _Page(NamedTuple):
    size: int
    under_way: int
    sent_s: float


class Flight:
    """The pages that were sent and not yet acknowledged.

    All that was under way when a page was sent has come through by its Ack, so both together tell the rate,
    however Acks bunch. What even a short page takes is the way there and back and the peer's disk. Shorter
    pages would not shorten it, so up to half of the time is put down to it.
    """

    def __init__(self) -> None:
        self._pages: deque[_Page] = deque()
        self._bytes = 0
        self._bytes_max = FLIGHT_BYTES_FIRST
        self._way_s = 0.0
        self._rested = False

    @property
    def pages(self) -> int:
        """Return how many pages are under way."""
        return len(self._pages)

    @property
    def page_bytes(self) -> int:
        """Return how long the next page may be, 0 while it has to wait."""
        if self._rested and not self._pages:
            # What the line bears may have changed meanwhile: a mobile one is cut down within a moment.
            self._bytes_max = min(self._bytes_max, FLIGHT_BYTES_FIRST)
        wished = min(self._bytes_max // 2, PAGE_BYTES_MAX)
        room = self._bytes_max - self._bytes
        # No crumbs: each page costs the peer a transaction.
        return 0 if len(self._pages) >= WINDOW_PAGES or room < wished // 2 else min(wished, room)

    def rested(self) -> None:
        """Note that there is nothing left to send."""
        self._rested = True

    def sent(self, size: int, now_s: float) -> None:
        """Note a page that is sent now."""
        self._rested = False
        self._bytes += size
        self._pages.append(_Page(size, self._bytes, now_s))

    def acked(self, now_s: float) -> None:
        """Note that the oldest page was acknowledged."""
        page = self._pages.popleft()
        self._bytes -= page.size
        took_s = max(now_s - page.sent_s, 0.0)
        if page.under_way <= FLIGHT_BYTES_MIN:
            self._way_s = (self._way_s + took_s) / 2
        beyond_s = max(took_s - self._way_s, took_s / 2, 1e-6)
        fits = round(min(page.under_way * FLIGHT_S / beyond_s, FLIGHT_BYTES_MAX))
        if beyond_s <= FLIGHT_S:
            self._bytes_max = max(self._bytes_max, min(GROWTH * page.under_way, fits))
        else:
            self._bytes_max = max(min(self._bytes_max, fits), FLIGHT_BYTES_MIN)
