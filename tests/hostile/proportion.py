"""Whether a shape costs at most in proportion to its bytes: by two sizes of it, and beside an honest journal.

Never compares with a number of seconds: a slow or busy machine is slow for both.
"""

from dataclasses import dataclass, field

from tests.hostile.attacked_pair import AttackedPair
from tests.hostile.costs import SHOW, Cost, cost_of_taking, costs_of_reading
from tests.hostile.shape import Shape
from tests.hostile.shapes.honest import honest
from tests.support.growth import GROWTH, RATIO_MAX

SIZE = 12 * 1024
_TRIES = (SIZE, SIZE, SIZE, GROWTH * SIZE)
"""The sizes that are tried: a machine that does other things too can be slow in some, and hardly in all.

What is small takes hardly longer than the clock of a process can tell. If it is in doubt, more decides.
"""


@dataclass(slots=True)
class Proportion:
    """A pair of devices under attack, and what an honest journal costs it."""

    pair: AttackedPair
    honest_s: float = field(init=False)
    """What an honest journal of `SIZE` bytes costs to take and to show."""
    _shown_before: Cost = field(init=False)

    def __post_init__(self) -> None:
        """Measure the honest journal, at the larger size: so little time is hard to measure."""
        self._shown_before = self._shown()
        self.honest_s = self._cost_s(honest, GROWTH * SIZE) / GROWTH

    def assert_linear(self, shape: Shape) -> None:
        """Assert that eight times the bytes of a shape cost about eight times as much."""
        ratios = []
        for size in _TRIES:
            less_s = max(self._cost_s(shape, size), self.honest_s * size / SIZE)
            more_s = self._cost_s(shape, GROWTH * size)
            ratios.append(more_s / less_s)
            if ratios[-1] <= RATIO_MAX:
                return
        raise AssertionError(
            f"{shape.attack}: {GROWTH} times the bytes take {', '.join(f'{ratio:.0f}' for ratio in ratios)} "
            f"times as long, at most {RATIO_MAX:.0f} times is right"
        )

    def _cost_s(self, shape: Shape, size: int) -> float:
        """Send a shape; return seconds of the processor for as many bytes as were to be sent."""
        sent_bytes, take = cost_of_taking(self.pair, shape, size)
        before, self._shown_before = self._shown_before, self._shown()
        return (take + self._shown_before - before).processor_s * size / sent_bytes

    def _shown(self) -> Cost:
        return costs_of_reading(self.pair, (SHOW,))[SHOW]
