"""A listener with one member, and callers of every kind.

Never checks anything.
"""

import asyncio
import ssl
from dataclasses import dataclass, field
from pathlib import Path

from daemon.peers.transport.identity import Identity, load_or_create
from daemon.peers.transport.limits import PeerLimits
from daemon.peers.transport.listener import LINK_PATH, Listener
from daemon.peers.transport.trust import ListenerTrust
from daemon.peers.transport.wire import Wire
from tests.daemon.peers.fleet import GivenClock
from tests.support.patience import LIMIT_S

REQUEST = (
    "{method} {path} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)


QUICK = PeerLimits(handshake_s=LIMIT_S, keep_alive_s=LIMIT_S, goodbye_s=0.5)


@dataclass
class House:
    """A listener with handlers that record, and the identities of the callers."""

    folder: Path
    limits: PeerLimits = QUICK
    inviting: bool = False
    members: set[bytes] = field(default_factory=set)
    linked: list[bytes] = field(default_factory=list)
    paired: int = 0
    port: int = 0
    hold: bool = False

    async def start(self) -> None:
        self.identity = self.someone("house")
        self.gate = ListenerTrust(self.identity.file, lambda: self.inviting)
        self.gate.replace_trusted(self.members)
        self.listener = Listener(
            self.gate, lambda certificate: certificate in self.members, self._link, self._pair, self.limits
        )
        self.port = await self.listener.start("127.0.0.1", 0)

    def someone(self, name: str) -> Identity:
        return load_or_create(self.folder / name, GivenClock(name).randomness)

    def admit(self, *identities: Identity) -> None:
        self.members |= {identity.certificate for identity in identities}
        self.gate.replace_trusted(self.members)

    def remove(self, identity: Identity) -> None:
        self.members.discard(identity.certificate)
        self.gate.replace_trusted(self.members)

    async def _link(self, certificate: bytes, wire: Wire) -> None:
        self.linked.append(certificate)
        if self.hold:
            await wire.receive(LIMIT_S)

    async def _pair(self, certificate: bytes, wire: Wire) -> None:
        assert certificate == b""
        self.paired += 1

    async def idle(self, *callers: str) -> list[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        """Connect once from each address, and send nothing."""
        return [
            await asyncio.open_connection("127.0.0.1", self.port, local_addr=(caller, 0))
            for caller in callers
        ]

    def context(self, identity: Identity | None) -> ssl.SSLContext:
        """Return a client's context that accepts any server, and that shows `identity` or nothing."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        if identity is not None:
            context.load_cert_chain(identity.file)
        return context

    async def ask(
        self, context: ssl.SSLContext, name: str, path: str = LINK_PATH, method: str = "GET"
    ) -> bytes:
        """Ask for a WebSocket; return the whole answer, empty if there was none."""
        async with asyncio.timeout(LIMIT_S):
            try:
                reader, writer = await asyncio.open_connection(
                    "127.0.0.1", self.port, ssl=context, server_hostname=name
                )
            except OSError:
                return b""
            try:
                writer.write(REQUEST.format(method=method, path=path).encode())
                return await reader.read()
            except OSError:
                return b""
            finally:
                writer.close()


async def closed(connections: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]], count: int) -> None:
    """Wait until the other side has closed at least so many of these."""
    ends = {asyncio.ensure_future(reader.read(1)) for reader, _ in connections}
    over: set[asyncio.Future[bytes]] = set()
    async with asyncio.timeout(LIMIT_S):
        while len(over) < count:
            finished, ends = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            over |= finished
    for end in ends:
        end.cancel()
    await asyncio.gather(*ends, *over, return_exceptions=True)
