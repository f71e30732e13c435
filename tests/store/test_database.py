"""The file: its schema and pragmas, and what a person reads where it is not as it should be.

Never accepts an error of more than one line.
"""

import shutil
from pathlib import Path

import apsw
import pytest

from store import database
from store.faults import DamagedDatabase, DiskFull, NewerDatabase, ReadOnlyDatabase, StoreError
from store.store import Store
from store.transaction import Write
from tests.store.stores import Bench, entity_id, grow, stands

TASK = entity_id(1)


def refused(bench: Bench, path: Path, kind: type[StoreError], words: str) -> None:
    """Check that a file is refused in one clear line that names it, and is left as it was."""
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(kind, match=words) as caught:
        bench.store("a", path)
    message = str(caught.value)
    assert str(path) in message
    assert len(message.splitlines()) == 1
    assert caught.value.hint
    assert before is None or path.read_bytes() == before


def closed(bench: Bench, commits: int = 3) -> Path:
    """Return the file of a store that has been closed."""
    store = bench.store("a")
    grow(store, commits)
    store.close()
    return bench.folder / "a.db"


def pragma(store: Store, name: str) -> object:
    row = store._writer.execute(f"PRAGMA {name}").fetchone()
    return row[0] if row else None


def test_commits_are_durable_and_readers_do_not_wait(bench: Bench) -> None:
    store = bench.store("a")
    for opened in (store.write(), store.read()):
        with opened as snapshot:
            values = [
                snapshot.db.execute(f"PRAGMA {name}").fetchone()
                for name in ("journal_mode", "synchronous", "foreign_keys", "trusted_schema")
            ]
        assert values == [("wal",), (2,), (1,), (0,)]


def test_the_schema_is_strict_and_named(bench: Bench) -> None:
    store = bench.store("a")
    with store.read() as snapshot:
        tables = list(
            snapshot.db.execute(
                "SELECT name, strict FROM pragma_table_list"
                " WHERE name NOT LIKE 'sqlite_%' AND name NOT LIKE 'search%'"
            )
        )
        (application,) = snapshot.db.execute("PRAGMA application_id").fetchone() or (0,)
    assert application == database.APPLICATION_ID
    assert len(tables) > 10
    assert [name for name, strict in tables if not strict] == []


def test_every_migration_is_applied_once_and_noted(bench: Bench) -> None:
    path = closed(bench)
    store = bench.store("a", path)
    with store.read() as snapshot:
        noted = [number for (number,) in snapshot.db.execute("SELECT number FROM migration ORDER BY number")]
    assert noted == sorted(number for number, _ in database._steps())
    assert noted[0] == 1
    assert stands(store)[2].commits == 3


def test_migration_numbers_are_not_used_twice() -> None:
    numbers = [number for number, _ in database._steps()]
    assert len(numbers) == len(set(numbers))


def test_an_older_file_is_brought_forward_with_what_it_holds(bench: Bench) -> None:
    path = bench.folder / "a.db"
    first = next(script for number, script in database._steps() if number == 1)
    file = apsw.Connection(str(path))
    file.execute(f"PRAGMA application_id = {database.APPLICATION_ID}")
    file.execute("CREATE TABLE migration (number INTEGER PRIMARY KEY) STRICT")
    file.execute(first)
    file.execute("INSERT INTO migration VALUES (1)")
    file.execute("INSERT INTO watermark VALUES ('page', 7)")
    file.close()
    store = bench.store("a", path)
    with store.read() as snapshot:
        assert snapshot.watermark("page") == 7
        (count,) = snapshot.db.execute("SELECT count(*) FROM migration").fetchone() or (0,)
    assert count == len(database._steps())


def test_a_migration_that_fails_leaves_the_file_as_it_was(bench: Bench) -> None:
    path = bench.folder / "a.db"
    file = apsw.Connection(str(path))
    file.execute(f"PRAGMA application_id = {database.APPLICATION_ID}")
    file.execute("CREATE TABLE watermark (x)")
    file.close()
    with pytest.raises(apsw.SQLError, match="already exists"):
        bench.store("a", path)
    file = apsw.Connection(str(path))
    assert list(file.execute("SELECT name FROM sqlite_schema")) == [("watermark",)]
    file.close()


