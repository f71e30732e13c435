"""Files that somebody made to look like a database of Placet: each is refused in one clear line.

Never changes what a journal says: `tests/store/upkeep/test_hostile_backups.py` does that.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from store.file import database
from store.file.errors import DamagedDatabase, StoreError
from store.upkeep import backup
from tests.support.stores import StoreBench, write_entities


def ignore_progress(stage: str, count: int, total: int) -> None:
    """Ignore progress."""


@pytest.fixture
def journal(bench: StoreBench) -> Path:
    store = bench.store("a")
    write_entities(store, 3)
    store.close()
    return store.path


def open_store(bench: StoreBench, path: Path) -> None:
    bench.store("a", path).close()


def open_snapshot(_bench: StoreBench, path: Path) -> None:
    with backup.open_snapshot(path):
        pass


def back_up(bench: StoreBench, path: Path) -> None:
    backup.write_backup(path, bench.folder / "made.backup", ignore_progress)


def prepare_restore(bench: StoreBench, path: Path) -> None:
    backup.prepare_copy(path, bench.folder / "w", ignore_progress, folds_anew=True)


def prepare_verify(bench: StoreBench, path: Path) -> None:
    backup.prepare_copy(path, bench.folder / "w", ignore_progress, folds_anew=False)


USES = [open_store, open_snapshot, back_up, prepare_restore, prepare_verify]
Use = Callable[[StoreBench, Path], None]


def rewrite_schema(update: str) -> str:
    """Return statements that change the schema past SQLite's rules, as somebody with the file can."""
    return f"PRAGMA writable_schema = ON; UPDATE sqlite_schema SET {update}; PRAGMA writable_schema = OFF"


_UNTYPED = "DROP TABLE migration; CREATE TABLE migration (number); "
MIGRATIONS = {
    "another column": "DROP TABLE migration; CREATE TABLE migration (step)",
    "texts": _UNTYPED + "INSERT INTO migration VALUES ('x'), (2)",
    "a null": _UNTYPED + "INSERT INTO migration VALUES (NULL), (2)",
    "a virtual table": "DROP TABLE migration; CREATE VIRTUAL TABLE migration USING fts5 (number)",
    "a view": "DROP TABLE migration; CREATE VIEW migration AS SELECT 2 AS number",
    "an index": "DROP TABLE migration; CREATE INDEX migration ON feed (counter)",
    "upper case": "DROP TABLE migration; CREATE TABLE MIGRATION (number)",
    "nothing": "DELETE FROM migration",
    "no table": "DROP TABLE migration",
    "bytes": rewrite_schema("sql = CAST(sql AS BLOB) WHERE name = 'migration'"),
    "no SQL": rewrite_schema("sql = NULL WHERE name = 'migration'"),
    "broken UTF-8": rewrite_schema("name = CAST(x'6dff' AS TEXT) WHERE name = 'migration'"),
    "broken UTF-8 elsewhere": rewrite_schema("type = CAST(x'6dff' AS TEXT) WHERE name = 'peer'"),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("change", MIGRATIONS)
def test_a_migration_table_of_another_form_is_refused_in_a_line(
    bench: StoreBench, journal: Path, change: str, use: Use
) -> None:
    file = apsw.Connection(str(journal))
    file.execute(MIGRATIONS[change])
    file.execute("PRAGMA journal_mode = DELETE")
    file.close()
    before = journal.read_bytes()
    with pytest.raises(StoreError) as error:
        use(bench, journal)
    assert str(journal) in str(error.value)
    assert len(str(error.value).splitlines()) == 1
    assert journal.read_bytes() == before


def lines_of_refusal(bench: StoreBench, path: Path, use: Use) -> list[str]:
    """Return what a person reads, nothing if the file is taken."""
    try:
        use(bench, path)
    except StoreError as fault:
        return str(fault).splitlines()
    return []


@pytest.mark.parametrize("byte", [0, 0xFF])
def test_no_byte_of_the_header_leads_to_an_error_without_words(
    bench: StoreBench, journal: Path, byte: int
) -> None:
    raw = journal.read_bytes()
    for position in range(108):
        path = bench.folder / f"changed-{position}.db"
        path.write_bytes(raw[:position] + bytes([byte]) + raw[position + 1 :])
        lines = lines_of_refusal(bench, path, prepare_restore)
        assert len(lines) <= 1, (position, lines)
        path.unlink()


def test_every_part_of_the_migrations_is_taken_or_refused_in_a_line(bench: StoreBench, journal: Path) -> None:
    for number, _ in database._steps():
        path = bench.folder / f"without-{number}.db"
        shutil.copyfile(journal, path)
        file = apsw.Connection(str(path))
        file.execute("DELETE FROM migration WHERE number = ?", (number,))
        file.close()
        with pytest.raises(DamagedDatabase, match="is not as Placet makes it"):
            prepare_restore(bench, path)


# --- the planner's statistics -----------------------------------------------------------------------

# A planner that takes all entities for tasks reads each entity, where it would read the tasks alone.
MISLEADING = (
    "ANALYZE; DELETE FROM sqlite_stat1;"
    " INSERT INTO sqlite_stat1 VALUES ('entity', 'entity_in_order', '9999999 9999999 9999999 9 9 9')"
)
_LOOK_UP = "EXPLAIN QUERY PLAN SELECT id FROM entity WHERE kind = 'task' AND visible = 1 ORDER BY no"


def statistics(connection: apsw.Connection) -> list[object]:
    return list(connection.execute("SELECT name FROM sqlite_schema WHERE name LIKE 'sqlite_stat%'"))


@pytest.mark.parametrize("rule", [database.SchemaRule.MIGRATED, database.SchemaRule.CREATED])
def test_statistics_of_another_program_are_gone_before_the_first_query(
    journal: Path, rule: database.SchemaRule
) -> None:
    file = database.open_file(journal)
    plan = list(file.execute(_LOOK_UP))
    file.execute(MISLEADING)
    file.close()
    misled = database.open_file(journal)
    assert statistics(misled)
    assert list(misled.execute(_LOOK_UP)) != plan
    misled.close()
    connection = database.connect(journal, rule)
    assert statistics(connection) == []
    assert list(connection.execute(_LOOK_UP)) == plan
    connection.close()


def test_a_restored_journal_has_no_statistics_of_the_backup(bench: StoreBench, journal: Path) -> None:
    file = apsw.Connection(str(journal))
    file.execute(MISLEADING)
    file.close()
    prepare_restore(bench, journal)
    with backup.open_snapshot(bench.folder / "w") as snapshot:
        assert statistics(snapshot.db) == []
