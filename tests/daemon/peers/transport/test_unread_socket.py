"""A real socket whose other side reads nothing: every sender fails, a close ends, and so does the link.

Never waits for another machine: the other side is in this process, and only system buffers receive anything.
"""

import asyncio
import socket
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
from aiohttp.web import Application, Request, WebSocketResponse
from pytest_aiohttp import AiohttpServer
from structlog.testing import capture_logs

from daemon.peers.transport import wire as wires
from daemon.peers.transport.wire import ConnectionLost, Socket, Wire
from tests.daemon.peers.fleet import Fleet
from tests.daemon.peers.transport.house import REQUEST
from tests.support.patience import LIMIT_S

CHUNK = bytes(100_000)


@pytest.fixture
async def wire(aiohttp_server: AiohttpServer) -> AsyncIterator[Wire]:
    """Return the side of a line that is sent to, while the other asks for it and reads nothing at all."""
    accepted: asyncio.Future[Wire] = asyncio.get_running_loop().create_future()
    done = asyncio.Event()

    async def answer(request: Request) -> WebSocketResponse:
        response = WebSocketResponse(compress=False)
        await response.prepare(request)
        accepted.set_result(Wire(cast("Socket", response), ""))
        await done.wait()
        return response

    application = Application()
    application.router.add_get("/", answer)
    server = await aiohttp_server(application)
    with socket.create_connection(("127.0.0.1", server.port)) as other:
        other.sendall(REQUEST.format(method="GET", path="/").encode())
        yield await asyncio.wait_for(accepted, LIMIT_S)
        done.set()


async def fill(wire: Wire) -> None:
    """Send until a frame is given up, which leaves the line as a sender with a limit leaves it."""
    while True:
        await wire.send(CHUNK, 0.2)


async def test_all_who_send_are_told_that_the_line_is_lost_when_one_gives_up(wire: Wire):
    impatient = asyncio.create_task(fill(wire))
    patient = [asyncio.create_task(send_on(wire)) for _ in range(2)]
    base_exceptions = await asyncio.gather(impatient, *patient, return_exceptions=True)
    assert [type(base_exception) for base_exception in base_exceptions] == [ConnectionLost] * 3
    # The line stays as it was left: who comes later is told as well, and it can be closed.
    with pytest.raises(ConnectionLost):
        await send_on(wire)
    await wire.close()


async def send_on(wire: Wire) -> None:
    while True:
        await wire.send(CHUNK, LIMIT_S)


async def test_who_is_cancelled_while_sending_stays_cancelled(wire: Wire):
    sending = asyncio.create_task(send_on(wire))
    await asyncio.wait([sending], timeout=0.2)
    sending.cancel()
    await asyncio.wait([sending])
    assert sending.cancelled()
    await wire.close()


async def paused(wire: Wire) -> None:
    """Fill the line until it is paused, with nobody waiting for it."""
    server_side = wire._socket
    assert isinstance(server_side, WebSocketResponse)
    writer = server_side._writer
    assert writer is not None
    assert writer.transport is not None
    while not writer.protocol.writing_paused:
        # Below aiohttp, which would wait.
        writer.transport.write(CHUNK)


async def test_a_line_that_nobody_reads_is_closed_in_time(wire: Wire, monkeypatch):
    monkeypatch.setattr(wires, "CLOSING_S", 0.2)
    await paused(wire)
    await wire.close()
    with pytest.raises(ConnectionLost):
        await send_on(wire)


async def test_a_link_ends_with_a_reason_where_one_of_its_senders_gave_up(fleet: Fleet):
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    await fleet.pair(desk, phone)
    await desk.until_linked(phone)
    (link,), (other,) = desk.peers.links.live_links(), phone.peers.links.live_links()
    with capture_logs() as logged:
        # Below asyncio's transport, which would not have it.
        cast("Any", asyncio.get_running_loop())._remove_reader(other._wire._connection.fileno())
        with pytest.raises(ConnectionLost):
            await fill(link._wire)
        # Enough at once that its sender waits for the line.
        assert link._session is not None
        link._session._window._bytes_max, link._session._window._is_idle = 1 << 20, False
        for _ in range(4):
            await desk.write_entry("x" * len(CHUNK))
        async with asyncio.timeout(LIMIT_S):
            await link.ended.wait()
            while link in desk.peers.links._running:
                await desk.peers.links.changed.watch().wait_for_growth(0.05)
    assert [
        event for event in logged if event["event"] == "a link ended" and event["peer"] == phone.id.hex()[:16]
    ]
