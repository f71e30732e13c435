"""A link on a connection that neither sends nor receives: its memory is bounded, and it ends.

Never opens a socket: the WebSocket is a fake, since no real one stalls on request.
"""

import asyncio
import struct
from collections.abc import Callable, Iterable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
from aiohttp import WSMessage, WSMsgType
from structlog.testing import capture_logs

from daemon.peers.linking import goodbyes
from daemon.peers.linking.exchange_faults import LinkFault
from daemon.peers.linking.link import ANSWERS_OWED_MAX, LinkObserver, PeerLink
from daemon.peers.linking.link_registry import LinkRegistry
from daemon.peers.linking.liveness import wait_for_any
from daemon.peers.linking.rate_limit import StorageRateLimit
from daemon.peers.transport.wire import ConnectionLost, Socket, Wire
from store.local import peer_records as table
from store.log.pages import FeedPage
from store.snapshot import Snapshot
from store.transaction import AcceptedPage
from syncproto import messages
from syncproto.errors import RemoteProtocolError
from syncproto.ids import DeviceId
from syncproto.messages import Hello, Ping, Pong
from syncproto.vector_clock import EMPTY_CLOCK, Head
from tests.daemon.peers.fleet import QUICK, Device, Fleet
from tests.support.patience import LIMIT_S


class FakeSocket:
    """A WebSocket that receives what the test puts in, and that sends only while `flows` is set.

    If it `lives`, it answers pings by itself.
    """

    def __init__(self, *, lives: bool = False) -> None:
        self.lives = lives
        self.given: asyncio.Queue[WSMessage] = asyncio.Queue()
        self.flows = asyncio.Event()
        self.flows.set()
        self.sent: list[bytes] = []
        self.closed = asyncio.Event()

    def give(self, frame: bytes) -> None:
        self.given.put_nowait(WSMessage(WSMsgType.BINARY, frame, None))

    async def receive(self) -> WSMessage:
        return await self.given.get()

    async def send_bytes(self, frame: bytes) -> None:
        self.sent.append(frame)
        message = messages.decode_message(frame)
        if self.lives and isinstance(message, Ping):
            self.give(messages.encode_message(Pong(message.nonce)))
        await self.flows.wait()

    def get_extra_info(self, name: str) -> None:
        """Return None: there is no connection below."""

    async def close(self) -> None:
        self.closed.set()


class SilentObserver(LinkObserver):
    """An observer that does nothing, and that always has room."""

    def progress_changed(self, link: PeerLink) -> None:
        """Do nothing."""

    def frame_received(self, link: PeerLink) -> None:
        """Do nothing."""

    def states_compared(self, link: PeerLink, *, agree: bool) -> None:
        """Do nothing."""

    def goodbye_received(self, link: PeerLink) -> None:
        """Do nothing."""

    def link_works(self, link: PeerLink) -> None:
        """Do nothing."""

    def fault_found(self, link: PeerLink, fault: LinkFault) -> None:
        """Do nothing."""

    def page_stored(self, link: PeerLink, accepted: AcceptedPage) -> None:
        """Do nothing."""

    def page_sent(self, link: PeerLink, commits: int) -> None:
        """Do nothing."""

    def storage_shortfall(self) -> None:
        """Return that there is room."""
        return


def link_on(
    socket: FakeSocket, device: Device, allowance: StorageRateLimit | None = None, **limits: float
) -> PeerLink:
    return PeerLink(
        Wire(cast("Socket", socket), "192.0.2.1:7"),
        DeviceId(bytes(32)),
        dialled=True,
        db=device.db,
        notifier=device.notifier,
        observer=SilentObserver(),
        limits=replace(QUICK, **limits),  # type: ignore[arg-type]
        allowance=allowance,
    )


async def hello(device: Device) -> bytes:
    vault = await device.read(lambda snapshot: snapshot.vault())
    assert vault is not None
    return messages.encode_message(Hello([2], vault, None, EMPTY_CLOCK, bytes(32), {}))


class CutSocket(FakeSocket):
    """A WebSocket on a TLS connection that was cut: asyncio's transport then answers no question."""

    def get_extra_info(self, name: str) -> None:
        raise AttributeError(name)

    async def send_bytes(self, frame: bytes) -> None:
        raise ConnectionResetError("Cannot write to closing transport")


async def test_a_line_that_was_cut_is_lost_and_no_fault_of_this_side():
    wire = Wire(cast("Socket", CutSocket()), "192.0.2.1:7")
    with pytest.raises(ConnectionLost):
        await wire.send(b"", LIMIT_S, trickle_bytes=1)
    assert wire.since_received_s() is None


