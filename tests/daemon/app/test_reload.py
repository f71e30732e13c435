"""A reload waits for the write that goes on, and its watchdog is fed meanwhile.

Never waits for time to pass, but where something must not happen: then a slow machine fails nothing.
"""

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from daemon import sd_notify
from daemon.app.run import Run
from daemon.clock import SystemClock
from daemon.config import ListenSettings, LoadedSettings, MdnsSettings, Settings, WebSettings
from daemon.paths import Paths, make_folders
from store.threads import StoreThreads
from store.transaction import EntityWrite, Transaction
from tests.support.patience import LIMIT_S

SETTINGS = LoadedSettings(
    Settings(
        listen=ListenSettings(host="127.0.0.1"),
        mdns=MdnsSettings(enabled=False),
        web=WebSettings(enabled=False),
    ),
    {},
)
NOT_WITHIN_S = 0.2


@pytest.fixture
async def run(tmp_path: Path) -> AsyncIterator[Run]:
    paths = Paths(str(tmp_path), str(tmp_path), str(tmp_path))
    make_folders(paths)
    run = Run(paths, SystemClock(), None)
    await run.start(SETTINGS)
    yield run
    await run.stop()


class _HeldWrite:
    """A write that lasts until it is ended."""

    def __init__(self) -> None:
        self.begun, self.end = threading.Event(), threading.Event()

    def use(self, tx: Transaction) -> None:
        self.begun.set()
        assert self.end.wait(3)
        write_task(tx)


def write_task(tx: Transaction) -> None:
    tx.commit([EntityWrite(tx.new_id(), "task", {"title": "Held", "status": "OPEN"})])


async def closing(store: StoreThreads) -> None:
    """Wait until a store takes nothing more."""
    while True:
        try:
            _question = store.ask_writer()
        except RuntimeError:
            return
        await asyncio.sleep(0)


async def test_the_store_is_not_opened_again_beside_a_write_that_goes_on(run: Run) -> None:
    before, write = run.daemon.store, _HeldWrite()
    writing = asyncio.create_task(before.write(write.use))
    assert await asyncio.to_thread(write.begun.wait, LIMIT_S)
    stopping = asyncio.create_task(run.stop_for_next())
    await closing(before)
    await asyncio.wait({stopping}, timeout=NOT_WITHIN_S)
    is_stopped = stopping.done()
    write.end.set()
    assert not is_stopped
    await writing
    await stopping
    await run.start(SETTINGS)
    assert run.daemon.store.replica_doubt is None
    assert run.daemon.store.feed_end == before.feed_end
    await run.daemon.store.write(write_task)
    await run.stop_for_next()
    await run.start(SETTINGS)
    assert run.daemon.store.replica_doubt is None


async def test_the_watchdog_is_fed_until_the_next_has_started(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    fed = asyncio.Queue[str]()
    monkeypatch.setattr(sd_notify, "watchdog_limit_s", lambda: 0.02)
    monkeypatch.setattr("daemon.app.run.notify_systemd", fed.put_nowait)
    await run.stop_for_next()
    await run.start(SETTINGS)
    assert await asyncio.wait_for(fed.get(), LIMIT_S) == sd_notify.ALIVE
    await run.stop_for_next()
    while not fed.empty():
        fed.get_nowait()
    for _ in range(3):
        assert await asyncio.wait_for(fed.get(), LIMIT_S) == sd_notify.ALIVE
    await run.start(SETTINGS)
    assert await asyncio.wait_for(fed.get(), LIMIT_S) == sd_notify.ALIVE
