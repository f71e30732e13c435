"""How long a test waits for what must happen.

Never a measure: on a machine that is ten times too slow, everything still happens within this limit.
A test that is about a time limit of the program sets that limit itself, and says so.
"""

import asyncio
import time
from collections.abc import Callable

LIMIT_S = 120.0
POLL_S = 0.05
WAITED_PER_PAUSE = 10
PAUSE_S_MAX = 1.0


def wait_until(what: str, holds: Callable[[], bool], limit_s: float = LIMIT_S) -> None:
    """Wait for something that another process does; fail with what was waited for.

    A question that starts a command takes the processor from what is waited for: so the pause before the
    next one is as long as the question took, and at least a tenth of what was waited already.
    """
    begun_s = asked_s = time.monotonic()
    while not holds():
        answered_s = time.monotonic()
        waited_s = answered_s - begun_s
        assert waited_s < limit_s, f"waited {limit_s:.0f} s in vain: {what}"
        pause_s = max(POLL_S, answered_s - asked_s, min(waited_s / WAITED_PER_PAUSE, PAUSE_S_MAX))
        time.sleep(pause_s)  # noqa: TID251 - another process cannot be awaited
        asked_s = time.monotonic()


async def wait_until_async(what: str, holds: Callable[[], bool], limit_s: float = LIMIT_S) -> None:
    """Wait for something that this process or another one does, while the event loop goes on."""
    end_s = time.monotonic() + limit_s
    while not holds():
        assert time.monotonic() < end_s, f"waited {limit_s:.0f} s in vain: {what}"
        await asyncio.sleep(POLL_S)
