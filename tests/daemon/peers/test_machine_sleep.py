"""A machine that slept, and a process that was suspended: every timer is late at once, and little is lost.

Never sleeps: the tests change the clocks as a sleep does. While a machine sleeps, time goes on and its timers
do not. While only a process is suspended, the timers go on too, and it finds all of them due.
"""

import asyncio
from collections.abc import Callable

import pytest
from structlog.testing import capture_logs

from daemon.peers.pairing.invitation import LIFETIME_S
from daemon.peers.transport.network_interfaces import POLL_S, SETTLE_S, SLEEP_DETECTED_S, NetworkWatch
from tests.daemon.peers.fleet import Fleet, GivenClock, in_step
from tests.support.patience import LIMIT_S

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
    task = asyncio.create_task(NetworkWatch(clock, woken.set, tick_s=tick_s).watch())
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
        clock.ahead_s += 2 * SLEEP_DETECTED_S

    await _told(sleep, tick_s=0.01)


async def test_a_process_that_stood_still_notices_at_once(monkeypatch: pytest.MonkeyPatch):
    # No tick of this length comes within the test by itself.
    await _told(
        lambda clock: stand_still(HOUR_S + SETTLE_S + 2 * SLEEP_DETECTED_S, monkeypatch, clock), tick_s=HOUR_S
    )


async def test_links_outlive_that_their_process_stood_still(fleet: Fleet, monkeypatch: pytest.MonkeyPatch):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    await fleet.pair(desk, phone)
    await in_step(desk, phone)
    with capture_logs() as logs:
        stand_still(HOUR_S, monkeypatch, desk.clock, phone.clock)
        await desk.add("written as soon as it goes on")
        await in_step(desk, phone)
    assert not [log for log in logs if log["event"] == "a link ended"]


async def test_an_invitation_that_ran_out_while_the_machine_slept_is_announced_no_more(
    fleet: Fleet, monkeypatch: pytest.MonkeyPatch
):
    desk = await fleet.start("desk", mdns=True)
    await asyncio.sleep(0)  # it looks at the clock
    name = (await desk.peers.invitations.invite(by_code=True)).id
    notifier_watch = desk.peers.links.changed.watch()
    discovery = desk.peers.discovery
    assert discovery is not None
    assert "inviter" in discovery._wanted_beacons()
    desk.clock.ahead_s += LIFETIME_S
    # The timers of the machine have not moved but for this: long enough for a tick, and too short for an end.
    stand_still(POLL_S, monkeypatch)
    async with asyncio.timeout(LIMIT_S):
        while "inviter" in discovery._wanted_beacons():
            await notifier_watch.wait_for_growth()
    assert (await desk.peers.invitations.state(name)).stage == "expired"
