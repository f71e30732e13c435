"""Delays that double from failure to failure, up to a limit.

Never waits and never draws randomness by itself: it only computes how long a caller has to wait.
"""

from collections.abc import Callable
from dataclasses import dataclass

DOUBLINGS_MAX = 64
"""Enough to reach every limit. Without a bound, a count of failures beyond 1 000 would overflow a float."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """A delay of `first_s` seconds after the first failure, doubled by each further one, at most `max_s`."""

    first_s: float
    max_s: float

    def delay_s(self, failures: int) -> float:
        """Return the seconds to wait after so many failures in a row; 0 without a failure."""
        if failures < 1:
            return 0.0
        return min(self.first_s * 2.0 ** min(failures - 1, DOUBLINGS_MAX), self.max_s)


class FailureCount:
    """The failures in a row of one activity, and the delay that they call for."""

    __slots__ = ("_backoff", "_failures")

    def __init__(self, backoff: Backoff) -> None:
        self._backoff = backoff
        self._failures = 0

    def count_failure(self) -> float:
        """Count one more failure and return its delay in seconds."""
        self._failures += 1
        return self._backoff.delay_s(self._failures)

    def reset(self) -> None:
        """Forget the failures, because the activity succeeded or a person asked for it."""
        self._failures = 0


def random_share(randomness: Callable[[int], bytes]) -> float:
    """Return a number from [0, 1), drawn from two random bytes."""
    return int.from_bytes(randomness(2), "big") / 65_536
