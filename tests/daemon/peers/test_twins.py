"""Two daemons with one device's key, both running: they take turns, nothing is lost, and everyone is told.

Never waits for a minute: turns are shortened, or so long that only one comes.
"""

import asyncio
import shutil
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from daemon.peers.identity import load
from daemon.peers.pace import Pace
from daemon.peers.twins import TWINS
from syncproto.messages import Ping, Pong, read, write
from tests.daemon.peers.fleet import LIMIT_S, QUICK, Device, Fleet, in_step, until
from tests.daemon.peers.test_links import greet, last_words, pair_of, posing_as

SHORT = replace(QUICK, turn_s=0.3)


async def copied(fleet: Fleet, device: Device) -> Device:
    """Run a copy of a device's folder beside it."""
    await device.stop()
    copy = fleet.make(f"copy of {device.name}", pace=device.pace)
    shutil.copytree(device.folder, copy.folder, dirs_exist_ok=True)
    copy.identity = load(copy.folder)
    await device.start()
    await copy.start()
    fleet.devices.append(copy)
    return copy


async def twins_and_a_witness(fleet: Fleet, pace: Pace, whose: str) -> tuple[Device, Device, Device]:
    """Pair two devices, and run one of them twice: which id is smaller decides whose calls count."""
    desk, phone = await pair_of(fleet, pace)
    assert desk.id < phone.id
    twin, witness = (desk, phone) if whose == "desk" else (phone, desk)
    return twin, await copied(fleet, twin), witness


@pytest.mark.parametrize("whose", ["desk", "phone"])
async def test_both_and_whoever_meets_them_are_told_and_everything_arrives(fleet: Fleet, whose: str):
    with capture_logs() as logged:
        twin, copy, witness = await twins_and_a_witness(fleet, SHORT, whose)

        async def told() -> bool:
            said = all(one.peers.twins_said_by() == [witness.id] for one in (twin, copy))
            return said and witness.peers.twins() == [twin.id]

        await until([twin, copy, witness], told)
        for number in range(3):
            await asyncio.gather(twin.add(f"one {number}"), copy.add(f"other {number}"))
        await in_step(twin, copy, witness)
    assert len(await witness.titles()) == 6
    words = [one["event"] for one in logged if "two daemons run with" in one["event"]]
    assert len(words) == 3, "one line on each"
    assert twin.peers.twins() == copy.peers.twins() == [], "each has the other's word for it alone"


async def test_a_link_that_was_made_from_here_tells_it_too(fleet: Fleet):
    """The desk has called the phone, and its calls count: that phone does not call in between."""
    desk, phone = await pair_of(fleet, SHORT)
    await phone.stop()
    copy = fleet.make("copy", pace=SHORT)
    shutil.copytree(phone.folder, copy.folder, dirs_exist_ok=True)
    copy.identity = load(copy.folder)
    store = phone.opened()
    with store.write() as transaction:
        transaction.db.execute("DELETE FROM peer_address")
    store.close()
    await phone.start()
    await desk.until_linked(phone)
    link = desk.peers._links.to(phone.id)
    assert link is not None
    assert link.dialled
    await copy.start()
    fleet.devices.append(copy)

    async def told() -> bool:
        return desk.peers.twins() == [phone.id]

    await until([desk, phone, copy], told)


async def test_the_one_keeps_its_link_while_the_other_knocks(fleet: Fleet):
    with capture_logs() as logged:
        twin, copy, witness = await twins_and_a_witness(fleet, QUICK, "desk")

        def refused() -> int:
            return sum(one.get("reason") == f"the other side said: {TWINS}" for one in logged)

        async def often(times: int) -> bool:
            return refused() >= times

        await until([twin, copy, witness], lambda: often(3))
        held = witness.peers._links.to(twin.id)
        assert held is not None
        await until([twin, copy, witness], lambda: often(7))
        assert witness.peers._links.to(twin.id) is held
        assert not held.ended.is_set()


async def test_one_that_ended_its_older_link_is_not_taken_for_two(fleet: Fleet):
    """Its network went: the older line is open here, and nobody is at its end."""
    desk, phone = await pair_of(fleet, replace(QUICK, life_s=0.3))
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
    assert desk.peers.twins() == []
    await phone.start()
    await in_step(desk, phone)
    assert desk.peers.twins() == phone.peers.twins() == []


async def test_an_answer_to_what_was_asked_before_proves_nothing(fleet: Fleet):
    desk, phone = await pair_of(fleet, replace(QUICK, life_s=0.3, ping_s=0.05))
    await phone.stop()
    async with posing_as(phone, desk) as older:
        await greet(older, desk, level=True)
        asked = read(await older.receive(LIMIT_S))
        assert isinstance(asked, Ping)
        async with posing_as(phone, desk) as newer:
            await greet(newer, desk, level=True)
            await older.send(write(Pong(asked.nonce)), LIMIT_S)
            await last_words(older)
    assert desk.peers.twins() == []
    await phone.start()
