"""The watchdog is fed while event loop and writer live, through long transactions too, and not otherwise.

Never waits for a watchdog's real limit.
"""

import asyncio
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon import sd_notify
from daemon.app.watchdog import WORK_MAX_S, WriterPulse, feed_watchdog
from store.threads import StoreThreads
from store.transaction import Transaction
from tests.support.fleet import Fleet
from tests.support.patience import LIMIT_S

AT_ONCE_S = 0.01
ASLEEP, AT_THE_DISK = "S", "D"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[StoreThreads]:
    home = Fleet(tmp_path).home("a")
    yield home.threads()
    home.close()


class _Job:
    """A transaction that lasts until it is ended."""

    def __init__(self) -> None:
        self.begun, self.end = threading.Event(), threading.Event()
        self.computed = threading.Semaphore(0)

    def wait(self, tx: Transaction) -> None:
        del tx
        self.begun.set()
        assert self.end.wait(LIMIT_S)

    def compute(self, tx: Transaction) -> None:
        del tx
        self.begun.set()
        while not self.end.is_set():
            until_s = time.thread_time() + 0.05
            while time.thread_time() < until_s:
                pass
            self.computed.release()


def stat_of(thread_id: int, state: str) -> str:
    """Return what a thread with an odd name looks like, which computes nothing."""
    return f"{thread_id} (a) thread) {state} {'0 ' * 10}7 0 0 0"


async def test_a_writer_with_nothing_to_do_answers(store: StoreThreads) -> None:
    pulse = WriterPulse(store)
    assert [await pulse.beats(LIMIT_S) for _ in range(3)] == [True] * 3


async def test_a_writer_that_computes_in_a_long_transaction_is_alive_and_answers_after_it(
    store: StoreThreads,
) -> None:
    pulse, job = WriterPulse(store), _Job()
    writing = asyncio.create_task(store.write(job.compute))
    assert await asyncio.to_thread(job.begun.wait, LIMIT_S)
    for _ in range(3):
        # A processor's time counts in hundredths of a second.
        assert await asyncio.to_thread(job.computed.acquire, True, LIMIT_S)
        assert await asyncio.to_thread(job.computed.acquire, True, LIMIT_S)
        assert await pulse.beats(AT_ONCE_S)
    job.end.set()
    await writing
    assert await pulse.beats(LIMIT_S)


async def test_a_writer_that_waits_for_what_never_comes_is_stuck(store: StoreThreads) -> None:
    pulse, job = WriterPulse(store), _Job()
    writing = asyncio.create_task(store.write(job.wait))
    assert await asyncio.to_thread(job.begun.wait, LIMIT_S)
    await pulse.beats(AT_ONCE_S)
    assert not await pulse.beats(AT_ONCE_S)
    job.end.set()
    await writing
    assert await pulse.beats(LIMIT_S)


async def test_who_waits_for_the_disk_is_alive_but_not_for_ever(store: StoreThreads) -> None:
    now_s = [0.0]
    states = [ASLEEP]
    pulse = WriterPulse(store, lambda: now_s[0], lambda thread_id: stat_of(thread_id, states[-1]))
    job = _Job()
    writing = asyncio.create_task(store.write(job.wait))
    assert await asyncio.to_thread(job.begun.wait, LIMIT_S)
    await pulse.beats(AT_ONCE_S)
    assert not await pulse.beats(AT_ONCE_S)
    states.append(AT_THE_DISK)
    assert await pulse.beats(AT_ONCE_S)
    now_s[0] = WORK_MAX_S - 1
    assert await pulse.beats(AT_ONCE_S)
    now_s[0] = WORK_MAX_S
    assert not await pulse.beats(AT_ONCE_S)
    job.end.set()
    await writing


async def test_the_watchdog_is_fed_after_each_answer_and_hungry_while_the_writer_is_stuck(
    store: StoreThreads,
) -> None:
    job, fed = _Job(), list[str]()
    looks = asyncio.Queue[float]()
    going_on = asyncio.Semaphore(0)

    async def pause(pause_s: float) -> None:
        looks.put_nowait(pause_s)
        await going_on.acquire()

    async def look() -> None:
        going_on.release()
        await looks.get()

    feeding = asyncio.create_task(feed_watchdog(store, 0.1, fed.append, pause))
    assert await looks.get() == 0.05
    assert fed == []
    await look()
    assert fed == [sd_notify.ALIVE]
    writing = asyncio.create_task(store.write(job.wait))
    assert await asyncio.to_thread(job.begun.wait, LIMIT_S)
    await look()
    before = len(fed)
    await look()
    await look()
    assert len(fed) == before
    job.end.set()
    await writing
    await look()
    assert len(fed) == before + 1
    feeding.cancel()


@pytest.mark.parametrize("stat", ["", "1 (a", "1 (a) S many words and no ticks in any of them", None])
async def test_a_writer_that_cannot_be_watched_counts_as_busy_but_not_for_ever(
    store: StoreThreads, stat: str | None
) -> None:
    def thread_stat(thread_id: int) -> str:
        del thread_id
        if stat is None:
            raise PermissionError
        return stat

    now_s = [0.0]
    pulse, job = WriterPulse(store, lambda: now_s[0], thread_stat), _Job()
    writing = asyncio.create_task(store.write(job.wait))
    assert await asyncio.to_thread(job.begun.wait, LIMIT_S)
    try:
        for _ in range(3):
            assert await pulse.beats(AT_ONCE_S)
        now_s[0] = WORK_MAX_S
        assert not await pulse.beats(AT_ONCE_S)
    finally:
        job.end.set()
    await writing
    assert await pulse.beats(LIMIT_S)


async def test_a_store_that_is_being_closed_counts_as_busy_but_not_for_ever(store: StoreThreads) -> None:
    now_s = [0.0]
    pulse, job = WriterPulse(store, lambda: now_s[0]), _Job()
    writing = asyncio.create_task(store.write(job.compute))
    assert await asyncio.to_thread(job.begun.wait, LIMIT_S)
    assert await asyncio.to_thread(job.computed.acquire, True, LIMIT_S)
    ending = asyncio.create_task(asyncio.to_thread(store.end_threads))
    job.end.set()
    await writing
    await ending
    assert await pulse.beats(AT_ONCE_S)
    now_s[0] = WORK_MAX_S - 1
    assert await pulse.beats(AT_ONCE_S)
    now_s[0] = WORK_MAX_S
    assert not await pulse.beats(AT_ONCE_S)


async def test_a_fault_of_the_watchdog_itself_ends_no_honest_work(
    store: StoreThreads, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(pulse: WriterPulse, answer_within_s: float) -> bool:
        raise ArithmeticError

    monkeypatch.setattr(WriterPulse, "beats", fail)
    fed = asyncio.Queue[str]()
    feeding = asyncio.create_task(feed_watchdog(store, 0.01, fed.put_nowait))
    for _ in range(3):
        assert await asyncio.wait_for(fed.get(), LIMIT_S) == sd_notify.ALIVE
    feeding.cancel()


@pytest.mark.parametrize(
    ("environment", "limit_s"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "60000000"}, 60.0),
        ({"WATCHDOG_USEC": "60000000", "WATCHDOG_PID": str(os.getpid())}, 60.0),
        ({"WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "1"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
        ({"WATCHDOG_USEC": "-5"}, None),
    ],
)
def test_only_the_process_that_is_watched_feeds(environment: dict[str, str], limit_s: float | None) -> None:
    assert sd_notify.watchdog_limit_s(environment) == limit_s
