"""The file: its schema and pragmas, and what a person reads if it is not as it should be.

Never accepts an error of more than one line.
"""

import re
import shutil
from pathlib import Path

import apsw
import pytest

from store.file import database
from store.file.errors import DamagedDatabase, DiskFull, NewerDatabase, ReadOnlyDatabase, StoreError
from store.store import Store
from store.transaction import EntityWrite
from store.upkeep import backup
from tests.support.stores import StoreBench, entity_id, log_and_state, write_entities

ROOT = Path(__file__).parents[3]
TASK = entity_id(1)


def refused(bench: StoreBench, path: Path, kind: type[StoreError], words: str) -> None:
    """Check that a file is refused in one clear line that names it, and is left as it was."""
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(kind, match=words) as error:
        bench.store("a", path)
    message = str(error.value)
    assert str(path) in message
    assert len(message.splitlines()) == 1
    assert error.value.hint
    assert before is None or path.read_bytes() == before


def closed(bench: StoreBench, commits: int = 3) -> Path:
    """Return the file of a store that has been closed."""
    store = bench.store("a")
    write_entities(store, commits)
    store.close()
    return bench.folder / "a.db"


def pragma(store: Store, name: str) -> object:
    row = store._writer.execute(f"PRAGMA {name}").fetchone()
    return row[0] if row else None


def test_commits_are_durable_and_readers_do_not_wait(bench: StoreBench) -> None:
    store = bench.store("a")
    for opened in (store.write(), store.read()):
        with opened as snapshot:
            values = [
                snapshot.db.execute(f"PRAGMA {name}").fetchone()
                for name in ("journal_mode", "synchronous", "foreign_keys", "trusted_schema")
            ]
        assert values == [("wal",), (2,), (1,), (0,)]


def test_the_schema_is_strict_and_named(bench: StoreBench) -> None:
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


def test_every_migration_is_applied_once_and_noted(bench: StoreBench) -> None:
    path = closed(bench)
    store = bench.store("a", path)
    with store.read() as snapshot:
        noted = [number for (number,) in snapshot.db.execute("SELECT number FROM migration ORDER BY number")]
    assert noted == sorted(number for number, _ in database._steps())
    assert noted[0] == database.FORMAT_1_MIGRATION + 1
    assert log_and_state(store)[2].commits == 3


def test_migration_numbers_are_not_used_twice() -> None:
    numbers = [number for number, _ in database._steps()]
    assert len(numbers) == len(set(numbers))


def test_an_older_file_is_brought_forward_with_what_it_holds(bench: StoreBench) -> None:
    path = bench.folder / "a.db"
    number, first = database._steps()[0]
    file = apsw.Connection(str(path))
    file.execute(f"PRAGMA application_id = {database.APPLICATION_ID}")
    file.execute("CREATE TABLE migration (number INTEGER PRIMARY KEY) STRICT")
    file.execute(first)
    file.execute("INSERT INTO migration VALUES (?)", (number,))
    file.execute("INSERT INTO watermark VALUES ('page', 7)")
    file.close()
    store = bench.store("a", path)
    with store.read() as snapshot:
        assert snapshot.watermark("page") == 7
        (count,) = snapshot.db.execute("SELECT count(*) FROM migration").fetchone() or (0,)
    assert count == len(database._steps())


