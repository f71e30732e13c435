"""Tells whoever waits that the feed grew.

Never carries data and never queues: a consumer reads beyond its own watermark, so a lost notification costs
delay and nothing else.
"""

import asyncio
from collections.abc import Callable


class Notifier:
    """One turn counter that many consumers watch."""

    __slots__ = ("_grown", "_turn")

    def __init__(self) -> None:
        self._turn = 0
        self._grown = asyncio.Event()

    def tell(self) -> None:
        """Wake every consumer. Call it on the event loop, after what happened is durable."""
        self._turn += 1
        self._grown.set()
        self._grown = asyncio.Event()

    def watch(self) -> "Watch":
        """Return a watch that answers to whatever is told from now on; open it before the first read."""
        return Watch(self)

    @property
    def turn(self) -> int:
        """How often the feed has grown since the start of this process."""
        return self._turn

    async def beyond(self, turn: int) -> int:
        """Wait until the turn is greater than `turn`, and return it."""
        while self._turn <= turn:
            await self._grown.wait()
        return self._turn


class Lull:
    """Passes on what was told, once for a burst and a little later: for those who are in no hurry."""

    __slots__ = ("_tell", "_timer", "_wait_s")

    def __init__(self, tell: Callable[[], None], wait_s: float) -> None:
        self._tell = tell
        self._wait_s = wait_s
        self._timer: asyncio.TimerHandle | None = None

    def tell(self) -> None:
        """Tell in `wait_s`, unless that is about to happen. Call it on the event loop."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._wait_s, self._pass_on)

    def _pass_on(self) -> None:
        self._timer = None
        self._tell()


class Watch:
    """One consumer's place: what was told while it was busy wakes it at its next wait."""

    __slots__ = ("_notifier", "_seen")

    def __init__(self, notifier: Notifier) -> None:
        self._notifier = notifier
        self._seen = notifier.turn

    async def grown(self, timeout_s: float | None = None) -> bool:
        """Wait for growth since the last call; False where `timeout_s` passed first."""
        try:
            async with asyncio.timeout(timeout_s):
                self._seen = await self._notifier.beyond(self._seen)
        except TimeoutError:
            return False
        return True
