"""The port as strangers, members and removed devices meet it: real sockets and real TLS.

Never asserts on the words of TLS alerts: what counts is what was reached.
"""

import asyncio
import socket
import ssl
from datetime import UTC, datetime
from pathlib import Path

import pytest
from aiohttp.web import Application, Request, WebSocketResponse
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from pytest_aiohttp import AiohttpServer

from daemon.peers.transport import trust
from daemon.peers.transport.addresses import Address
from daemon.peers.transport.connector import ConnectionRejected, Connector, Unreachable
from daemon.peers.transport.listener import LINK_PATH, PAIR_PATH
from daemon.peers.transport.trust import LINK_SERVER_NAME, PAIR_SERVER_NAME
from tests.daemon.peers.certificates import refused_by_openssl
from tests.daemon.peers.transport.house import QUICK, House
from tests.support.patience import LIMIT_S


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


async def test_a_line_that_was_closed_holds_no_socket_though_the_other_side_is_dead(
    tmp_path: Path, aiohttp_server: AiohttpServer
):
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
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(house.identity.file)
    server = await aiohttp_server(app, ssl=context)
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


def sockets() -> int:
    """Return how many sockets this process has open."""
    open_files = [str(path.readlink()) for path in Path("/proc/self/fd").iterdir() if path.is_symlink()]
    return sum(name.startswith("socket:") for name in open_files)


async def test_a_dial_refuses_what_the_expected_certificate_issued(
    tmp_path: Path, aiohttp_server: AiohttpServer
):
    house = House(tmp_path)
    authority, file = issued(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    app = Application()
    app.router.add_get(LINK_PATH, _upgrade)
    server = await aiohttp_server(app, ssl=context)
    dialling = Connector(house.someone("member"), QUICK)
    with pytest.raises(ConnectionRejected, match="another certificate"):
        await dialling.connect_to_member(Address("127.0.0.1", server.port or 0), authority)
    await dialling.close()


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
