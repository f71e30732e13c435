"""A page is read while the one before it becomes durable: in order, bounded, and nothing answered too early.

Never opens a socket; the pages are those of a real device.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

import pytest
from aiohttp import WSMessage, WSMsgType

from daemon.peers.linking.link import PeerLink
from daemon.peers.linking.rate_limit import StorageRateLimit
from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto import messages
from syncproto.commit import SignedCommit
from syncproto.messages import Ack, Bye, Commits, Message, Ping, Pong
from syncproto.vector_clock import EMPTY_CLOCK
from tests.daemon.peers.fleet import Device, Fleet
from tests.daemon.peers.linking.test_stalled_connections import FakeSocket, hello, link_on
from tests.support.patience import LIMIT_S

PAGES = 5
PAGE_BYTES = 32 * 1024
RATE = 1 << 40


async def pages_of(fleet: Fleet) -> list[list[SignedCommit]]:
    """Return the first pages of another device's feed, long ones."""
    source = await fleet.start("source")
    for number in range(PAGES):
        await source.write_entry(f"{number}" * (PAGE_BYTES + 1000))
    commit_groups, after = [], 0
    for _ in range(PAGES):
        page = await source.read(
            partial(Snapshot.page_lacking, peer=EMPTY_CLOCK, after=after, bytes_max=PAGE_BYTES)
        )
        commit_groups.append(page.commits)
        after = page.end
    return commit_groups


@asynccontextmanager
async def busy(device: Device) -> AsyncIterator[None]:
    """Occupy the writer of a device's store."""
    event, over = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def hold(transaction: Transaction) -> None:
        del transaction
        loop.call_soon_threadsafe(event.set)
        assert over.wait(LIMIT_S)

    task = asyncio.create_task(device.db.write(hold))
    await event.wait()
    try:
        yield
    finally:
        over.set()
        await task


async def turns(count: int = 200) -> None:
    """Let every task run until it waits."""
    for _ in range(count):
        await asyncio.sleep(0)
    await asyncio.to_thread(lambda: None)


def sent_messages(socket: FakeSocket) -> list[Message]:
    return [messages.decode_message(frame) for frame in socket.sent]


async def linked(
    socket: FakeSocket, device: Device, allowance: StorageRateLimit | None = None
) -> tuple[PeerLink, asyncio.Task[str]]:
    link = link_on(socket, device, allowance, silence_s=LIMIT_S, ping_s=LIMIT_S)
    running = asyncio.create_task(link.run())
    socket.give(await hello(device))
    await link.greeted.wait()
    return link, running


async def feed_end(device: Device) -> int:
    return await device.read(lambda snapshot: snapshot.feed_end())


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(LIMIT_S):
        while not holds():  # noqa: ASYNC110 - the fake line tells nobody what went over it
            await asyncio.sleep(0.001)


def acks(socket: FakeSocket) -> list[Ack]:
    return [message for message in sent_messages(socket) if isinstance(message, Ack)]


async def test_pages_are_stored_in_order_each_with_its_ack(fleet: Fleet):
    device, socket = await fleet.start("desk"), FakeSocket()
    pages, before = await pages_of(fleet), await feed_end(device)
    link, running = await linked(socket, device)
    for page in pages:
        socket.give(messages.encode_message(Commits(page)))
    await until(lambda: len(acks(socket)) == PAGES)
    assert await feed_end(device) == before + sum(map(len, pages))
    counters = [sum(head.counter for head in ack.heads) for ack in acks(socket)]
    assert counters == sorted(set(counters))
    link.close("over")
    await running


async def test_no_more_than_two_pages_wait_behind_the_one_that_is_stored(fleet: Fleet):
    device, socket = await fleet.start("desk"), FakeSocket()
    pages = await pages_of(fleet)
    link, running = await linked(socket, device)
    async with busy(device):
        for page in pages:
            socket.give(messages.encode_message(Commits(page)))
        await until(lambda: socket.given.qsize() <= PAGES - 3)
        await turns()
        assert socket.given.qsize() == PAGES - 3
        assert not acks(socket)
    await until(lambda: len(acks(socket)) == PAGES)
    link.close("over")
    await running


