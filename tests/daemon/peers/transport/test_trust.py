"""The port as strangers, members and removed devices meet it: real sockets and real TLS.

Never asserts on the words of TLS alerts: what counts is what was reached.
"""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from aiohttp.test_utils import TestServer
from aiohttp.web import Application, Request, WebSocketResponse
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from daemon.peers.transport import trust
from daemon.peers.transport.addresses import Address
from daemon.peers.transport.connector import ConnectionRejected, Connector, Unreachable
from daemon.peers.transport.identity import Identity, load_or_create
from daemon.peers.transport.limits import PeerLimits
from daemon.peers.transport.listener import LINK_PATH, PAIR_PATH, Listener
from daemon.peers.transport.trust import LINK_SERVER_NAME, PAIR_SERVER_NAME, ListenerTrust
from daemon.peers.transport.wire import ConnectionLost, Wire
from tests.daemon.peers.certificates import refused_by_openssl
from tests.daemon.peers.fleet import GivenClock
from tests.support.patience import LIMIT_S

REQUEST = (
    "{method} {path} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
QUICK = PeerLimits(handshake_s=LIMIT_S, keep_alive_s=LIMIT_S, goodbye_s=0.5)
IMPATIENT = PeerLimits(handshake_s=2.0, keep_alive_s=0.4, goodbye_s=0.5)
"""For tests in which these limits run out, and in which an honest handshake must still have its time."""


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


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    new_house = House(tmp_path)
    await new_house.start()
    yield new_house
    await new_house.listener.stop()


@pytest.fixture
async def impatient(tmp_path: Path) -> AsyncIterator[House]:
    new_house = House(tmp_path, IMPATIENT)
    await new_house.start()
    yield new_house
    await new_house.listener.stop()


def turned_away(house: House, answer: bytes) -> bool:
    return answer == b"" and not house.linked and not house.paired


async def test_a_member_reaches_the_link(house: House):
    member = house.someone("member")
    house.admit(member)
    assert b"101 Switching" in await house.ask(house.context(member), LINK_SERVER_NAME)
    assert house.linked == [member.certificate]


async def test_a_certificate_that_openssl_refuses_shuts_nobody_else_out(house: House):
    member = house.someone("member")
    house.members = {member.certificate, refused_by_openssl(b"r" * 32)}
    house.gate.replace_trusted(house.members)
    assert b"101 Switching" in await house.ask(house.context(member), LINK_SERVER_NAME)


async def test_a_member_whose_certificate_openssl_refuses_is_unreachable(house: House):
    dialling = Connector(house.someone("member"), QUICK)
    with pytest.raises(Unreachable, match="pinned"):
        await dialling.connect_to_member(Address("127.0.0.1", house.port), refused_by_openssl(b"r" * 32))
    await dialling.close()


async def test_a_stranger_without_a_certificate_reaches_nothing(house: House):
    house.admit(house.someone("member"))
    assert turned_away(house, await house.ask(house.context(None), LINK_SERVER_NAME))


async def test_a_stranger_with_a_certificate_of_its_own_reaches_nothing(house: House):
    house.admit(house.someone("member"))
    assert turned_away(house, await house.ask(house.context(house.someone("stranger")), LINK_SERVER_NAME))


@pytest.mark.parametrize("name", ["", "localhost", "placet", "127.0.0.1"])
async def test_only_the_two_names_are_answered(house: House, name: str):
    member = house.someone("member")
    house.admit(member)
    house.inviting = True
    assert turned_away(house, await house.ask(house.context(member), name))


async def test_pairing_is_reachable_only_while_an_invitation_is_open(house: House):
    assert turned_away(house, await house.ask(house.context(None), PAIR_SERVER_NAME, PAIR_PATH))
    house.inviting = True
    assert b"101 Switching" in await house.ask(house.context(None), PAIR_SERVER_NAME, PAIR_PATH)
    assert house.paired == 1


async def test_the_name_for_pairing_is_no_way_to_the_link(house: House):
    house.inviting = True
    answer = await house.ask(house.context(None), PAIR_SERVER_NAME, LINK_PATH)
    assert answer.startswith(b"HTTP/1.1 404")
    assert not house.linked


async def test_an_open_invitation_opens_nothing_under_the_name_for_links(house: House):
    house.inviting = True
    assert turned_away(house, await house.ask(house.context(None), LINK_SERVER_NAME, PAIR_PATH))


async def test_a_removed_device_reaches_nothing(house: House):
    member = house.someone("member")
    house.admit(member)
    house.remove(member)
    assert turned_away(house, await house.ask(house.context(member), LINK_SERVER_NAME))


async def test_a_device_removed_after_tls_let_it_in_is_cut_before_http(house: House):
    member = house.someone("member")
    house.admit(member)
    house.members.clear()
    assert turned_away(house, await house.ask(house.context(member), LINK_SERVER_NAME))


async def test_a_saved_tls_session_of_a_removed_device_is_worth_nothing(house: House):
    member, other = house.someone("member"), house.someone("other")
    house.admit(member, other)
    context = house.context(member)

    def visit(saved: ssl.SSLSession | None) -> tuple[bytes, ssl.SSLSession | None, bool | None]:
        with (
            socket.create_connection(("127.0.0.1", house.port), timeout=LIMIT_S) as plain,
            context.wrap_socket(plain, server_hostname=LINK_SERVER_NAME, session=saved) as secured,
        ):
            try:
                secured.sendall(b"GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n")
                answer = secured.recv(4096)
            except OSError:
                answer = b""
            return answer, secured.session, secured.session_reused

    answer, saved, _ = await asyncio.to_thread(visit, None)
    assert answer.startswith(b"HTTP/1.1 404")
    assert saved is None or not saved.has_ticket
    house.remove(member)
    answer, _, reused = await asyncio.to_thread(visit, saved)
    assert answer == b""
    assert not reused


async def test_older_tls_is_refused(house: House):
    member = house.someone("member")
    house.admit(member)
    context = house.context(member)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    assert turned_away(house, await house.ask(context, LINK_SERVER_NAME))


async def test_nothing_but_get_is_answered(house: House):
    member = house.someone("member")
    house.admit(member)
    for method in ("POST", "PUT", "OPTIONS", "HEAD"):
        answer = await house.ask(house.context(member), LINK_SERVER_NAME, method=method)
        assert answer.startswith(b"HTTP/1.1 404")
    assert not house.linked


async def test_a_handshake_that_does_not_go_on_is_cut_and_gives_its_place_back(impatient: House):
    house = impatient
    member = house.someone("member")
    house.admit(member)
    callers = await house.idle(*["127.0.0.1"] * house.limits.connections_each_max)
    async with asyncio.timeout(LIMIT_S):
        for reader, writer in callers:
            assert await reader.read() == b""
            writer.close()
    assert house.listener.connections == 0
    assert b"101 Switching" in await house.ask(house.context(member), LINK_SERVER_NAME)


async def test_what_is_not_tls_is_cut(impatient: House):
    house = impatient
    async with asyncio.timeout(LIMIT_S):
        reader, writer = await asyncio.open_connection("127.0.0.1", house.port)
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 100)
        try:
            assert b"HTTP" not in await reader.read()
        except OSError:
            pass
        writer.close()


