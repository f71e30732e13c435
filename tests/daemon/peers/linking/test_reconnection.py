"""When a member is called, and when not.

Never reaches a network: the test gives what a call does.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import pairwise
from typing import cast

import pytest

from daemon.notifier import Notifier
from daemon.peers.linking.link_registry import LinkRegistry
from daemon.peers.linking.reconnection import Reconnector
from daemon.peers.transport.limits import PeerLimits
from store.threads import StoreThreads
from syncproto.ids import DeviceId
from tests.daemon.peers.fleet import QUICK, Device, Fleet, GivenClock
from tests.daemon.peers.linking import instant_loop
from tests.support.patience import LIMIT_S

ONE, OTHER = DeviceId(bytes([1]) * 32), DeviceId(bytes([2]) * 32)
SLOW = replace(QUICK, retry_s=600.0, retry_s_max=600.0)


class Calls:
    """Counts the calls; all of them fail."""

    def __init__(self) -> None:
        self.made: list[DeviceId] = []
        self.more = asyncio.Event()

    async def dial(self, device: DeviceId) -> None:
        self.made.append(device)
        self.more.set()

    async def until(self, count: int) -> None:
        async with asyncio.timeout(LIMIT_S):
            while len(self.made) < count:
                self.more.clear()
                await self.more.wait()


@pytest.fixture
async def desk(fleet: Fleet) -> Device:
    return await fleet.start("desk")


@pytest.fixture
async def calls() -> Calls:
    return Calls()


def dialer_of(desk: Device, calls: Calls, limits: PeerLimits) -> Reconnector:
    return Reconnector(calls.dial, desk.peers.links, GivenClock("dialer"), limits)


@pytest.fixture
async def slow(desk: Device, calls: Calls) -> AsyncIterator[Reconnector]:
    dialer = dialer_of(desk, calls, SLOW)
    yield dialer
    await dialer.stop()


async def test_a_member_is_called_at_once_and_then_only_when_its_time_comes(slow: Reconnector, calls: Calls):
    slow.set_targets([ONE])
    await calls.until(1)
    async with asyncio.timeout(LIMIT_S):
        await slow.wait_until_settled()
    assert calls.made == [ONE]


async def test_waking_cuts_the_wait_short(slow: Reconnector, calls: Calls):
    slow.set_targets([ONE, OTHER])
    await calls.until(2)
    for _ in range(5):
        async with asyncio.timeout(LIMIT_S):
            await slow.wait_until_settled()
        before = len(calls.made)
        slow.retry_now()
        async with asyncio.timeout(LIMIT_S):
            await slow.wait_until_settled()
        assert sorted(calls.made[before:]) == [ONE, OTHER]


async def test_calling_goes_on_for_ever(desk: Device, calls: Calls):
    dialer = dialer_of(desk, calls, replace(QUICK, retry_s=0.001, retry_s_max=0.002))
    dialer.set_targets([ONE])
    await calls.until(50)
    await dialer.stop()


async def test_a_call_that_fails_is_a_call_in_vain(desk: Device, calls: Calls):
    """Without a limit, waiting until all were called would never end."""

    async def dial(device: DeviceId) -> None:
        await calls.dial(device)
        raise OSError("the disk is full")

    dialer = Reconnector(dial, desk.peers.links, GivenClock("dialer"), replace(QUICK, retry_s=0.01))
    dialer.set_targets([ONE])
    async with asyncio.timeout(LIMIT_S):
        await dialer.wait_until_settled()
    await calls.until(3)
    await dialer.stop()


async def test_a_device_that_is_no_longer_a_member_is_not_called(slow: Reconnector, calls: Calls):
    slow.set_targets([ONE, OTHER])
    await calls.until(2)
    slow.set_targets([OTHER])
    async with asyncio.timeout(LIMIT_S):
        await slow.wait_until_settled()
    slow.retry_now()
    await calls.until(3)
    assert calls.made[2:] == [OTHER]


UNIT_S, UNITS_MAX = 1.0, 16
GROWING = replace(QUICK, retry_s=UNIT_S, retry_s_max=UNITS_MAX * UNIT_S)
DOUBLED = (1, 2, 4, 8)


def waits_s(seed: str, count: int) -> list[float]:
    """Return how long a device waits between failed calls."""

    async def call() -> list[float]:
        called_s: list[float] = []
        enough = asyncio.Event()

        async def dial(_: DeviceId) -> None:
            called_s.append(asyncio.get_running_loop().time())
            if len(called_s) > count:
                enough.set()

        # No link is ever made, and so none of it is asked for its store.
        links = LinkRegistry(cast("StoreThreads", None), Notifier(), ONE, lambda: 0, GROWING)
        dialer = Reconnector(dial, links, GivenClock(seed), GROWING)
        dialer.set_targets([OTHER])
        await enough.wait()
        await dialer.stop()
        return [after - before for before, after in pairwise(called_s[: count + 1])]

    return instant_loop.run(call())


def test_waits_double_up_to_the_longest_and_each_is_between_half_and_one_and_a_half_of_that():
    result = waits_s("desk", 200)
    units = [*DOUBLED, *[UNITS_MAX] * (len(result) - len(DOUBLED))]
    parts = [wait_s / (unit * UNIT_S) for wait_s, unit in zip(result, units, strict=True)]
    assert all(0.5 <= part <= 1.5 for part in parts)
    # All of that is used: two devices that began to call at once seldom do so again.
    assert min(parts) < 0.6
    assert max(parts) > 1.4


def test_two_devices_do_not_wait_alike():
    desk, phone = waits_s("desk", 50), waits_s("phone", 50)
    assert not any(abs(element - other) < 1e-6 for element, other in zip(desk, phone, strict=True))
    # It is the randomness that was given, and nothing else, by which they differ.
    assert desk == pytest.approx(waits_s("desk", 50))
