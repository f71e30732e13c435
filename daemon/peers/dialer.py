"""Keeps calling each member that has no link, for ever, at growing and jittered intervals.

Never holds more than one attempt to a member, and never knows what a link does.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable

import structlog

from daemon.clock import Clock
from daemon.peers.links import Links
from daemon.peers.pace import Pace
from syncproto.ids import DeviceId

JITTER_BYTES = 2

log = structlog.get_logger("peers")


class Dialer:
    """One pursuit for each member. `dial` tries its addresses, and returns when a link stands or none can."""

    def __init__(
        self, dial: Callable[[DeviceId], Awaitable[None]], links: Links, clock: Clock, pace: Pace
    ) -> None:
        self._dial = dial
        self._links = links
        self._clock = clock
        self._pace = pace
        self._pursuits: dict[DeviceId, _Pursuit] = {}
        self._tasks: dict[DeviceId, asyncio.Task[None]] = {}

    def pursue(self, devices: Iterable[DeviceId]) -> None:
        """Pursue exactly these devices from now on."""
        wanted = set(devices)
        for device in self._pursuits.keys() - wanted:
            del self._pursuits[device]
            self._tasks.pop(device).cancel()
        for device in sorted(wanted - self._pursuits.keys()):
            pursuit = _Pursuit(device, self._dial, self._links, self._clock, self._pace)
            self._pursuits[device] = pursuit
            self._tasks[device] = asyncio.create_task(pursuit.run())

    def wake(self, device: DeviceId | None = None) -> None:
        """Cut the wait for one device short, or every wait: something changed that may help."""
        for pursued, pursuit in self._pursuits.items():
            if device in (None, pursued):
                pursuit.wake()

    async def rested(self) -> None:
        """Wait until each member is linked, or has just been tried in vain."""
        for pursuit in list(self._pursuits.values()):
            await pursuit.resting.wait()

    def calling(self) -> set[DeviceId]:
        """Return those that are neither linked nor were just tried in vain."""
        return {device for device, pursuit in self._pursuits.items() if not pursuit.resting.is_set()}

    async def stop(self) -> None:
        """End every pursuit; links that stand are left alone."""
        tasks = list(self._tasks.values())
        self.pursue(())
        await asyncio.gather(*tasks, return_exceptions=True)


class _Pursuit:
    """Calls one member."""

    def __init__(
        self,
        device: DeviceId,
        dial: Callable[[DeviceId], Awaitable[None]],
        links: Links,
        clock: Clock,
        pace: Pace,
    ) -> None:
        self._device = device
        self._dial = dial
        self._links = links
        self._clock = clock
        self._pace = pace
        self._woken = asyncio.Event()
        self._wait_s = pace.again_s
        self.resting = asyncio.Event()

    def wake(self) -> None:
        self._wait_s = self._pace.again_s
        if self._links.to(self._device) is None:
            self.resting.clear()
        self._woken.set()

    async def run(self) -> None:
        while True:
            self._woken.clear()
            if self._links.to(self._device) is None:
                self.resting.clear()
                await self._call()
            await self._stay()
            if not self._woken.is_set():
                self.resting.set()
                await self._pause()

    async def _call(self) -> None:
        try:
            await self._dial(self._device)
        except Exception:
            # A full disk, or a bug: it counts as a call in vain, since nobody else would ever call again.
            log.exception("calling a member failed", peer=self._device.hex()[:16])

    async def _stay(self) -> None:
        """Wait while there is a link; one that lasted means that the next call may come soon."""
        while (link := self._links.to(self._device)) is not None:
            self.resting.set()
            began_s = self._clock.monotonic_s()
            await link.ended.wait()
            if self._clock.monotonic_s() - began_s >= self._pace.again_s_max:
                self._wait_s = self._pace.again_s

    async def _pause(self) -> None:
        """Wait until the next call: between half and one and a half of a length that doubles each time."""
        wait_s, self._wait_s = self._wait_s, min(2 * self._wait_s, self._pace.again_s_max)
        drawn = int.from_bytes(self._clock.randomness(JITTER_BYTES), "big") / (1 << 8 * JITTER_BYTES)
        try:
            async with asyncio.timeout(wait_s * (0.5 + drawn)):
                await self._woken.wait()
        except TimeoutError:
            # Its time has come.
            pass