async def test_a_member_that_goes_before_its_answer_is_no_error(
    house: House, caplog: pytest.LogCaptureFixture
):
    member = house.someone("member")
    house.admit(member)
    async with asyncio.timeout(LIMIT_S):
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", house.port, ssl=house.context(member), server_hostname=LINK_SERVER_NAME
        )
        # Both are sent before the house reads any of it.
        writer.write(REQUEST.format(method="GET", path=LINK_PATH).encode())
        writer.close()
        assert b"HTTP" not in await reader.read()
        await house.ask(house.context(member), LINK_SERVER_NAME)
    assert house.linked == [member.certificate]
    assert not caplog.records


async def test_a_request_that_drips_is_cut(impatient: House):
    house = impatient
    house.inviting = True
    async with asyncio.timeout(LIMIT_S):
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", house.port, ssl=house.context(None), server_hostname=PAIR_SERVER_NAME
        )
        writer.write(b"GET /v1/pair HTTP/1.1\r\nHost: ")
        ended = asyncio.ensure_future(reader.read())
        while not ended.done():
            writer.write(b"x")
            await asyncio.wait([ended], timeout=0.05)
        writer.close()
    assert not house.paired


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


async def test_idle_connections_leave_room_for_a_member(tmp_path: Path):
    """200 callers from 5 addresses send nothing: 8 of each stay, and a member still gets through."""
    house = House(tmp_path, replace(QUICK, handshake_s=LIMIT_S), hold=True)
    await house.start()
    idle = await house.idle(*[f"127.0.1.{number % 5 + 1}" for number in range(200)])
    try:
        await closed(idle, 160)
        assert house.listener.connections == 40
        member = house.someone("member")
        house.admit(member)
        dialling = Connector(member, QUICK)
        wire = await dialling.connect_to_member(Address("127.0.0.1", house.port), house.identity.certificate)
        assert house.linked == [member.certificate]
        await wire.send(b"\0", LIMIT_S)
        await wire.close()
        await dialling.close()
    finally:
        for _, writer in idle:
            writer.close()
        await house.listener.stop()


