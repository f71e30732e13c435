"""The store from asyncio: one writer, in order, and no word of a commit before it is durable.

Never sleeps: every wait is for an event.
"""

import asyncio
import threading
from collections.abc import AsyncIterator
from functools import partial

import apsw
import pytest
import pytest_asyncio

from store.local.change_parts import whole_change
from store.snapshot import Snapshot
from store.store import WAL_PAGES, Store
from store.threads import StoreThreads, note_writes
from store.transaction import EntityWrite, Transaction
from tests.support.patience import LIMIT_S
from tests.support.stores import StoreBench, entity_id, feed, write_entities

TASK = entity_id(1)


def note(tx: Transaction, title: str = "x") -> str:
    tx.commit([EntityWrite(TASK, "task", {"title": title})])
    return title


def commits(snapshot: Snapshot) -> int:
    return snapshot.counts().commits


@pytest.fixture
def store(bench: StoreBench) -> Store:
    return bench.store("a")


@pytest_asyncio.fixture
async def threads(store: Store) -> AsyncIterator[StoreThreads]:
    store_threads = StoreThreads(store)
    yield store_threads
    store_threads.close()


async def test_writes_happen_in_the_order_asked_for(threads: StoreThreads, store: Store) -> None:
    titles = [f"t{number}" for number in range(20)]
    texts = await asyncio.gather(*(threads.write(partial(note, title=title)) for title in titles))
    assert texts == titles
    with store.read() as snapshot:
        written_titles = [
            received.commit.operations[0].fields["title"] for _, received in snapshot.read_feed(0, 99)
        ]
    assert written_titles == titles


async def test_all_writes_run_in_one_thread_that_is_not_the_loops(threads: StoreThreads) -> None:
    names = await asyncio.gather(*(threads.write(lambda tx: threading.get_ident()) for _ in range(5)))
    assert len(set(names)) == 1
    assert names[0] != threading.get_ident()


async def test_a_commit_is_told_only_when_another_connection_sees_it(
    threads: StoreThreads, store: Store
) -> None:
    observed: list[tuple[int, bool]] = []

    def tell() -> None:
        other = apsw.Connection(str(store.path), flags=apsw.SQLITE_OPEN_READONLY)
        observed.append(
            (len(list(other.execute("SELECT seq FROM feed"))), threading.current_thread() is main)
        )
        other.close()

    main = threading.current_thread()
    threads.on_commit.append(tell)
    await threads.write(note)
    await threads.write(note)
    assert observed == [(1, True), (2, True)]


async def test_who_wrote_goes_on_before_anyone_is_told(threads: StoreThreads) -> None:
    order: list[str] = []
    grown = asyncio.Event()
    threads.on_commit.append(grown.set)

    async def consumer() -> None:
        await grown.wait()
        order.append("consumer")

    async def writer() -> None:
        await threads.write(note)
        order.append("writer")

    await asyncio.gather(consumer(), writer())
    assert order == ["writer", "consumer"]


async def test_whoever_is_told_knows_how_far_the_feed_goes(threads: StoreThreads, bench: StoreBench) -> None:
    observed: list[int] = []
    threads.on_commit.append(lambda: observed.append(threads.feed_end))
    assert threads.feed_end == 0
    await threads.write(note)
    await threads.write(lambda tx: [note(tx), note(tx)])
    await threads.write(lambda tx: tx.set_watermark("page", 1))
    assert (observed, threads.feed_end) == ([1, 3], 3)
    again = StoreThreads(bench.store("a"))
    assert again.feed_end == 3


async def test_a_write_that_nobody_waits_for_any_more_is_not_begun(threads: StoreThreads) -> None:
    event, go_on = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def slow(tx: Transaction) -> None:
        note(tx)
        loop.call_soon_threadsafe(event.set)
        assert go_on.wait(LIMIT_S)

    first = asyncio.create_task(threads.write(slow))
    await event.wait()
    second = asyncio.create_task(threads.write(note))
    await asyncio.sleep(0)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    go_on.set()
    await first
    assert await threads.write(lambda tx: tx.counts().commits) == 1


async def test_what_is_read_now_is_what_was_durable(threads: StoreThreads) -> None:
    await threads.write(note)
    assert threads.read_now(commits) == 1


