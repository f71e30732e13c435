"""Frames of WebSocket that bring nothing: empty parts of a message, pings and pongs, without end.

Never uses TLS: what is counted lies above it.
"""

import asyncio
import base64
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from daemon.peers.transport import wire as wires
from daemon.peers.transport.wire import ConnectionLost, Wire
from tests.support.patience import LIMIT_S

BEGIN, EMPTY_PART, PING, PONG = 0x02, 0x00, 0x89, 0x8A
Client = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def frame(first_byte: int, payload: bytes = b"") -> bytes:
    """Return a frame as a client sends it, masked with zeros."""
    return bytes([first_byte, 0x80 | len(payload)]) + bytes(4) + payload


@asynccontextmanager
async def wire_to(client: Client) -> AsyncIterator[Wire]:
    """Open the side that answers, and let `client` be the other one, with raw bytes."""
    opened: asyncio.Queue[Wire] = asyncio.Queue()
    finished = asyncio.Event()

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        response = web.WebSocketResponse(autoping=False, compress=False)
        await response.prepare(request)
        opened.put_nowait(Wire(response, "caller"))
        await finished.wait()
        return response

    runner = web.ServerRunner(web.Server(handle))
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    assert site._server is not None
    port = site._server.sockets[0].getsockname()[1]  # type: ignore[attr-defined]
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    key = base64.b64encode(bytes(16)).decode()
    lines = ["GET / HTTP/1.1", "Host: x", "Upgrade: websocket", "Connection: Upgrade"]
    lines += [f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", "", ""]
    writer.write("\r\n".join(lines).encode())
    await reader.readuntil(b"\r\n\r\n")

    async def play() -> None:
        try:
            await client(reader, writer)
        except OSError:
            pass  # It was cut off, as it should be.

    player = asyncio.create_task(play())
    try:
        yield await opened.get()
    finally:
        player.cancel()
        finished.set()
        writer.close()
        await runner.cleanup()


async def test_empty_parts_of_a_message_end_the_connection_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wires, "UNPRODUCTIVE_BYTES_MAX", 1 << 20)
    monkeypatch.setattr(wires, "CHECK_S", 0.01)

    async def flood(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(frame(BEGIN))
        while True:
            writer.write(frame(EMPTY_PART) * 10_000)
            await writer.drain()

    async with wire_to(flood) as wire:
        with pytest.raises(ConnectionLost, match="1 MiB arrived without a frame"):
            await wire.receive(LIMIT_S)


@pytest.mark.parametrize("kind", [PING, PONG])
async def test_pings_and_pongs_without_end_end_the_connection(kind: int) -> None:
    async def flood(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(frame(kind) * (wires.CONTROL_FRAMES_MAX + 1))
        await writer.drain()

    async with wire_to(flood) as wire:
        with pytest.raises(ConnectionLost, match="pings and pongs without a frame"):
            await wire.receive(LIMIT_S)


async def test_a_ping_now_and_then_is_answered_and_frames_in_parts_arrive() -> None:
    received = bytearray()
    answered = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(3):
            writer.write(frame(PING, b"there?") + frame(BEGIN, b"a") + frame(EMPTY_PART))
            writer.write(frame(PONG) + frame(0x80 | EMPTY_PART, b"b"))
        while received.count(b"there?") < 3:
            received.extend(await reader.read(1024))
        answered.set()

    async with wire_to(talk) as wire:
        assert [await wire.receive(LIMIT_S) for _ in range(3)] == [b"ab"] * 3
        await asyncio.wait_for(answered.wait(), LIMIT_S)
