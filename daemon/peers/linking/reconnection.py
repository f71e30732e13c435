"""Calls each member that has no link, again and again, at growing and jittered intervals.

Never makes more than one call to a member at a time, and never knows what a link does.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable

import structlog

from daemon.backoff import Backoff, FailureCount, random_share
from daemon.clock import Clock
from daemon.peers.linking.link_registry import LinkRegistry
from daemon.peers.transport.limits import PeerLimits
from syncproto.ids import DeviceId

log = structlog.get_logger("peers")


class Reconnector:
    """The members to call. `call` tries a member's addresses, and returns when it has a link or failed."""

    def __init__(
        self,
        call: Callable[[DeviceId], Awaitable[None]],
        links: LinkRegistry,
        clock: Clock,
        limits: PeerLimits,
    ) -> None:
        self._call = call
        self._links = links
        self._clock = clock
        self._limits = limits
        self._targets: dict[DeviceId, _Target] = {}
        self._tasks: dict[DeviceId, asyncio.Task[None]] = {}

    def set_targets(self, devices: Iterable[DeviceId]) -> None:
        """Call exactly these devices from now on."""
        wanted = set(devices)
        for device in self._targets.keys() - wanted:
            del self._targets[device]
            self._tasks.pop(device).cancel()
        for device in sorted(wanted - self._targets.keys()):
            target = _Target(device, self._call, self._links, self._clock, self._limits)
            self._targets[device] = target
            self._tasks[device] = asyncio.create_task(target.run())

    def retry_now(self, device: DeviceId | None = None) -> None:
        """End the wait for one device, or every wait: something changed that may help."""
        for target_device, target in self._targets.items():
            if device in (None, target_device):
                target.retry_now()

    async def wait_until_settled(self) -> None:
        """Wait until each member is linked, or its last call has failed."""
        for target in list(self._targets.values()):
            await target.settled.wait()

    def devices_being_called(self) -> set[DeviceId]:
        """Return the members that are neither linked nor waiting for their next call."""
        return {device for device, target in self._targets.items() if not target.settled.is_set()}

    async def stop(self) -> None:
        """Call nobody any more; links stay as they are."""
        tasks = list(self._tasks.values())
        self.set_targets(())
        await asyncio.gather(*tasks, return_exceptions=True)


class _Target:
    """Calls one member."""

    def __init__(
        self,
        device: DeviceId,
        call: Callable[[DeviceId], Awaitable[None]],
        links: LinkRegistry,
        clock: Clock,
        limits: PeerLimits,
    ) -> None:
        self._device = device
        self._call = call
        self._links = links
        self._clock = clock
        self._limits = limits
        self._retry = asyncio.Event()
        self._failures = FailureCount(Backoff(limits.retry_s, limits.retry_s_max))
        self.settled = asyncio.Event()

    def retry_now(self) -> None:
        self._failures.reset()
        if self._links.link_to(self._device) is None:
            self.settled.clear()
        self._retry.set()

    async def run(self) -> None:
        while True:
            self._retry.clear()
            if self._links.link_to(self._device) is None:
                self.settled.clear()
                await self._call_once()
            await self._wait_while_linked()
            if not self._retry.is_set():
                # A lost race may have ended the last link: then the member settles with the next call.
                if self._links.faults.is_in_doubt(self._device):
                    self.settled.clear()
                else:
                    self.settled.set()
                await self._wait_for_next_call()

    async def _call_once(self) -> None:
        try:
            await self._call(self._device)
        except Exception:
            # A full disk, or a bug. It counts as a failed call: if this task ended, nobody else would ever
            # call this member again.
            log.exception("calling a member failed", peer=self._device.hex()[:16])

    async def _wait_while_linked(self) -> None:
        """Wait while there is a link. After one that lasted, the next call comes soon."""
        while (link := self._links.link_to(self._device)) is not None:
            self.settled.set()
            began_s = self._clock.monotonic_s()
            await link.ended.wait()
            if self._clock.monotonic_s() - began_s >= self._limits.retry_s_max:
                self._failures.reset()

    async def _wait_for_next_call(self) -> None:
        """Wait for a delay that doubles each time, times a random factor between 0.5 and 1.5."""
        wait_s = self._failures.count_failure() * (0.5 + random_share(self._clock.randomness))
        try:
            async with asyncio.timeout(wait_s):
                await self._retry.wait()
        except TimeoutError:
            # The next call is due.
            pass
