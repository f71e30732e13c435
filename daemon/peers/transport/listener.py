"""The one port that peers and newcomers connect to.

Never parses a byte of HTTP from a caller that is not in the roster, unless an invitation is open and the
caller asked for pairing in the TLS handshake.
"""

import asyncio
import contextlib
import errno
import hashlib
import socket
import ssl
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence

import structlog
from aiohttp import web

from daemon.peers.transport.addresses import Address, caller_network
from daemon.peers.transport.limits import PeerLimits
from daemon.peers.transport.trust import ListenerTrust
from daemon.peers.transport.wire import Wire, transport_detail

LINK_PATH = "/v1/link"
PAIR_PATH = "/v1/pair"
LINE_BYTES_MAX = 2048
HEADERS_MAX = 32
BACKLOG = 64
PORTS_TRIED_MAX = 5
LISTENER_FULL_ALERT = b"\x15\x03\x03\x00\x02\x02\x50"
"""The fatal alert internal_error (RFC 8446, 6), before any key is agreed on."""
_NO_SUCH_FAMILY = (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL)

log = structlog.get_logger("peers")

ConnectionHandler = Callable[[bytes, Wire], Awaitable[None]]


def _bind_sockets(places: Sequence[tuple[int, str]], port: int) -> list[socket.socket]:
    """Return sockets that listen on one port, per address family of this machine. Raises OSError."""
    sockets: list[socket.socket] = []
    absent: OSError | None = None
    try:
        for family, host in places:
            try:
                bound = socket.create_server((host, port), family=family, backlog=BACKLOG)
            except OSError as fault:
                # A machine without IPv6 still listens on IPv4, and the reverse.
                if len(places) == 1 or fault.errno not in _NO_SUCH_FAMILY:
                    raise
                absent = fault
                continue
            bound.setblocking(False)
            sockets.append(bound)
            port = int(bound.getsockname()[1])
    except OSError:
        for bound in sockets:
            bound.close()
        raise
    if absent is not None and not sockets:
        raise absent
    return sockets


