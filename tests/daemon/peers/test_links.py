"""Two and three real devices over loopback: pairing, converging, losing and finding each other again.

Never waits by the clock: each wait is for something that happens, with a limit.
"""

import asyncio

from tests.daemon.peers.fleet import Fleet, in_step


async def test_two_paired_devices_converge_live_in_both_directions(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    await desk.add("before pairing", count=3)
    await fleet.pair(desk, phone)
    await in_step(desk, phone)
    await asyncio.gather(desk.add("on the desk", count=20), phone.add("on the phone", count=20))
    await in_step(desk, phone)
    assert await desk.titles() == await phone.titles()
    assert len(await desk.titles()) == 43


async def test_a_device_comes_back_after_both_were_away_and_catches_up(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    await fleet.pair(desk, phone)
    await phone.stop()
    await desk.add("while the phone was off", count=5)
    await desk.stop()
    await phone.start()
    await phone.add("while the desk was off", count=5)
    await desk.start()
    await in_step(desk, phone)
    assert len(await phone.titles()) == 10
