"""When a member is called, and when not.

Never reaches a network: what `dial` does is the test's.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import pairwise
from typing import cast

import pytest

from daemon.notifier import Notifier
from daemon.peers.dialer import Dialer
from daemon.peers.links import Links
from daemon.peers.pace import Pace
from store.threads import StoreThreads
from syncproto.ids import DeviceId
from tests.daemon.peers import hurried
from tests.daemon.peers.fleet import LIMIT_S, QUICK, Device, Fleet, GivenClock

ONE, OTHER = DeviceId(bytes([1]) * 32), DeviceId(bytes([2]) * 32)
SLOW = replace(QUICK, again_s=600.0, again_s_max=600.0)


class Calls:
    """Counts the calls, all of them in vain."""

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


def dialer_of(desk: Device, calls: Calls, pace: Pace) -> Dialer:
    return Dialer(calls.dial, desk.peers._links, GivenClock("dialer"), pace)


@pytest.fixture
async def slow(desk: Device, calls: Calls) -> AsyncIterator[Dialer]:
    dialer = dialer_of(desk, calls, SLOW)
    yield dialer
    await dialer.stop()


async def test_a_member_is_called_at_once_and_then_only_when_its_time_comes(slow: Dialer, calls: Calls):
    slow.pursue([ONE])
    await calls.until(1)
    async with asyncio.timeout(LIMIT_S):
        await slow.rested()
    assert calls.made == [ONE]


async def test_waking_cuts_the_wait_short(slow: Dialer, calls: Calls):
    slow.pursue([ONE, OTHER])
    await calls.until(2)
    for _ in range(5):
        async with asyncio.timeout(LIMIT_S):
            await slow.rested()
        before = len(calls.made)
        slow.wake()
        async with asyncio.timeout(LIMIT_S):
            await slow.rested()
        assert sorted(calls.made[before:]) == [ONE, OTHER]


async def test_calling_goes_on_for_ever(desk: Device, calls: Calls):
    dialer = dialer_of(desk, calls, replace(QUICK, again_s=0.001, again_s_max=0.002))
    dialer.pursue([ONE])
    await calls.until(50)
    await dialer.stop()


async def test_a_call_that_fails_is_a_call_in_vain(desk: Device, calls: Calls):
    """Without a limit, waiting until all were tried would never end."""

    async def dial(device: DeviceId) -> None:
        await calls.dial(device)
        raise OSError("the disk is full")

    dialer = Dialer(dial, desk.peers._links, GivenClock("dialer"), replace(QUICK, again_s=0.01))
    dialer.pursue([ONE])
    async with asyncio.timeout(LIMIT_S):
        await dialer.rested()
    await calls.until(3)
    await dialer.stop()


async def test_a_device_that_is_no_longer_a_member_is_not_called(slow: Dialer, calls: Calls):
    slow.pursue([ONE, OTHER])
    await calls.until(2)
    slow.pursue([OTHER])
    async with asyncio.timeout(LIMIT_S):
        await slow.rested()
    slow.wake()
    await calls.until(3)
    assert calls.made[2:] == [OTHER]


UNIT_S, UNITS_MAX = 1.0, 16
GROWING = replace(QUICK, again_s=UNIT_S, again_s_max=UNITS_MAX * UNIT_S)
DOUBLED = (1, 2, 4, 8)


def waits_s(seed: str, count: int) -> list[float]:
    """Return how long a device waits between calls in vain."""

    async def call() -> list[float]:
        called_s: list[float] = []
        enough = asyncio.Event()

        async def dial(_: DeviceId) -> None:
            called_s.append(asyncio.get_running_loop().time())
            if len(called_s) > count:
                enough.set()

        # No link is ever made, and so none of it is asked for its store.
        links = Links(cast("StoreThreads", None), Notifier(), ONE, lambda: 0, GROWING)
        dialer = Dialer(dial, links, GivenClock(seed), GROWING)
        dialer.pursue([OTHER])
        await enough.wait()
        await dialer.stop()
        return [after - before for before, after in pairwise(called_s[: count + 1])]

    return hurried.run(call())


def test_waits_double_up_to_the_longest_and_each_is_between_half_and_one_and_a_half_of_that():
    found = waits_s("desk", 200)
    units = [*DOUBLED, *[UNITS_MAX] * (len(found) - len(DOUBLED))]
    parts = [wait_s / (unit * UNIT_S) for wait_s, unit in zip(found, units, strict=True)]
    assert all(0.5 <= part <= 1.5 for part in parts)
    # All of that is used: two devices that began to call at once seldom do so again.
    assert min(parts) < 0.6
    assert max(parts) > 1.4


def test_two_devices_do_not_wait_alike():
    desk, phone = waits_s("desk", 50), waits_s("phone", 50)
    assert not any(abs(one - other) < 1e-6 for one, other in zip(desk, phone, strict=True))
    # It is the randomness that was given, and nothing else, by which they differ.
    assert desk == pytest.approx(waits_s("desk", 50))