def test_a_migration_that_fails_leaves_the_file_as_it_was(
    bench: StoreBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = closed(bench)
    steps = database._steps()
    monkeypatch.setattr(
        database, "_steps", lambda: [*steps, (9998, "CREATE TABLE later (x); CREATE TABLE watermark (x)")]
    )
    with pytest.raises(apsw.SQLError, match="already exists"):
        bench.store("a", path)
    file = apsw.Connection(str(path))
    assert list(file.execute("SELECT name FROM sqlite_schema WHERE name = 'later'")) == []
    assert list(file.execute("SELECT number FROM migration WHERE number = 9998")) == []
    file.close()


def test_a_newer_file_is_refused_and_kept(bench: StoreBench) -> None:
    path = closed(bench)
    file = apsw.Connection(str(path))
    file.execute("INSERT INTO migration VALUES (9999)")
    file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    file.close()
    refused(bench, path, NewerDatabase, r"newer version of Placet \(migration 9999\)")


@pytest.mark.parametrize("application", [0, 77])
def test_another_programs_database_is_refused_and_not_touched(bench: StoreBench, application: int) -> None:
    path = bench.folder / "other.db"
    file = apsw.Connection(str(path))
    file.execute(f"PRAGMA application_id = {application}")
    file.execute("CREATE TABLE notes (text)")
    file.close()
    refused(bench, path, DamagedDatabase, "is not a Placet database")


def test_a_file_that_is_no_database_is_refused(bench: StoreBench) -> None:
    path = bench.folder / "letter.db"
    path.write_text("Dear reader, this is no database, though it is longer than a header." * 20)
    refused(bench, path, DamagedDatabase, "is damaged: .*not a database")


def rewritten(type_: str, name: str, sql: str) -> str:
    """Return statements that put something into the schema past SQLite's rules, as an attacker can."""
    table = "feed" if type_ == "trigger" else name
    return (
        "PRAGMA writable_schema = ON;"
        f" DELETE FROM sqlite_schema WHERE name = '{name}';"
        f" INSERT INTO sqlite_schema VALUES ('{type_}', '{name}', '{table}', 0, '{sql}');"
        " PRAGMA writable_schema = OFF"
    )


STRANGERS = {
    "trigger admit": "CREATE TRIGGER admit AFTER INSERT ON feed BEGIN DELETE FROM newcomer; END",
    "table peer": "DROP TABLE peer; CREATE VIEW peer AS SELECT 1 AS device",
    "table notes": "CREATE TABLE notes (text)",
    "index more": "CREATE INDEX more ON feed (counter)",
    "table listener": "DROP TABLE listener; CREATE TABLE listener (one, port DEFAULT (random()))",
    "index opinion_by_seq": "DROP INDEX opinion_by_seq",
    "table search_data": rewritten("table", "search_data", "CREATE VIRTUAL TABLE search_data USING fts5 (x)"),
    "table sqlite_stat4": rewritten(
        "table", "sqlite_stat4", "CREATE VIRTUAL TABLE sqlite_stat4 USING fts5 (x)"
    ),
    "trigger sqlite_stat1": rewritten(
        "trigger",
        "sqlite_stat1",
        "CREATE TRIGGER sqlite_stat1 AFTER INSERT ON feed BEGIN DELETE FROM newcomer; END",
    ),
    "index on_search": "CREATE INDEX on_search ON search_config (v)",
}


@pytest.mark.parametrize("stranger", STRANGERS)
def test_a_schema_that_no_migration_makes_is_refused(bench: StoreBench, stranger: str) -> None:
    path = closed(bench)
    file = apsw.Connection(str(path))
    file.execute(STRANGERS[stranger])
    file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    file.close()
    refused(bench, path, DamagedDatabase, f"changed by another program: {stranger} is not as Placet makes it")
    with pytest.raises(DamagedDatabase, match=stranger), backup.open_snapshot(path):
        pass


HARMLESS = {
    "statistics": "ANALYZE",
    "optimize": "PRAGMA optimize = 0x10012",
    "the word index of another SQLite": (
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, '(', ' ( ')"
        " WHERE name LIKE 'search\\_%' ESCAPE '\\'; PRAGMA writable_schema = OFF"
    ),
}


@pytest.mark.parametrize("change", HARMLESS)
def test_what_sqlite_itself_writes_into_a_schema_is_no_hindrance(bench: StoreBench, change: str) -> None:
    path = closed(bench, commits=40)
    file = apsw.Connection(str(path))
    before = list(file.execute("SELECT * FROM sqlite_schema"))
    file.execute(HARMLESS[change])
    assert list(file.execute("SELECT * FROM sqlite_schema")) != before
    file.close()
    with backup.open_snapshot(path) as snapshot:
        assert snapshot.counts().commits == 40
    store = bench.store("a", path)
    write_entities(store, 1)
    target, working = bench.folder / "a.backup", bench.folder / "w"
    backup.write_backup(path, target, lambda *_: None)
    assert backup.prepare_copy(target, working, lambda *_: None, folds_anew=True).commits == 41


