"""A device that holds the same commits and shows another state is called in step nowhere, until it agrees.

Never damages a log: only the sum that a store keeps of what it shows.
"""

import asyncio

import pytest

from daemon.journal.errors import Code, Refused
from syncproto import messages
from tests.daemon.peers.fleet import LIMIT_S, Device, Fleet, in_step, until
from tests.daemon.peers.test_links import greet, pair_of, posing_as


async def damage(device: Device) -> bytes:
    """Make a store's sum wrong; return the right one."""
    right = await device.read(lambda one: bytes(one.db.execute("SELECT state_sum FROM standing").get))
    await device.execute("UPDATE standing SET state_sum = zeroblob(32)")
    return right


async def until_differing(*devices: Device, differ: bool = True) -> None:
    async def told() -> bool:
        return all(bool(device.peers.differing()) == differ for device in devices)

    await until(devices, told)


async def shown(device: Device, other: Device) -> bool:
    seen = await device.sees(other)
    assert seen is not None
    return seen.differs


async def test_both_sides_learn_that_their_states_differ_whichever_compared(fleet: Fleet):
    """The phone takes a page and is told nothing of the desk's state: the desk compares, and says so."""
    desk, phone = await pair_of(fleet)
    await in_step(desk, phone)
    await damage(phone)
    await desk.add("compare")
    await until_differing(desk, phone)
    assert dict(desk.peers.differing()) == {phone.id: "phone"}
    assert await shown(desk, phone)
    assert await shown(phone, desk)
    # It is told once, and the link after that stays.
    await asyncio.gather(desk.until_linked(phone), phone.until_linked(desk))
    link = desk.peers._links.to(phone.id)
    assert link is not None
    await phone.add("goes on")
    await desk.until(lambda one: _holds(one, "goes on 0"))
    assert not link.ended.is_set()


async def _holds(device: Device, title: str) -> bool:
    return title in await device.titles()


async def test_who_waits_for_a_device_that_shows_another_state_is_told_so_at_once(fleet: Fleet):
    """Also where another device has not answered yet: it can end no better."""
    desk, phone = await pair_of(fleet)
    tablet = await fleet.start("tablet")
    await fleet.pair(desk, tablet)
    await in_step(desk, phone, tablet)
    await damage(phone)
    await tablet.stop()
    async with posing_as(tablet, desk) as wire:
        await greet(wire, desk, level=True)
        await desk.until_linked(tablet)
        await desk.add("compare")
        async with asyncio.timeout(LIMIT_S / 2):
            report = await desk.peers.sync(LIMIT_S)
    assert not report.complete
    assert {one.name: one.differs for one in report.peers} == {"phone": True, "tablet": False}
    assert not (await desk.peers.sync()).complete
    await tablet.start()


async def test_states_that_agree_again_are_in_step_again(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    await in_step(desk, phone)
    right = await damage(phone)
    await desk.peers.sync(LIMIT_S)
    phone.peers.pause()
    phone.peers.resume()
    await until_differing(desk, phone)
    # Before anything else lands: the sum is of what was there then.
    await phone.db.write(lambda one: one.db.execute("UPDATE standing SET state_sum = ?", (right,)))
    watch = desk.notifier.watch()
    phone.peers.pause()
    phone.peers.resume()
    await until_differing(desk, phone, differ=False)
    assert await watch.grown(LIMIT_S), "who follows the events is woken, although no commit landed"
    report = await desk.peers.sync(LIMIT_S)
    assert report.complete
    assert not await shown(desk, phone)


async def test_a_device_that_was_removed_keeps_nobody_from_being_in_step(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    await in_step(desk, phone)
    await damage(phone)
    await desk.add("compare")
    await until_differing(desk)
    await desk.peers.remove("phone")
    assert not desk.peers.differing()
    assert (await desk.peers.sync(LIMIT_S)).complete


async def test_who_does_not_answer_is_named_and_nothing_is_called_complete_meanwhile(fleet: Fleet):
    """It holds all that there is, as far as anyone knows, and then says nothing more."""
    desk, phone = await pair_of(fleet)
    await in_step(desk, phone)
    await phone.stop()
    async with posing_as(phone, desk) as wire:
        await greet(wire, desk, level=True)
        await desk.until_linked(phone)
        with pytest.raises(Refused, match=r"after 0\.3 s: phone has not answered yet$") as told:
            await desk.peers.sync(0.3)
        assert told.value.code is Code.TIMEOUT
        report = await desk.peers.sync()
        assert not report.complete
        assert [(one.name, one.connected, one.lag, one.unanswered) for one in report.peers] == [
            ("phone", True, 0, True)
        ]
        ping = messages.read(await wire.receive(LIMIT_S))
        assert isinstance(ping, messages.Ping)
        await wire.send(messages.write(messages.Pong(ping.nonce)), LIMIT_S)
        await wire.send(messages.write(messages.Ping(7)), LIMIT_S)
        # Frames are heard in turn: with this answer, the other was.
        while messages.read(await wire.receive(LIMIT_S)) != messages.Pong(7):
            pass
        assert (await desk.peers.sync()).complete
    await phone.start()


async def test_all_that_is_lacking_is_told_of_each_device(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    await phone.stop()
    async with posing_as(phone, desk) as wire:
        await greet(wire, desk)
        await desk.add("never acknowledged")
        with pytest.raises(Refused, match=r"phone lacks \d+; phone has not answered yet$"):
            await desk.peers.sync(0.3)
    await phone.start()
