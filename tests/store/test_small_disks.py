"""A disk that is really full, or really read-only: told in one line, nothing half-written, and it goes on.

Never stands in for the file system: it is a real one, of a few MiB.
"""

import asyncio
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from store import backup
from store import store as store_module
from store.faults import DiskFull, ReadOnlyDatabase, StoreError
from store.store import Store
from store.threads import StoreThreads
from store.transaction import Transaction, Write
from tests.mounts import SmallDisk, small_disk
from tests.store.stores import Bench, entity_id, exchange, feed, grow, stands
from tests.store.test_durability import whole

MACHINE = b"m" * 16


def silent(stage: str, done: int, of: int) -> None:
    """Hear of progress, and tell nobody."""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with small_disk(tmp_path / "small", 4) as made:
        yield made


@pytest.fixture
def store(disk: SmallDisk, bench: Bench) -> Store:
    made = bench.store("a", disk.path / "a.db", MACHINE)
    grow(made, 2)
    return made


def much(store: Store, kib: int = 8192) -> None:
    with store.write() as tx:
        for number in range(kib // 64):
            tx.commit([Write(entity_id(100 + number), "entry", {"text": "x" * 65_000})])


def until_full(store: Store, use: Callable[[], object]) -> tuple[Any, ...]:
    """Write until there is no room; return what stood after the last write that there was room for."""
    for _ in range(100):
        held = stands(store)
        try:
            use()
        except DiskFull:
            return held
    raise AssertionError("the disk never filled")


def sound(store: Store) -> None:
    with store.read() as snapshot:
        whole(snapshot)
        assert snapshot.db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def one_line(caught: pytest.ExceptionInfo[StoreError], path: Path) -> None:
    assert str(path) in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
    assert caught.value.hint


def test_a_write_that_fills_the_disk_is_undone_and_the_store_goes_on(store: Store):
    before = stands(store)
    for _ in range(3):
        with pytest.raises(DiskFull) as caught:
            much(store)
        one_line(caught, store.path)
        assert stands(store) == before
    grow(store, 1)
    sound(store)


def test_a_full_disk_refuses_writes_serves_reads_and_goes_on_once_there_is_room(
    store: Store, disk: SmallDisk
):
    disk.fill()
    before = until_full(store, lambda: much(store, 64))
    assert stands(store) == before
    disk.make_room()
    grow(store, 1)
    sound(store)
    assert not store.lease_is_stale


def test_a_page_from_a_peer_that_does_not_fit_is_taken_whole_later(
    store: Store, disk: SmallDisk, bench: Bench
):
    peer = bench.store("b")
    much(peer, 1024)
    page = feed(peer)
    disk.fill(leave_bytes=1 << 19)
    before = stands(store)
    with pytest.raises(DiskFull), store.write() as tx:
        tx.take(page)
    assert stands(store) == before
    disk.make_room()
    exchange(peer, store)
    exchange(store, peer)
    assert stands(store)[:3] == stands(peer)[:3]
    sound(store)


@pytest.mark.parametrize("apart", [False, True])
def test_a_checkpoint_without_room_loses_nothing(store: Store, disk: SmallDisk, bench: Bench, apart: bool):
    if apart:
        store.tend_apart()
    with store.read() as reading:
        # As long as somebody reads, the wal grows and nothing is written back.
        reading.feed_end()
        for number in range(12):
            with store.write() as tx:
                tx.commit([Write(entity_id(300 + number), "entry", {"text": "y" * 60_000})])
    disk.fill()

    # The next commits, and the end, would write back what is in the wal.
    def grow_and_tend() -> None:
        grow(store, 1)
        store.tend()

    held = until_full(store, grow_and_tend)
    assert stands(store) == held
    store.close()
    disk.make_room()
    again = bench.store("a", disk.path / "a.db", MACHINE)
    assert (again.doubt, stands(again)) == (None, held)
    grow(again, 1)
    sound(again)


async def test_a_checkpoint_that_fails_is_told_once_and_what_was_committed_stands(
    store: Store, disk: SmallDisk, bench: Bench, monkeypatch
):
    monkeypatch.setattr(store_module, "WAL_PAGES", 10)
    seen: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: seen.append(context))
    threads = StoreThreads(store)
    with store.read() as reading:
        # As long as somebody reads, nothing is written back, and that is no fault.
        reading.feed_end()
        for number in range(6):
            await threads.write(partial(write_entry, number))
        assert not await told(threads, seen)
    for number in range(3):
        # Room for the commit, not for what is to be written back.
        disk.fill(leave_bytes=100_000)
        await threads.write(partial(write_entry, number, text=""))
        assert await threads.read(lambda snapshot: snapshot.counts().commits) == 9 + number
        (said,) = await told(threads, seen)
        assert "no space left" in said["message"]
        disk.make_room()
    await threads.write(partial(write_entry, 3, text=""))
    held = stands(store)
    threads.close()
    again = bench.store("a", disk.path / "a.db", MACHINE)
    assert (again.doubt, stands(again)) == (None, held)
    sound(again)


def write_entry(number: int, tx: Transaction, text: str = "y" * 60_000) -> None:
    tx.commit([Write(entity_id(300 + number), "entry", {"text": text})])


async def told(threads: StoreThreads, seen: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what was told once the writer is done with all that was asked of it."""
    await threads.write(lambda tx: None)
    return seen


def test_a_read_only_disk_is_told_at_the_start(store: Store, disk: SmallDisk, bench: Bench):
    store.close()
    before = store.path.read_bytes()
    disk.make_read_only()
    with pytest.raises(ReadOnlyDatabase) as caught:
        bench.store("a", store.path, MACHINE)
    one_line(caught, store.path)
    assert store.path.read_bytes() == before


def test_a_full_disk_is_told_at_the_start_and_the_lease_is_not_lost(
    store: Store, disk: SmallDisk, bench: Bench
):
    with store.read() as snapshot:
        replica = snapshot.replica
    store.close()
    disk.fill()
    with pytest.raises(DiskFull) as caught:
        bench.store("a", store.path, MACHINE)
    one_line(caught, disk.path)
    disk.make_room()
    again = bench.store("a", store.path, MACHINE)
    assert again.doubt is None
    assert grow(again, 1)[0].replica == replica


def test_a_backup_that_does_not_fit_leaves_nothing_behind(store: Store, disk: SmallDisk, bench: Bench):
    large = bench.store("b")
    much(large)
    with pytest.raises(DiskFull) as caught:
        backup.write_backup(large.path, disk.path / "b.backup", silent)
    one_line(caught, disk.path)
    assert not [one for one in disk.path.iterdir() if "backup" in one.name]
    grow(store, 1)


def test_a_restore_that_does_not_fit_leaves_the_journal_as_it_was(
    store: Store, disk: SmallDisk, bench: Bench, tmp_path: Path
):
    large = bench.store("b")
    much(large)
    backup.write_backup(large.path, tmp_path / "b.backup", silent)
    store.close()
    before = store.path.read_bytes()
    working = backup.working_copy(store.path)
    with pytest.raises(DiskFull):
        backup.prepare(tmp_path / "b.backup", working, silent)
    backup.discard(working)
    assert store.path.read_bytes() == before
    assert bench.store("a", store.path, MACHINE).doubt is None