async def test_members_of_one_network_keep_no_room_from_each_other_nor_one_from_the_rest(tmp_path: Path):
    """Many devices behind one address: each has its own share, and none has more."""
    house = House(tmp_path, replace(QUICK, connections_each_max=2), hold=True)
    await house.start()
    members = [house.someone(f"member {number}") for number in range(4)]
    house.admit(*members)
    place, certificate = Address("127.0.0.1", house.port), house.identity.certificate
    callers = [Connector(member, QUICK) for member in members]
    try:
        # One at a time: what has not ended its handshake counts for the address that it came from.
        wires = [await caller.connect_to_member(place, certificate) for caller in (*callers, callers[0])]
        # It has its share: what it had first gives way, and nothing of anyone else's.
        wires.append(await callers[0].connect_to_member(place, certificate))
        with pytest.raises(ConnectionLost):
            await wires[0].receive(LIMIT_S)
        wires.append(await callers[1].connect_to_member(place, certificate))
        assert house.listener.connections == len(members) + 2
        for wire in wires[1:]:
            await wire.send(b"\0", LIMIT_S)
        idle = await house.idle("127.0.0.1", "127.0.0.1", "127.0.0.1")
        await closed(idle, 1)
        for _, writer in idle:
            writer.close()
        for wire in wires:
            await wire.close()
    finally:
        for caller in callers:
            await caller.close()
        await house.listener.stop()
    assert house.listener.connections == 0


async def test_no_more_connections_than_the_cap(tmp_path: Path):
    house = House(tmp_path, replace(QUICK, handshake_s=LIMIT_S, connections_max=12))
    await house.start()
    idle = await house.idle(*[f"127.0.1.{number + 1}" for number in range(30)])
    try:
        await closed(idle, 18)
        assert house.listener.connections == 12
    finally:
        for _, writer in idle:
            writer.close()
        await house.listener.stop()


async def test_a_dial_refuses_a_device_with_another_certificate(house: House):
    member, expected = house.someone("member"), house.someone("expected")
    house.admit(member)
    dialling = Connector(member, QUICK)
    with pytest.raises(ConnectionRejected):
        await dialling.connect_to_member(Address("127.0.0.1", house.port), expected.certificate)
    await dialling.close()
    assert not house.linked


def issued(folder: Path) -> tuple[bytes, Path]:
    """Make a certificate that may issue others; return it, and the PEM file of one that it issued."""
    authority, leaf = (
        Ed25519PrivateKey.from_private_bytes(b"a" * 32),
        Ed25519PrivateKey.from_private_bytes(b"l" * 32),
    )
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "authority")])

    def certificate(key: Ed25519PrivateKey, subject: x509.Name, ca: bool) -> x509.Certificate:
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(1)
            .not_valid_before(datetime(1970, 1, 1, tzinfo=UTC))
            .not_valid_after(datetime(9999, 1, 1, tzinfo=UTC))
            .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
            .sign(authority, None)
        )

    other = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "other")])
    file = folder / "issued.pem"
    file.write_bytes(
        leaf.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        + certificate(leaf, other, False).public_bytes(Encoding.PEM)
    )
    return certificate(authority, name, True).public_bytes(Encoding.DER), file


