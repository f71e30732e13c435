"""Backups and restores: one whole file while others write, and a new replica from it.

Never loses the journal that a restore replaces.
"""

import errno
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from store.file import database
from store.file.errors import DamagedDatabase, DiskFull, NewerDatabase, StoreError
from store.local.peer_records import Newcomer, add_pending_newcomer, pending_newcomers
from store.queries import device_stamps
from store.store import Store
from store.upkeep import backup
from store.upkeep.backup import DatabaseInUse, KeptFiles, NotABackup
from syncproto.hlc import Stamp
from tests.support.patience import LIMIT_S
from tests.support.stores import (
    NOW_MS,
    StoreBench,
    entity_id,
    exchange,
    feed,
    log_and_state,
    signer_of,
    write,
    write_entities,
)

DEVICE = signer_of("a").device
BACKUP = """
import sys
from pathlib import Path
from store.upkeep import backup
from tests.support.patience import LIMIT_S
backup.write_backup(*map(Path, sys.argv[1:]), lambda *seen: None)
"""


def silent(stage: str, count: int, total: int) -> None:
    """Ignore progress."""


def written_backup(bench: StoreBench, commits: int = 3, **by_name: bytes) -> tuple[Store, Path]:
    """Return a store with a few commits, still open, and a backup of it."""
    store, target = bench.store("a"), bench.folder / "a.backup"
    write_entities(store, commits)
    backup.write_backup(store.path, target, silent, by_name.get("sealed_key"))
    return store, target


def restored(bench: StoreBench, target: Path, path: Path, stamp: str = "now") -> Path | None:
    """Restore a backup; return the path at which the database that it replaced is kept."""
    return restore(target, path, stamp).database


def restore(target: Path, path: Path, stamp: str = "now") -> KeptFiles:
    working = backup.working_copy_path(path)
    backup.prepare_copy(target, working, silent, folds_anew=True)
    kept_files = backup.install_copy(working, path, DEVICE, stamp)
    backup.discard_unfinished(working)
    return kept_files


def test_a_backup_is_one_private_file_with_all_that_is_durable(bench: StoreBench):
    store, target = bench.store("a"), bench.folder / "a.backup"
    write_entities(store, 3)
    texts: list[str] = []
    contents = backup.write_backup(store.path, target, lambda stage, finished, total: texts.append(stage))
    assert contents == (DEVICE, 3, 1, target.stat().st_size, None)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert sorted(path.name for path in bench.folder.iterdir()) == [
        "a.backup",
        "a.db",
        "a.db-shm",
        "a.db-wal",
    ]
    assert "checking" in texts
    # The store that it was taken from goes on.
    write_entities(store, 1)
    assert log_and_state(bench.store("a", target))[2].commits == 3


def test_a_large_backup_tells_how_far_it_is(bench: StoreBench):
    store = bench.store("a")
    with store.write() as tx:
        tx.db.execute(
            "INSERT INTO answer (key, request, status, body) WITH RECURSIVE n(i) AS"
            " (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000)"
            " SELECT i, zeroblob(32), 200, randomblob(400) FROM n"
        )
    answer: list[tuple[str, int, int]] = []
    backup.write_backup(store.path, bench.folder / "b", lambda *observed: answer.append(observed))
    writing = [(count, total) for stage, count, total in answer if stage == "writing"]
    assert writing == sorted(writing)
    assert all(0 <= count <= total for count, total in writing)
    assert writing
    assert backup.backup_bytes_max(store.path) >= (bench.folder / "b").stat().st_size // 2


def test_a_backup_waits_for_no_writer_and_sees_nothing_half(bench: StoreBench):
    store = bench.store("a")
    write_entities(store, 2)
    with store.write() as tx:
        tx.set_watermark("page", 1)
        backup.write_backup(store.path, bench.folder / "b", silent)
        tx.set_watermark("page", 2)
    with bench.store("a", bench.folder / "b").read() as snapshot:
        assert snapshot.watermark("page") == 0


