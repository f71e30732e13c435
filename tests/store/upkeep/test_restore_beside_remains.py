"""A restore into a folder where SQLite left files of a database that is no longer there.

Never lets the restored database meet the -wal of another.
"""

import shutil
from pathlib import Path

import pytest

from store.upkeep import backup
from tests.store.upkeep.backup_steps import restore, silent
from tests.support.stores import StoreBench, log_and_state, write_entities


def crashed_and_moved_away(bench: StoreBench) -> tuple[Path, Path]:
    """Return a path where only the files beside a database are left, as after a crash, and a backup."""
    store, target = bench.store("a"), bench.folder / "a.backup"
    write_entities(store, 3)
    backup.write_backup(store.path, target, silent)
    write_entities(store, 40)
    path = bench.folder / "crashed" / "a.db"
    path.parent.mkdir()
    for suffix in ("-wal", "-shm"):
        shutil.copy(store.path.with_name(store.path.name + suffix), path.with_name(path.name + suffix))
    store.close()
    return path, target


def test_the_remains_of_a_database_that_was_moved_away_are_kept_apart(bench: StoreBench):
    path, target = crashed_and_moved_away(bench)
    wal = path.with_name("a.db-wal").read_bytes()
    kept_paths = tuple(path.with_name(f"a.db.replaced-now{suffix}") for suffix in ("-wal", "-shm"))
    assert restore(target, path) == backup.KeptFiles(None, kept_paths)
    assert sorted(file.name for file in path.parent.iterdir()) == [
        "a.db",
        "a.db.replaced-now-shm",
        "a.db.replaced-now-wal",
    ]
    assert path.with_name("a.db.replaced-now-wal").read_bytes() == wal
    assert log_and_state(bench.store("a", path))[2].commits == 3


@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal"])
def test_remains_that_were_kept_before_are_not_overwritten(bench: StoreBench, suffix: str):
    path, target = crashed_and_moved_away(bench)
    kept_path = path.with_name("a.db.replaced-now" + suffix)
    kept_path.write_bytes(b"earlier")
    path.with_name("a.db" + suffix).write_bytes(b"later")
    restore(target, path)
    assert kept_path.read_bytes() == b"earlier"
    assert path.with_name("a.db.replaced-now-2" + suffix).read_bytes() == b"later"
    assert log_and_state(bench.store("a", path))[2].commits == 3