def test_a_newer_file_is_refused_and_kept(bench: Bench) -> None:
    path = closed(bench)
    file = apsw.Connection(str(path))
    file.execute("INSERT INTO migration VALUES (9999)")
    file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    file.close()
    refused(bench, path, NewerDatabase, r"newer version of Placet \(migration 9999\)")


@pytest.mark.parametrize("application", [0, 77])
def test_another_programs_database_is_refused_and_not_touched(bench: Bench, application: int) -> None:
    path = bench.folder / "other.db"
    file = apsw.Connection(str(path))
    file.execute(f"PRAGMA application_id = {application}")
    file.execute("CREATE TABLE notes (text)")
    file.close()
    refused(bench, path, DamagedDatabase, "not of Placet's")


def test_a_file_that_is_no_database_is_refused(bench: Bench) -> None:
    path = bench.folder / "letter.db"
    path.write_text("Dear reader, this is no database, though it is longer than a header." * 20)
    refused(bench, path, DamagedDatabase, "is damaged: .*not a database")


def test_damaged_pages_are_noticed(bench: Bench) -> None:
    path = closed(bench)
    raw = bytearray(path.read_bytes())
    raw[100:4096] = bytes(3996)
    path.write_bytes(raw)
    refused(bench, path, DamagedDatabase, "is damaged")


def test_damage_that_shows_later_is_told_in_words_too(bench: Bench) -> None:
    path = closed(bench, commits=200)
    raw = bytearray(path.read_bytes())
    file = apsw.Connection(str(path))
    (root,) = file.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'history'").fetchone() or (0,)
    file.close()
    raw[(root - 1) * 4096 : root * 4096] = b"\xff" * 4096
    path.write_bytes(raw)
    store = bench.store("a", path)
    with pytest.raises(DamagedDatabase), store.read() as snapshot:
        list(snapshot.db.execute("SELECT * FROM history"))


def test_a_path_that_cannot_be_opened_is_told(bench: Bench) -> None:
    refused(bench, bench.folder / "missing" / "a.db", StoreError, "unable to open")
    (bench.folder / "folder.db").mkdir()
    refused(bench, bench.folder / "folder.db", StoreError, "unable to open")


def test_another_devices_file_is_refused(bench: Bench) -> None:
    path = bench.folder / "b.db"
    shutil.copyfile(closed(bench), path)
    with pytest.raises(StoreError, match="belongs to another device") as caught:
        bench.store("b", path)
    assert str(path) in str(caught.value)


def test_a_full_disk_undoes_the_write_and_the_store_goes_on(bench: Bench) -> None:
    store = bench.store("a")
    grow(store, 2)
    before = stands(store)
    limit = pragma(store, "page_count")
    pragma(store, f"max_page_count = {limit}")
    with pytest.raises(DiskFull, match="no space left"):
        _write_much(store)
    assert stands(store) == before
    pragma(store, "max_page_count = 100000")
    grow(store, 1)
    assert stands(store)[2].commits == 3


def _write_much(store: Store) -> None:
    with store.write() as tx:
        for number in range(50):
            tx.commit([Write(entity_id(number + 10), "task", {"title": "x" * 5_000})])


def test_a_file_that_cannot_be_written_is_told(bench: Bench) -> None:
    store = bench.store("a")
    grow(store, 1)
    pragma(store, "query_only = ON")
    with pytest.raises(ReadOnlyDatabase, match="cannot be written"):
        grow(store, 1)
    pragma(store, "query_only = OFF")
    grow(store, 1)


def test_a_file_that_another_process_is_writing_is_told(bench: Bench) -> None:
    store = bench.store("a")
    grow(store, 1)
    store._writer.set_busy_timeout(1)
    other = apsw.Connection(str(store.path))
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="locked"):
        grow(store, 1)
    other.execute("ROLLBACK")
    other.close()
    grow(store, 1)


def test_errors_in_our_own_statements_stay_what_they_are(bench: Bench) -> None:
    store = bench.store("a")
    with pytest.raises(apsw.SQLError), store.write() as tx:
        tx.db.execute("SELECT * FROM nowhere")
    grow(store, 1)