async def test_whoever_asks_for_quiet_hears_of_it_after_the_pages_that_came_before(fleet: Fleet):
    device, socket = await fleet.start("desk"), FakeSocket()
    pages = await pages_of(fleet)
    link, running = await linked(socket, device)
    async with busy(device):
        task = asyncio.create_task(link.liveness.has_nothing_to_send())
        await until(lambda: any(isinstance(message, Ping) for message in sent_messages(socket)))
        (ping,) = [message for message in sent_messages(socket) if isinstance(message, Ping)]
        socket.give(messages.encode_message(Commits(pages[0])))
        socket.give(messages.encode_message(Pong(ping.nonce)))
        socket.give(messages.encode_message(Ping(7)))
        await until(lambda: socket.given.qsize() <= 1)
        await turns()
        assert not task.done()
        assert Pong(7) not in sent_messages(socket)
    assert not await task
    await until(lambda: Pong(7) in sent_messages(socket))
    kinds = [type(message) for message in sent_messages(socket)]
    assert kinds.index(Ack) < kinds.index(Pong)
    link.close("over")
    await running


async def test_a_bad_page_ends_the_link_and_the_one_before_it_stays(fleet: Fleet):
    device, socket = await fleet.start("desk"), FakeSocket()
    pages, before = await pages_of(fleet), await feed_end(device)
    _, running = await linked(socket, device)
    first, second = pages[0], pages[1]
    broken = [SignedCommit(second[0].body[:-1] + b"\xc1", second[0].signature), *second[1:]]
    socket.give(messages.encode_message(Commits(first)))
    socket.give(messages.encode_message(Commits(broken)))
    socket.give(messages.encode_message(Commits(pages[2])))
    assert "another extension type" in await running
    # A transaction waits its turn behind the one that was under way.
    await device.db.write(lambda _: None)
    assert await feed_end(device) == before + len(first)


async def test_a_question_asked_while_pages_are_stored_waits_for_its_own_answer(fleet: Fleet):
    device, socket = await fleet.start("desk"), FakeSocket()
    pages = await pages_of(fleet)
    link, running = await linked(socket, device)
    async with busy(device):
        earlier = asyncio.create_task(link.liveness.has_nothing_to_send())
        await until(lambda: any(isinstance(message, Ping) for message in sent_messages(socket)))
        socket.give(messages.encode_message(Commits(pages[0])))
        socket.give(messages.encode_message(Pong(1)))
        await until(socket.given.empty)
        await turns()
        task = asyncio.create_task(link.liveness.answers_ping())
        await until(lambda: Ping(2) in sent_messages(socket))
    await earlier
    await turns()
    assert not task.done()
    assert link.owes_answer
    socket.give(messages.encode_message(Pong(2)))
    assert await task
    link.close("over")
    await running


async def test_pages_that_came_whole_are_stored_though_the_line_ended(fleet: Fleet):
    device, socket = await fleet.start("desk"), FakeSocket()
    pages, before = await pages_of(fleet), await feed_end(device)
    _, running = await linked(socket, device)
    for page in pages:
        socket.give(messages.encode_message(Commits(page)))
    socket.given.put_nowait(WSMessage(WSMsgType.CLOSED, None, None))
    assert await running == "the other side closed the line"
    assert await feed_end(device) == before + sum(map(len, pages))


async def test_a_goodbye_is_known_before_the_pages_that_came_before_it_are_stored(fleet: Fleet):
    device, socket = await fleet.start("desk"), FakeSocket()
    pages, before = await pages_of(fleet), await feed_end(device)
    link, running = await linked(socket, device)
    async with busy(device):
        socket.give(messages.encode_message(Commits(pages[0])))
        socket.give(messages.encode_message(Bye("that was all")))
        await until(socket.given.empty)
        await turns()
        assert link.peer_goodbye == "that was all"
        assert not running.done()
    await running
    assert await feed_end(device) == before + len(pages[0])


@pytest.mark.parametrize("after", range(0, 40, 4))
async def test_what_is_stored_is_charged_whenever_the_link_ends(fleet: Fleet, after: int):
    device, socket = await fleet.start("desk"), FakeSocket()
    pages, before = await pages_of(fleet), await feed_end(device)
    allowance = StorageRateLimit(0, RATE, lambda: 0.0)
    link, running = await linked(socket, device, allowance)
    for page in pages:
        socket.give(messages.encode_message(Commits(page)))
    await turns(after)
    link.close("over")
    await running
    # Whatever was under way is over when a transaction that was asked for after it has had its turn.
    await device.db.write(lambda _: None)
    await asyncio.sleep(0)
    stored = await feed_end(device) - before
    sizes = [sum(len(commit.body) for commit in page) for page in pages]
    lengths = [sum(map(len, pages[:count])) for count in range(PAGES + 1)]
    assert stored in lengths
    # Nothing is allowed at once, so the wait tells what was charged.
    assert allowance.wait_s(link.peer) * RATE == sum(sizes[: lengths.index(stored)])
