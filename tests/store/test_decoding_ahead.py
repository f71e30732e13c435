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

from store.file.errors import DiskFull
from store.sentence import foreign_text
from store.store import Store
from store.threads import StoreThreads
from store.transaction import AcceptedPage, Transaction
from syncproto.commit import DecodedCommit, SignedCommit
from syncproto.errors import RemoteProtocolError
from tests.support.patience import LIMIT_S
from tests.support.stores import StoreBench, feed, write_entities

PAGES, COMMITS = 6, 5


@pytest.fixture
def pages(bench: StoreBench) -> list[list[SignedCommit]]:
    other = bench.store("other")
    write_entities(other, PAGES * COMMITS)
    commits = feed(other)
    return [commits[index : index + COMMITS] for index in range(0, len(commits), COMMITS)]


@pytest_asyncio.fixture
async def threads(bench: StoreBench) -> AsyncIterator[StoreThreads]:
    store_threads = StoreThreads(bench.store("a"))
    yield store_threads
    store_threads.close()


def take(transaction: Transaction, page: Sequence[DecodedCommit]) -> AcceptedPage:
    return transaction.accept_decoded_page(page)


def commit_count(threads: StoreThreads) -> int:
    return threads.read_now(lambda snapshot: snapshot.counts().commits)


def objects() -> int:
    return sum(isinstance(object_, DecodedCommit) for object_ in gc.get_objects())


class Held:
    """A transaction that waits in the middle until it may go on."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.begun = asyncio.Event()
        self.goes_on = threading.Event()
        self._fault = fault
        self._loop = asyncio.get_running_loop()

    def __call__(self, transaction: Transaction, page: Sequence[DecodedCommit] = ()) -> AcceptedPage:
        accepted_page = transaction.accept_decoded_page(page)
        self._loop.call_soon_threadsafe(self.begun.set)
        assert self.goes_on.wait(LIMIT_S)
        if self._fault is not None:
            raise self._fault
        return accepted_page


async def test_pages_are_taken_in_the_order_of_the_calls(threads: StoreThreads, pages: Any) -> None:
    accepted_pages = await asyncio.gather(*(threads.accept_page(page, take) for page in pages))
    assert [accepted_page.new_commits for accepted_page in accepted_pages] == [COMMITS] * PAGES
    assert commit_count(threads) == PAGES * COMMITS


async def test_no_more_than_two_pages_are_held_as_objects_whoever_brings_them(
    threads: StoreThreads, pages: Any
) -> None:
    before, slow = objects(), Held()
    first = threads.accept_page(pages[0], slow)
    rest = [threads.accept_page(page, take) for page in pages[1:]]
    await slow.begun.wait()
    # The thread that reads ahead has done what it may: it waits for the writer.
    while objects() - before < 2 * COMMITS:  # noqa: ASYNC110 - what another thread reads tells nobody
        await asyncio.sleep(0.001)
    assert objects() - before == 2 * COMMITS
    slow.goes_on.set()
    await asyncio.gather(first, *rest)
    assert commit_count(threads) == PAGES * COMMITS


async def test_a_page_that_is_called_off_before_its_turn_is_not_taken(
    threads: StoreThreads, pages: Any
) -> None:
    slow = Held()
    first = threads.accept_page(pages[0], slow)
    second, third = threads.accept_page(pages[1], take), threads.accept_page(pages[2], take)
    await slow.begun.wait()
    third.cancel()
    slow.goes_on.set()
    await asyncio.gather(first, second)
    await threads.write(lambda _: None)
    assert commit_count(threads) == 2 * COMMITS
    # Whatever was called off, those that come next have their turn.
    assert (await threads.accept_page(pages[2], take)).new_commits == COMMITS


async def test_a_page_that_was_begun_is_taken_and_told_though_nobody_waits(
    threads: StoreThreads, pages: Any
) -> None:
    event, slow = asyncio.Event(), Held()
    threads.on_commit.append(event.set)
    first = threads.accept_page(pages[0], slow)
    await slow.begun.wait()
    first.cancel()
    slow.goes_on.set()
    await event.wait()
    assert commit_count(threads) == COMMITS


async def test_a_bad_page_costs_itself_alone(threads: StoreThreads, pages: Any) -> None:
    broken = [SignedCommit(b"\xc0", pages[1][0].signature)]
    slow = Held()
    first = threads.accept_page(pages[0], slow)
    second, third = threads.accept_page(broken, take), threads.accept_page(pages[1], take)
    slow.goes_on.set()
    await first
    with pytest.raises(RemoteProtocolError):
        await second
    assert (await third).new_commits == COMMITS


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
        waiting = threads.accept_page(pages[0], slow) if ahead else None
        failing = Held(RemoteProtocolError("on purpose"))
        failing.goes_on.set()
        bad = threads.accept_page(pages[1 if ahead else 0], failing)
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
    observed: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: observed.append(context))
    slow = Held(DiskFull(foreign_text("no space left")))
    first = threads.accept_page(pages[0], slow)
    await slow.begun.wait()
    first.cancel()
    slow.goes_on.set()
    await threads.write(lambda _: None)
    assert [str(fields["exception"]) for fields in observed] == ["no space left"]


async def test_a_page_that_failed_and_is_asked_for_by_nobody_is_not_complained_about(
    threads: StoreThreads, pages: Any
) -> None:
    observed: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: observed.append(context))
    orphan = threads.accept_page([SignedCommit(b"\xc0", b"")], take)
    await threads.accept_page(pages[0], take)
    assert orphan.done()
    del orphan
    gc.collect()
    assert observed == []


async def test_closing_lets_go_of_pages_that_wait(bench: StoreBench, pages: Any) -> None:
    store: Store = bench.store("b")
    store_threads, slow, waiting = StoreThreads(store), Held(), list[asyncio.Future[AcceptedPage]]()
    for page in pages:
        waiting.append(store_threads.accept_page(page, slow))
    await slow.begun.wait()
    slow.goes_on.set()
    store_threads.close()
