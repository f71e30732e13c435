"""What causes a call before it is due: a member is discovered, or this machine's network changes.

Never a timer: every wait between calls is longer than a test.
"""

import asyncio
from dataclasses import replace
from typing import cast

import pytest
from structlog.testing import capture_logs

from daemon.peers.linking.link import PeerLink
from daemon.peers.transport.addresses import parse
from daemon.peers.transport.wire import Socket, Wire
from tests.daemon.peers.fleet import QUICK, Device, Fleet, in_step
from tests.daemon.peers.linking.test_stalled_connections import FakeSocket, hello
from tests.support.patience import LIMIT_S

LATE_S = 3600.0
LATE = replace(QUICK, retry_s=LATE_S, retry_s_max=LATE_S, liveness_s=0.1)


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
        device.limits = LATE
    await desk.start()
    await rested(desk)
    return desk, phone


async def rested(device: Device) -> None:
    async with asyncio.timeout(LIMIT_S):
        await device.peers.replication._reconnector.wait_until_settled()


async def come_back(phone: Device) -> None:
    """Start a device that calls nobody: it knows of no address."""
    await phone.start()
    await rested(phone)


async def dead_link(desk: Device, phone: Device) -> tuple[PeerLink, asyncio.Task[None]]:
    """Return a link to the phone on which the greeting arrived, and on which nothing arrives any more."""
    socket, links = FakeSocket(), desk.peers.links
    socket.give(await hello(desk))
    link = links.create_link(Wire(cast("Socket", socket), "192.0.2.1:7"), phone.id, dialled=True)
    task = asyncio.create_task(links.run_link(link))
    await desk.until_linked(phone)
    return link, task


async def test_a_member_that_is_announced_is_called_before_its_time(fleet: Fleet):
    desk, phone = await paired(fleet, mdns=True)
    await phone.start()
    # Neither knew of an address before, and neither calls again within the hour.
    await desk.until_linked(phone)
    await phone.until_linked(desk)


@pytest.mark.parametrize("text", ["heard of", "moved", "asked"])
async def test_what_may_help_cuts_the_wait_short(fleet: Fleet, text: str):
    desk, phone = await paired(fleet)
    await come_back(phone)
    assert not desk.peers.links.live_links()
    desk.peers.replication._static = [str(parse(phone.place))]
    exchange = desk.peers.replication
    {
        "heard of": lambda: exchange.call_member_now(phone.id),
        "moved": exchange.handle_network_change,
        "asked": exchange.call_all_now,
    }[text]()
    await desk.until_linked(phone)


@pytest.mark.parametrize("text", ["heard of", "moved"])
async def test_a_link_that_does_not_live_is_ended_when_its_member_or_this_machine_moved(
    fleet: Fleet, text: str
):
    """Without that, only 45 s of silence would show that it is dead."""
    desk, phone = await paired(fleet)
    await come_back(phone)
    link, task = await dead_link(desk, phone)
    exchange = desk.peers.replication
    with capture_logs() as logs:
        {"heard of": lambda: exchange.call_member_now(phone.id), "moved": exchange.handle_network_change}[
            text
        ]()
        async with asyncio.timeout(LIMIT_S):
            await link.ended.wait()
            await task
    assert "no sign of life" in [log.get("reason") for log in logs]


async def test_a_link_that_lives_outlasts_a_move_of_this_machine(fleet: Fleet):
    # On a busy machine, also a link that lives may answer late.
    patient = replace(LATE, liveness_s=LIMIT_S)
    desk, phone = await fleet.start("desk", limits=patient), await fleet.start("phone", limits=patient)
    await fleet.pair(desk, phone)
    before = desk.peers.links.link_to(phone.id)
    assert before is not None
    desk.peers.replication.handle_network_change()
    await asyncio.gather(*desk.peers.links._probes.values())
    assert desk.peers.links.link_to(phone.id) is before


async def test_a_paused_device_calls_nobody_whatever_it_hears(fleet: Fleet):
    desk, phone = await paired(fleet)
    await come_back(phone)
    desk.peers.replication._static = [str(parse(phone.place))]
    desk.peers.replication.pause()
    desk.peers.replication.call_member_now(phone.id)
    desk.peers.replication.handle_network_change()
    desk.peers.replication.call_all_now()
    await rested(desk)
    assert not desk.peers.links.live_links()
    desk.peers.replication.resume()
    await desk.until_linked(phone)
