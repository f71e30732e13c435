"""The link of a patched member: it shows the member's certificate, and sends whatever bytes it is given.

Never imports what it attacks. It acknowledges nothing, so that nothing which it sends vouches for a state.
"""

import asyncio
import ssl
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgpack  # type: ignore[import-untyped]

from tests.vectors import wire

HELLO, COMMITS, ACK, PING, PONG, BYE, HEADS = range(1, 8)
WINDOW_PAGES = 4
_SERVER_NAME = "link.placet"
_UPGRADE = (
    b"GET /v1/link HTTP/1.1\r\nHost: placet\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
_BINARY, _WS_PING, _WS_PONG = 0x2, 0x9, 0xA
_LENGTH_BYTES_16, _LENGTH_BYTES_64 = 126, 127

Frame = list[Any]


class LinkEnded(Exception):
    """The other side ended the link; the message is the reason that it gave."""


class MemberLink:
    """One link to one device."""

    def __init__(self, identity: Path, port: int, *, more: dict[str, Any] | None = None) -> None:
        self._identity = identity
        self._port = port
        self._more = more or {}
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._reading: asyncio.Task[None] | None = None
        self._changed = asyncio.Condition()
        self._pages_unanswered = 0
        self._pongs_due = 0
        self._ended: str | None = None
        self.hello: Frame = []

    async def open(self, hello: bytes | None = None) -> None:
        """Connect and say Hello: as one that holds what the other side holds, or with the given bytes."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.load_cert_chain(self._identity)
        try:
            self._reader, self._writer = await asyncio.open_connection(
                "127.0.0.1", self._port, ssl=context, server_hostname=_SERVER_NAME
            )
            self._writer.write(_UPGRADE)
            head = await self._reader.readuntil(b"\r\n\r\n")
        except (OSError, asyncio.IncompleteReadError) as fault:
            raise LinkEnded(str(fault)) from fault
        if b" 101 " not in head.splitlines()[0]:
            raise LinkEnded(head.splitlines()[0].decode())
        self._ended, self._pages_unanswered, self._pongs_due = None, 0, 0
        self.hello = wire.unpack(await self._receive(), wire.FRAME_ITEMS_MAX)
        self._reading = asyncio.create_task(self._read())
        _, _, vault, _, vector, state_hash, _ = self.hello
        await self.send(hello or wire.pack([HELLO, [2], vault, None, vector, state_hash, self._more]))
        if hello is None and len(vector) == wire.HEADS_MAX:
            await self.send(wire.pack([HEADS, [], []]))

    async def close(self) -> None:
        """End the link without a word."""
        if self._reading is not None:
            self._reading.cancel()
            with suppress(asyncio.CancelledError):
                await self._reading
        if self._writer is not None:
            self._writer.transport.abort()
            with suppress(OSError):
                await self._writer.wait_closed()

    async def send(self, frame: bytes) -> None:
        """Send a frame. Raises LinkEnded."""
        if self._ended is not None:
            raise LinkEnded(self._ended)
        try:
            await self._write(_BINARY, frame)
        except OSError as fault:
            await self._until(lambda: self._ended is not None)
            raise LinkEnded(self._ended) from fault

    async def send_page(self, commits: list[tuple[bytes, bytes]]) -> int:
        """Send a page as soon as the window has room; return the bytes of its frame. Raises LinkEnded."""
        await self._until(lambda: self._pages_unanswered < WINDOW_PAGES)
        frame = wire.pack([COMMITS, commits])
        self._pages_unanswered += 1
        await self.send(frame)
        return len(frame)

    async def send_ping(self) -> int:
        """Send a Ping; return the bytes of its frame. Raises LinkEnded."""
        frame = wire.pack([PING, 1])
        self._pongs_due += 1
        await self.send(frame)
        return len(frame)

    async def all_answered(self) -> None:
        """Wait until each page and each Ping is answered. Raises LinkEnded."""
        await self._until(lambda: self._pages_unanswered == 0 and self._pongs_due == 0)

    async def until_ended(self) -> None:
        """Wait until the other side has ended the link."""
        with suppress(LinkEnded):
            await self._until(lambda: False)

    async def _until(self, holds: Any) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: holds() or self._ended is not None)
        if self._ended is not None:
            raise LinkEnded(self._ended)

    async def _read(self) -> None:
        reason = ""
        try:
            while True:
                kind, *members = msgpack.unpackb(await self._receive(), raw=False, strict_map_key=False)
                if kind == BYE:
                    reason = members[0]
                    break
                if kind == PING:
                    await self._write(_BINARY, wire.pack([PONG, *members]))
                await self._note(kind)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            self._ended = reason or "the connection ended"
            await self._note(BYE)

    async def _write(self, opcode: int, content: bytes) -> None:
        """Send a WebSocket frame. A client masks what it sends: with zeros, that leaves it as it is."""
        assert self._writer is not None
        size = len(content)
        length = (
            struct.pack(">B", 0x80 | size)
            if size < _LENGTH_BYTES_16
            else struct.pack(">BH", 0x80 | _LENGTH_BYTES_16, size)
            if size < 1 << 16
            else struct.pack(">BQ", 0x80 | _LENGTH_BYTES_64, size)
        )
        self._writer.write(bytes([0x80 | opcode]) + length + bytes(4) + content)
        await self._writer.drain()

    async def _receive(self) -> bytes:
        """Return the content of the next binary message. Raises OSError, IncompleteReadError at its end."""
        assert self._reader is not None
        while True:
            first, size = await self._reader.readexactly(2)
            if size == _LENGTH_BYTES_16:
                (size,) = struct.unpack(">H", await self._reader.readexactly(2))
            elif size == _LENGTH_BYTES_64:
                (size,) = struct.unpack(">Q", await self._reader.readexactly(8))
            content = await self._reader.readexactly(size)
            if first & 0xF == _WS_PING:
                await self._write(_WS_PONG, content)
            elif first & 0xF == _BINARY:
                return content

    async def _note(self, kind: int) -> None:
        async with self._changed:
            self._pages_unanswered -= kind == ACK
            self._pongs_due -= kind == PONG
            self._changed.notify_all()
