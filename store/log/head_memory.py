"""The heads of a store at its latest feed positions, so that a snapshot need not read all chains for them.

Never knows a feed position whose commits could still be taken back: the writer forgets it then.
"""

import threading

from syncproto.head_set import HeadSet

POSITIONS_MAX = 8
"""A snapshot is rarely older than a few transactions. These share what they have in common."""


class HeadMemory:
    """The heads by feed position, for all threads."""

    def __init__(self) -> None:
        self._heads: dict[int, HeadSet] = {}
        self._lock = threading.Lock()

    def heads_at(self, feed_end: int) -> HeadSet | None:
        """Return the heads of a store whose feed ends at a position, None if they are not remembered."""
        with self._lock:
            return self._heads.get(feed_end)

    def remember(self, feed_end: int, heads: HeadSet) -> None:
        """Remember the heads at a feed position; the longest remembered ones give way."""
        with self._lock:
            self._heads[feed_end] = heads
            while len(self._heads) > POSITIONS_MAX:
                del self._heads[next(iter(self._heads))]

    def forget_all(self) -> None:
        """Forget all: a position was remembered whose commits did not become durable."""
        with self._lock:
            self._heads.clear()
