"""A machine that slept, and a process that stood still: every timer is late at once, and little is lost.

Never sleeps: a sleep is what it does to clocks. Time goes on and a machine's timers do not; where a process
alone is stopped, they do, and it finds all of them passed.
"""

import asyncio
from collections.abc import Callable

import pytest
from structlog.testing import capture_logs

from daemon.peers.interfaces import SETTLE_S, SLEPT_S, TICK_S, Changes
from daemon.peers.invitation import LIFETIME_S
from tests.daemon.peers.fleet import LIMIT_S, Fleet, GivenClock, in_step

HOUR_S = 3600.0


def stand_still(by_s: float, monkeypatch: pytest.MonkeyPatch, *clocks: GivenClock) -> None:
    """Let so much time go by at once, for the timers of this process and for clocks."""
    loop = asyncio.get_running_loop()
    time = loop.time
    monkeypatch.setattr(loop, "time", lambda: time() + by_s)
    for clock in clocks:
        clock.ahead_s += by_s


async def _told(before: Callable[[GivenClock], None], tick_s: float) -> None:
    """Wait until a watch tells of what happens to its clock."""
    clock, woken = GivenClock("sleeper"), asyncio.Event()
    task = asyncio.create_task(Changes(clock, woken.set, tick_s=tick_s).watch())
    try:
        await asyncio.sleep(0)
        before(clock)
        async with asyncio.timeout(LIMIT_S):
            await woken.wait()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_machine_that_slept_is_noticed_at_the_next_tick():
    def sleep(clock: GivenClock) -> None:
        clock.ahead_s += 2 * SLEPT_S

    await _told(sleep, tick_s=0.01)


async def test_a_process_that_stood_still_notices_at_once(monkeypatch: pytest.MonkeyPatch):
    # No tick of this length comes within the test by itself.
    await _told(lambda clock: stand_still(HOUR_S + SETTLE_S + 2 * SLEPT_S, monkeypatch, clock), tick_s=HOUR_S)


async def test_links_outlive_that_their_process_stood_still(fleet: Fleet, monkeypatch: pytest.MonkeyPatch):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    await fleet.pair(desk, phone)
    await in_step(desk, phone)
    with capture_logs() as logs:
        stand_still(HOUR_S, monkeypatch, desk.clock, phone.clock)
        await desk.add("written as soon as it goes on")
        await in_step(desk, phone)
    assert not [one for one in logs if one["event"] == "a link ended"]


async def test_an_invitation_that_ran_out_while_the_machine_slept_is_announced_no_more(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
):
    desk = await fleet.start("desk", mdns=True)
    await asyncio.sleep(0)  # it looks at the clock
    name = (await desk.peers.invite(by_code=True)).id
    told = desk.peers.changed.watch()
    discovery = desk.peers._discovery
    assert discovery is not None
    assert "inviter" in discovery._wanted()
    desk.clock.ahead_s += LIFETIME_S
    # The timers of the machine have not moved but for this: long enough for a tick, and too short for an end.
    stand_still(TICK_S, monkeypatch)
    async with asyncio.timeout(LIMIT_S):
        while "inviter" in discovery._wanted():
            await told.grown()
    assert (await desk.peers.invitation(name)).stage == "expired"
