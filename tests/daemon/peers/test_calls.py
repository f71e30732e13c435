"""What brings a call before its time: word of a member, and a change of this machine's network.

Never by a timer: every wait between calls is longer than a test.
"""

import asyncio
from dataclasses import replace
from typing import cast

import pytest
from structlog.testing import capture_logs

from daemon.peers.addresses import parse
from daemon.peers.link import Link
from daemon.peers.wire import Socket, Wire
from tests.daemon.peers.fleet import LIMIT_S, QUICK, Device, Fleet, in_step
from tests.daemon.peers.test_stalled_line import FakeSocket, hello

LATE_S = 3600.0
LATE = replace(QUICK, again_s=LATE_S, again_s_max=LATE_S, life_s=0.1)


async def paired(fleet: Fleet, *, mdns: bool = False) -> tuple[Device, Device]:
    """Return two members that know of no address of each other, the second one stopped.

    The first has called it in vain, and calls by itself no more while a test lasts.
    """
    desk, phone = await fleet.start("desk", mdns=mdns), await fleet.start("phone", mdns=mdns)
    await fleet.pair(desk, phone)
    await in_step(desk, phone)
    for device in (phone, desk):
        await device.stop()
        await device.forget_addresses()
        device.pace = LATE
    await desk.start()
    await rested(desk)
    return desk, phone


async def rested(device: Device) -> None:
    async with asyncio.timeout(LIMIT_S):
        await device.peers._exchange._dialer.rested()


async def come_back(phone: Device) -> None:
    """Start a device that calls nobody: it knows of no address."""
    await phone.start()
    await rested(phone)


async def dead_link(desk: Device, phone: Device) -> tuple[Link, asyncio.Task[None]]:
    """Return a link to the phone that was greeted once, and on which nothing is said any more."""
    socket, links = FakeSocket(), desk.peers._links
    socket.give(await hello(desk))
    link = links.make(Wire(cast("Socket", socket), "192.0.2.1:7"), phone.id, dialled=True)
    task = asyncio.create_task(links.hold(link))
    await desk.until_linked(phone)
    return link, task


async def test_a_member_that_is_announced_is_called_before_its_time(fleet: Fleet):
    desk, phone = await paired(fleet, mdns=True)
    await phone.start()
    # Neither knew of an address before, and neither calls again within the hour.
    await desk.until_linked(phone)
    await phone.until_linked(desk)


@pytest.mark.parametrize("told", ["heard of", "moved", "asked"])
async def test_what_may_help_cuts_the_wait_short(fleet: Fleet, told: str):
    desk, phone = await paired(fleet)
    await come_back(phone)
    assert not desk.peers._links.all()
    desk.peers._exchange._static = [str(parse(phone.place))]
    exchange = desk.peers._exchange
    {"heard of": lambda: exchange.call(phone.id), "moved": exchange.move, "asked": exchange.wake}[told]()
    await desk.until_linked(phone)


@pytest.mark.parametrize("told", ["heard of", "moved"])
async def test_a_link_that_does_not_live_is_ended_when_its_member_or_this_machine_moved(
    fleet: Fleet, told: str
):
    """Without that it would be held for three quarters of a minute, as silence alone shows it dead."""
    desk, phone = await paired(fleet)
    await come_back(phone)
    link, task = await dead_link(desk, phone)
    exchange = desk.peers._exchange
    with capture_logs() as logs:
        {"heard of": lambda: exchange.call(phone.id), "moved": exchange.move}[told]()
        async with asyncio.timeout(LIMIT_S):
            await link.ended.wait()
            await task
    assert "no sign of life" in [one.get("reason") for one in logs]


async def test_a_link_that_lives_outlasts_a_move_of_this_machine(fleet: Fleet):
    desk, phone = await fleet.start("desk", pace=LATE), await fleet.start("phone", pace=LATE)
    await fleet.pair(desk, phone)
    before = desk.peers._links.to(phone.id)
    assert before is not None
    desk.peers._exchange.move()
    await asyncio.gather(*desk.peers._links._doubted.values())
    assert desk.peers._links.to(phone.id) is before


async def test_a_paused_device_calls_nobody_whatever_it_hears(fleet: Fleet):
    desk, phone = await paired(fleet)
    await come_back(phone)
    desk.peers._exchange._static = [str(parse(phone.place))]
    desk.peers.pause()
    desk.peers._exchange.call(phone.id)
    desk.peers._exchange.move()
    desk.peers.wake()
    await rested(desk)
    assert not desk.peers._links.all()
    desk.peers.resume()
    await desk.until_linked(phone)
