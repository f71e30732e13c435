"""A relay that lies, is slow, or is not the one that was pinned: refused or survived, each time in bounds.

Never fakes the carrier: the lies go over real connections.
"""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from daemon.clock import SystemClock
from daemon.peers.mailboxes import relay
from daemon.peers.mailboxes.carrier import BadPlace, CarrierFault
from daemon.peers.mailboxes.relay import RelayCarrier, RelayTimes
from daemon.peers.transport.identity import certificate_fingerprint, load_or_create
from tests.daemon.relay.running_relay import PATIENT, relay_in
from tests.support.patience import LIMIT_S

DROP = "aa/00000000000001-0011223344556677.drop"


def whole(body: bytes, status: str = "200 OK", more: str = "") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{more}\r\n".encode() + body


def list_answer(*blobs: object, more: bool = False) -> bytes:
    return whole(json.dumps({"blobs": blobs, "more": more}).encode())


@asynccontextmanager
async def liar(
    *answers: bytes, endless: bytes = b"", hangs_up: bool = False, times: RelayTimes = PATIENT
) -> AsyncIterator[RelayCarrier]:
    """A server that answers so, one connection after another, the last answer for ever after."""
    given = list(answers)
    connections = set[asyncio.StreamWriter]()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.add(writer)
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                writer.write(given.pop(0) if len(given) > 1 else given[0])
                if hangs_up:
                    return
                while endless:
                    writer.write(endless)
                    await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    place = relay.parse_place(f"http://127.0.0.1:{port}/box")
    carrier = RelayCarrier(place, "secret", bytes(16), reader="r", times=times)
    try:
        yield carrier
    finally:
        await carrier.close()
        server.close()
        for writer in connections:
            writer.transport.abort()


@pytest.mark.parametrize(
    "answer",
    [
        whole(b"no json"),
        whole(b"[]"),
        whole(b'{"blobs": [], "more": true}'),
        list_answer(["../../etc/passwd.drop", 1, "m"]),
        list_answer(["a/b/c.drop", 1, "m"]),
        list_answer([".hidden.drop", 1, "m"]),
        list_answer(["a\u2028.drop", 1, "m"]),
        list_answer(["aa.have?x.drop#", 1, "m"]),
        list_answer(["aa.have", -1, "m"]),
        list_answer(["aa.have", 1, "m" * 200]),
        list_answer(["bb.have", 1, "m"], ["aa.have", 1, "m"]),
        list_answer(["aa.have", 1, "m"], ["aa.have", 1, "m"]),
        list_answer(["aa.have", 1, "m"], more=True),
        whole(bytes(relay.LIST_BYTES_MAX + 1)),
    ],
)
async def test_a_list_that_makes_no_sense_is_refused(answer: bytes) -> None:
    async with liar(answer) as carrier:
        with pytest.raises(CarrierFault, match="answers what no relay does"):
            await carrier.list_blobs()


async def test_a_list_that_never_ends_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay, "LISTED_MAX", 5)
    pages = [list_answer([f"{number:02}.have", 1, "m"], more=True) for number in range(20)]
    async with liar(*pages) as carrier:
        assert len(await carrier.list_blobs()) == 5


async def test_an_endless_body_is_cut_at_the_bound() -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    async with liar(head, endless=b"400\r\n" + bytes(1024) + b"\r\n") as carrier:
        assert await carrier.get(DROP, 5000) == bytes(5001)
        with pytest.raises(CarrierFault, match="answers what no relay does"):
            await carrier.list_blobs()


async def test_endless_headers_are_refused() -> None:
    async with liar(b"HTTP/1.1 200 OK\r\n", endless=b"X: " + bytes([65]) * 9000 + b"\r\n") as carrier:
        with pytest.raises(CarrierFault, match="cannot be used"):
            await carrier.get(DROP, 100)


