"""A WebSocket as a line of binary frames, the same for the side that dialled and the side that answered.

Never waits without a limit, and never reads what is in a frame.
"""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from aiohttp import ClientWebSocketResponse, WSMsgType
from aiohttp.web import WebSocketResponse

from syncproto.messages import FRAME_BYTES_MAX

Socket = ClientWebSocketResponse[Any] | WebSocketResponse[Any]

_TCP_INFO = struct.Struct("=52xII")
"""Of what tcp(7) tells of a connection: the milliseconds since data and since an acknowledgement came."""
_TCP_BYTES = struct.Struct("=120xQQ")
"""Of the same: the bytes that the other machine acknowledged, and those that came from it."""
_TAKEN, _COME = 0, 1
STOOD_STILL_S = 1.0
"""A limit that is seen so much too late tells of this process, which stood still, not of the other side."""
UNREAD_S = 2.0
"""How long it may take then to see what happened meanwhile."""
CLOSING_S = 4.0
"""How long a line may take to close: what waits to be sent, and the other side's last word."""


class LineLost(Exception):
    """The line ended or stalled; the message says how."""


@contextmanager
def _breaks_told() -> Iterator[None]:
    """Turn what a broken line raises into LineLost.

    Senders on one line share what they wait for: where the wait of one is cut short, so is that of all
    others, which nobody cancelled. Who is cancelled, or has a limit that has passed, stays so.
    """
    try:
        yield
    except asyncio.CancelledError as fault:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise LineLost("the line broke: what waited before this was given up") from fault
    except (OSError, RuntimeError) as fault:
        raise LineLost(f"the line broke: {fault}") from fault


def told_of(line: Socket | asyncio.BaseTransport, what: str) -> Any:
    """Return what is told of a connection, None where nothing is, or where it has gone."""
    try:
        return line.get_extra_info(what)
    except AttributeError:
        # asyncio's TLS forgets what it stood on when it is cut, and is not asked whether it was.
        return None


class Wire:
    """One open WebSocket."""

    def __init__(self, socket: Socket, remote: str, their_time_s: float | None = None) -> None:
        """`their_time_s` is what the other side's clock said (Unix time), None where it did not say."""
        self._socket = socket
        # Asked for now: aiohttp forgets it when it sees the other side close, which is not yet its end.
        self._connection = told_of(socket, "socket")
        self.remote = remote
        self.their_time_s = their_time_s

    async def send(self, frame: bytes, timeout_s: float, trickle_bytes: int = 0) -> None:
        """Send a frame; return when little of it is left in this process. Raises LineLost.

        Where `trickle_bytes` is given, the limit begins anew as long as so much was taken within it.
        """
        with _breaks_told():
            try:
                async with self._while_it_carries(_TAKEN, timeout_s, trickle_bytes):
                    await self._socket.send_bytes(frame)
            except TimeoutError as fault:
                raise LineLost(f"the other side took next to nothing for {timeout_s:g} s") from fault

    async def receive(self, timeout_s: float, trickle_bytes: int = 0) -> bytes:
        """Return the next frame. Raises LineLost, also for what is no binary frame within the limit.

        Where `trickle_bytes` is given, the limit begins anew as long as so much came within it: a commit may
        take longer than that on a narrow line.
        """
        # It answers pings and a close by itself, and then waits as a sender does.
        with _breaks_told():
            try:
                async with self._while_it_carries(_COME, timeout_s, trickle_bytes):
                    message = await self._socket.receive()
            except TimeoutError as fault:
                raise LineLost(f"next to nothing was heard for {timeout_s:g} s") from fault
        if message.type is WSMsgType.BINARY:
            return bytes(message.data)
        if message.type is WSMsgType.ERROR:
            raise LineLost(f"the line broke: {message.data}")
        if message.type is WSMsgType.TEXT:
            raise LineLost("a text frame, where only binary ones are used")
        raise LineLost("the other side closed the line")

    @asynccontextmanager
    async def _while_it_carries(self, way: int, limit_s: float, trickle_bytes: int) -> AsyncIterator[None]:
        """Bound a wait by a limit, granted again while enough is carried, as often as a frame needs."""
        loop = asyncio.get_running_loop()
        timer: asyncio.TimerHandle
        grants = FRAME_BYTES_MAX // trickle_bytes if trickle_bytes else 0
        before = self._carried(way) if grants else 0

        def look() -> None:
            nonlocal grants, before, timer
            now = self._carried(way) if grants else 0
            if loop.time() - timer.when() > STOOD_STILL_S:
                # Every limit has passed, and what came is not yet read: it is looked at again when it is.
                timer = loop.call_later(UNREAD_S, look)
            elif grants and now - before >= trickle_bytes:
                grants, before, timer = grants - 1, now, loop.call_later(limit_s, look)
            else:
                limit.reschedule(loop.time())

        async with asyncio.timeout(None) as limit:
            timer = loop.call_later(limit_s, look)
            try:
                yield
            finally:
                timer.cancel()

    def _carried(self, way: int) -> int:
        """Return how many bytes have gone one way, 0 where the system does not tell."""
        told = self._told(_TCP_BYTES)
        return 0 if told is None else told[way]

    def _told(self, form: struct.Struct) -> tuple[int, ...] | None:
        """Read what the kernel tells of the connection, None where it does not."""
        try:
            return form.unpack(self._connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, form.size))
        except (AttributeError, OSError, struct.error):
            return None

    def heard_ago_s(self) -> float | None:
        """Return how long ago anything came from the other machine, an acknowledgement at the least.

        None where the system does not tell. On a narrow line this is known long before a frame is whole.
        """
        told = self._told(_TCP_INFO)
        return None if told is None else min(told) / 1000

    async def close(self) -> None:
        """Close the line; what has not yet been sent is dropped after a short while."""
        try:
            # A limit of its own: it would wait without any for what the other side does not read.
            with _breaks_told():
                async with asyncio.timeout(CLOSING_S):
                    await self._socket.close()
        except LineLost:
            # It was broken already, or is cut now: what closing is for has happened.
            pass
        finally:
            self._cut()

    def _cut(self) -> None:
        """End the connection, which also frees whoever waits until something is sent."""
        try:
            # TLS would wait for half a minute for the last word of a machine that is gone, or holds it back.
            self._connection.shutdown(socket.SHUT_RDWR)
        except (AttributeError, OSError):
            # It has gone already, or none was told of.
            pass