def test_devices_that_were_about_to_come_in_are_not_in_it(bench: StoreBench):
    store = bench.store("a")
    write_entities(store, 1)
    with store.write() as tx:
        add_pending_newcomer(tx, Newcomer(DEVICE, b"certificate", "phone", (), NOW_MS + 1000))
    backup.write_backup(store.path, bench.folder / "b", silent)
    with bench.store("a", bench.folder / "b").read() as snapshot:
        assert pending_newcomers(snapshot, NOW_MS) == []
    with store.read() as snapshot:
        assert len(pending_newcomers(snapshot, NOW_MS)) == 1


def test_a_backup_that_fails_leaves_what_was_there(bench: StoreBench):
    store, target = written_backup(bench)
    before = target.read_bytes()

    def stop(stage: str, count: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        backup.write_backup(store.path, target, stop)
    with pytest.raises(StoreError, match=r"missing/b"):
        backup.write_backup(store.path, bench.folder / "missing" / "b", silent)
    assert target.read_bytes() == before
    assert not list(bench.folder.glob(".*.part"))


def test_two_backups_to_one_target_each_end_whole(bench: StoreBench):
    store, target = bench.store("a"), bench.folder / "b"
    write_entities(store, 3)

    def another(stage: str, count: int, total: int) -> None:
        if stage == "checking":
            subprocess.run([sys.executable, "-c", BACKUP, store.path, target], check=True, timeout=LIMIT_S)
            assert len(list(bench.folder.glob(".*.part"))) == 1

    assert backup.write_backup(store.path, target, another).commits == 3
    assert log_and_state(bench.store("a", target))[2].commits == 3
    assert not list(bench.folder.glob(".*.part"))


def test_what_a_killed_backup_left_goes_with_the_next(bench: StoreBench):
    store = bench.store("a")
    write_entities(store, 1)
    left = bench.folder / ".b.1.part"
    left.write_bytes(b"half")
    other = bench.folder / ".c.1.part"
    other.write_bytes(b"another target's")
    backup.write_backup(store.path, bench.folder / "b", silent)
    assert not left.exists()
    assert other.exists()


def root_of(path: Path, name: str) -> int:
    """Return where the first page of a table or index begins in the file."""
    file = apsw.Connection(str(path))
    (page,) = file.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (name,)).fetchone() or (0,)
    file.close()
    return (int(page) - 1) * 4096


@pytest.mark.parametrize("name", ["sqlite_schema", "feed"])
def test_a_damaged_database_gives_no_backup(bench: StoreBench, name: str):
    store = bench.store("a")
    write_entities(store, 200)
    store.close()
    root = 100 if name == "sqlite_schema" else root_of(store.path, name)
    raw = bytearray(store.path.read_bytes())
    raw[root : root + 3000] = b"\xff" * 3000
    store.path.write_bytes(raw)
    with pytest.raises(DamagedDatabase, match=r"a\.db is damaged") as error:
        backup.write_backup(store.path, bench.folder / "b", silent)
    assert len(str(error.value).splitlines()) == 1
    assert not (bench.folder / "b").exists()


def test_a_copy_whose_tables_contradict_each_other_is_never_named_a_backup(bench: StoreBench):
    store = bench.store("a")
    write_entities(store, 3)
    with store.write() as tx:
        tx.db.execute("UPDATE standing SET entities = 9")
    with pytest.raises(DamagedDatabase, match="do not match each other"):
        backup.write_backup(store.path, bench.folder / "b", silent)
    assert not (bench.folder / "b").exists()


def test_an_index_that_lacks_a_row_is_found(bench: StoreBench):
    store, target = written_backup(bench, commits=40)
    store.close()
    file = apsw.Connection(str(target))
    (root,) = file.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'feed_by_head'").fetchone() or (
        0,
    )
    file.close()
    raw = bytearray(target.read_bytes())
    raw[int(root) * 4096 - 8 : int(root) * 4096] = b"\0" * 8
    target.write_bytes(raw)
    with pytest.raises(DamagedDatabase):
        backup.prepare_copy(target, bench.folder / "w", silent, folds_anew=True)


