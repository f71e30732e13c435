"""A peer that floods the disk: it is slowed down and reported, and others are not affected.

Never waits until an allowance comes back: the tests give the time.
"""

import asyncio
from dataclasses import replace

from daemon.control.health import this_device
from daemon.peers.linking.rate_limit import StorageRateLimit
from daemon.peers.transport.limits import PeerLimits
from tests.daemon.peers.fleet import QUICK, Device, Fleet, in_step
from tests.support.patience import LIMIT_S


def test_an_allowance_is_spent_and_comes_back_with_time():
    now_s = 100.0
    allowance = StorageRateLimit(1000, 10, lambda: now_s)
    assert (allowance.wait_s("a"), allowance.is_limited("a")) == (0, False)
    allowance.record_stored("a", 900)
    assert (allowance.wait_s("a"), allowance.is_limited("a")) == (0, False)
    allowance.record_stored("a", 200)
    assert (allowance.wait_s("a"), allowance.is_limited("a")) == (10, True)
    assert (allowance.wait_s("b"), allowance.is_limited("b")) == (0, False)
    now_s += 10
    assert (allowance.wait_s("a"), allowance.is_limited("a")) == (0, True)
    now_s += 50
    assert (allowance.wait_s("a"), allowance.is_limited("a")) == (0, False)
    now_s += 1000
    allowance.record_stored("a", 1100)
    assert allowance.wait_s("a") == 10


def test_a_new_device_is_brought_up_within_its_allowance():
    a_task_bytes, tasks = 400, 1_000_000
    assert PeerLimits().stored_bytes > 10 * a_task_bytes * tasks


async def test_who_floods_is_taken_from_slowly_and_told_of_and_others_go_on(fleet: Fleet):
    limits = replace(QUICK, stored_bytes=300_000, stored_bytes_per_s=1)
    desk = await fleet.start("desk", limits=limits)
    phone, tablet = await fleet.start("phone"), await fleet.start("tablet")
    await fleet.pair(desk, phone)
    await fleet.pair(desk, tablet)
    await in_step(desk, phone, tablet)
    assert desk.peers.links.rate_limited_peers() == []
    for number in range(30):
        await phone.write_entry(f"{number}" * 20_000)

    async def slowed(device: Device) -> bool:
        return device.peers.links.rate_limited_peers() == [phone.id]

    await desk.until(slowed)
    devices = desk.peers.links.rate_limited_peers()
    checks = await desk.read(lambda snapshot: list(this_device.check_flooding_peers(snapshot, devices)))
    assert [(check.found, check.well) for check in checks] == [
        ("phone sends so much that it is taken from slowly", False)
    ]
    await tablet.add("from elsewhere")

    async def arrived(device: Device) -> bool:
        return await device.titles() == ["from elsewhere 0"]

    await desk.until(arrived)
    assert len(await desk.read(lambda snapshot: snapshot.entities("entry"))) < 30
    await desk.restart(stored_bytes=limits.stored_bytes * 100)
    await desk.peers.synchronisation.sync(LIMIT_S)
    await in_step(desk, phone, tablet)


async def test_what_is_held_already_fills_no_disk(fleet: Fleet):
    desk = await fleet.start("desk", limits=replace(QUICK, stored_bytes_per_s=1))
    phone, tablet = await fleet.start("phone"), await fleet.start("tablet")
    await fleet.pair(desk, phone)
    await fleet.pair(desk, tablet)
    for number in range(10):
        await phone.write_entry(f"{number}" * 20_000)
    await in_step(desk, phone, tablet)
    await desk.peers.synchronisation.sync(LIMIT_S)
    spent = [desk.peers.links._allowance._debt_bytes(device.id) for device in (phone, tablet)]
    assert spent[0] > 150_000
    assert spent[1] < 10_000


async def test_the_end_of_a_limit_is_told_to_who_watches_the_links(fleet: Fleet):
    desk = await fleet.start("desk", limits=replace(QUICK, stored_bytes=20_000, stored_bytes_per_s=100_000))
    phone = await fleet.start("phone")
    await fleet.pair(desk, phone)
    await in_step(desk, phone)
    links = desk.peers.links
    watch, plain = links.changed.watch(), links.appearance()
    await phone.write_entry("a long note " * 3_000)
    async with asyncio.timeout(LIMIT_S):
        while not links.rate_limited_peers():
            await watch.wait_for_growth()
        assert links.appearance() != plain
        while links.rate_limited_peers():
            await watch.wait_for_growth()
    await in_step(desk, phone)
    assert links.appearance() == plain