async def test_what_a_members_certificate_issued_is_not_the_member(house: House, tmp_path: Path):
    authority, file = issued(tmp_path)
    house.members = {authority}
    house.gate.replace_trusted(house.members)
    context = house.context(None)
    context.load_cert_chain(file)
    assert turned_away(house, await house.ask(context, LINK_SERVER_NAME))


async def test_a_line_that_was_closed_holds_no_socket_though_the_other_side_is_dead(tmp_path: Path):
    """A caller that answers nothing any more, not even the end of TLS, which asyncio would wait for."""
    house = House(tmp_path)
    house.identity, revived = house.someone("house"), asyncio.Event()

    async def die(request: Request) -> WebSocketResponse:
        answer = WebSocketResponse()
        await answer.prepare(request)
        connection = request.transport
        assert isinstance(connection, asyncio.Transport)
        connection.pause_reading()
        await revived.wait()
        connection.abort()
        return answer

    app = Application()
    app.router.add_get(LINK_PATH, die)
    server = TestServer(app, host="127.0.0.1", scheme="https")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(house.identity.file)
    await server.start_server(ssl=context)
    dialling = Connector(house.someone("member"), QUICK)
    try:
        before = sockets()
        wire = await dialling.connect_to_member(
            Address("127.0.0.1", server.port or 0), house.identity.certificate
        )
        assert sockets() == before + 2
        await wire.close()
        for _ in range(100):
            await asyncio.sleep(0)
        assert sockets() == before + 1
    finally:
        revived.set()
        await dialling.close()
        await server.close()


def sockets() -> int:
    """Return how many sockets this process has open."""
    open_files = [str(path.readlink()) for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
    return sum(name.startswith("socket:") for name in open_files)


async def test_a_dial_refuses_what_the_expected_certificate_issued(tmp_path: Path):
    house = House(tmp_path)
    authority, file = issued(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    server = TestServer(Application(), port=0)
    server.app.router.add_get(LINK_PATH, _upgrade)
    await server.start_server(ssl=context)
    dialling = Connector(house.someone("member"), QUICK)
    assert server.port is not None
    with pytest.raises(ConnectionRejected, match="another certificate"):
        await dialling.connect_to_member(Address("127.0.0.1", server.port), authority)
    await dialling.close()
    await server.close()


async def _upgrade(request: Request) -> WebSocketResponse:
    answer = WebSocketResponse()
    await answer.prepare(request)
    await answer.receive()
    return answer


async def test_a_dial_shows_no_certificate_when_it_pairs(house: House):
    house.inviting = True
    dialling = Connector(house.someone("newcomer"), QUICK)
    wire, raw = await dialling.connect_to_inviter(Address("127.0.0.1", house.port))
    assert raw == house.identity.certificate
    await wire.close()
    await dialling.close()
    assert house.paired == 1


async def test_a_dial_follows_no_redirect(tmp_path: Path):
    house = House(tmp_path)
    identity = house.someone("bait")
    reached = []

    async def bait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        place = f"http://127.0.0.1:{target.sockets[0].getsockname()[1]}/"
        writer.write(f"HTTP/1.1 302 Found\r\nLocation: {place}\r\nContent-Length: 0\r\n\r\n".encode())
        await writer.drain()
        writer.close()

    async def trap(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reached.append(1)
        writer.close()

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(identity.file)
    async with (
        await asyncio.start_server(trap, "127.0.0.1", 0) as target,
        await asyncio.start_server(bait, "127.0.0.1", 0, ssl=context) as server,
    ):
        dialling = Connector(house.someone("newcomer"), QUICK)
        with pytest.raises(Unreachable):
            await dialling.connect_to_inviter(Address("127.0.0.1", server.sockets[0].getsockname()[1]))
        await dialling.close()
    assert not reached


async def test_a_port_where_nobody_listens_is_unreachable(tmp_path: Path):
    house = House(tmp_path)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        dialling = Connector(house.someone("newcomer"), QUICK)
        with pytest.raises(Unreachable) as error:
            await dialling.connect_to_inviter(Address("127.0.0.1", closed.getsockname()[1]))
        await dialling.close()
    assert not isinstance(error.value, ConnectionRejected)


def test_the_names_in_the_handshake_tell_nothing_of_a_device():
    assert {trust.LINK_SERVER_NAME, trust.PAIR_SERVER_NAME} == {"link.placet", "pair.placet"}
