"""How much a peer may fill this device's disk with, and how fast beyond that.

Never refuses anything: who sends more is taken from slowly, and a person hears of it before the disk is full.
"""

from collections.abc import Callable, Hashable


class Allowance:
    """An allowance for each peer: so many bytes at once, and so many a second from then on.

    The first part is far more than a life of notes, so that bringing up a new device never meets it.
    """

    def __init__(self, bytes_at_once: int, bytes_per_s: int, now_s: Callable[[], float]) -> None:
        self._bytes_at_once = bytes_at_once
        self._bytes_per_s = bytes_per_s
        self._now_s = now_s
        self._spent: dict[Hashable, tuple[float, float]] = {}

    def spend(self, peer: Hashable, count: int) -> None:
        """Note that so many bytes of a peer's were stored."""
        self._spent[peer] = (self._owed(peer) + count, self._now_s())

    def wait_s(self, peer: Hashable) -> float:
        """Return how long to wait before more is taken from a peer."""
        return max(0.0, (self._owed(peer) - self._bytes_at_once) / self._bytes_per_s)

    def is_slowed(self, peer: Hashable) -> bool:
        """Say whether a peer is taken from slowly now, or was a moment ago."""
        # A page is stored in a moment, and paid back in some: in between there is no wait.
        return self._owed(peer) >= self._bytes_at_once * 0.99

    def _owed(self, peer: Hashable) -> float:
        spent, at_s = self._spent.get(peer, (0.0, 0.0))
        return max(0.0, spent - (self._now_s() - at_s) * self._bytes_per_s)