def test_a_restore_goes_on_as_a_new_replica_and_takes_its_lost_commits_back_from_a_peer(bench: StoreBench):
    store, target = written_backup(bench)
    (before, *_) = feed(store)
    peer = bench.store("b")
    write(store, entity_id(5), title="after the backup")
    exchange(store, peer)
    store.close()
    path = restored(bench, target, store.path)
    assert path == bench.folder / "a.db.replaced-now"
    again = bench.store("a")
    assert feed(again)[0] == before
    assert log_and_state(again)[3] is None
    head = write(again, entity_id(6), title="after the restore")
    exchange(peer, again)
    exchange(again, peer)
    assert log_and_state(again)[:3] == log_and_state(peer)[:3]
    with again.read() as snapshot:
        assert snapshot.replica == head.replica
        assert not any(snapshot.log.is_forked(listed_head.replica) for listed_head in snapshot.vector())
    assert log_and_state(bench.store("a", path))[2].commits == 4


def test_restoring_again_keeps_every_journal_that_it_replaced(bench: StoreBench):
    store, target = written_backup(bench)
    store.close()
    paths = [restored(bench, target, store.path) for _ in range(3)]
    assert [path and path.name for path in paths] == [
        "a.db.replaced-now",
        "a.db.replaced-now-2",
        "a.db.replaced-now-3",
    ]


def test_a_restore_where_nothing_was_keeps_nothing(bench: StoreBench):
    _, target = written_backup(bench)
    path = bench.folder / "new" / "a.db"
    path.parent.mkdir()
    assert restored(bench, target, path) is None
    assert [listed_path.name for listed_path in path.parent.iterdir()] == ["a.db"]
    assert log_and_state(bench.store("a", path))[2].commits == 3


def test_a_restore_for_another_device_is_that_devices(bench: StoreBench):
    _, target = written_backup(bench)
    path = bench.folder / "b.db"
    working = backup.working_copy_path(path)
    assert backup.prepare_copy(target, working, silent, folds_anew=True).device == DEVICE
    backup.install_copy(working, path, signer_of("b").device, "now")
    store = bench.store("b", path)
    write_entities(store, 1)
    with store.read() as snapshot:
        assert snapshot.device == signer_of("b").device
        devices = {snapshot.device_of(head.replica) for head in snapshot.vector()}
    assert devices == {DEVICE, signer_of("b").device}


def test_the_sealed_key_is_in_the_backup_and_not_in_the_journal(bench: StoreBench):
    store, target = written_backup(bench, sealed_key=b"sealed")
    store.close()
    working = backup.working_copy_path(store.path)
    assert backup.prepare_copy(target, working, silent, folds_anew=True).sealed_key == b"sealed"
    backup.install_copy(working, store.path, DEVICE, "now")
    with bench.store("a").read() as snapshot:
        assert snapshot.db.execute("SELECT count(*) FROM sealed_key").fetchone() == (0,)


def test_a_copy_of_the_files_of_a_running_daemon_is_as_good_as_a_backup(bench: StoreBench):
    store = bench.store("a")
    write_entities(store, 3)
    (bench.folder / "raw").mkdir()
    for name in ("a.db", "a.db-wal"):
        shutil.copy(bench.folder / name, bench.folder / "raw" / name)
    before = [
        (listed_path.name, listed_path.read_bytes())
        for listed_path in sorted((bench.folder / "raw").iterdir())
    ]
    path = bench.folder / "new.db"
    restored(bench, bench.folder / "raw" / "a.db", path)
    assert log_and_state(bench.store("a", path))[2].commits == 3
    assert [
        (listed_path.name, listed_path.read_bytes())
        for listed_path in sorted((bench.folder / "raw").iterdir())
    ] == before


