"""Two daemons run with one device's key: they take turns, nothing is lost, and every device reports it.

Never waits for a minute: turns are shortened, or so long that only one comes.
"""

import asyncio
import shutil
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from daemon.peers.linking import goodbyes
from daemon.peers.transport.identity import load
from daemon.peers.transport.limits import PeerLimits
from syncproto.messages import Ping, Pong, decode_message, encode_message
from tests.daemon.peers.fleet import QUICK, Device, Fleet, in_step, until
from tests.daemon.peers.linking.link_steps import greet, last_words, pair_of, posing_as
from tests.support.patience import LIMIT_S

SHORT = replace(QUICK, clone_turn_s=0.3)


async def copied(fleet: Fleet, device: Device) -> Device:
    """Run a copy of a device's folder beside it."""
    await device.stop()
    copy = fleet.make(f"copy of {device.name}", limits=device.limits)
    shutil.copytree(device.folder, copy.folder, dirs_exist_ok=True)
    copy.identity = load(copy.folder)
    await device.start()
    await copy.start()
    fleet.devices.append(copy)
    return copy


async def twins_and_a_witness(fleet: Fleet, limits: PeerLimits, whose: str) -> tuple[Device, Device, Device]:
    """Pair two devices, and run one of them twice: which id is smaller decides whose calls count."""
    desk, phone = await pair_of(fleet, limits)
    assert desk.id < phone.id
    twin, witness = (desk, phone) if whose == "desk" else (phone, desk)
    return twin, await copied(fleet, twin), witness


@pytest.mark.parametrize("whose", ["desk", "phone"])
async def test_both_and_whoever_meets_them_are_told_and_everything_arrives(fleet: Fleet, whose: str):
    with capture_logs() as logged:
        twin, copy, witness = await twins_and_a_witness(fleet, SHORT, whose)

        async def is_reported() -> bool:
            is_reported_by_peers = all(
                device.peers.replication.key_clone_reporters() == [witness.id] for device in (twin, copy)
            )
            return is_reported_by_peers and witness.peers.links.key_clones.cloned_devices() == [twin.id]

        await until([twin, copy, witness], is_reported)
        for number in range(3):
            await asyncio.gather(twin.add(f"one {number}"), copy.add(f"other {number}"))
        await in_step(twin, copy, witness)
    assert len(await witness.titles()) == 6
    words = [event["event"] for event in logged if "two daemons run with" in event["event"]]
    assert len(words) == 3, "one line on each"
    assert (
        twin.peers.links.key_clones.cloned_devices() == copy.peers.links.key_clones.cloned_devices() == []
    ), "each has the other's word for it alone"


async def test_a_link_that_was_made_from_here_tells_it_too(fleet: Fleet):
    """The desk has called the phone, and its calls count: that phone does not call in between."""
    desk, phone = await pair_of(fleet, SHORT)
    await phone.stop()
    copy = fleet.make("copy", limits=SHORT)
    shutil.copytree(phone.folder, copy.folder, dirs_exist_ok=True)
    copy.identity = load(copy.folder)
    store = phone.opened()
    with store.write() as transaction:
        transaction.db.execute("DELETE FROM peer_address")
    store.close()
    await phone.start()
    await desk.until_linked(phone)
    link = desk.peers.links.link_to(phone.id)
    assert link is not None
    assert link.dialled
    await copy.start()
    fleet.devices.append(copy)

    async def is_reported() -> bool:
        return desk.peers.links.key_clones.cloned_devices() == [phone.id]

    await until([desk, phone, copy], is_reported)


async def test_the_one_keeps_its_link_while_the_other_knocks(fleet: Fleet):
    with capture_logs() as logged:
        twin, copy, witness = await twins_and_a_witness(fleet, QUICK, "desk")

        def refused() -> int:
            return sum(
                event.get("reason") == f"the other side said: {goodbyes.KEY_CLONE}" for event in logged
            )

        async def often(times: int) -> bool:
            return refused() >= times

        await until([twin, copy, witness], lambda: often(3))
        peer_link = witness.peers.links.link_to(twin.id)
        assert peer_link is not None
        await until([twin, copy, witness], lambda: often(7))
        assert witness.peers.links.link_to(twin.id) is peer_link
        assert not peer_link.ended.is_set()


async def test_one_that_ended_its_older_link_is_not_taken_for_two(fleet: Fleet):
    """Its network went: the older connection is open here, and nobody is at its other end."""
    desk, phone = await pair_of(fleet, replace(QUICK, liveness_s=0.3))
    for _ in range(3):
        await desk.restart()
        await phone.restart()
        await in_step(desk, phone)
    await phone.stop()
    async with posing_as(phone, desk) as older:
        await greet(older, desk, level=True)
        await desk.until_linked(phone)
        async with posing_as(phone, desk) as newer:
            await greet(newer, desk, level=True)
            assert await last_words(older) == "another link of this pair took its place"
            assert (await desk.sees(phone)) is not None
    assert desk.peers.links.key_clones.cloned_devices() == []
    await phone.start()
    await in_step(desk, phone)
    assert desk.peers.links.key_clones.cloned_devices() == phone.peers.links.key_clones.cloned_devices() == []


async def test_an_answer_to_what_was_asked_before_proves_nothing(fleet: Fleet):
    desk, phone = await pair_of(fleet, replace(QUICK, liveness_s=0.3, ping_s=0.05))
    await in_step(desk, phone)
    await phone.stop()
    async with posing_as(phone, desk) as older:
        await greet(older, desk, level=True)
        message = decode_message(await older.receive(LIMIT_S))
        assert isinstance(message, Ping)
        async with posing_as(phone, desk) as newer:
            await greet(newer, desk, level=True)
            await older.send(encode_message(Pong(message.nonce)), LIMIT_S)
            await last_words(older)
    assert desk.peers.links.key_clones.cloned_devices() == []
    await phone.start()