async def test_the_log_is_written_back_when_the_write_was_told_of(
    threads: StoreThreads, store: Store
) -> None:
    before = store.path.stat().st_size
    observed: list[int] = []

    def much(tx: Transaction) -> None:
        for number in range(WAL_PAGES // 10):
            tx.commit([EntityWrite(entity_id(2 + number), "entry", {"text": "x" * 60_000})])

    def tend(tx: Transaction) -> None:
        observed.append(store.path.stat().st_size)

    with store.write() as tx:
        much(tx)
    assert store.path.stat().st_size == before
    await threads.write(note)
    await threads.write(tend)
    assert observed[0] > before + 10 * WAL_PAGES


async def test_what_made_no_commit_is_not_told(threads: StoreThreads) -> None:
    answer: list[int] = []
    threads.on_commit.append(lambda: answer.append(1))
    await threads.write(lambda tx: tx.set_watermark("page", 1))
    assert await threads.read(lambda snapshot: snapshot.watermark("page")) == 1
    assert answer == []


async def test_commits_taken_from_a_peer_are_told_and_those_held_are_not(
    threads: StoreThreads, bench: StoreBench
) -> None:
    answer: list[int] = []
    threads.on_commit.append(lambda: answer.append(1))
    peer = bench.store("b")
    write_entities(peer, 2)
    page = feed(peer)
    assert (await threads.write(lambda tx: tx.accept_page(page))).new_commits == 2
    assert (await threads.write(lambda tx: tx.accept_page(page))).new_commits == 0
    assert answer == [1]


async def test_an_error_undoes_the_write_is_raised_and_is_not_told(threads: StoreThreads) -> None:
    answer: list[int] = []
    threads.on_commit.append(lambda: answer.append(1))

    def fails(tx: Transaction) -> None:
        note(tx)
        raise ValueError("seen")

    with pytest.raises(ValueError, match="seen"):
        await threads.write(fails)
    assert await threads.read(commits) == 0
    assert answer == []
    await threads.write(note)
    assert answer == [1]


async def test_a_caller_that_goes_away_does_not_keep_a_commit_from_being_told(threads: StoreThreads) -> None:
    event, go_on, reported_event = asyncio.Event(), threading.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    threads.on_commit.append(reported_event.set)

    def slow(tx: Transaction) -> None:
        note(tx)
        loop.call_soon_threadsafe(event.set)
        assert go_on.wait(LIMIT_S)

    caller = asyncio.create_task(threads.write(slow))
    await event.wait()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    go_on.set()
    await asyncio.wait_for(reported_event.wait(), LIMIT_S)
    assert await threads.read(commits) == 1


async def test_reads_go_on_while_a_write_is_under_way(threads: StoreThreads) -> None:
    event, go_on = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def slow(tx: Transaction) -> None:
        note(tx)
        loop.call_soon_threadsafe(event.set)
        assert go_on.wait(LIMIT_S)

    writing = asyncio.create_task(threads.write(slow))
    await event.wait()
    assert await threads.read(commits) == 0
    go_on.set()
    await writing
    assert await threads.read(commits) == 1


async def test_what_became_of_the_lease_is_told(threads: StoreThreads) -> None:
    assert (threads.replica_doubt, threads.lease_is_stale) == (None, False)


async def test_closing_waits_for_the_write_under_way(bench: StoreBench) -> None:
    threads = StoreThreads(bench.store("z"))
    writing = asyncio.create_task(threads.write(note))
    await asyncio.sleep(0)
    threads.close()
    await writing
    with bench.store("z").read() as snapshot:
        assert commits(snapshot) == 1


async def test_what_one_request_writes_is_one_change(threads: StoreThreads, store: Store) -> None:
    with note_writes() as spans:
        await threads.write(note)
        with note_writes():
            await threads.write(note)
        await threads.write(note)
    with store.read() as snapshot:
        changes = [whole_change(snapshot, snapshot.log.head_at(seq)) for seq in (1, 2, 3)]
    assert changes[0] == changes[2] == spans
    assert [(span.first, span.last.counter) for span in changes[1]] == [(2, 2)]
