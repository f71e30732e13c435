"""Wakes the consumers of the feed when it grew.

Never carries data and never queues: a consumer reads beyond its own watermark, so a lost notification costs
delay and nothing else.
"""

import asyncio
from collections.abc import Callable, Sequence


class Notifier:
    """One turn counter that many consumers watch."""

    __slots__ = ("_grown", "_turn")

    def __init__(self) -> None:
        self._turn = 0
        self._grown = asyncio.Event()

    def notify(self) -> None:
        """Wake every consumer. Call it on the event loop, after what happened is durable."""
        self._turn += 1
        self._grown.set()
        self._grown = asyncio.Event()

    def watch(self) -> "NotifierWatch":
        """Return a watch that wakes for every notification from now on; open it before the first read."""
        return NotifierWatch(self)

    @property
    def turn(self) -> int:
        """How often the feed has grown since the start of this process."""
        return self._turn

    async def wait_beyond(self, turn: int) -> int:
        """Wait until the turn is greater than `turn`, and return it."""
        while self._turn <= turn:
            await self._grown.wait()
        return self._turn


class BurstNotifier:
    """Passes on one notification per burst, after a delay: for consumers that need no immediate answer."""

    __slots__ = ("_tell", "_timer", "_wait_s")

    def __init__(self, tell: Callable[[], None], wait_s: float) -> None:
        self._tell = tell
        self._wait_s = wait_s
        self._timer: asyncio.TimerHandle | None = None

    def notify(self) -> None:
        """Notify in `wait_s` seconds, unless a notification is scheduled. Call it on the event loop."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._wait_s, self._pass_on)

    def _pass_on(self) -> None:
        self._timer = None
        self._tell()


class NotifierWatch:
    """One consumer's position: a notification that arrived while it was busy wakes it at its next wait."""

    __slots__ = ("_notifier", "_seen")

    def __init__(self, notifier: Notifier) -> None:
        self._notifier = notifier
        self._seen = notifier.turn

    async def wait_for_growth(self, timeout_s: float | None = None) -> bool:
        """Wait for growth since the last call; False if `timeout_s` passed first."""
        try:
            async with asyncio.timeout(timeout_s):
                self._seen = await self._notifier.wait_beyond(self._seen)
        except TimeoutError:
            return False
        return True


async def wait_for_any_growth(watches: Sequence[NotifierWatch], timeout_s: float) -> bool:
    """Wait until what one of several consumers watches has grown; False if `timeout_s` passed first."""
    waits = [asyncio.create_task(watch.wait_for_growth()) for watch in watches]
    try:
        grown, _ = await asyncio.wait(waits, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
    return bool(grown)
