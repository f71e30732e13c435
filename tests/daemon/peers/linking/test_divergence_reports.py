"""A device that has the same commits and shows another state is nowhere shown as in step, until it agrees.

Never damages a log: only the hash that a store keeps of its state.
"""

import asyncio

import pytest

from daemon.refusal import RefusalCode, Refused
from syncproto import messages
from tests.daemon.peers.fleet import Device, Fleet, in_step, until
from tests.daemon.peers.linking.link_steps import greet, pair_of, posing_as
from tests.support.patience import LIMIT_S


async def damage(device: Device) -> bytes:
    """Make the state hash of a store wrong; return the right one."""
    right = await device.read(
        lambda snapshot: bytes(snapshot.db.execute("SELECT state_sum FROM standing").get)
    )
    await device.execute("UPDATE standing SET state_sum = zeroblob(32)")
    return right


async def until_differing(*devices: Device, differ: bool = True) -> None:
    async def is_reported() -> bool:
        return all(bool(device.peers.replication.diverging_members()) == differ for device in devices)

    await until(devices, is_reported)


async def is_shown_as_different(device: Device, other: Device) -> bool:
    device_state = await device.sees(other)
    assert device_state is not None
    return device_state.differs


async def test_both_sides_learn_that_their_states_differ_whichever_compared(fleet: Fleet):
    """The phone receives a page, and does not learn the desk's state: the desk compares, and informs it."""
    desk, phone = await pair_of(fleet)
    await in_step(desk, phone)
    await damage(phone)
    await desk.add("compare")
    await until_differing(desk, phone)
    assert dict(desk.peers.replication.diverging_members()) == {phone.id: "phone"}
    assert await is_shown_as_different(desk, phone)
    assert await is_shown_as_different(phone, desk)
    # It is told once, and the link after that stays.
    await asyncio.gather(desk.until_linked(phone), phone.until_linked(desk))
    link = desk.peers.links.link_to(phone.id)
    assert link is not None
    await phone.add("goes on")
    await desk.until(lambda device: _holds(device, "goes on 0"))
    assert not link.ended.is_set()


async def _holds(device: Device, title: str) -> bool:
    return title in await device.titles()


async def test_who_waits_for_a_device_that_shows_another_state_is_told_so_at_once(fleet: Fleet):
    """Also if another device has not answered yet: its answer cannot help."""
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
        async with asyncio.timeout(LIMIT_S):
            report = await desk.peers.synchronisation.sync(3600)
    assert not report.complete
    assert {peer.name: peer.differs for peer in report.peers} == {"phone": True, "tablet": False}
    assert not (await desk.peers.synchronisation.sync()).complete
    await tablet.start()


async def test_states_that_agree_again_are_in_step_again(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    await in_step(desk, phone)
    right = await damage(phone)
    await desk.peers.synchronisation.sync(LIMIT_S)
    phone.peers.replication.pause()
    phone.peers.replication.resume()
    await until_differing(desk, phone)
    # Before anything else lands: the sum is of what was there then.
    await phone.db.write(lambda tx: tx.db.execute("UPDATE standing SET state_sum = ?", (right,)))
    watch = desk.notifier.watch()
    phone.peers.replication.pause()
    phone.peers.replication.resume()
    await until_differing(desk, phone, differ=False)
    assert await watch.wait_for_growth(LIMIT_S), "who follows the events is woken, although no commit landed"
    report = await desk.peers.synchronisation.sync(LIMIT_S)
    assert report.complete
    assert not await is_shown_as_different(desk, phone)


async def test_a_device_that_was_removed_keeps_nobody_from_being_in_step(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    await in_step(desk, phone)
    await damage(phone)
    await desk.add("compare")
    await until_differing(desk)
    await desk.peers.devices.remove("phone")
    assert not desk.peers.replication.diverging_members()
    assert (await desk.peers.synchronisation.sync(LIMIT_S)).complete


async def test_who_does_not_answer_is_named_and_nothing_is_called_complete_meanwhile(fleet: Fleet):
    """It has all commits, as far as anyone knows, and then sends nothing more."""
    desk, phone = await pair_of(fleet)
    await in_step(desk, phone)
    await phone.stop()
    async with posing_as(phone, desk) as wire:
        await greet(wire, desk, level=True)
        await desk.until_linked(phone)
        with pytest.raises(Refused, match=r"after 0\.3 s: phone has not answered yet$") as refusal:
            await desk.peers.synchronisation.sync(0.3)
        assert refusal.value.code is RefusalCode.TIMEOUT
        report = await desk.peers.synchronisation.sync()
        assert not report.complete
        assert [(peer.name, peer.connected, peer.lag, peer.unanswered) for peer in report.peers] == [
            ("phone", True, 0, True)
        ]
        ping = messages.decode_message(await wire.receive(LIMIT_S))
        assert isinstance(ping, messages.Ping)
        await wire.send(messages.encode_message(messages.Pong(ping.nonce)), LIMIT_S)
        await wire.send(messages.encode_message(messages.Ping(7)), LIMIT_S)
        # Frames are heard in turn: with this answer, the other was.
        while messages.decode_message(await wire.receive(LIMIT_S)) != messages.Pong(7):
            pass
        assert (await desk.peers.synchronisation.sync()).complete
    await phone.start()


async def test_all_that_is_lacking_is_told_of_each_device(fleet: Fleet):
    desk, phone = await pair_of(fleet)
    await phone.stop()
    async with posing_as(phone, desk) as wire:
        await greet(wire, desk)
        await desk.add("never acknowledged")
        with pytest.raises(Refused, match=r"phone lacks \d+; phone has not answered yet$"):
            await desk.peers.synchronisation.sync(0.3)
    await phone.start()
