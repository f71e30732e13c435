"""Connections so slow that a frame takes longer than silence may last: they go on, and a drip does not.

Never depends on the speed of this machine: the tests wait until something arrives, and on which link.
"""

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, cast

import pytest

from daemon.peers.transport.wire import ConnectionLost, Socket, Wire
from syncproto.messages import FRAME_BYTES_MAX, Ping, encode_message
from tests.daemon.peers.fleet import QUICK, Device, Fleet, in_step
from tests.daemon.peers.linking.test_stalled_connections import FakeSocket, link_on
from tests.support.patience import LIMIT_S

BYTES_PER_S = 64 * 1024
SILENCE_S = 2.0
LONG_CHARS = 200_000
"""Nearly the longest commit that is allowed: to send it takes three seconds."""


@asynccontextmanager
async def narrowed(device: Device) -> AsyncIterator[str]:
    """Open an address from which a slow connection leads to a device."""
    host, _, port = device.place.rpartition(":")
    tasks: set[asyncio.Task[None]] = set()

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while piece := await reader.read(4096):
                await asyncio.sleep(len(piece) / BYTES_PER_S)
                writer.write(piece)
                await writer.drain()
        except OSError:
            # One end is gone, and so is the other.
            pass
        finally:
            writer.close()

    async def join(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        existing_reader, back = await asyncio.open_connection(host, int(port), limit=4096)
        for ends in ((reader, back), (existing_reader, writer)):
            tasks.add(asyncio.create_task(carry(*ends)))

    server = await asyncio.start_server(join, "127.0.0.1", 0, limit=4096)
    try:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.slow
async def test_a_commit_that_takes_longer_than_silence_may_last_comes_over_one_link(fleet: Fleet):
    limits = replace(QUICK, silence_s=SILENCE_S, send_s=SILENCE_S, ping_s=0.3, progress_bytes=1024)
    desk, phone = await fleet.start("desk", limits=limits), await fleet.start("phone", limits=limits)
    await fleet.pair(desk, phone)
    for device in (phone, desk):
        await device.stop()
        await device.forget_addresses()
    await desk.start()
    await desk.write_entry("long" * (LONG_CHARS // 4))
    for number in range(40):
        await desk.write_entry(f"{number} " * 800)
    async with narrowed(desk) as place:
        phone.settings = fleet.make("phone", static=(place,)).settings
        await phone.start()
        await phone.until_linked(desk)
        link = phone.peers.links.link_to(desk.id)
        assert link is not None
        await in_step(desk, phone)
        assert phone.peers.links.link_to(desk.id) is link
        await phone.stop()
        await desk.until_apart(phone)
    await phone.start()


# -- what is enough --------------------------------------------------------------------------------------

LOOKS = 8
TRICKLE_BYTES = FRAME_BYTES_MAX // LOOKS


class Counter:
    """A connection of which the kernel says, each time it is asked, that so much more has gone each way."""

    def __init__(self, *, taken: int, come: int) -> None:
        self.steps = taken, come
        self.asked = 0

    def getsockopt(self, _level: int, _option: int, size: int) -> bytes:
        raw = struct.pack("=120xQQ", *(self.asked * step for step in self.steps))
        assert len(raw) == size
        self.asked += 1
        return raw


class CountedSocket(FakeSocket):
    """A WebSocket on such a connection; no frame ever comes whole."""

    def __init__(self, connection: object) -> None:
        super().__init__()
        self.flows.clear()
        self.connection = connection

    def get_extra_info(self, name: str) -> Any:
        assert name == "socket"
        return self.connection


async def lose(wire: Wire, way: str) -> None:
    """Wait for a frame, or until one is sent, until the connection is given up."""
    ping = encode_message(Ping(1))
    waiting = wire.receive(0.01, TRICKLE_BYTES) if way == "come" else wire.send(ping, 0.01, TRICKLE_BYTES)
    with pytest.raises(ConnectionLost, match="next to nothing"):
        await asyncio.wait_for(waiting, LIMIT_S)


@pytest.mark.parametrize("way", ["taken", "come"])
@pytest.mark.parametrize(
    ("step", "number"),
    [
        # Once at the beginning, and once at the end of each limit, as often as the longest frame needs.
        (TRICKLE_BYTES, 1 + LOOKS),
        (TRICKLE_BYTES - 1, 2),
        (0, 2),
    ],
)
async def test_a_line_is_waited_for_while_enough_comes_and_no_longer_than_the_longest_frame_needs(
    way: str, step: int, number: int
):
    steps = {"taken": 0, "come": 0} | {way: step}
    connection = Counter(**steps)
    await lose(Wire(cast("Socket", CountedSocket(connection)), ""), way)
    # A wait for a frame also looks once how much arrived before, to notice a flood.
    assert connection.asked == number + (way == "come")


@pytest.mark.parametrize("way", ["taken", "come"])
async def test_what_goes_the_other_way_is_not_counted(way: str):
    steps = {"taken": TRICKLE_BYTES, "come": TRICKLE_BYTES} | {way: 0}
    connection = Counter(**steps)
    await lose(Wire(cast("Socket", CountedSocket(connection)), ""), way)
    assert connection.asked == 2 + (way == "come")


@pytest.mark.parametrize("way", ["taken", "come"])
async def test_where_the_system_does_not_count_there_is_one_limit(way: str):
    await lose(Wire(cast("Socket", CountedSocket(None)), ""), way)


async def test_a_long_hello_may_take_longer_than_the_greeting_while_it_goes_on(fleet: Fleet):
    desk = await fleet.start("desk")
    connection = Counter(taken=0, come=TRICKLE_BYTES)
    socket = CountedSocket(connection)
    socket.flows.set()
    link = link_on(cast("FakeSocket", socket), desk, greeting_s=0.02, greeting_progress_bytes=TRICKLE_BYTES)
    async with asyncio.timeout(LIMIT_S):
        assert await link.run() == "next to nothing was heard for 0.02 s"
    assert connection.asked > LOOKS
