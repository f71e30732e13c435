"""How much one may ask of a relay: requests in a time, wrong secrets in a time, and who waits for news.

Never keeps more than a bounded number of names.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from daemon.notifier import Notifier

NAMES_MAX = 4096
WRITERS_MAX = 64


@dataclass(frozen=True, slots=True)
class RelayLimits:
    """What a relay bears. Rates are in requests a second; `burst` may come at once.

    `wrong_burst` wrong secrets may come from one network at once, `wrong_rate` a second after that.
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
    """A rate for each of many names: `burst` at once, then `rate` a second."""

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


class VaultNews:
    """When something was put for a vault, and by whom, so that nobody is woken by what it put itself."""

    def __init__(self, turn: int) -> None:
        self.turn = turn
        self.waiting = 0
        self._notifier = Notifier()
        self._by_forgotten = turn
        self._by_writer: OrderedDict[str, int] = OrderedDict()

    def tell(self, writer: str) -> None:
        """Count what a writer did, and wake all who wait for others."""
        self.turn += 1
        self._by_writer[writer] = self.turn
        self._by_writer.move_to_end(writer)
        if len(self._by_writer) > WRITERS_MAX:
            _, self._by_forgotten = self._by_writer.popitem(last=False)
        self._notifier.notify()

    def turn_of_others(self, reader: str) -> int:
        """Return when somebody else put something last."""
        others = (turn for writer, turn in self._by_writer.items() if writer != reader)
        return max(others, default=self._by_forgotten)

    async def wait(self, reader: str, turn: int) -> int:
        """Wait until somebody else put something after a turn; return the turn that it is now.

        A turn that has not been yet, of an earlier process, ends the wait at once.
        """
        watch = self._notifier.watch()
        self.waiting += 1
        try:
            while turn <= self.turn and self.turn_of_others(reader) <= turn:
                await watch.wait_for_growth()
        finally:
            self.waiting -= 1
        return self.turn