async def test_a_peer_that_asks_and_reads_no_answers_is_read_no_further_and_let_go(fleet: Fleet):
    desk = await fleet.start("desk")
    socket = FakeSocket()
    link = link_on(socket, desk, send_s=0.3)
    running = asyncio.create_task(link.run())
    socket.give(await hello(desk))
    async with asyncio.timeout(LIMIT_S):
        await link.greeted.wait()
        socket.flows.clear()
        for number in range(3 * ANSWERS_OWED_MAX):
            socket.give(messages.encode_message(Ping(number)))
        assert await running == "the other side took next to nothing for 0.3 s"
    assert socket.given.qsize() >= ANSWERS_OWED_MAX
    assert socket.closed.is_set()


async def test_a_peer_that_takes_nothing_is_let_go(fleet: Fleet):
    desk = await fleet.start("desk")
    socket = FakeSocket()
    link = link_on(socket, desk, send_s=0.05)
    socket.flows.clear()
    async with asyncio.timeout(LIMIT_S):
        assert await link.run() == "the other side took next to nothing for 0.05 s"
    assert socket.closed.is_set()


async def test_pings_that_are_read_are_answered_in_order(fleet: Fleet):
    desk = await fleet.start("desk")
    socket = FakeSocket()
    link = link_on(socket, desk)
    running = asyncio.create_task(link.run())
    socket.give(await hello(desk))
    numbers = list(range(4 * ANSWERS_OWED_MAX))
    for number in numbers:
        socket.give(messages.encode_message(Ping(number)))
    async with asyncio.timeout(LIMIT_S):
        while [pong.nonce for pong in pongs(socket)] != numbers:
            await asyncio.wait([running], timeout=0.01)
    link.close("enough")
    assert await running == "enough"
    assert messages.decode_message(socket.sent[-1]) == messages.Bye("enough")


async def test_a_ping_costs_no_page(fleet: Fleet, monkeypatch: pytest.MonkeyPatch):
    """A member may ping on and on: if nothing is new, nothing is read for it."""
    desk = await fleet.start("desk")
    reads: list[int] = []
    page_lacking = Snapshot.page_lacking

    def counted(snapshot: Snapshot, peer: Iterable[Head], after: int, bytes_max: int) -> FeedPage:
        reads.append(after)
        return page_lacking(snapshot, peer, after, bytes_max)

    monkeypatch.setattr(Snapshot, "page_lacking", counted)
    socket = FakeSocket()
    link = link_on(socket, desk)
    running = asyncio.create_task(link.run())
    socket.give(await hello(desk))
    async with asyncio.timeout(LIMIT_S):
        for number in range(50):
            socket.give(messages.encode_message(Ping(number)))
            while len(pongs(socket)) <= number:
                await asyncio.wait([running], timeout=0.001)
    link.close("enough")
    assert await running == "enough"
    assert len(reads) <= 3


def pongs(socket: FakeSocket) -> list[messages.Pong]:
    return [
        message
        for frame in socket.sent
        if isinstance(message := messages.decode_message(frame), messages.Pong)
    ]


@pytest.mark.parametrize(
    ("kind", "words", "text"),
    [
        (WSMsgType.ERROR, ConnectionResetError("reset"), "reset"),
        (WSMsgType.CLOSED, None, "closed"),
    ],
)
async def test_whatever_is_no_binary_frame_ends_the_line(kind: WSMsgType, words: Any, text: str):
    socket = FakeSocket()
    socket.given.put_nowait(WSMessage(kind, words, None))
    with pytest.raises(ConnectionLost, match=text):
        await Wire(cast("Socket", socket), "").receive(LIMIT_S)


async def test_a_text_frame_is_the_peers_fault_and_not_a_lost_line():
    socket = FakeSocket()
    socket.given.put_nowait(WSMessage(WSMsgType.TEXT, "words", None))
    with pytest.raises(RemoteProtocolError, match="text frame"):
        await Wire(cast("Socket", socket), "").receive(LIMIT_S)


async def test_a_broken_socket_is_a_lost_line_and_may_still_be_closed():
    async def broken(*_: object) -> None:
        raise ConnectionResetError("gone")

    fake = SimpleNamespace(receive=broken, send_bytes=broken, close=broken, get_extra_info=lambda _: None)
    wire = Wire(cast("Socket", fake), "")
    with pytest.raises(ConnectionLost, match="gone"):
        await wire.receive(LIMIT_S)
    with pytest.raises(ConnectionLost, match="gone"):
        await wire.send(b"", LIMIT_S)
    await wire.close()


