"""A WebSocket of binary frames, the same for the side that called and the side that answered.

Never waits without a limit, and never reads what is in a frame.
"""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from aiohttp import ClientWebSocketResponse, WSMessage, WSMsgType
from aiohttp.web import WebSocketResponse

from syncproto.errors import RemoteProtocolError
from syncproto.messages import FRAME_BYTES_MAX

Socket = ClientWebSocketResponse[Any] | WebSocketResponse[Any]

_TCP_INFO = struct.Struct("=52xII")
"""Two fields of tcp(7)'s TCP_INFO: the milliseconds since data and since an acknowledgement arrived."""
_TCP_BYTES = struct.Struct("=120xQQ")
"""Two more fields: the bytes that the other machine acknowledged, and those received from it."""
_ACKNOWLEDGED, _RECEIVED = 0, 1
"""The positions of the two numbers of `_TCP_BYTES`."""
STALL_DETECTED_S = 1.0
"""If a timer fires so much too late, this process was suspended, and the other side is not to blame."""
STALL_RECHECK_S = 2.0
"""How long this process then gets to receive what arrived meanwhile."""
UNPRODUCTIVE_BYTES_MAX = 16 * FRAME_BYTES_MAX
"""So many bytes without a frame are a flood: more than a frame, and all that the system buffers behind it."""
CONTROL_FRAMES_MAX = 64
"""So many pings and pongs of WebSocket may arrive before a frame; each costs more than its bytes suggest."""
CHECK_S = 1.0
"""How often a wait looks at what arrived meanwhile."""
CLOSING_S = 4.0
"""How long a connection may take to close: to send what waits, and to receive the other side's close."""


class ConnectionLost(Exception):
    """The connection ended or stalled; the message says how."""


@contextmanager
def _faults_as_connection_lost() -> Iterator[None]:
    """Turn the exceptions of a broken connection into ConnectionLost.

    Senders on one connection wait for one future of aiohttp. If one sender is cancelled, the future is too,
    and so all others receive a CancelledError although nobody cancelled them. For them the connection is
    lost. A task that was really cancelled, or whose time is up, stays cancelled.
    """
    try:
        yield
    except asyncio.CancelledError as fault:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise ConnectionLost("the line broke: what waited before this was given up") from fault
    except (OSError, RuntimeError) as fault:
        raise ConnectionLost(f"the line broke: {fault}") from fault


def transport_detail(connection: Socket | asyncio.BaseTransport, what: str) -> Any:
    """Return a detail of a connection, None if it is not known, or if the connection is gone."""
    try:
        return connection.get_extra_info(what)
    except AttributeError:
        # asyncio's TLS transport has no inner transport any more once it was cut, and does not check that.
        return None


