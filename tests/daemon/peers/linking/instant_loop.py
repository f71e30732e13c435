"""An event loop on which waiting takes no time: if nothing is ready, its clock jumps to the next timer.

Never use it for code that waits for a socket or a thread: every timer would fire first.
"""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Selector(selectors.DefaultSelector):
    """Waits for nothing, and counts how long it would have waited."""

    def __init__(self) -> None:
        super().__init__()
        self.skipped_s = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if not ready:
            assert timeout is not None, "nothing will ever happen"
            self.skipped_s += max(timeout, 0.0)
        return ready


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._hurried = _Selector()
        super().__init__(self._hurried)

    def time(self) -> float:
        """Return the time that the timers took; computing takes no time."""
        return self._hurried.skipped_s


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end on a loop of its own."""
    with asyncio.Runner(loop_factory=_Loop) as runner:
        return runner.run(work)
