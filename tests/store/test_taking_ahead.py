"""Pages are read beside the writing of the one before: in order, few at once, and nothing left behind.

Never sleeps: every wait is for an event.
"""

import asyncio
import gc
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
import pytest_asyncio

from store.faults import DiskFull
from store.store import Store
from store.threads import StoreThreads
from store.transaction import Taken, Transaction
from syncproto.commit import Received, SignedCommit
from syncproto.faults import RemoteProtocolError
from tests.store.stores import Bench, feed, grow

PAGES, COMMITS = 6, 5


@pytest.fixture
def pages(bench: Bench) -> list[list[SignedCommit]]:
    other = bench.store("other")
    grow(other, PAGES * COMMITS)
    held = feed(other)
    return [held[at : at + COMMITS] for at in range(0, len(held), COMMITS)]


@pytest_asyncio.fixture
async def threads(bench: Bench) -> AsyncIterator[StoreThreads]:
    made = StoreThreads(bench.store("a"))
    yield made
    made.close()


def take(transaction: Transaction, page: Sequence[Received]) -> Taken:
    return transaction.take_read(page)


def held(threads: StoreThreads) -> int:
    return threads.read_now(lambda snapshot: snapshot.counts().commits)


def objects() -> int:
    return sum(isinstance(one, Received) for one in gc.get_objects())


class Held:
    """A transaction that waits in the middle until it may go on."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.begun = asyncio.Event()
        self.goes_on = threading.Event()
        self._fault = fault
        self._loop = asyncio.get_running_loop()

    def __call__(self, transaction: Transaction, page: Sequence[Received] = ()) -> Taken:
        taken = transaction.take_read(page)
        self._loop.call_soon_threadsafe(self.begun.set)
        assert self.goes_on.wait(10)
        if self._fault is not None:
            raise self._fault
        return taken


async def test_pages_are_taken_in_the_order_of_the_calls(threads: StoreThreads, pages: Any) -> None:
    taken = await asyncio.gather(*(threads.take(page, take) for page in pages))
    assert [one.new for one in taken] == [COMMITS] * PAGES
    assert held(threads) == PAGES * COMMITS


async def test_no_more_than_two_pages_are_held_as_objects_whoever_brings_them(
    threads: StoreThreads, pages: Any
) -> None:
    before, slow = objects(), Held()
    first = threads.take(pages[0], slow)
    rest = [threads.take(page, take) for page in pages[1:]]
    await slow.begun.wait()
    # The thread that reads ahead has done what it may: it waits for the writer.
    while objects() - before < 2 * COMMITS:  # noqa: ASYNC110 - what another thread reads tells nobody
        await asyncio.sleep(0.001)
    assert objects() - before == 2 * COMMITS
    slow.goes_on.set()
    await asyncio.gather(first, *rest)
    assert held(threads) == PAGES * COMMITS


async def test_a_page_that_is_called_off_before_its_turn_is_not_taken(
    threads: StoreThreads, pages: Any
) -> None:
    slow = Held()
    first = threads.take(pages[0], slow)
    second, third = threads.take(pages[1], take), threads.take(pages[2], take)
    await slow.begun.wait()
    third.cancel()
    slow.goes_on.set()
    await asyncio.gather(first, second)
    await threads.write(lambda _: None)
    assert held(threads) == 2 * COMMITS
    # Whatever was called off, those that come next have their turn.
    assert (await threads.take(pages[2], take)).new == COMMITS


async def test_a_page_that_was_begun_is_taken_and_told_though_nobody_waits(
    threads: StoreThreads, pages: Any
) -> None:
    told, slow = asyncio.Event(), Held()
    threads.on_commit.append(told.set)
    first = threads.take(pages[0], slow)
    await slow.begun.wait()
    first.cancel()
    slow.goes_on.set()
    await told.wait()
    assert held(threads) == COMMITS


async def test_a_bad_page_costs_itself_alone(threads: StoreThreads, pages: Any) -> None:
    broken = [SignedCommit(b"\xc0", pages[1][0].signature)]
    slow = Held()
    first = threads.take(pages[0], slow)
    second, third = threads.take(broken, take), threads.take(pages[1], take)
    slow.goes_on.set()
    await first
    with pytest.raises(RemoteProtocolError):
        await second
    assert (await third).new == COMMITS


@contextmanager
def without_the_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@pytest.mark.parametrize("ahead", [False, True])
async def test_a_page_that_fails_is_let_go_of_at_once(
    threads: StoreThreads, pages: Any, *, ahead: bool
) -> None:
    with without_the_collector():
        before = objects()
        slow = Held()
        waiting = threads.take(pages[0], slow) if ahead else None
        failing = Held(RemoteProtocolError("on purpose"))
        failing.goes_on.set()
        bad = threads.take(pages[1 if ahead else 0], failing)
        slow.goes_on.set()
        if waiting is not None:
            await waiting
        with pytest.raises(RemoteProtocolError):
            await bad
        del bad, waiting
        await threads.write(lambda _: None)
        await threads.write(lambda _: None)
        assert objects() == before


async def test_a_fault_that_nobody_waits_for_any_more_is_logged(threads: StoreThreads, pages: Any) -> None:
    seen: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: seen.append(context))
    slow = Held(DiskFull("no space left"))
    first = threads.take(pages[0], slow)
    await slow.begun.wait()
    first.cancel()
    slow.goes_on.set()
    await threads.write(lambda _: None)
    assert [str(one["exception"]) for one in seen] == ["no space left"]


async def test_a_page_that_failed_and_is_asked_for_by_nobody_is_not_complained_about(
    threads: StoreThreads, pages: Any
) -> None:
    seen: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: seen.append(context))
    orphan = threads.take([SignedCommit(b"\xc0", b"")], take)
    await threads.take(pages[0], take)
    assert orphan.done()
    del orphan
    gc.collect()
    assert seen == []


async def test_closing_lets_go_of_pages_that_wait(bench: Bench, pages: Any) -> None:
    store: Store = bench.store("b")
    made, slow, waiting = StoreThreads(store), Held(), list[asyncio.Future[Taken]]()
    for page in pages:
        waiting.append(made.take(page, slow))
    await slow.begun.wait()
    slow.goes_on.set()
    made.close()
