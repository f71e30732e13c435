"""A port with no free place: which caller gives way, which does not, and what a rejected one receives.

Never asserts when: idle callers stay idle for longer than a test.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from daemon.peers.transport.addresses import Address
from daemon.peers.transport.connector import ConnectionRejected, Connector, UnreachableReason
from daemon.peers.transport.identity import Identity
from daemon.peers.transport.listener import PAIR_PATH
from daemon.peers.transport.trust import PAIR_SERVER_NAME
from daemon.peers.transport.wire import Wire
from daemon.refusal import RefusalCode, Refused
from tests.daemon.peers import fleet as fleets
from tests.daemon.peers.fleet import Fleet
from tests.daemon.peers.transport.house import QUICK, House, closed
from tests.support.patience import LIMIT_S

PLACES = 16
FULL = replace(QUICK, connections_max=PLACES, handshake_s=LIMIT_S)


@asynccontextmanager
async def full_house(folder: Path, *idle: str) -> AsyncIterator[House]:
    """Open a port, and connect once from each of these addresses without sending anything."""
    house = House(folder, FULL, hold=True)
    await house.start()
    callers = await house.idle(*idle)
    try:
        yield house
    finally:
        for _, writer in callers:
            writer.close()
        await house.listener.stop()


@asynccontextmanager
async def linked(house: House, member: Identity) -> AsyncIterator[Wire]:
    dialling = Connector(member, QUICK)
    try:
        wire = await dialling.connect_to_member(Address("127.0.0.1", house.port), house.identity.certificate)
        yield wire
        await wire.close()
    finally:
        await dialling.close()


def strangers(count: int, element: int) -> list[str]:
    return [f"127.0.1.{number + 1}" for number in range(count) for _ in range(element)]


@pytest.mark.parametrize(("count", "number"), [(2, 8), (8, 2), (16, 1)])
async def test_where_strangers_take_every_place_a_member_still_comes_in(
    tmp_path: Path, count: int, number: int
):
    async with full_house(tmp_path, *strangers(count, number)) as house:
        member = house.someone("member")
        house.admit(member)
        assert house.listener.connections == PLACES
        async with linked(house, member):
            assert house.linked == [member.certificate]
            assert house.listener.connections == PLACES


async def test_a_member_gives_way_to_nobody(tmp_path: Path):
    async with full_house(tmp_path) as house:
        member = house.someone("member")
        house.admit(member)
        async with linked(house, member) as wire:
            flood = await house.idle(*strangers(40, 2))
            # All but those that took a free place, and those for whom an older one of their network went.
            await closed(flood, 80 - PLACES + 1)
            assert house.listener.connections == PLACES
            await wire.send(b"\0", LIMIT_S)
            assert house.linked == [member.certificate]
            for _, writer in flood:
                writer.close()


async def test_what_gives_way_leaves_nothing(tmp_path: Path):
    async with full_house(tmp_path) as house:
        flood = await house.idle(*strangers(2 * PLACES, 1))
        await closed(flood, PLACES)
        assert house.listener.connections == PLACES
        assert len(house.listener._unknown) == len(house.listener._tasks) == PLACES
        for _, writer in flood:
            writer.close()
        async with asyncio.timeout(LIMIT_S):
            while house.listener._tasks:
                await asyncio.wait(house.listener._tasks)
        assert house.listener.connections == len(house.listener._unknown) == 0


@pytest.mark.parametrize("others", [0, 4])
async def test_idle_strangers_of_the_own_network_keep_no_member_out(tmp_path: Path, others: int):
    own = ["127.0.0.1"] * FULL.connections_each_max
    async with full_house(tmp_path, *own, *strangers(others, 2)) as house:
        before = house.listener.connections
        member = house.someone("member")
        house.admit(member)
        async with linked(house, member):
            assert house.listener.connections <= before


async def test_idle_strangers_of_the_own_network_keep_no_newcomer_out(tmp_path: Path):
    house = House(tmp_path, replace(FULL, keep_alive_s=LIMIT_S), inviting=True)
    await house.start()
    callers = []
    try:
        for _ in range(house.limits.connections_each_max):
            opened = asyncio.open_connection(
                "127.0.0.1", house.port, ssl=house.context(None), server_hostname=PAIR_SERVER_NAME
            )
            callers.append(await opened)
        assert b"101 Switching" in await house.ask(house.context(None), PAIR_SERVER_NAME, PAIR_PATH)
        assert house.paired == 1
    finally:
        for _, writer in callers:
            writer.transport.abort()
        await house.listener.stop()


async def test_who_takes_as_many_places_as_anyone_is_told_that_there_is_none(tmp_path: Path):
    own = ["127.0.0.1"] * 2
    async with full_house(tmp_path, *own, *strangers(7, 2)) as house:
        member = house.someone("member")
        house.admit(member)
        with pytest.raises(ConnectionRejected, match="too many callers") as error:
            async with linked(house, member):
                pass
        assert error.value.kind is UnreachableReason.BUSY


async def test_where_members_take_every_place_one_more_is_told_that_there_is_none(tmp_path: Path):
    house = House(tmp_path, replace(FULL, connections_max=1), hold=True)
    await house.start()
    member, other = house.someone("member"), house.someone("other")
    house.admit(member, other)
    try:
        async with linked(house, member) as wire:
            with pytest.raises(ConnectionRejected, match="too many callers") as error:
                async with linked(house, other):
                    pass
            assert error.value.kind is UnreachableReason.BUSY
            await wire.send(b"\0", LIMIT_S)
    finally:
        await house.listener.stop()


async def test_whoever_joins_where_no_place_is_left_is_told_to_try_again(fleet: Fleet):
    desk = await fleet.start("desk", limits=replace(fleets.QUICK, connections_max=0))
    phone = await fleet.start("phone")
    text = await desk.token()
    with pytest.raises(Refused) as refusal:
        await phone.peers.join(text)
    assert refusal.value.code is RefusalCode.FAILED
    assert "has too many callers now" in refusal.value.message
    assert refusal.value.hint == "try again in a moment"
    # It was no try of the secret.
    await desk.restart(connections_max=fleets.QUICK.connections_max)
    await phone.peers.join(await desk.token())