async def test_a_bug_here_costs_the_link_and_says_so(fleet: Fleet):
    """The store fails in a way that nobody foresaw, while a page is being stored."""
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    await fleet.pair(desk, phone)
    await desk.execute("DROP TABLE search")
    with capture_logs() as logged:
        await phone.add("breaks the desk's store")
        await desk.until_apart(phone)

        async def is_logged(_: Device) -> bool:
            return any(
                event["event"] == "a link failed" and event["log_level"] == "error" for event in logged
            )

        # The line is written after the link has left the register.
        await desk.until(is_logged)


async def test_commits_are_taken_while_nothing_can_be_sent(fleet: Fleet):
    """Two sides that each waited to send an Ack before reading on would wait for each other for ever."""
    desk, phone = await fleet.start("desk"), await fleet.start("phone")
    for number in range(3):
        await phone.add(f"from the phone {number}")
    page = await phone.read(lambda snapshot: snapshot.page_lacking(EMPTY_CLOCK, 0, messages.PAGE_BYTES_MAX))
    socket = FakeSocket()
    link = link_on(socket, desk)
    running = asyncio.create_task(link.run())
    socket.give(await hello(desk))
    async with asyncio.timeout(LIMIT_S):
        await link.greeted.wait()
    socket.flows.clear()
    for commit in page.commits:
        socket.give(messages.encode_message(messages.Commits([commit])))

    async def all_taken(_: Device) -> bool:
        return len(await desk.titles()) == 3

    await desk.until(all_taken)
    socket.flows.set()
    link.close("enough")
    await running


class Kernel:
    """What the kernel knows of a connection: when the other machine acknowledged anything last."""

    def __init__(self, acknowledged_s: Callable[[], float]) -> None:
        self.acknowledged_s = acknowledged_s

    def getsockopt(self, _level: int, _option: int, size: int) -> bytes:
        ago_ms = round(1000 * (asyncio.get_running_loop().time() - self.acknowledged_s()))
        return struct.pack("=52xII", 60_000, ago_ms)[:size]


class KnownSocket(FakeSocket):
    """A WebSocket with a kernel's connection, which `acknowledges` at once what is sent."""

    def __init__(self, *, acknowledges: bool) -> None:
        super().__init__()
        self.acknowledges = acknowledges
        self.acknowledged_s = asyncio.get_running_loop().time()

    async def send_bytes(self, frame: bytes) -> None:
        await super().send_bytes(frame)
        if self.acknowledges:
            self.acknowledged_s = asyncio.get_running_loop().time()

    def get_extra_info(self, name: str) -> Any:
        assert name == "socket"
        return Kernel(lambda: self.acknowledged_s)


@pytest.mark.parametrize("acknowledges", [True, False])
async def test_a_ping_that_the_other_machine_acknowledged_is_a_sign_of_life_and_an_older_one_is_none(
    fleet: Fleet, acknowledges: bool
):
    """However late this side asks the kernel: the other daemon, or this one, may be busy all that time."""
    desk = await fleet.start("desk")
    socket = KnownSocket(acknowledges=True)
    link = link_on(socket, desk, liveness_s=0.1)
    running = asyncio.create_task(link.run())
    socket.give(await hello(desk))
    async with asyncio.timeout(LIMIT_S):
        await link.greeted.wait()
        socket.acknowledges = acknowledges
        socket.acknowledged_s -= 1
        assert await link.liveness.is_alive() == acknowledges
        link.close("enough")
        await running


# -- a goodbye to the vault -------------------------------------------------------------------------------


class LeavingSocket(FakeSocket):
    """A WebSocket whose other side ends the link, without an acknowledgement, when commits reach it."""

    def __init__(self, reason: str) -> None:
        super().__init__()
        self._reason = reason

    async def send_bytes(self, frame: bytes) -> None:
        await super().send_bytes(frame)
        if isinstance(messages.decode_message(frame), messages.Commits):
            self.give(messages.encode_message(messages.Bye(self._reason)))


