"""What a listener does about callers that are slow, many or gone: each is cut, and a member finds room.

Never turns TLS off.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from daemon.peers.transport.addresses import Address
from daemon.peers.transport.connector import Connector
from daemon.peers.transport.limits import PeerLimits
from daemon.peers.transport.listener import LINK_PATH
from daemon.peers.transport.trust import LINK_SERVER_NAME, PAIR_SERVER_NAME
from daemon.peers.transport.wire import ConnectionLost
from tests.daemon.peers.transport.house import QUICK, REQUEST, House, closed
from tests.support.patience import LIMIT_S

IMPATIENT = PeerLimits(handshake_s=2.0, keep_alive_s=0.4, goodbye_s=0.5)
"""For tests in which these limits run out, and in which an honest handshake must still have its time."""


@pytest.fixture
async def impatient(tmp_path: Path) -> AsyncIterator[House]:
    new_house = House(tmp_path, IMPATIENT)
    await new_house.start()
    yield new_house
    await new_house.listener.stop()


async def test_a_handshake_that_does_not_go_on_is_cut_and_gives_its_place_back(impatient: House):
    house = impatient
    member = house.someone("member")
    house.admit(member)
    callers = await house.idle(*["127.0.0.1"] * house.limits.connections_each_max)
    async with asyncio.timeout(LIMIT_S):
        for reader, writer in callers:
            assert await reader.read() == b""
            writer.close()
    assert house.listener.connections == 0
    assert b"101 Switching" in await house.ask(house.context(member), LINK_SERVER_NAME)


async def test_what_is_not_tls_is_cut(impatient: House):
    house = impatient
    async with asyncio.timeout(LIMIT_S):
        reader, writer = await asyncio.open_connection("127.0.0.1", house.port)
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 100)
        try:
            assert b"HTTP" not in await reader.read()
        except OSError:
            pass
        writer.close()


async def test_a_member_that_goes_before_its_answer_is_no_error(
    house: House, caplog: pytest.LogCaptureFixture
):
    member = house.someone("member")
    house.admit(member)
    async with asyncio.timeout(LIMIT_S):
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", house.port, ssl=house.context(member), server_hostname=LINK_SERVER_NAME
        )
        # Both are sent before the house reads any of it.
        writer.write(REQUEST.format(method="GET", path=LINK_PATH).encode())
        writer.close()
        assert b"HTTP" not in await reader.read()
        await house.ask(house.context(member), LINK_SERVER_NAME)
    assert house.linked == [member.certificate]
    assert not caplog.records


async def test_a_request_that_drips_is_cut(impatient: House):
    house = impatient
    house.inviting = True
    async with asyncio.timeout(LIMIT_S):
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", house.port, ssl=house.context(None), server_hostname=PAIR_SERVER_NAME
        )
        writer.write(b"GET /v1/pair HTTP/1.1\r\nHost: ")
        ended = asyncio.ensure_future(reader.read())
        while not ended.done():
            writer.write(b"x")
            await asyncio.wait([ended], timeout=0.05)
        writer.close()
    assert not house.paired


async def test_idle_connections_leave_room_for_a_member(tmp_path: Path):
    """200 callers from 5 addresses send nothing: 8 of each stay, and a member still gets through."""
    house = House(tmp_path, replace(QUICK, handshake_s=LIMIT_S), hold=True)
    await house.start()
    idle = await house.idle(*[f"127.0.1.{number % 5 + 1}" for number in range(200)])
    try:
        await closed(idle, 160)
        assert house.listener.connections == 40
        member = house.someone("member")
        house.admit(member)
        dialling = Connector(member, QUICK)
        wire = await dialling.connect_to_member(Address("127.0.0.1", house.port), house.identity.certificate)
        assert house.linked == [member.certificate]
        await wire.send(b"\0", LIMIT_S)
        await wire.close()
        await dialling.close()
    finally:
        for _, writer in idle:
            writer.close()
        await house.listener.stop()


async def test_members_of_one_network_keep_no_room_from_each_other_nor_one_from_the_rest(tmp_path: Path):
    """Many devices behind one address: each has its own share, and none has more."""
    house = House(tmp_path, replace(QUICK, connections_each_max=2), hold=True)
    await house.start()
    members = [house.someone(f"member {number}") for number in range(4)]
    house.admit(*members)
    place, certificate = Address("127.0.0.1", house.port), house.identity.certificate
    callers = [Connector(member, QUICK) for member in members]
    try:
        # One at a time: what has not ended its handshake counts for the address that it came from.
        wires = [await caller.connect_to_member(place, certificate) for caller in (*callers, callers[0])]
        # It has its share: what it had first gives way, and nothing of anyone else's.
        wires.append(await callers[0].connect_to_member(place, certificate))
        with pytest.raises(ConnectionLost):
            await wires[0].receive(LIMIT_S)
        wires.append(await callers[1].connect_to_member(place, certificate))
        assert house.listener.connections == len(members) + 2
        for wire in wires[1:]:
            await wire.send(b"\0", LIMIT_S)
        idle = await house.idle("127.0.0.1", "127.0.0.1", "127.0.0.1")
        await closed(idle, 1)
        for _, writer in idle:
            writer.close()
        for wire in wires:
            await wire.close()
    finally:
        for caller in callers:
            await caller.close()
        await house.listener.stop()
    assert house.listener.connections == 0


async def test_no_more_connections_than_the_cap(tmp_path: Path):
    house = House(tmp_path, replace(QUICK, handshake_s=LIMIT_S, connections_max=12))
    await house.start()
    idle = await house.idle(*[f"127.0.1.{number + 1}" for number in range(30)])
    try:
        await closed(idle, 18)
        assert house.listener.connections == 12
    finally:
        for _, writer in idle:
            writer.close()
        await house.listener.stop()
