"""How the time that something takes grows with what it is given.

Never compares with a number of seconds: a slow or busy machine is slow for both sizes.
"""

import math
import time
from collections.abc import Callable

from tests.support.garbage import garbage_search_paused

GROWTH = 8
RATIO_MAX = 24.0
"""What is linear takes 8 times as long for 8 times the size, what is quadratic 64 times."""
ROUNDS = 3
ROUNDS_MAX = 12
"""A machine that does other things too can be slow in some rounds, and hardly in all."""

Work = Callable[[], object]


def assert_linear(work: Callable[[int], Work], size: int) -> None:
    """Assert that 8 times the size takes about 8 times the time; what `work(size)` returns is measured."""
    assert_at_most(RATIO_MAX, work(size), work(GROWTH * size))


def assert_at_most(ratio_max: float, less: Work, more: Work) -> None:
    """Assert that one work takes at most so many times as long as another, each in its quickest round."""
    less_s: list[float] = []
    more_s: list[float] = []
    ratio = math.inf
    # Its pauses depend on what other tests left behind.
    with garbage_search_paused():
        for number in range(1, ROUNDS_MAX + 1):
            # In turn, because a busy spell meets both.
            less_s.append(_processor_s(less))
            more_s.append(_processor_s(more))
            ratio = min(more_s) / min(less_s)
            # One round is enough if it leaves no doubt.
            if ratio <= ratio_max / 2 or (number >= ROUNDS and ratio <= ratio_max):
                return
    raise AssertionError(
        f"{min(less_s):.6f} s and {min(more_s):.6f} s of the processor: "
        f"{ratio:.1f} times as long, at most {ratio_max:.0f} times is right"
    )


def _processor_s(work: Work) -> float:
    # Of this thread: a worker has others, which tests before this one may have left busy.
    begun_s = time.thread_time()
    work()
    return time.thread_time() - begun_s