@pytest.mark.parametrize("reason", [goodbyes.NOT_A_MEMBER, "paused"])
async def test_who_ends_the_link_for_a_goodbye_was_told_and_for_anything_else_was_not(
    fleet: Fleet, reason: str
):
    acknowledged = reason == goodbyes.NOT_A_MEMBER
    # Who was not told is waited for as long as a departure may take.
    limits = replace(QUICK, departure_s=LIMIT_S if acknowledged else 0.3)
    desk, phone = await fleet.start("desk"), await fleet.start("phone", limits=limits)
    await fleet.pair(desk, phone)
    store_state = await phone.standing()
    vault = await phone.read(lambda snapshot: snapshot.vault())
    assert vault is not None
    await desk.stop()
    fleet.devices.remove(desk)
    await phone.until_apart(desk)
    socket = LeavingSocket(reason)
    link = phone.peers.links.create_link(Wire(cast("Socket", socket), ""), desk.id, dialled=True)
    running = asyncio.create_task(phone.peers.links.run_link(link))
    greeting = Hello([2], vault, None, store_state.heads.clock, store_state.state_hash, {})
    socket.give(messages.encode_message(greeting))
    async with asyncio.timeout(LIMIT_S):
        await link.greeted.wait()
        goodbye = await phone.peers.devices.leave()
        await running
    assert goodbye.told == (["desk"] if acknowledged else [])


# -- two links of one pair ---------------------------------------------------------------------------------

SMALL, LARGE = DeviceId(bytes(32)), DeviceId(b"\xff" * 32)


@pytest.mark.parametrize(
    ("peer", "first_dialled", "second_dialled", "second_stays"),
    [
        # The peer's id is larger: what this side dialled stays, whichever came first.
        (LARGE, True, False, False),
        (LARGE, False, True, True),
        # The peer's id is smaller: what it dialled stays.
        (SMALL, False, True, False),
        (SMALL, True, False, True),
        # Dialled by the same side twice: the first is dead, most likely.
        (LARGE, True, True, True),
        (LARGE, False, False, True),
        (SMALL, True, True, True),
        (SMALL, False, False, True),
    ],
)
async def test_of_two_links_the_one_that_the_smaller_id_dialled_stays(
    fleet: Fleet, peer: DeviceId, first_dialled: bool, second_dialled: bool, second_stays: bool
):
    desk = await fleet.start("desk")
    links = LinkRegistry(desk.db, desk.notifier, desk.id, desk.clock.now_ms, QUICK)
    peer_links, tasks = [], []
    for dialled in (first_dialled, second_dialled):
        socket = FakeSocket(lives=True)
        socket.give(await hello(desk))
        link = links.create_link(Wire(cast("Socket", socket), ""), peer, dialled=dialled)
        peer_links.append(link)
        tasks.append(asyncio.create_task(links.run_link(link)))
        async with asyncio.timeout(LIMIT_S):
            await wait_for_any(link.greeted, link.ended)
    stays, goes = (peer_links[1], peer_links[0]) if second_stays else (peer_links[0], peer_links[1])
    async with asyncio.timeout(LIMIT_S):
        await goes.ended.wait()
    assert links.link_to(peer) is stays
    links.close_all_but((), "enough")
    await asyncio.gather(*tasks)
    assert links.live_links() == []


async def test_a_link_that_shows_no_sign_of_life_yields_to_whichever_comes(fleet: Fleet):
    desk = await fleet.start("desk")
    links = LinkRegistry(desk.db, desk.notifier, desk.id, desk.clock.now_ms, replace(QUICK, liveness_s=0.1))
    peer_links, tasks = [], []
    for dialled in (True, False):
        socket = FakeSocket()
        socket.give(await hello(desk))
        link = links.create_link(Wire(cast("Socket", socket), ""), LARGE, dialled=dialled)
        peer_links.append(link)
        tasks.append(asyncio.create_task(links.run_link(link)))
        async with asyncio.timeout(LIMIT_S):
            await link.greeted.wait()
    dead, fresh = peer_links
    assert dead.ended.is_set()
    assert links.link_to(LARGE) is fresh
    links.probe_links()
    async with asyncio.timeout(LIMIT_S):
        assert await asyncio.gather(*tasks) == [None, None]
    assert links.live_links() == []


async def test_a_peer_was_seen_when_it_was_heard_last_and_not_when_its_link_ended(fleet: Fleet):
    desk, socket = await fleet.start("desk"), FakeSocket()
    links = LinkRegistry(desk.db, desk.notifier, desk.id, desk.clock.now_ms, replace(QUICK, silence_s=0.1))
    socket.give(await hello(desk))
    link = links.create_link(Wire(cast("Socket", socket), ""), LARGE, dialled=True)
    task = asyncio.create_task(links.run_link(link))
    async with asyncio.timeout(LIMIT_S):
        await link.greeted.wait()
        # It sleeps from now on, and is missed an hour later.
        heard_ms = desk.clock.now_ms()
        desk.clock.ahead_s += 3600
        await task
    peer_contact = (await desk.read(table.peer_contacts))[LARGE]
    assert peer_contact.seen_ms <= heard_ms
