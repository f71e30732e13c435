"""How much one peer may store on this device at once, and how fast beyond that.

Never refuses anything: a peer that sends more is slowed down, and a person learns of it in time.
"""

from collections.abc import Callable, Hashable

SHARE_LIMITED = 0.99
"""A peer counts as slowed down while its debt is more than this share of what it may store at once."""


class StorageRateLimit:
    """An allowance per peer: `bytes_at_once`, and `bytes_per_s` from then on.

    The first part is far more than a lifetime of notes, so a new device never meets the limit.
    """

    def __init__(self, bytes_at_once: int, bytes_per_s: int, now_s: Callable[[], float]) -> None:
        self._bytes_at_once = bytes_at_once
        self._bytes_per_s = bytes_per_s
        self._now_s = now_s
        self._debts: dict[Hashable, tuple[float, float]] = {}

    def record_stored(self, peer: Hashable, count: int) -> None:
        """Note that `count` bytes from a peer were stored."""
        self._debts[peer] = (self._debt_bytes(peer) + count, self._now_s())

    def wait_s(self, peer: Hashable) -> float:
        """Return how many seconds to wait before more from a peer is stored."""
        return max(0.0, (self._debt_bytes(peer) - self._bytes_at_once) / self._bytes_per_s)

    def is_limited(self, peer: Hashable) -> bool:
        """Return whether a peer is slowed down now, or was a moment ago."""
        return self.limited_for_s(peer) > 0

    def limited_for_s(self, peer: Hashable) -> float:
        """Return after how many seconds `is_limited` is false, if nothing more is stored; 0 if it is."""
        # Not `wait_s`: between two pages the debt falls below the limit for a moment.
        return max(0.0, (self._debt_bytes(peer) - self._bytes_at_once * SHARE_LIMITED) / self._bytes_per_s)

    def _debt_bytes(self, peer: Hashable) -> float:
        """Return the bytes that were stored and are not yet paid back by time."""
        debt, at_s = self._debts.get(peer, (0.0, 0.0))
        # Never negative: a quiet month must not add to what a peer may send at once.
        return max(0.0, debt - (self._now_s() - at_s) * self._bytes_per_s)