def test_no_trigger_and_no_view_runs_on_any_connection(bench: StoreBench) -> None:
    path = closed(bench)
    file = apsw.Connection(str(path))
    file.execute(
        "CREATE TRIGGER grow AFTER INSERT ON watermark BEGIN INSERT INTO listener VALUES (1, 7); END"
    )
    file.execute("CREATE VIEW seen AS SELECT * FROM watermark")
    file.close()
    connection = database.open_file(path)
    connection.execute("REPLACE INTO watermark VALUES ('page', 1)")
    assert list(connection.execute("SELECT * FROM listener")) == []
    with pytest.raises(apsw.SQLError, match="access to view"):
        connection.execute("SELECT * FROM seen")
    # Defensive: the file's own tables of the word index cannot be written by hand either.
    with pytest.raises(apsw.SQLError, match="may not be modified"):
        connection.execute("DELETE FROM search_data")
    connection.close()


def test_every_connection_to_a_file_is_opened_in_one_place() -> None:
    opened = [
        path.relative_to(ROOT).as_posix()
        for package in ("store", "daemon")
        for path in sorted((ROOT / package).rglob("*.py"))
        if re.search(r"apsw\.Connection\(str|sqlite3", path.read_text("utf-8"))
    ]
    assert opened == ["store/file/database.py"]


def test_damaged_pages_are_noticed(bench: StoreBench) -> None:
    path = closed(bench)
    raw = bytearray(path.read_bytes())
    raw[100:4096] = bytes(3996)
    path.write_bytes(raw)
    refused(bench, path, DamagedDatabase, "is damaged")


def test_damage_that_shows_later_is_told_in_words_too(bench: StoreBench) -> None:
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
    # Nothing is written from then on, what can be read still is, and what was acknowledged stays.
    before = path.read_bytes()
    with pytest.raises(DamagedDatabase, match=r"is damaged: .*; nothing is written to it"), store.write():
        raise AssertionError("a write began")
    with store.read() as snapshot:
        assert snapshot.damage is not None
        assert snapshot.feed_end() == 200
    assert path.read_bytes() == before


def test_a_path_that_cannot_be_opened_is_told(bench: StoreBench) -> None:
    refused(bench, bench.folder / "missing" / "a.db", StoreError, "unable to open")
    (bench.folder / "folder.db").mkdir()
    refused(bench, bench.folder / "folder.db", StoreError, "unable to open")


def test_another_devices_file_is_refused(bench: StoreBench) -> None:
    path = bench.folder / "b.db"
    shutil.copyfile(closed(bench), path)
    with pytest.raises(StoreError, match="belongs to another device") as error:
        bench.store("b", path)
    assert str(path) in str(error.value)


def test_a_full_disk_undoes_the_write_and_the_store_goes_on(bench: StoreBench) -> None:
    store = bench.store("a")
    write_entities(store, 2)
    before = log_and_state(store)
    limit = pragma(store, "page_count")
    pragma(store, f"max_page_count = {limit}")
    with pytest.raises(DiskFull, match="no space left"):
        _write_much(store)
    assert log_and_state(store) == before
    pragma(store, "max_page_count = 100000")
    write_entities(store, 1)
    assert log_and_state(store)[2].commits == 3


def _write_much(store: Store) -> None:
    with store.write() as tx:
        for number in range(50):
            tx.commit([EntityWrite(entity_id(number + 10), "task", {"title": "x" * 5_000})])


def test_a_file_that_cannot_be_written_is_told(bench: StoreBench) -> None:
    store = bench.store("a")
    write_entities(store, 1)
    pragma(store, "query_only = ON")
    with pytest.raises(ReadOnlyDatabase, match="cannot be written"):
        write_entities(store, 1)
    pragma(store, "query_only = OFF")
    write_entities(store, 1)


def test_a_file_that_another_process_is_writing_is_told(bench: StoreBench) -> None:
    store = bench.store("a")
    write_entities(store, 1)
    store._writer.set_busy_timeout(1)
    other = apsw.Connection(str(store.path))
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="locked"):
        write_entities(store, 1)
    other.execute("ROLLBACK")
    other.close()
    write_entities(store, 1)


def test_errors_in_our_own_statements_stay_what_they_are(bench: StoreBench) -> None:
    store = bench.store("a")
    with pytest.raises(apsw.SQLError), store.write() as tx:
        tx.db.execute("SELECT * FROM nowhere")
    write_entities(store, 1)
