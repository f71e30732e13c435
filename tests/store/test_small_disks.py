"""A disk that is really full, or really read-only: told in one line, nothing half-written, and it goes on.

Never stands in for the file system: it is a real one, of a few MiB.
"""

import asyncio
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from store import store as store_module
from store.file.errors import DiskFull, ReadOnlyDatabase, StoreError
from store.store import Store
from store.threads import StoreThreads
from store.transaction import EntityWrite, Transaction
from store.upkeep import backup
from tests.support.small_disk import SmallDisk, small_disk
from tests.support.stores import (
    StoreBench,
    assert_store_is_whole,
    entity_id,
    exchange,
    feed,
    log_and_state,
    write_entities,
)

MACHINE = b"m" * 16


def silent(stage: str, count: int, total: int) -> None:
    """Ignore progress."""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with small_disk(tmp_path / "small", 4) as mounted:
        yield mounted


@pytest.fixture
def store(disk: SmallDisk, bench: StoreBench) -> Store:
    new_store = bench.store("a", disk.path / "a.db", MACHINE)
    write_entities(new_store, 2)
    return new_store


def much(store: Store, kib: int = 8192) -> None:
    with store.write() as tx:
        for number in range(kib // 64):
            tx.commit([EntityWrite(entity_id(100 + number), "entry", {"text": "x" * 65_000})])


def until_full(store: Store, use: Callable[[], object]) -> tuple[Any, ...]:
    """Write until there is no room; return what stood after the last write that there was room for."""
    for _ in range(100):
        before = log_and_state(store)
        try:
            use()
        except DiskFull:
            return before
    raise AssertionError("the disk never filled")


def sound(store: Store) -> None:
    with store.read() as snapshot:
        assert_store_is_whole(snapshot)
        assert snapshot.db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def one_line(error: pytest.ExceptionInfo[StoreError], path: Path) -> None:
    assert str(path) in str(error.value)
    assert len(str(error.value).splitlines()) == 1
    assert error.value.hint


def test_a_write_that_fills_the_disk_is_undone_and_the_store_goes_on(store: Store):
    before = log_and_state(store)
    for _ in range(3):
        with pytest.raises(DiskFull) as error:
            much(store)
        one_line(error, store.path)
        assert log_and_state(store) == before
    write_entities(store, 1)
    sound(store)


def test_a_full_disk_refuses_writes_serves_reads_and_goes_on_once_there_is_room(
    store: Store, disk: SmallDisk
):
    disk.fill()
    before = until_full(store, lambda: much(store, 64))
    assert log_and_state(store) == before
    disk.remove_filler()
    write_entities(store, 1)
    sound(store)
    assert not store.lease_is_stale


def test_a_page_from_a_peer_that_does_not_fit_is_taken_whole_later(
    store: Store, disk: SmallDisk, bench: StoreBench
):
    peer = bench.store("b")
    much(peer, 1024)
    page = feed(peer)
    disk.fill(leave_bytes=1 << 19)
    before = log_and_state(store)
    with pytest.raises(DiskFull), store.write() as tx:
        tx.accept_page(page)
    assert log_and_state(store) == before
    disk.remove_filler()
    exchange(peer, store)
    exchange(store, peer)
    assert log_and_state(store)[:3] == log_and_state(peer)[:3]
    sound(store)


@pytest.mark.parametrize("apart", [False, True])
def test_a_checkpoint_without_room_loses_nothing(
    store: Store, disk: SmallDisk, bench: StoreBench, apart: bool
):
    if apart:
        store.defer_wal_write_back()
    with store.read() as reading:
        # As long as somebody reads, the wal grows and nothing is written back.
        reading.feed_end()
        for number in range(12):
            with store.write() as tx:
                tx.commit([EntityWrite(entity_id(300 + number), "entry", {"text": "y" * 60_000})])
    disk.fill()

    # The next commits, and the end, would write back what is in the wal.
    def grow_and_tend() -> None:
        write_entities(store, 1)
        store.write_back_wal()

    stored_commits = until_full(store, grow_and_tend)
    assert log_and_state(store) == stored_commits
    store.close()
    disk.remove_filler()
    again = bench.store("a", disk.path / "a.db", MACHINE)
    assert (again.doubt, log_and_state(again)) == (None, stored_commits)
    write_entities(again, 1)
    sound(again)


async def test_a_checkpoint_that_fails_is_told_once_and_what_was_committed_stands(
    store: Store, disk: SmallDisk, bench: StoreBench, monkeypatch
):
    monkeypatch.setattr(store_module, "WAL_PAGES", 10)
    observed: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: observed.append(context))
    threads = StoreThreads(store)
    with store.read() as reading:
        # As long as somebody reads, nothing is written back, and that is no fault.
        reading.feed_end()
        for number in range(6):
            await threads.write(partial(write_entry, number))
        assert not await events_after_write(threads, observed)
    for number in range(3):
        # Room for the commit, not for what is to be written back.
        disk.fill(leave_bytes=100_000)
        await threads.write(partial(write_entry, number, text=""))
        assert await threads.read(lambda snapshot: snapshot.counts().commits) == 9 + number
        (fields,) = await events_after_write(threads, observed)
        assert "no space left" in fields["message"]
        disk.remove_filler()
    await threads.write(partial(write_entry, 3, text=""))
    before = log_and_state(store)
    threads.close()
    again = bench.store("a", disk.path / "a.db", MACHINE)
    assert (again.doubt, log_and_state(again)) == (None, before)
    sound(again)


