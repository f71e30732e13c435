"""A WebSocket as a line of binary frames, the same for the side that dialled and the side that answered.

Never waits without a limit, and never reads what is in a frame.
"""

import asyncio
import socket
import struct
from typing import Any

from aiohttp import ClientWebSocketResponse, WSMsgType
from aiohttp.web import WebSocketResponse

Socket = ClientWebSocketResponse[Any] | WebSocketResponse[Any]


_TCP_INFO = struct.Struct("=52xII")
"""Of what tcp(7) tells of a connection: the milliseconds since data and since an acknowledgement came."""


class LineLost(Exception):
    """The line ended or stalled; the message says how."""


class Wire:
    """One open WebSocket."""

    def __init__(self, socket: Socket, remote: str, their_time_s: float | None = None) -> None:
        """`their_time_s` is what the other side's clock said (Unix time), None where it did not say."""
        self._socket = socket
        self.remote = remote
        self.their_time_s = their_time_s

    async def send(self, frame: bytes, timeout_s: float) -> None:
        """Send a frame; return when little of it is left in this process. Raises LineLost."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._socket.send_bytes(frame)
        except TimeoutError as fault:
            raise LineLost(f"the other side took nothing for {timeout_s:g} s") from fault
        except (OSError, RuntimeError) as fault:
            raise LineLost(f"the line broke: {fault}") from fault

    async def receive(self, timeout_s: float) -> bytes:
        """Return the next frame. Raises LineLost, also for what is no binary frame within the limit."""
        try:
            async with asyncio.timeout(timeout_s):
                message = await self._socket.receive()
        except TimeoutError as fault:
            raise LineLost(f"nothing was heard for {timeout_s:g} s") from fault
        except (OSError, RuntimeError) as fault:
            raise LineLost(f"the line broke: {fault}") from fault
        if message.type is WSMsgType.BINARY:
            return bytes(message.data)
        if message.type is WSMsgType.ERROR:
            raise LineLost(f"the line broke: {message.data}")
        if message.type is WSMsgType.TEXT:
            raise LineLost("a text frame, where only binary ones are used")
        raise LineLost("the other side closed the line")

    def heard_ago_s(self) -> float | None:
        """Return how long ago anything came from the other machine, an acknowledgement at the least.

        None where the system does not tell. On a narrow line this is known long before a frame is whole.
        """
        connection = self._socket.get_extra_info("socket")
        try:
            told = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO.size)
            data_ms, acknowledgement_ms = _TCP_INFO.unpack(told)
        except (AttributeError, OSError, struct.error):
            return None
        return min(int(data_ms), int(acknowledgement_ms)) / 1000

    async def close(self) -> None:
        """Close the line; what has not yet been sent is dropped after a short while."""
        try:
            await self._socket.close()
        except (OSError, RuntimeError):
            # It was broken already: what closing is for has happened.
            pass
