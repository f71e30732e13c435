"""The one port that peers and newcomers connect to.

Never parses a byte of HTTP from a caller that is not in the roster, unless an invitation is open and it asked
for pairing in the TLS handshake.
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

from daemon.peers.addresses import Address, network_of
from daemon.peers.pace import Pace
from daemon.peers.trust import Gate
from daemon.peers.wire import Wire, told_of

LINK_PATH = "/v1/link"
PAIR_PATH = "/v1/pair"
LINE_BYTES_MAX = 2048
HEADERS_MAX = 32
BACKLOG = 64
PORTS_TRIED_MAX = 5
FULL = b"\x15\x03\x03\x00\x02\x02\x50"
"""The fatal alert internal_error (RFC 8446, 6), before any key is agreed on."""
_NO_SUCH_FAMILY = (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL)

log = structlog.get_logger("peers")

Door = Callable[[bytes, Wire], Awaitable[None]]


def _bound(places: Sequence[tuple[int, str]], port: int) -> list[socket.socket]:
    """Return listening sockets of one port, a family that the machine has not left out. Raises OSError."""
    sockets: list[socket.socket] = []
    absent: OSError | None = None
    try:
        for family, host in places:
            try:
                bound = socket.create_server((host, port), family=family, backlog=BACKLOG)
            except OSError as fault:
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
    """Accepts, turns away, and hands WebSockets to one of two doors.

    `admits` says whether a certificate (DER) may link; `link` gets it with the wire; `pair` gets b"" with it.
    """

    def __init__(
        self, gate: Gate, admits: Callable[[bytes], bool], link: Door, pair: Door, pace: Pace
    ) -> None:
        self._gate = gate
        self._admits = admits
        self._doors = {LINK_PATH: link, PAIR_PATH: pair}
        self._pace = pace
        # By network, and past the handshake by member.
        self._open: Counter[str] = Counter()
        # Those that are counted by network, and those by member, each oldest first.
        self._unknown: dict[_Guard, None] = {}
        self._members: dict[_Guard, None] = {}
        self._sockets: list[socket.socket] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: web.Server | None = None

    async def start(self, host: str, port: int, preferred: int = 0) -> int:
        """Listen; return the port. Where `port` is 0, `preferred` is taken if it is free. Raises OSError."""
        pace = self._pace
        self._server = web.Server(
            self._handle,
            access_log=None,
            keepalive_timeout=pace.keep_alive_s,
            lingering_time=0,
            max_line_size=LINE_BYTES_MAX,
            max_field_size=LINE_BYTES_MAX,
            max_headers=HEADERS_MAX,
        )
        if port == 0 and preferred:
            with contextlib.suppress(OSError):
                return await self._listen(host, preferred)
        return await self._listen(host, port)

    async def _listen(self, host: str, port: int) -> int:
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        places = [(int(family), str(place[0])) for family, _, _, _, place in dict.fromkeys(found)]
        for _ in range(PORTS_TRIED_MAX - 1 if port == 0 else 0):
            try:
                self._sockets = _bound(places, 0)
                break
            except OSError as fault:
                # The port that was free for one family is taken for the other.
                if fault.errno != errno.EADDRINUSE:
                    raise
        else:
            self._sockets = _bound(places, port)
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
            await self._server.shutdown(self._pace.goodbye_s)

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
                # Out of file descriptors, most likely: those in use come back as connections end.
                log.warning("a connection could not be accepted", error=str(fault))
                loop.remove_reader(bound)
                loop.call_later(self._pace.again_s, self._watch, bound)
                return
            self._admit(connection, Address(place[0], place[1]), network_of(place[0], *place[3:]))

    def _admit(self, connection: socket.socket, caller: Address, network: str) -> None:
        if not self._has_room(network):
            # A member, or a newcomer, is to know that it was not meant.
            with contextlib.suppress(OSError):
                connection.send(FULL)
            connection.close()
            return
        self._open[network] += 1
        connection.setblocking(False)
        guard = _Guard(self, caller, network)
        self._unknown[guard] = None
        guard.handshake = task = asyncio.create_task(self._shake(connection, guard))
        self._tasks.add(task)
        task.add_done_callback(lambda done: self._shaken(done, connection, guard))

    def _has_room(self, network: str) -> bool:
        """Say whether one more of a network fits in; where places are taken, the oldest stranger gives way.

        It is one of that network where that has its share, or, where all are taken, of the one that has most:
        who means it is known within moments, and idle strangers keep nobody out so, be they of many addresses
        or of the caller's own network. Members keep what they have, and no network gives way to one that has
        as many.
        """
        if self._open[network] >= self._pace.connections_each_max:
            return _give_way(self._unknown, network)
        if self._open.total() < self._pace.connections_max:
            return True
        held = Counter(guard.counted for guard in self._unknown)
        most, count = max(held.items(), key=lambda one: one[1], default=("", 0))
        return count > self._open[network] and _give_way(self._unknown, most)

    async def _shake(self, connection: socket.socket, guard: "_Guard") -> None:
        loop, pace = asyncio.get_running_loop(), self._pace
        guard.begun = True
        try:
            await loop.connect_accepted_socket(
                lambda: guard,
                connection,
                ssl=self._gate.listening,
                ssl_handshake_timeout=pace.handshake_s,
                ssl_shutdown_timeout=pace.goodbye_s,
            )
        except OSError as fault:
            log.debug("a caller was turned away in the handshake", caller=str(guard.caller), seen=str(fault))

    def _shaken(self, done: asyncio.Task[None], connection: socket.socket, guard: "_Guard") -> None:
        """Where no connection came of it, give its place back; otherwise its own end does."""
        self._tasks.discard(done)
        if not guard.begun:
            connection.close()
        if not guard.made:
            self.release(guard)

    def release(self, guard: "_Guard") -> None:
        """Give a connection's place back, if it has one."""
        if guard.counted is None:
            return
        self._unknown.pop(guard, None)
        self._members.pop(guard, None)
        self._open[guard.counted] -= 1
        guard.counted = None
        self._open += Counter()  # drops those that have none

    def protocol_for(self, connection: ssl.SSLObject, guard: "_Guard") -> asyncio.Protocol | None:
        """Return what speaks HTTP on a connection past its handshake, None where it must be cut."""
        certificate = connection.getpeercert(binary_form=True)
        if certificate is None:
            admitted = self._gate.asked_to_pair(connection)
        else:
            admitted = self._admits(certificate)
            if admitted:
                self._count_as(hashlib.sha256(certificate).hexdigest(), guard)
        assert self._server is not None
        return self._server() if admitted else None

    def _count_as(self, member: str, guard: "_Guard") -> None:
        """Count a connection as its member's from now on, whatever others in its network do.

        Where it has its share the oldest gives way: what a member left behind must not keep it out.
        """
        if self._open[member] >= self._pace.connections_each_max:
            _give_way(self._members, member)
        self.release(guard)
        guard.counted = member
        self._open[member] += 1
        self._members[guard] = None

    # -- HTTP -----------------------------------------------------------------------------------------

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        certificate, door = self._who(request), self._doors.get(request.path)
        socket_ = web.WebSocketResponse(
            timeout=self._pace.goodbye_s, max_msg_size=self._pace.frame_bytes_max, compress=False
        )
        # Asked again here: the roster may have changed since the handshake.
        known = not certificate if request.path == PAIR_PATH else self._admits(certificate)
        if request.method != "GET" or door is None or not known or not socket_.can_prepare(request):
            return _refusal()
        try:
            await socket_.prepare(request)
        except OSError as fault:
            # It has gone since the handshake, and hears no answer.
            log.debug("a caller went away", caller=_caller(request), seen=str(fault))
            return _refusal()
        await door(certificate, Wire(socket_, _caller(request)))
        return socket_

    def _who(self, request: web.BaseRequest) -> bytes:
        """Return the caller's certificate (DER), empty where it showed none."""
        connection = None if request.transport is None else told_of(request.transport, "ssl_object")
        return b"" if connection is None else connection.getpeercert(binary_form=True) or b""


def _refusal() -> web.Response:
    refusal = web.Response(status=404)
    refusal.force_close()
    return refusal


def _caller(request: web.BaseRequest) -> str:
    place = None if request.transport is None else told_of(request.transport, "peername")
    return str(Address(place[0], place[1])) if place else ""


class _Guard(asyncio.Protocol):
    """Stands before HTTP on one connection: decides once, then passes everything on."""

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
            log.debug("a stranger was turned away", caller=str(self.caller))
            transport.abort()
        else:
            self._inner.connection_made(transport)

    def cut(self) -> None:
        """End the connection at once, and give its place back."""
        log.debug("a caller had to give way", caller=str(self.caller))
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


def _give_way(held: Iterable[_Guard], counted: str | None) -> bool:
    """Cut the oldest that is counted so; False where there is none."""
    oldest = next((guard for guard in held if guard.counted == counted), None)
    if oldest is not None:
        oldest.cut()
    return oldest is not None