def write_entry(number: int, tx: Transaction, text: str = "y" * 60_000) -> None:
    tx.commit([EntityWrite(entity_id(300 + number), "entry", {"text": text})])


async def events_after_write(threads: StoreThreads, observed: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what was told once the writer is done with all that was asked of it."""
    await threads.write(lambda tx: None)
    return observed


def test_a_read_only_disk_is_told_at_the_start(store: Store, disk: SmallDisk, bench: StoreBench):
    store.close()
    before = store.path.read_bytes()
    disk.make_read_only()
    with pytest.raises(ReadOnlyDatabase) as error:
        bench.store("a", store.path, MACHINE)
    one_line(error, store.path)
    assert store.path.read_bytes() == before


def test_a_full_disk_is_told_at_the_start_and_the_lease_is_not_lost(
    store: Store, disk: SmallDisk, bench: StoreBench
):
    with store.read() as snapshot:
        replica = snapshot.replica
    store.close()
    disk.fill()
    with pytest.raises(DiskFull) as error:
        bench.store("a", store.path, MACHINE)
    one_line(error, disk.path)
    disk.remove_filler()
    again = bench.store("a", store.path, MACHINE)
    assert again.doubt is None
    assert write_entities(again, 1)[0].replica == replica


def test_a_backup_that_does_not_fit_leaves_nothing_behind(store: Store, disk: SmallDisk, bench: StoreBench):
    large = bench.store("b")
    much(large)
    with pytest.raises(DiskFull) as error:
        backup.write_backup(large.path, disk.path / "b.backup", silent)
    one_line(error, disk.path)
    assert not [path for path in disk.path.iterdir() if "backup" in path.name]
    write_entities(store, 1)


def test_a_restore_that_does_not_fit_leaves_the_journal_as_it_was(
    store: Store, disk: SmallDisk, bench: StoreBench, tmp_path: Path
):
    large = bench.store("b")
    much(large)
    backup.write_backup(large.path, tmp_path / "b.backup", silent)
    store.close()
    before = store.path.read_bytes()
    working = backup.working_copy_path(store.path)
    with pytest.raises(DiskFull):
        backup.prepare_copy(tmp_path / "b.backup", working, silent, folds_anew=True)
    backup.discard_unfinished(working)
    assert store.path.read_bytes() == before
    assert bench.store("a", store.path, MACHINE).doubt is None
