"""What readers made of the whole store at its latest feed position, so that the next one need not.

Never knows a feed position whose commits could still be taken back: only snapshots of what is durable use it.
"""

import threading


class ReaderMemory:
    """The last value of each kind with its feed position, for all threads. A value must not be changed."""

    def __init__(self) -> None:
        self._values: dict[str, tuple[int, object]] = {}
        self._lock = threading.Lock()

    def latest(self, kind: str, feed_end: int) -> tuple[int, object] | None:
        """Return the value of a kind with its feed position, None for one beyond `feed_end`."""
        with self._lock:
            position, value = self._values.get(kind, (-1, None))
        return (position, value) if 0 <= position <= feed_end else None

    def remember(self, kind: str, feed_end: int, value: object) -> None:
        """Remember the value of a kind at a feed position; the one before gives way, unless it is newer."""
        with self._lock:
            if feed_end >= self._values.get(kind, (-1, None))[0]:
                self._values[kind] = (feed_end, value)