def test_a_link_to_such_files_brings_what_is_beside_them(bench: StoreBench):
    store = bench.store("a")
    write_entities(store, 3)
    (bench.folder / "link").symlink_to(store.path)
    path = bench.folder / "new.db"
    restored(bench, bench.folder / "link", path)
    assert log_and_state(bench.store("a", path))[2].commits == 3


def test_a_damaged_journal_is_kept_with_its_parts_and_replaced(bench: StoreBench):
    store, target = written_backup(bench)
    store.close()
    store.path.write_bytes(b"not a database" * 1000)
    store.path.with_name("a.db-wal").write_bytes(b"nor its log")
    path = restored(bench, target, store.path)
    assert path is not None
    assert path.read_bytes() == b"not a database" * 1000
    assert path.with_name(path.name + "-wal").read_bytes() == b"nor its log"
    assert log_and_state(bench.store("a"))[2].commits == 3


def test_a_journal_with_a_damaged_first_page_is_replaced_too(bench: StoreBench):
    store, target = written_backup(bench)
    store.close()
    raw = bytearray(store.path.read_bytes())
    raw[16:100] = b"\xff" * 84
    store.path.write_bytes(raw)
    path = restored(bench, target, store.path)
    assert path is not None
    assert path.read_bytes() == raw
    assert log_and_state(bench.store("a"))[2].commits == 3


def test_a_journal_that_another_process_reads_is_not_replaced(bench: StoreBench):
    store, target = written_backup(bench)
    store.close()
    reader = apsw.Connection(str(store.path))
    reader.execute("BEGIN; SELECT * FROM standing").fetchall()
    before = store.path.read_bytes()
    with pytest.raises(DatabaseInUse, match="in use by another process") as error:
        restored(bench, target, store.path)
    assert error.value.hint
    assert store.path.read_bytes() == before
    reader.close()
    restored(bench, target, store.path)


def damaged_page(raw: bytearray) -> None:
    raw[4096:8192] = b"\xff" * 4096


def cut_short(raw: bytearray) -> None:
    del raw[len(raw) // 2 :]


def damaged_header(raw: bytearray) -> None:
    raw[:16] = b"x" * 16


def emptied(raw: bytearray) -> None:
    raw.clear()


@pytest.mark.parametrize("damage", [damaged_page, cut_short, damaged_header, emptied])
def test_a_damaged_backup_is_refused_in_a_line_and_changes_nothing(bench: StoreBench, damage):
    store, target = written_backup(bench, commits=40)
    store.close()
    raw = bytearray(target.read_bytes())
    damage(raw)
    target.write_bytes(raw)
    before = store.path.read_bytes()
    with pytest.raises((DamagedDatabase, NotABackup), match=r"a\.backup") as error:
        restored(bench, target, store.path)
    assert len(str(error.value).splitlines()) == 1
    assert store.path.read_bytes() == before


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM feed WHERE seq = 2",
        "UPDATE standing SET entities = 9",
        "UPDATE branch SET tip = 2",
        "UPDATE branch SET tip_hash = zeroblob(32)",
    ],
)
def test_tables_that_do_not_fit_each_other_are_refused(bench: StoreBench, statement: str):
    _, target = written_backup(bench)
    file = apsw.Connection(str(target))
    file.execute(statement)
    file.close()
    with pytest.raises(DamagedDatabase, match="do not match each other"):
        backup.prepare_copy(target, bench.folder / "w", silent, folds_anew=False)


def test_a_backup_of_a_newer_version_another_programs_file_and_none_are_refused(bench: StoreBench):
    _, target = written_backup(bench)
    file = apsw.Connection(str(target))
    file.execute("INSERT INTO migration VALUES (9999)")
    file.close()
    with pytest.raises(NewerDatabase, match=r"a\.backup was written by a newer version"):
        backup.prepare_copy(target, bench.folder / "w", silent, folds_anew=True)
    file = apsw.Connection(str(bench.folder / "other.db"))
    file.execute("CREATE TABLE notes (text)")
    file.close()
    with pytest.raises(NotABackup, match="is not a Placet backup"):
        backup.prepare_copy(bench.folder / "other.db", bench.folder / "w", silent, folds_anew=True)
    with pytest.raises(StoreError, match="No such file"):
        backup.prepare_copy(bench.folder / "none", bench.folder / "w", silent, folds_anew=True)


