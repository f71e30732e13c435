"""Backups and restores: one whole file while others write, and a new replica from it.

Never loses the journal that a restore replaces.
"""

import os
import stat
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from store.file import database
from store.file.errors import DamagedDatabase, NewerDatabase, StoreError
from store.local.peer_records import Newcomer, add_pending_newcomer, pending_newcomers
from store.queries import device_stamps
from store.upkeep import backup
from syncproto.hlc import Stamp
from tests.store.upkeep.backup_steps import DEVICE, restored, silent, written_backup
from tests.support.patience import LIMIT_S
from tests.support.stores import (
    NOW_MS,
    StoreBench,
    exchange,
    log_and_state,
    signer_of,
    write_entities,
)

BACKUP = """
import sys
from pathlib import Path
from store.upkeep import backup
from tests.support.patience import LIMIT_S
backup.write_backup(*map(Path, sys.argv[1:]), lambda *seen: None)
"""


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


def test_a_backup_writes_to_nothing_that_others_put_under_a_name_that_can_be_guessed(bench: StoreBench):
    store, victim = bench.store("a"), bench.folder / "identity.pem"
    victim.write_bytes(b"a private key")
    for number, plant in enumerate((Path.symlink_to, Path.hardlink_to)):
        target = bench.folder / str(number) / "b"
        target.parent.mkdir()
        plant(target.with_name(f".b.{os.getpid()}.part"), victim)
        backup.write_backup(store.path, target, silent)
        assert target.read_bytes().startswith(backup.HEADER)
    assert victim.read_bytes() == b"a private key"


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


def test_restoring_again_keeps_every_journal_that_it_replaced(bench: StoreBench):
    store, target = written_backup(bench)
    store.close()
    paths = [restored(bench, target, store.path) for _ in range(3)]
    assert [path and path.name for path in paths] == [
        "a.db.replaced-now",
        "a.db.replaced-now-2",
        "a.db.replaced-now-3",
    ]


def test_the_sealed_key_is_in_the_backup_and_not_in_the_journal(bench: StoreBench):
    store, target = written_backup(bench, sealed_key=b"sealed")
    store.close()
    working = backup.working_copy_path(store.path)
    assert backup.prepare_copy(target, working, silent, folds_anew=True).sealed_key == b"sealed"
    backup.install_copy(working, store.path, DEVICE, "now")
    with bench.store("a").read() as snapshot:
        assert snapshot.db.execute("SELECT count(*) FROM sealed_key").fetchone() == (0,)


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
