"""A peer that floods the disk: taken from slowly, told of, and no trouble for others.

Never waits for an allowance to come back: time is given where it counts.
"""

from dataclasses import replace

from daemon.control import checks
from daemon.peers.allowance import Allowance
from daemon.peers.pace import Pace
from tests.daemon.peers.fleet import LIMIT_S, QUICK, Device, Fleet, in_step


def test_an_allowance_is_spent_and_comes_back_with_time():
    now_s = 100.0
    allowance = Allowance(1000, 10, lambda: now_s)
    assert (allowance.wait_s("a"), allowance.is_slowed("a")) == (0, False)
    allowance.spend("a", 900)
    assert (allowance.wait_s("a"), allowance.is_slowed("a")) == (0, False)
    allowance.spend("a", 200)
    assert (allowance.wait_s("a"), allowance.is_slowed("a")) == (10, True)
    assert (allowance.wait_s("b"), allowance.is_slowed("b")) == (0, False)
    now_s += 10
    assert (allowance.wait_s("a"), allowance.is_slowed("a")) == (0, True)
    now_s += 50
    assert (allowance.wait_s("a"), allowance.is_slowed("a")) == (0, False)
    now_s += 1000
    allowance.spend("a", 1100)
    assert allowance.wait_s("a") == 10


def test_a_new_device_is_brought_up_within_its_allowance():
    a_task_bytes, tasks = 400, 1_000_000
    assert Pace().stored_bytes > 10 * a_task_bytes * tasks


async def test_who_floods_is_taken_from_slowly_and_told_of_and_others_go_on(fleet: Fleet):
    pace = replace(QUICK, stored_bytes=300_000, stored_bytes_per_s=1)
    desk = await fleet.start("desk", pace=pace)
    phone, tablet = await fleet.start("phone"), await fleet.start("tablet")
    await fleet.pair(desk, phone)
    await fleet.pair(desk, tablet)
    await in_step(desk, phone, tablet)
    assert desk.peers.slowed() == []
    for number in range(30):
        await phone.write_entry(f"{number}" * 20_000)

    async def slowed(one: Device) -> bool:
        return one.peers.slowed() == [phone.id]

    await desk.until(slowed)
    told = desk.peers.slowed()
    found = await desk.read(lambda snapshot: list(checks.floods(snapshot, told)))
    assert [(one.found, one.well) for one in found] == [
        ("phone sends so much that it is taken from slowly", False)
    ]
    await tablet.add("from elsewhere")

    async def arrived(one: Device) -> bool:
        return await one.titles() == ["from elsewhere 0"]

    await desk.until(arrived)
    assert len(await desk.read(lambda snapshot: snapshot.entities("entry"))) < 30
    await desk.restart(stored_bytes=pace.stored_bytes * 100)
    await desk.peers.sync(LIMIT_S)
    await in_step(desk, phone, tablet)


async def test_what_is_held_already_fills_no_disk(fleet: Fleet):
    desk = await fleet.start("desk", pace=replace(QUICK, stored_bytes_per_s=1))
    phone, tablet = await fleet.start("phone"), await fleet.start("tablet")
    await fleet.pair(desk, phone)
    await fleet.pair(desk, tablet)
    for number in range(10):
        await phone.write_entry(f"{number}" * 20_000)
    await in_step(desk, phone, tablet)
    await desk.peers.sync(LIMIT_S)
    spent = [desk.peers._links._allowance._owed(one.id) for one in (phone, tablet)]
    assert spent[0] > 150_000
    assert spent[1] < 10_000