class Wire:
    """One open WebSocket."""

    def __init__(self, socket: Socket, remote: str, their_time_s: float | None = None) -> None:
        """`their_time_s` is the time of the other side's clock (Unix time), None if it is not known."""
        self._socket = socket
        # Read now: aiohttp drops it when the other side closes, but this object still needs it after that.
        self._connection = transport_detail(socket, "socket")
        self.remote = remote
        self.remote_time_s = their_time_s

    async def send(self, frame: bytes, timeout_s: float, trickle_bytes: int = 0) -> None:
        """Send a frame; return when little of it is left in this process. Raises ConnectionLost.

        With `trickle_bytes`, the time begins again whenever so much was acknowledged within it.
        """
        with _faults_as_connection_lost():
            try:
                async with self._limit_wait(_ACKNOWLEDGED, timeout_s, trickle_bytes):
                    await self._socket.send_bytes(frame)
            except TimeoutError as fault:
                raise ConnectionLost(f"the other side took next to nothing for {timeout_s:g} s") from fault

    async def receive(self, timeout_s: float, trickle_bytes: int = 0) -> bytes:
        """Return the next frame. Raises ConnectionLost, also if none arrives within the time.

        Raises RemoteProtocolError for a text frame.

        With `trickle_bytes`, the time begins again whenever so much arrived within it: on a slow connection,
        one commit may take longer than that. Empty parts of a frame, and pings, are no frame.
        """
        # A pong is sent and a close is answered here, so this may fail as a sender does.
        with _faults_as_connection_lost():
            try:
                async with self._end_if_flooded(), self._limit_wait(_RECEIVED, timeout_s, trickle_bytes):
                    message = await self._next_message()
            except TimeoutError as fault:
                raise ConnectionLost(f"next to nothing was heard for {timeout_s:g} s") from fault
        if message.type is WSMsgType.BINARY:
            return bytes(message.data)
        if message.type is WSMsgType.ERROR:
            raise ConnectionLost(f"the line broke: {message.data}")
        if message.type is WSMsgType.TEXT:
            raise RemoteProtocolError("a text frame, where only binary ones are used")
        raise ConnectionLost("the other side closed the line")

    async def _next_message(self) -> WSMessage:
        """Return the next message that is neither ping nor pong. Raises ConnectionLost if too many are."""
        for _ in range(CONTROL_FRAMES_MAX):
            message = await self._socket.receive()
            if message.type is WSMsgType.PING:
                await self._socket.pong(message.data)
            elif message.type is not WSMsgType.PONG:
                return message
        raise ConnectionLost(f"{CONTROL_FRAMES_MAX} pings and pongs without a frame")

    @asynccontextmanager
    async def _end_if_flooded(self) -> AsyncIterator[None]:
        """End a wait during which much arrives, but no frame. Raises ConnectionLost."""
        loop = asyncio.get_running_loop()
        before = self._carried_bytes(_RECEIVED)
        timer: asyncio.TimerHandle

        def check() -> None:
            nonlocal timer
            if self._carried_bytes(_RECEIVED) - before > UNPRODUCTIVE_BYTES_MAX:
                limit.reschedule(loop.time())
            else:
                timer = loop.call_later(CHECK_S, check)

        limit = asyncio.timeout(None)
        try:
            async with limit:
                timer = loop.call_later(CHECK_S, check)
                try:
                    yield
                finally:
                    timer.cancel()
        except TimeoutError as fault:
            if not limit.expired():
                raise
            raise ConnectionLost(f"{UNPRODUCTIVE_BYTES_MAX >> 20} MiB arrived without a frame") from fault

    @asynccontextmanager
    async def _limit_wait(self, direction: int, limit_s: float, trickle_bytes: int) -> AsyncIterator[None]:
        """Bound a wait by `limit_s`; grant it again while enough is carried, as often as a frame needs."""
        loop = asyncio.get_running_loop()
        timer: asyncio.TimerHandle
        grants = FRAME_BYTES_MAX // trickle_bytes if trickle_bytes else 0
        before = self._carried_bytes(direction) if grants else 0

        def check() -> None:
            nonlocal grants, before, timer
            now = self._carried_bytes(direction) if grants else 0
            if loop.time() - timer.when() > STALL_DETECTED_S:
                # This process was suspended: all its timers are due, and what arrived meanwhile is not yet
                # received. So the check is repeated after that.
                timer = loop.call_later(STALL_RECHECK_S, check)
            elif grants and now - before >= trickle_bytes:
                grants, before, timer = grants - 1, now, loop.call_later(limit_s, check)
            else:
                limit.reschedule(loop.time())

        async with asyncio.timeout(None) as limit:
            timer = loop.call_later(limit_s, check)
            try:
                yield
            finally:
                timer.cancel()

    def _carried_bytes(self, direction: int) -> int:
        """Return how many bytes went in one direction, 0 if the system does not report it."""
        counts = self._tcp_numbers(_TCP_BYTES)
        return 0 if counts is None else counts[direction]

    def _tcp_numbers(self, form: struct.Struct) -> tuple[int, ...] | None:
        """Read numbers of the kernel's TCP_INFO, None if there are none."""
        try:
            return form.unpack(self._connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, form.size))
        except (AttributeError, OSError, struct.error):
            return None

    def since_received_s(self) -> float | None:
        """Return how many seconds ago anything arrived from the other machine, at least an acknowledgement.

        None if the system does not report it. On a slow connection this is known before a frame is whole.
        """
        ages_ms = self._tcp_numbers(_TCP_INFO)
        return None if ages_ms is None else min(ages_ms) / 1000

    async def close(self) -> None:
        """Close the connection; what was not sent after a short while is dropped."""
        try:
            # aiohttp has no limit for this: it would wait for ever if the other side does not read.
            with _faults_as_connection_lost():
                async with asyncio.timeout(CLOSING_S):
                    await self._socket.close()
        except ConnectionLost:
            # The connection was broken already, or is cut below: either way it is closed.
            pass
        finally:
            self._cut()

    def _cut(self) -> None:
        """End the connection, which also ends the wait of every sender."""
        try:
            # Without this, TLS would wait half a minute for the close of a machine that is gone.
            self._connection.shutdown(socket.SHUT_RDWR)
        except (AttributeError, OSError):
            # The connection is gone already, or its socket is not known.
            pass