class Listener:
    """Accepts connections, turns strangers away, and passes WebSockets to one of two handlers.

    `may_link` returns whether the device with a certificate (DER) may link. `link` receives that certificate
    and the wire, `pair` an empty certificate and the wire.
    """

    def __init__(
        self,
        trust: ListenerTrust,
        may_link: Callable[[bytes], bool],
        link: ConnectionHandler,
        pair: ConnectionHandler,
        limits: PeerLimits,
    ) -> None:
        self._trust = trust
        self._may_link = may_link
        self._handlers = {LINK_PATH: link, PAIR_PATH: pair}
        self._limits = limits
        # Open connections per network, and per member once the handshake has shown who it is.
        self._open: Counter[str] = Counter()
        # The connections counted per network, and those counted per member, each the oldest first.
        self._unknown: dict[_Guard, None] = {}
        self._members: dict[_Guard, None] = {}
        self._sockets: list[socket.socket] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: web.Server | None = None

    async def start(self, host: str, port: int, preferred: int = 0) -> int:
        """Listen; return the port. If `port` is 0, `preferred` is used if it is free. Raises OSError."""
        limits = self._limits
        self._server = web.Server(
            self._handle,
            access_log=None,
            keepalive_timeout=limits.keep_alive_s,
            lingering_time=0,
            max_line_size=LINE_BYTES_MAX,
            max_field_size=LINE_BYTES_MAX,
            max_headers=HEADERS_MAX,
            auto_decompress=False,
        )
        # The port of the last start: the addresses that other devices remember stay true.
        if port == 0 and preferred:
            with contextlib.suppress(OSError):
                return await self._listen(host, preferred)
        return await self._listen(host, port)

    async def _listen(self, host: str, port: int) -> int:
        loop = asyncio.get_running_loop()
        resolved = await loop.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        places = [(int(family), str(place[0])) for family, _, _, _, place in dict.fromkeys(resolved)]
        for _ in range(PORTS_TRIED_MAX - 1 if port == 0 else 0):
            try:
                self._sockets = _bind_sockets(places, 0)
                break
            except OSError as fault:
                # The port is free for one address family, and in use for the other.
                if fault.errno != errno.EADDRINUSE:
                    raise
        else:
            self._sockets = _bind_sockets(places, port)
        for bound in self._sockets:
            self._watch(bound)
        return int(self._sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """Close the port and every connection."""
        for bound in self._sockets:
            asyncio.get_running_loop().remove_reader(bound)
            bound.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._server is not None:
            await self._server.shutdown(self._limits.goodbye_s)

    @property
    def connections(self) -> int:
        """Return how many connections are open, those in their handshake included."""
        return self._open.total()

    # -- before HTTP ----------------------------------------------------------------------------------

    def _watch(self, bound: socket.socket) -> None:
        if bound.fileno() >= 0:
            asyncio.get_running_loop().add_reader(bound, self._accept, bound)

    def _accept(self, bound: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        for _ in range(BACKLOG):
            try:
                connection, place = bound.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as fault:
                # Most likely there are no free file descriptors. Some become free as connections end.
                log.warning("a connection could not be accepted", error=str(fault))
                loop.remove_reader(bound)
                loop.call_later(self._limits.retry_s, self._watch, bound)
                return
            self._admit(connection, Address(place[0], place[1]), caller_network(place[0], *place[3:]))

    def _admit(self, connection: socket.socket, caller: Address, network: str) -> None:
        if not self._has_room(network):
            # The alert tells a member, or a newcomer, to try again later: it is not turned away for good.
            with contextlib.suppress(OSError):
                connection.send(LISTENER_FULL_ALERT)
            connection.close()
            return
        self._open[network] += 1
        connection.setblocking(False)
        guard = _Guard(self, caller, network)
        self._unknown[guard] = None
        guard.handshake = task = asyncio.create_task(self._shake(connection, guard))
        self._tasks.add(task)
        task.add_done_callback(lambda finished: self._end_handshake(finished, connection, guard))

    def _has_room(self, network: str) -> bool:
        """Return whether one more connection of a network fits in. If not, the oldest stranger may give way.

        If the network has its share, its own oldest stranger gives way. If all places are taken, the oldest
        of the network with the most strangers does. An honest caller is identified within moments, so idle
        strangers keep nobody out, neither from many addresses nor from the caller's own network. Members keep
        their places, and no network gives way to one that has as many strangers.
        """
        if self._open[network] >= self._limits.connections_each_max:
            return _cut_oldest(self._unknown, network)
        if self._open.total() < self._limits.connections_max:
            return True
        strangers = Counter(guard.counted for guard in self._unknown)
        most, count = max(strangers.items(), key=lambda item: item[1], default=("", 0))
        # Otherwise two networks with as many strangers would cut each other's callers for ever.
        return count > self._open[network] and _cut_oldest(self._unknown, most)

    async def _shake(self, connection: socket.socket, guard: "_Guard") -> None:
        loop, limits = asyncio.get_running_loop(), self._limits
        guard.begun = True
        try:
            await loop.connect_accepted_socket(
                lambda: guard,
                connection,
                ssl=self._trust.listening_context,
                ssl_handshake_timeout=limits.handshake_s,
                ssl_shutdown_timeout=limits.goodbye_s,
            )
        except OSError as fault:
            log.debug("a caller was turned away in the handshake", caller=str(guard.caller), seen=str(fault))

    def _end_handshake(
        self, finished: asyncio.Task[None], connection: socket.socket, guard: "_Guard"
    ) -> None:
        """Give the place back if the handshake failed; otherwise the end of the connection does."""
        self._tasks.discard(finished)
        if not guard.begun:
            connection.close()
        if not guard.made:
            self.release(guard)

    def release(self, guard: "_Guard") -> None:
        """Give the place of a connection back, if it has one."""
        if guard.counted is None:
            return
        self._unknown.pop(guard, None)
        self._members.pop(guard, None)
        self._open[guard.counted] -= 1
        guard.counted = None
        self._open += Counter()  # drops the entries that are zero

    def protocol_for(self, connection: ssl.SSLObject, guard: "_Guard") -> asyncio.Protocol | None:
        """Return the HTTP protocol for a connection after its handshake, None if it must be cut."""
        certificate = connection.getpeercert(binary_form=True)
        if certificate is None:
            admitted = self._trust.came_to_pair(connection)
        else:
            admitted = self._may_link(certificate)
            if admitted:
                self._count_as(hashlib.sha256(certificate).hexdigest(), guard)
        assert self._server is not None
        return self._server() if admitted else None

    def _count_as(self, member: str, guard: "_Guard") -> None:
        """Count a connection for its member from now on, and no longer for its network.

        If the member has its share, its oldest connection is cut: connections that it left behind must not
        keep it out.
        """
        if self._open[member] >= self._limits.connections_each_max:
            _cut_oldest(self._members, member)
        self.release(guard)
        guard.counted = member
        self._open[member] += 1
        self._members[guard] = None

    # -- HTTP -----------------------------------------------------------------------------------------

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        certificate, handler = self._certificate_of(request), self._handlers.get(request.path)
        socket_ = web.WebSocketResponse(
            timeout=self._limits.goodbye_s,
            max_msg_size=self._limits.frame_bytes_max,
            compress=False,
            # The wire answers pings itself, and counts them.
            autoping=False,
        )
        # Checked again here: the roster may have changed since the handshake.
        may_link = not certificate if request.path == PAIR_PATH else self._may_link(certificate)
        if request.method != "GET" or handler is None or not may_link or not socket_.can_prepare(request):
            return _refusal()
        try:
            await socket_.prepare(request)
        except OSError as fault:
            # The caller left after the handshake, so no answer reaches it.
            log.debug("a caller left before it was answered", caller=_caller(request), seen=str(fault))
            return _refusal()
        await handler(certificate, Wire(socket_, _caller(request)))
        return socket_

    def _certificate_of(self, request: web.BaseRequest) -> bytes:
        """Return the caller's certificate (DER), empty if it showed none."""
        connection = None if request.transport is None else transport_detail(request.transport, "ssl_object")
        return b"" if connection is None else connection.getpeercert(binary_form=True) or b""


def _refusal() -> web.Response:
    refusal = web.Response(status=404)
    refusal.force_close()
    return refusal


def _caller(request: web.BaseRequest) -> str:
    place = None if request.transport is None else transport_detail(request.transport, "peername")
    return str(Address(place[0], place[1])) if place else ""


class _Guard(asyncio.Protocol):
    """Stands before HTTP on one connection: decides once whether it may pass, then passes everything on."""

    def __init__(self, listener: Listener, caller: Address, counted: str) -> None:
        self._listener = listener
        self._inner: asyncio.Protocol | None = None
        self._transport: asyncio.Transport | None = None
        self.handshake: asyncio.Task[None] | None = None
        self.caller = caller
        self.counted: str | None = counted
        self.begun = False
        self.made = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.made = True
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._inner = self._listener.protocol_for(transport.get_extra_info("ssl_object"), self)
        if self._inner is None:
            log.debug("a caller that may not connect was turned away", caller=str(self.caller))
            transport.abort()
        else:
            self._inner.connection_made(transport)

    def cut(self) -> None:
        """End the connection at once, and give its place back."""
        log.debug("a connection was cut to make room for a newer one", caller=str(self.caller))
        self._listener.release(self)
        if self._transport is not None:
            self._transport.abort()
        elif self.handshake is not None:
            self.handshake.cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        self._listener.release(self)
        if self._inner is not None:
            self._inner.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._inner is not None:
            self._inner.data_received(data)

    def eof_received(self) -> bool | None:
        return self._inner.eof_received() if self._inner is not None else None

    def pause_writing(self) -> None:
        if self._inner is not None:
            self._inner.pause_writing()

    def resume_writing(self) -> None:
        if self._inner is not None:
            self._inner.resume_writing()


def _cut_oldest(guards: Iterable[_Guard], counted: str | None) -> bool:
    """Cut the oldest connection that is counted under a key; return False if there is none."""
    oldest = next((guard for guard in guards if guard.counted == counted), None)
    if oldest is not None:
        oldest.cut()
    return oldest is not None
