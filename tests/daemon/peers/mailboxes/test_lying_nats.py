"""A server of NATS that lies costs bounded bytes and time, and is named; it never sees a secret without TLS.

The server here speaks the protocol badly on purpose; what a real one refuses is tested with a real one.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from daemon.peers.mailboxes.carrier import BadPlace, CarrierFault
from daemon.peers.mailboxes.jetstream import client
from daemon.peers.mailboxes.jetstream.place import NatsPlace, parse_place
from daemon.peers.mailboxes.nats import NatsCarrier, NatsTimes
from tests.daemon.peers.mailboxes.running_nats import SECRET as RIGHT
from tests.daemon.peers.mailboxes.running_nats import nats_in
from tests.support.certificates import write_certificate

pytestmark = pytest.mark.external("nats-server")

SECRET = "placet:hush-hush"
VAULT = bytes(16)
SUBJECT = f"box.{VAULT.hex()}"
VERSION = "1-1-3-0123456789abcdef"
CONFIG = {"name": "box", "subjects": ["box.>"], "max_msgs_per_subject": 1, "max_bytes": -1}
INFO: dict[str, Any] = {"server_id": "x", "version": "2.9.10", "headers": True, "max_payload": 1 << 20}

Answer = Callable[[str, Any], Any]


def stream_answer(*subjects: str) -> dict[str, Any]:
    state = {"messages": 0, "bytes": 0, "first_seq": 0, "last_seq": 0, "consumer_count": 0}
    return {
        "config": CONFIG | {"retention": "limits", "storage": "file", "num_replicas": 1},
        "created": "2026-01-01T00:00:00Z",
        "state": state | {"subjects": dict.fromkeys(subjects, 1)},
    }


@dataclass
class Liar:
    """A server that answers each request as a function says: an object as JSON, or bytes as they are."""

    answer: Answer
    info: dict[str, Any]
    received: bytearray = field(default_factory=bytearray)
    connections: int = 0
    port: int = 0
    inbox: bytes = b""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            if self.info:
                writer.write(b"INFO " + json.dumps(self.info).encode() + b"\r\n")
            while line := await reader.readline():
                self.received += line
                await self._take(line.split(), reader, writer)
                await writer.drain()
        except (ConnectionError, ValueError):
            pass
        finally:
            writer.close()

    async def _take(
        self, words: list[bytes], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if words[0] == b"PING":
            writer.write(b"PONG\r\n")
        if words[0] == b"SUB" and words[1].endswith(b".*"):
            self.inbox = words[-1]
        if words[0] not in (b"PUB", b"HPUB"):
            return
        await reader.readexactly(int(words[-1]) + 2)
        if len(words) > 3:
            answer = self.answer(words[1].decode(), words[2])
            raw = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            writer.write(b"MSG %s %s %d\r\n%s\r\n" % (words[2], self.inbox, len(raw), raw))


@asynccontextmanager
async def lying(answer: Answer = lambda *_: {}, info: dict[str, Any] | None = None) -> AsyncIterator[Liar]:
    liar = Liar(answer, INFO if info is None else info)
    server = await asyncio.start_server(liar.serve, "127.0.0.1", 0)
    liar.port = server.sockets[0].getsockname()[1]
    try:
        yield liar
    finally:
        server.close()
        await server.wait_closed()


@asynccontextmanager
async def carrier_at(place: str, secret: str = SECRET) -> AsyncIterator[Any]:

    times = NatsTimes(task_s=1.0, answer_s=0.5, news_s=0.2, retry_s=0.05)
    carrier = NatsCarrier(parse_place(place), secret, VAULT, times=times)
    try:
        yield carrier
    finally:
        await carrier.close()


async def feed(parser: client.BoundedParser, pages: int) -> None:
    for _ in range(pages):
        await parser.parse(b"MSG " + b"x" * 4096)


async def fault_of(work: Any) -> str:
    with pytest.raises(CarrierFault) as caught:
        await work
    assert "hush" not in str(caught.value)
    return str(caught.value.sentence.id)


async def test_a_secret_is_not_sent_to_a_server_that_offers_no_tls() -> None:
    async with (
        lying(info=INFO | {"tls_required": False, "auth_required": True}) as liar,
        carrier_at(f"tls://127.0.0.1:{liar.port}/box") as carrier,
    ):
        assert await fault_of(carrier.list_blobs()) == "nats-no-tls"
        assert liar.connections > 0
        assert liar.received == b""


async def test_servers_that_another_one_names_are_not_asked() -> None:
    async with lying() as other:
        info = INFO | {"connect_urls": [f"127.0.0.1:{other.port}"]}
        async with lying(info=info) as liar, carrier_at(f"nats://127.0.0.1:{liar.port}/box") as carrier:
            await fault_of(carrier.list_blobs())
        assert other.connections == 0


@pytest.mark.parametrize(
    "answer",
    [b"", b"{", [], {}, "x", {"config": 3}, stream_answer() | {"state": []}, {"error": {}}, {"error": "no"}],
    ids=range(9),
)
async def test_answers_that_make_no_sense_are_named(answer: Any) -> None:
    async with (
        lying(lambda *_: answer) as liar,
        carrier_at(f"nats://127.0.0.1:{liar.port}/box") as carrier,
    ):
        fault_id = await fault_of(carrier.list_blobs())
        assert fault_id in ("nats-makes-no-sense", "nats-other-stream"), fault_id


async def test_a_message_of_another_subject_is_not_taken_for_a_blob() -> None:
    def answer(subject: str, _: Any) -> Any:
        if ".STREAM.INFO." in subject:
            return stream_answer(f"{SUBJECT}.aa.have.{VERSION}.0")
        return {"message": {"subject": "box.other", "seq": 1, "data": "AAAA", "time": "2026-01-01T00:00:00Z"}}

    async with lying(answer) as liar, carrier_at(f"nats://127.0.0.1:{liar.port}/box") as carrier:
        assert [blob.name for blob in await carrier.list_blobs()] == ["aa.have"]
        assert await fault_of(carrier.get("aa.have", 100)) == "nats-makes-no-sense"


async def test_names_that_lead_elsewhere_are_passed_over() -> None:
    bad = [
        *(
            "aa.have",
            f"aa.have.{VERSION}",
            f"aa.have.{VERSION}.1",
            f"../x.have.{VERSION}.0",
            f".have.{VERSION}.0",
        ),
        *(f"a b.have.{VERSION}.0", f"*.have.{VERSION}.0", "aa.have.1-99999-3-0123456789abcdef.0", ""),
        f"aa.txt.{VERSION}.0",
    ]
    subjects = [f"{SUBJECT}.{name}" for name in bad] + [f"box.{'1' * 32}.aa.have.{VERSION}.0"]
    async with (
        lying(lambda *_: stream_answer(*subjects)) as liar,
        carrier_at(f"nats://127.0.0.1:{liar.port}/box") as carrier,
    ):
        assert await carrier.list_blobs() == []


async def test_an_endless_frame_and_an_endless_line_end_the_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(client, "FRAME_BYTES_MAX", 1 << 16)
    async with (
        lying(lambda *_: bytes(1 << 24)) as liar,
        carrier_at(f"nats://127.0.0.1:{liar.port}/box") as carrier,
    ):
        assert await fault_of(carrier.list_blobs()) in ("mailbox-relay-fault", "relay-slow")
    parser = client.BoundedParser()
    with pytest.raises(Exception, match="protocol error"):
        await feed(parser, 100)


async def test_silence_ends_in_time() -> None:
    async with lying(info={}) as liar, carrier_at(f"nats://127.0.0.1:{liar.port}/box") as carrier:
        async with asyncio.timeout(20):
            assert await fault_of(carrier.list_blobs()) == "relay-slow"
    async with (
        lying(lambda *_: stream_answer()) as liar,
        carrier_at(f"nats://127.0.0.1:{liar.port}/box") as carrier,
    ):
        assert await carrier.wait_for_news() is False


@pytest.mark.parametrize(
    "text",
    [
        *("", "box", "https://h/box", "nats:///box", "nats://h", "nats://h/", "nats://h/Box", "nats://h/a.b"),
        *(
            "nats://u:p@h/box",
            "nats://h/box#x",
            "nats://h/box?x=1",
            "nats://h/box?replicas=2",
            "nats://h:0/b",
        ),
        *("nats://h/box?mib=0", "nats://h/box?mib=x", "tls://h/box?ca=relative", "nats://h/box?ca=/a"),
        *(
            "tls://h/box?certificate=/a",
            "tls://h/box?mib=1&mib=2",
            "nats://h,/box",
            "tls://h/b\n",
            "tls://h:x/b",
        ),
    ],
)
def test_a_place_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(BadPlace):
        parse_place(text)


def test_a_place_names_servers_a_stream_and_what_it_is_made_with() -> None:
    place = parse_place("tls://a,b:1/home?replicas=3&mib=5&ca=/c&certificate=/d&key=/e")
    assert place == NatsPlace(("tls://a:4222", "tls://b:1"), "home", 3, 5, "/c", "/d", "/e")
    assert place.is_safe
    assert place.text == "a:4222,b:1/home"
    assert not parse_place("nats://127.0.0.1,192.0.2.1/home").is_safe
    assert parse_place("nats://localhost,[::1]:4/home").is_safe


# -- a real server that refuses ---------------------------------------------------------------------------


async def test_a_certificate_has_to_be_trusted_and_a_device_can_show_one(tmp_path: Path) -> None:
    certificate, key = write_certificate(tmp_path)
    files = f'cert_file: "{certificate}", key_file: "{key}", ca_file: "{certificate}"'
    more = f"tls {{ {files}, verify: true }}"
    own = f"&certificate={certificate}&key={key}"
    async with nats_in(
        tmp_path / "nats", more=more, scheme="tls", query=f"?ca={certificate}{own}"
    ) as running:
        carrier = running.carrier()
        await carrier.put("aa.have", b"one")
        assert await carrier.get("aa.have", 10) == b"one"
        bare = running.url.partition("?")[0]
        async with carrier_at(bare, RIGHT) as other:
            assert await fault_of(other.list_blobs()) == "relay-untrusted"
        async with carrier_at(f"{bare}?ca={certificate}", RIGHT) as other:
            assert await fault_of(other.list_blobs()) in ("mailbox-relay-fault", "relay-slow")
        async with carrier_at(f"{bare}?ca={tmp_path}/none", RIGHT) as other:
            assert await fault_of(other.list_blobs()) == "mailbox-relay-fault"


async def test_a_stream_of_something_else_and_one_that_cannot_be_made_are_named(tmp_path: Path) -> None:
    async with nats_in(tmp_path / "nats") as running:
        async with running.open_streams() as stream:
            await stream.add_stream(name="orders", subjects=["orders.>"])
        server = running.url.rpartition("/")[0]
        async with carrier_at(f"{server}/orders", RIGHT) as carrier:
            assert await fault_of(carrier.put("aa.have", b"x")) == "nats-other-stream"
        async with carrier_at(f"{server}/box?replicas=3", RIGHT) as carrier:
            assert await fault_of(carrier.put("aa.have", b"x")) == "nats-no-stream"


async def test_what_a_user_may_not_do_is_named(tmp_path: Path) -> None:
    rights = 'permissions: { publish: { deny: ["$JS.API.>"] } }'
    user = f'users: [ {{ user: "placet", password: "hush-hush", {rights} }} ]'
    async with (
        nats_in(tmp_path / "nats", authorization=user) as running,
        carrier_at(running.url) as carrier,
    ):
        assert await fault_of(carrier.list_blobs()) == "nats-denied"


async def test_a_server_that_takes_little_gets_a_blob_in_many_parts(tmp_path: Path) -> None:
    async with nats_in(tmp_path / "nats", more="max_payload: 4096") as running:
        carrier = running.carrier()
        content = bytes(range(256)) * 100
        await carrier.put("aa.have", content)
        assert await running.carrier().get("aa.have", 1 << 20) == content
        assert await carrier.get("aa.have", 5000) == content[:5001]
        await carrier.put("aa.have", b"short")
        (blob,) = await carrier.list_blobs()
        assert (blob.size, await running.carrier().get("aa.have", 100)) == (5, b"short")
        async with running.open_streams() as stream:
            assert len((await stream.stream_info("box", subjects_filter=">")).state.subjects) == 1
