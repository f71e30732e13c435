"""A kill, a dying disk or a full one at every point of every kind of write: before or after, never between.

Never samples: each write is run again and again, the fault one point later each time, until it gets through.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import apsw
import pytest

from store.file import database, lease
from store.file.errors import StoreError
from store.store import Store
from store.transaction import EntityWrite
from store.upkeep import backup
from syncproto.commit import AuthorKind, SignedCommit
from tests.support.fault_points import (
    KILLED,
    FaultPoints,
    InjectedFault,
    fail_io,
    fill_up,
    in_child,
    kill,
    turn_read_only,
)
from tests.support.stores import (
    StoreBench,
    assert_store_is_whole,
    entity_id,
    exchange,
    feed,
    signer_of,
    write_entities,
)

MACHINE = b"m" * 16
ITEM = entity_id(77)
POINTS_MAX = 2000
MEMORY = "/dev/shm"

Change = Callable[[Store], None]


def silent(stage: str, count: int, total: int) -> None:
    """Ignore progress."""


# -- the kinds of writes -----------------------------------------------------------------------------------


def own_commit(store: Store) -> None:
    write_entities(store, 1)


def bulk(store: Store) -> None:
    with store.write() as tx:
        for number in range(3):
            tx.commit([EntityWrite(entity_id(50 + number), "entry", {"text": "x" * 5_000})])
            tx.set_watermark("page", number)


def verdict(store: Store) -> None:
    """Confirm what was proposed: the entities that it wrote are folded again."""
    with store.write() as tx:
        tx.commit(
            [EntityWrite(tx.new_id(), "decision", {"item_id": ITEM, "verdict": "confirmed", "seen": []})]
        )


def page_of_a_peer(page: list[SignedCommit]) -> Change:
    def take(store: Store) -> None:
        with store.write() as tx:
            assert tx.accept_page(page).new_commits == len(page)

    return take


class Scene:
    """A store as it was before a write, what the write makes of it, and what is seen in between."""

    def __init__(self, folder: Path, change: Change) -> None:
        self.folder, self.change = folder, change
        self.before, self.after = self._seen(None), self._seen(change)
        assert self.before != self.after

    def _fresh(self, name: str) -> Path:
        path = self.folder / name
        for suffix in ("", "-wal", "-shm"):
            path.with_name(name + suffix).unlink(missing_ok=True)
        shutil.copy(self.folder / "a.db", path)
        return path

    def _seen(self, change: Change | None) -> bytes:
        store = self.opened(self._fresh("seen.db"))
        if change is not None:
            change(store)
        raw = state(store)
        store.close()
        return raw

    def opened(self, path: Path) -> Store:
        bench = StoreBench(self.folder)
        bench._drawn = 1_000_000
        return bench.store("a", path)

    def run(self, index: int, fault: InjectedFault) -> tuple[int, Path]:
        """Make the write with a fault at one point, and close; return the exit status, and the file."""
        path = self._fresh("work.db")

        def run_change(points: FaultPoints) -> None:
            store = self.opened(path)
            points.counting = True
            try:
                self.change(store)
            except StoreError:
                # A fault that is no kill: it is told in words, and the store goes on at once.
                assert state(store) == self.before
                write_entities(store, 1)
                self.change(store)
            with suppress(apsw.Error):
                # SQLite keeps to itself what goes wrong with a checkpoint; apsw passes on what was raised.
                store.close()

        return in_child(run_change, index, fault, statements=fault is kill), path


def state(store: Store) -> bytes:
    """Return the state hash of a store that is whole."""
    with store.read() as snapshot:
        assert_store_is_whole(snapshot)
        assert [line for (line,) in snapshot.db.execute("PRAGMA integrity_check")] == ["ok"]
        return snapshot.state_hash()


@pytest.fixture
def bench() -> Iterator[StoreBench]:
    """Return what opens stores, in memory if possible: a thousand syncs are too slow on a disk."""
    with tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as folder:
        store_bench = StoreBench(Path(folder))
        yield store_bench
        store_bench.close()


@pytest.fixture
def scene(bench: StoreBench, request: pytest.FixtureRequest) -> Scene:
    """Make the scene of a write that the test names."""
    store, peer = bench.store("a"), bench.store("b")
    write_entities(store, 2)
    exchange(store, peer)
    with store.write() as tx:
        tx.commit(
            [EntityWrite(entity_id(1), "task", {"title": "proposed"}, effect=ITEM, by=AuthorKind.AGENT)]
        )
        tx.commit(
            [EntityWrite(entity_id(9), "entry", {"text": "proposed"}, effect=ITEM, by=AuthorKind.AGENT)]
        )
    with peer.write() as tx:
        for number in range(3):
            tx.commit([EntityWrite(entity_id(20 + number), "task", {"title": f"from the peer {number}"})])
    count = len(feed(store)) - 2
    page = feed(peer)[count:]
    for listed_store in (store, peer):
        listed_store.close()
    change: Change = page_of_a_peer(page) if request.param == "page" else request.param
    return Scene(bench.folder, change)


WRITES = pytest.mark.parametrize(
    "scene", [own_commit, bulk, verdict, "page"], indirect=True, ids=["own", "bulk", "verdict", "page"]
)


@WRITES
def test_a_kill_at_every_point_leaves_it_before_or_after(scene: Scene):
    observed = []
    for index in range(1, POINTS_MAX):
        status, path = scene.run(index, kill)
        if status == 2:
            break
        assert status == KILLED, index
        store = scene.opened(path)
        observed.append(state(store))
        assert observed[-1] in (scene.before, scene.after), index
        write_entities(store, 1)
        store.close()
    # Before it until it is durable, and never again.
    turn = observed.index(scene.after)
    assert 10 < turn < len(observed)
    assert set(observed[:turn]) == {scene.before}
    assert set(observed[turn:]) == {scene.after}


@WRITES
@pytest.mark.parametrize("fault", [fail_io, fill_up, turn_read_only])
def test_a_disk_that_fails_at_any_point_undoes_the_write_and_the_store_goes_on(
    scene: Scene, fault: InjectedFault
):
    for index in range(1, POINTS_MAX):
        status, path = scene.run(index, fault)
        if status == 2:
            break
        assert status == 0, index
        store = scene.opened(path)
        state(store)
        store.close()
    assert index > 5


# -- the rest ----------------------------------------------------------------------------------------------


def points(run: Callable[[FaultPoints], None], check: Callable[[int], None]) -> int:
    """Kill at each point in turn, and check after each; return how many there were."""
    for index in range(1, POINTS_MAX):
        status = in_child(run, index, kill, statements=True)
        if status == 2:
            return index - 1
        assert status == KILLED, index
        check(index)
    raise AssertionError("it never came to its end")


def test_a_kill_during_the_first_start_or_a_migration_leaves_the_old_schema_or_the_new(bench: StoreBench):
    path = bench.folder / "m.db"
    oldest, first = database._steps()[0]

    def older() -> None:
        for suffix in ("", "-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        with apsw.Connection(str(path)) as file:
            file.execute(f"PRAGMA application_id = {database.APPLICATION_ID}")
            file.execute("CREATE TABLE migration (number INTEGER PRIMARY KEY) STRICT")
            file.execute(first)
            file.execute("INSERT INTO migration VALUES (?)", (oldest,))
            file.execute("INSERT INTO watermark VALUES ('page', 7)")
        file.close()

    def run(points: FaultPoints) -> None:
        points.counting = True
        StoreBench(bench.folder).store("a", path).close()

    numbers = {number for number, _ in database._steps()}

    def check(index: int) -> None:
        file = apsw.Connection(str(path))
        applied = {number for (number,) in file.execute("SELECT number FROM migration")}
        file.close()
        assert applied in ({oldest}, numbers), index
        store = bench.store("a", path)
        with store.read() as snapshot:
            assert snapshot.watermark("page") == 7
        write_entities(store, 1)
        store.close()
        older()

    older()
    assert points(run, check) > 30


def test_a_kill_at_every_point_of_a_store_with_a_lease_costs_no_replica_and_no_counter(
    bench: StoreBench, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(lease, "RESERVED_COMMITS", 1)
    path = bench.folder / "l.db"
    first = bench.store("a", path, MACHINE)
    (head,) = write_entities(first, 1)
    first.close()
    drawn = 0

    def run(points: FaultPoints) -> None:
        inner = StoreBench(bench.folder)
        inner._drawn = drawn
        store = inner.store("a", path, MACHINE)
        points.counting = True
        write_entities(store, 2)
        store.close()

    def check(index: int) -> None:
        nonlocal drawn
        drawn += 1000
        store = bench.store("a", path, MACHINE)
        assert store.doubt is None, index
        with store.read() as snapshot:
            (only,) = snapshot.vector()
            assert only.replica == head.replica
            assert only.counter == snapshot.counts().commits
        state(store)
        store.close()

    assert points(run, check) > 40


def test_a_kill_at_every_point_of_a_backup_leaves_a_whole_one_or_none(bench: StoreBench):
    path, target = bench.folder / "a.db", bench.folder / "kept" / "a.backup"
    target.parent.mkdir()
    store = bench.store("a")
    write_entities(store, 3)
    before = state(store)
    store.close()
    result = []

    def run(points: FaultPoints) -> None:
        points.counting = True
        backup.write_backup(path, target, silent, b"sealed")

    def check(index: int) -> None:
        if target.exists():
            working = bench.folder / "check.db"
            assert backup.prepare_copy(target, working, silent, folds_anew=True).sealed_key == b"sealed"
            backup.discard_unfinished(working)
        result.append(target.exists())
        target.unlink(missing_ok=True)
        store = bench.store("a")
        assert state(store) == before
        store.close()

    assert points(run, check) > 50
    assert result == sorted(result)


def test_a_kill_at_every_point_of_a_restore_leaves_the_old_journal_or_the_new(bench: StoreBench):
    path, kept_path = bench.folder / "a.db", bench.folder / "kept"
    kept_path.mkdir()
    store = bench.store("a")
    (head, *_) = write_entities(store, 3)
    restored = state(store)
    store.close()
    backup.write_backup(path, kept_path / "a.backup", silent)
    store = bench.store("a")
    write_entities(store, 1)
    old = state(store)
    store.close()
    shutil.copy(path, kept_path / "old.db")
    observed = []

    def run(points: FaultPoints) -> None:
        working = backup.working_copy_path(path)
        points.counting = True
        backup.prepare_copy(kept_path / "a.backup", working, silent, folds_anew=True)
        backup.install_copy(working, path, signer_of("a").device, "now")

    def check(index: int) -> None:
        store = bench.store("a")
        observed.append(state(store))
        with store.read() as snapshot:
            assert (snapshot.replica is None) == (observed[-1] == restored), index
        assert (write_entities(store, 1)[0].replica == head.replica) == (observed[-1] == old), index
        store.close()
        for listed_path in bench.folder.glob("a.db*"):
            listed_path.unlink()
        shutil.copy(kept_path / "old.db", path)

    assert points(run, check) > 40
    turn = observed.index(restored)
    assert (set(observed[:turn]), set(observed[turn:])) == ({old}, {restored})