async def test_a_body_that_is_cut_short_is_a_fault_and_no_blob() -> None:
    async with liar(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", hangs_up=True) as carrier:
        with pytest.raises(CarrierFault, match="cannot be used"):
            await carrier.get(DROP, 1000)


async def test_a_relay_that_does_not_answer_is_given_up() -> None:
    quick = RelayTimes(answer_s=0.05, news_s=0.05, retry_s=0.01)
    async with liar(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", times=quick) as carrier:
        for ask in (carrier.list_blobs, lambda: carrier.get(DROP, 10), carrier.wait_for_news):
            with pytest.raises(CarrierFault, match="does not answer in time"):
                await ask()


@pytest.mark.parametrize(
    "status", ["301 Moved", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"]
)
async def test_no_redirect_is_followed(status: str, tmp_path: Path) -> None:
    async with relay_in(tmp_path) as other:
        to_other = whole(b"", status, f"Location: {other.url}/{bytes(16).hex()}\r\n")
        async with liar(to_other) as carrier:
            with pytest.raises(CarrierFault, match=f"status {status[:3]}"):
                await carrier.list_blobs()


async def test_what_is_packed_is_not_unpacked() -> None:
    packed = whole(b"\x1f\x8b" + bytes(20), more="Content-Encoding: gzip\r\n")
    async with liar(packed) as carrier:
        assert await carrier.get(DROP, 100) == b"\x1f\x8b" + bytes(20)


async def test_a_relay_that_is_busy_is_asked_again_and_not_for_ever() -> None:
    async with liar(whole(b"", "429 Busy"), whole(b"sealed")) as carrier:
        assert await carrier.get(DROP, 100) == b"sealed"
    async with liar(whole(b"", "429 Busy")) as carrier:
        with pytest.raises(CarrierFault, match="status 429"):
            await carrier.get(DROP, 100)


@pytest.mark.parametrize(
    "body", [b"", b"{}", b'{"turn": -1}', b'{"turn": "1"}', b'{"turn": 1000000000000000}']
)
async def test_news_that_make_no_sense_are_refused(body: bytes) -> None:
    async with liar(whole(body)) as carrier:
        with pytest.raises(CarrierFault, match="answers what no relay does"):
            await carrier.wait_for_news()


async def test_only_the_certificate_that_was_pinned_is_trusted(tmp_path: Path) -> None:
    identity = load_or_create(tmp_path / "relay", SystemClock().randomness)
    pin = certificate_fingerprint(identity.certificate).hex()
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(identity.file)
    async with relay_in(tmp_path / "relay", tls=tls) as running:
        right = running.carrier(url=f"{running.url}#sha256={pin}")
        await right.put(DROP, b"sealed")
        assert await right.get(DROP, 100) == b"sealed"
        wrong = running.carrier(url=f"{running.url}#sha256={'0' * 64}")
        with pytest.raises(CarrierFault, match="not the one that was pinned"):
            await wrong.list_blobs()
        with pytest.raises(CarrierFault, match="not trusted here"):
            await running.carrier().list_blobs()


async def test_a_relay_that_is_away_is_a_fault(tmp_path: Path) -> None:
    async with relay_in(tmp_path) as running:
        carrier = running.carrier()
        await running.stop()
        async with asyncio.timeout(LIMIT_S):
            with pytest.raises(CarrierFault, match="cannot be used"):
                await carrier.list_blobs()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "/media/stick",
        "ftp://host/box",
        "https://host",
        "https://host/",
        "https://host/Box",
        "https://host/a/b",
        "https://host/../x",
        "https://me:secret@host/box",
        "https://host/box?x=1",
        "https://host:99999/box",
        "https://host:0/box",
        "https://[::1/box",
        "https://host/box#sha256=00",
        "http://host/box#sha256=" + "0" * 64,
        "https://hö.example/box",
        "https://host/box\n",
        "https://host/" + "x" * 2000,
    ],
)
def test_a_text_that_names_no_box_is_refused(text: str) -> None:
    with pytest.raises(BadPlace):
        relay.parse_place(text)


def test_only_loopback_is_safe_without_https() -> None:
    safe = [
        "https://relay.example/box",
        "http://127.0.0.1:1/box",
        "http://[::1]:1/box",
        "http://localhost/box",
    ]
    assert all(relay.parse_place(text).is_safe for text in safe)
    unsafe = ["http://192.0.2.1/box", "http://127.0.0.1.example/box", "http://0.0.0.0/box"]
    assert not any(relay.parse_place(text).is_safe for text in unsafe)
