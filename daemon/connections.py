"""The connections of the page or relay: how many there are, who gives way to whom, and how slow one may be.

Never cuts the connection of a browser that is signed in to make room for a stranger.
"""

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from daemon.browser_access import COOKIE, BrowserAccess


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """How many connections the page has at once, and how long one may take, in seconds.

    `idle_s`: without a whole head of a request. `body_s`: for the body of one. `write_s`: without taking
    any of an answer. `quiet_s`: the longest time for which an event stream says nothing.
    """

    places: int = 256
    idle_s: float = 75.0
    body_s: float = 20.0
    write_s: float = 30.0
    quiet_s: float = 15.0


DEFAULT_LIMITS: Final = ConnectionLimits()


class Connections:
    """All open connections. `protocol` returns what speaks HTTP on a new one."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self._limits = limits
        # Each the oldest first.
        self._strangers: dict[_Guard, None] = {}
        self._signed_in: dict[_Guard, None] = {}

    @property
    def count(self) -> int:
        """Return how many connections are open."""
        return len(self._strangers) + len(self._signed_in)

    def guard(self, protocol: Callable[[], asyncio.Protocol]) -> asyncio.Protocol:
        """Return what stands before HTTP on a new connection."""
        return _Guard(self, protocol, self._limits.write_s)

    def middleware(self, access: BrowserAccess, own_readers: Collection[str] = ()) -> Middleware:
        """Bound how long the body of a request takes, and keep places for browsers that are signed in.

        `own_readers` are the paths whose handlers read their bodies themselves, within bounds of their own.
        """

        @web.middleware
        async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
            transport = request.transport
            if transport is not None and access.session_of(request.cookies.get(COOKIE, "")) is not None:
                self.keep_place(transport)
            if request.can_read_body and request.path not in own_readers:
                await self.read_body(request)
            return await handler(request)

        return middleware

    async def read_body(self, request: web.Request) -> None:
        """Read the body of a request, which keeps it. One that takes too long is refused with status 408."""
        try:
            async with asyncio.timeout(self._limits.body_s):
                await request.read()
        except TimeoutError:
            raise web.HTTPRequestTimeout(text="the form did not arrive in time\n") from None

    def admit(self, guard: "_Guard") -> bool:
        """Give a place to a new connection; False if browsers that are signed in have all of them.

        The oldest stranger gives way: an honest browser shows its session within moments.
        """
        if self.count >= self._limits.places:
            oldest = next(iter(self._strangers), None)
            if oldest is None:
                return False
            oldest.cut()
        self._strangers[guard] = None
        return True

    def release(self, guard: "_Guard") -> None:
        """Give the place of a connection back, if it has one."""
        self._strangers.pop(guard, None)
        self._signed_in.pop(guard, None)

    def keep_place(self, transport: asyncio.BaseTransport) -> None:
        """Cut this connection for no stranger any more: who is there has shown a secret."""
        guard = next((guard for guard in self._strangers if guard.transport is transport), None)
        if guard is not None:
            del self._strangers[guard]
            self._signed_in[guard] = None


class _Guard(asyncio.Protocol):
    """Stands before HTTP on one connection: counts it, passes all on, and ends one that takes nothing."""

    def __init__(
        self, connections: Connections, protocol: Callable[[], asyncio.Protocol], write_s: float
    ) -> None:
        self._connections = connections
        self._protocol = protocol
        self._write_s = write_s
        self._inner: asyncio.Protocol | None = None
        self._full: asyncio.TimerHandle | None = None
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        if self._connections.admit(self):
            self._inner = self._protocol()
            self._inner.connection_made(transport)
        else:
            transport.abort()

    def cut(self) -> None:
        """End the connection at once, and give its place back."""
        self._connections.release(self)
        if self.transport is not None:
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.release(self)
        self._stop_clock()
        if self._inner is not None:
            self._inner.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._inner is not None:
            self._inner.data_received(data)

    def eof_received(self) -> bool | None:
        return self._inner.eof_received() if self._inner is not None else None

    def pause_writing(self) -> None:
        self._full = asyncio.get_running_loop().call_later(self._write_s, self.cut)
        if self._inner is not None:
            self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._stop_clock()
        if self._inner is not None:
            self._inner.resume_writing()

    def _stop_clock(self) -> None:
        if self._full is not None:
            self._full.cancel()
            self._full = None
