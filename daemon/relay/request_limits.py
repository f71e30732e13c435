"""How much one may ask of a relay: requests in a time, wrong secrets in a time, and how long each may wait.

Never keeps more than a bounded number of names.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

NAMES_MAX = 4096


@dataclass(frozen=True, slots=True)
class RelayLimits:
    """What a relay accepts. Rates are in requests per second; `burst` may come at once.

    `wrong_burst` wrong secrets may come from one network at once, `wrong_rate` per second after that.
    `body_s` is for the body of a request, `wait_s` the longest wait for news, in seconds.
    """

    rate: float = 100.0
    burst: float = 2000.0
    wrong_rate: float = 0.1
    wrong_burst: float = 10.0
    waits_each_max: int = 32
    body_s: float = 60.0
    wait_s: float = 55.0


class RateLimit:
    """A rate for each of many names: `burst` at once, then `rate` per second."""

    def __init__(self, rate: float, burst: float, now_s: Callable[[], float]) -> None:
        self._rate, self._burst, self._now_s = rate, burst, now_s
        # What is left of each name's burst, and when that was so; the longest unused first.
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def count(self, name: str) -> bool:
        """Count one more; return whether it was within the rate."""
        left = self._left_now(name)
        allowed = left >= 1
        self._left[name] = (left - 1 if allowed else left, self._now_s())
        self._left.move_to_end(name)
        if len(self._left) > NAMES_MAX:
            self._left.popitem(last=False)
        return allowed

    def _left_now(self, name: str) -> float:
        left, at_s = self._left.get(name, (self._burst, self._now_s()))
        return min(self._burst, left + (self._now_s() - at_s) * self._rate)