def test_a_restore_that_was_cut_off_is_no_hindrance(bench: StoreBench):
    store, target = written_backup(bench)
    store.close()
    for suffix in ("", "-wal", "-journal"):
        working = backup.working_copy_path(store.path)
        working.with_name(working.name + suffix).write_bytes(b"half")
    restored(bench, target, store.path)
    assert log_and_state(bench.store("a"))[2].commits == 3
    assert not list(bench.folder.glob("*.restoring*"))


def test_reading_beside_a_daemon_needs_the_schema_of_this_version(bench: StoreBench):
    store = bench.store("a")
    write_entities(store, 2)
    with backup.open_snapshot(store.path) as snapshot:
        write_entities(store, 1)
        assert snapshot.counts().commits == 2
    with store.write() as tx:
        tx.db.execute("INSERT INTO migration VALUES (9999)")
    with pytest.raises(NewerDatabase), backup.open_snapshot(store.path):
        pass
    with store.write() as tx:
        tx.db.execute("DELETE FROM migration WHERE number > 1")
    with pytest.raises(StoreError, match="older version"), backup.open_snapshot(store.path):
        pass
    file = apsw.Connection(str(bench.folder / "empty.db"))
    file.close()
    (bench.folder / "empty.db").touch()
    with (
        pytest.raises(DamagedDatabase, match="is not a Placet database"),
        backup.open_snapshot(bench.folder / "empty.db"),
    ):
        pass


def test_a_copy_that_finds_no_room_says_so(bench: StoreBench, monkeypatch: pytest.MonkeyPatch):
    _, target = written_backup(bench)

    def full(*_) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copyfileobj", full)
    with pytest.raises(DiskFull, match="no space left"):
        backup.prepare_copy(target, bench.folder / "w", silent, folds_anew=True)


def test_the_newest_stamp_of_each_device_is_known(bench: StoreBench):
    store, peer = bench.store("a"), bench.store("b")
    write_entities(store, 2)
    bench.now_ms += 86_400_000
    write_entities(peer, 1)
    exchange(peer, store)
    with store.read() as snapshot:
        newest = device_stamps.newest_stamps(snapshot)
    assert newest == {DEVICE: Stamp(NOW_MS, 1), signer_of("b").device: Stamp(NOW_MS + 86_400_000, 0)}


def test_every_table_of_this_version_is_in_a_backup(bench: StoreBench):
    _, target = written_backup(bench)
    file = apsw.Connection(str(target))
    numbers = [number for (number,) in file.execute("SELECT number FROM migration ORDER BY number")]
    file.close()
    assert numbers == [number for number, _ in database._steps()]


@pytest.mark.parametrize("count", [errno.EPERM, errno.EOPNOTSUPP])
def test_where_a_file_can_have_but_one_name_the_replaced_journal_is_moved(
    bench: StoreBench, monkeypatch, count: int
):
    store, target = written_backup(bench)
    write_entities(store, 1)
    store.close()

    def refused(*_names: Path) -> None:
        raise OSError(count, os.strerror(count))

    monkeypatch.setattr(os, "link", refused)
    path = restored(bench, target, store.path)
    assert log_and_state(bench.store("a"))[2].commits == 3
    assert log_and_state(bench.store("a", path))[2].commits == 4


def test_a_replaced_journal_that_cannot_be_kept_is_not_replaced(bench: StoreBench, monkeypatch):
    store, target = written_backup(bench)
    write_entities(store, 1)
    store.close()

    def refused(*_names: Path) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "link", refused)
    with pytest.raises(StoreError):
        restored(bench, target, store.path)
    assert log_and_state(bench.store("a"))[2].commits == 4
