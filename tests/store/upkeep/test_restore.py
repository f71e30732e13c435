"""Restoring: what replaces a journal, what is kept of it, and what is refused.

Never restores over a daemon that runs.
"""

import errno
import os
import shutil
from pathlib import Path

import apsw
import pytest

from store.file.errors import DamagedDatabase, DiskFull, NewerDatabase, StoreError
from store.upkeep import backup
from store.upkeep.backup import DatabaseInUse, NotABackup
from tests.store.upkeep.backup_steps import DEVICE, restored, silent, written_backup
from tests.support.stores import (
    StoreBench,
    entity_id,
    exchange,
    feed,
    log_and_state,
    signer_of,
    write,
    write_entities,
)


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


@pytest.mark.parametrize("beside", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
@pytest.mark.parametrize("suffix", ["", "-wal"])
def test_a_pipe_or_a_device_is_no_part_of_a_backup(bench: StoreBench, beside, suffix: str):
    """The one would keep the restore waiting for ever, the other fill the disk."""
    store, target = written_backup(bench)
    store.close()
    before = store.path.read_bytes()
    if not suffix:
        target.unlink()
    beside(target.with_name(target.name + suffix))
    with pytest.raises(NotABackup, match="is not a Placet backup"):
        restored(bench, target, store.path)
    assert store.path.read_bytes() == before


def test_a_restore_that_was_cut_off_is_no_hindrance(bench: StoreBench):
    store, target = written_backup(bench)
    store.close()
    for suffix in ("", "-wal", "-journal"):
        working = backup.working_copy_path(store.path)
        working.with_name(working.name + suffix).write_bytes(b"half")
    restored(bench, target, store.path)
    assert log_and_state(bench.store("a"))[2].commits == 3
    assert not list(bench.folder.glob("*.restoring*"))


def test_a_copy_that_finds_no_room_says_so(bench: StoreBench, monkeypatch: pytest.MonkeyPatch):
    _, target = written_backup(bench)

    def full(*_) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copyfileobj", full)
    with pytest.raises(DiskFull, match="no space left"):
        backup.prepare_copy(target, bench.folder / "w", silent, folds_anew=True)


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
