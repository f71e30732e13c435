"""The SQLite file: connections, pragmas, numbered migrations, and errors in words for a person.

Never knows what the tables mean.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import apsw

from store.file.errors import (
    DamagedDatabase,
    NewerDatabase,
    OldFormat,
    ReadOnlyDatabase,
    StoreError,
    damaged_database,
    disk_full,
    file_failed,
)
from store.sentence import Sentence, sentence

APPLICATION_ID = 0x506C6163  # "Plac"
BUSY_TIMEOUT_MS = 10_000
_MIGRATION_TABLE = "CREATE TABLE migration (number INTEGER PRIMARY KEY) STRICT"
FORMAT_1_MIGRATION = 1  # made the tables for commits of format 1; those of format 2 have number 2
FREE_BYTES_MIN = 64 * 1024  # SQLite needs them for the files beside a database to open it at all

# What a file may contain that acts by itself is off before its schema is read: a backup comes from anywhere.
_GUARDS = {
    apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER: 0,
    apsw.SQLITE_DBCONFIG_ENABLE_VIEW: 0,
    apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA: 0,
    apsw.SQLITE_DBCONFIG_DEFENSIVE: 1,
}

SchemaRow = tuple[str, str, str, str | None]
"""One thing in a schema: type (table, index, trigger, view), name, its table, and the SQL that made it."""

# The query planner's statistics: `ANALYZE` and `PRAGMA optimize` of any program make these tables.
_STATISTICS = frozenset(f"sqlite_stat{number}" for number in range(1, 5))
_TABLE = "CREATE TABLE "  # so begins the SQL of every table that is not virtual


def connect(path: Path, *, writes: bool) -> apsw.Connection:
    """Open the file. Raises StoreError if this version of Placet cannot use or open it."""
    flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if writes else 0)
    with translate_sqlite_errors(path):
        connection = open_file(path, flags)
        try:
            # Both before `_prepare`: to set the journal mode writes to the file.
            _refuse_foreign(connection, path)
            _refuse_format_1(connection, path)
            _prepare(connection)
        except BaseException:
            connection.close()
            raise
    return connection


def open_file(path: Path, flags: int = apsw.SQLITE_OPEN_READWRITE) -> apsw.Connection:
    """Open a file in which no trigger and no view runs, whoever wrote it; nothing of it is read yet.

    Every connection of Placet to a file begins here.
    """
    connection = apsw.Connection(str(path), flags=flags)
    for option, value in _GUARDS.items():
        connection.config(option, value)
    return connection


def _refuse_foreign(connection: apsw.Connection, path: Path) -> None:
    """Raise DamagedDatabase if the file belongs to another program, before anything is written to it."""
    (application,) = connection.execute("PRAGMA application_id").fetchone() or (0,)
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() or (0,)
    # An empty file belongs to nobody: SQLite has just made it, or a crash came before the first migration.
    if application != APPLICATION_ID and (application or tables):
        raise DamagedDatabase(
            sentence(
                "database-of-another-program",
                "{path} is a database of another program, not of Placet",
                path=str(path),
            )
        )


def _refuse_format_1(connection: apsw.Connection, path: Path) -> None:
    """Raise OldFormat if the commits in the file are of format 1, before anything is written to it.

    Each of them names others by a part of their hash, and signs that. Nothing else could be read out of them
    with the same authors.
    """
    tables = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'migration'").fetchone()
    if tables is not None and FORMAT_1_MIGRATION in _numbers(connection):
        raise OldFormat(
            sentence(
                "database-of-format-1",
                "{path} was written by a development version of Placet whose commits this version cannot"
                " verify; it was left as it is",
                path=str(path),
            )
        )


def require_ours(connection: apsw.Connection, path: Path) -> None:
    """Raise DamagedDatabase if Placet did not make the file."""
    if connection.execute("PRAGMA application_id").fetchone() != (APPLICATION_ID,):
        raise DamagedDatabase(
            sentence("no-database-of-placet", "{path} is not a Placet database", path=str(path))
        )


def require_current(connection: apsw.Connection, path: Path) -> None:
    """Raise StoreError if the schema is not that of this version, for callers that only read."""
    require_ours(connection, path)
    applied = _numbers(connection)
    numbers = {number for number, _ in _steps()}
    if applied - numbers:
        raise NewerDatabase(_newer_schema_sentence(path, applied))
    if numbers - applied:
        raise StoreError(
            sentence(
                "database-older",
                "{path} was written by an older version of Placet: start the daemon once",
                path=str(path),
            )
        )
    require_own_schema(connection, path)


def require_own_schema(connection: apsw.Connection, path: Path) -> None:
    """Raise DamagedDatabase unless the schema is what the file's migrations make.

    A trigger that somebody put into a file would act with each write, and let a stranger in. What SQLite
    itself writes is no reason to refuse: its statistics, and the SQL of the tables of the word index.
    """
    applied = _numbers(connection)
    expected, generated = _schema_after(tuple(script for number, script in _steps() if number in applied))
    differing = sorted(f"{type_} {name}" for type_, name, *_ in _schema(connection, generated) ^ expected)
    if differing:
        raise DamagedDatabase(
            sentence(
                "database-foreign-schema",
                "{path} was changed by another program: {what} is not as Placet makes it",
                path=str(path),
                what=differing[0],
            )
        )


def _schema(connection: apsw.Connection, generated: frozenset[str]) -> frozenset[SchemaRow]:
    """Return the schema without statistics; of the tables named in `generated`, only that they are tables."""
    rows: Any = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema")
    schema: set[SchemaRow] = set()
    for type_, name, table, sql in rows:
        # A virtual table runs code: none is taken for a table that SQLite makes, whatever its name.
        is_plain_table = type_ == "table" and sql is not None and sql.startswith(_TABLE)
        if is_plain_table and name in _STATISTICS:
            continue
        schema.add((type_, name, table, _TABLE if is_plain_table and name in generated else sql))
    return frozenset(schema)


@cache
def _schema_after(scripts: tuple[str, ...]) -> tuple[frozenset[SchemaRow], frozenset[str]]:
    """Return the schema that these migrations make, and the names of the tables whose SQL SQLite generates.

    These are the shadow tables of the word index. Each version of SQLite may write their SQL in its own way.
    """
    with closing(apsw.Connection(":memory:")) as empty:
        empty.execute(_MIGRATION_TABLE)
        for script in scripts:
            empty.execute(script)
        shadows: Any = empty.execute("SELECT name FROM pragma_table_list WHERE type = 'shadow'")
        generated = frozenset(name for (name,) in shadows)
        return _schema(empty, generated), generated


def _newer_schema_sentence(path: Path, applied: Iterable[int]) -> Sentence:
    return sentence(
        "database-newer",
        "{path} was written by a newer version of Placet (migration {migration})",
        path=str(path),
        migration=max(applied),
    )


def _prepare(connection: apsw.Connection) -> None:
    """Set what every connection needs: durable commits and a bounded wait for locks."""
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    # FULL: with NORMAL, a power cut can undo a commit in WAL mode, and an Ack or the lease has named it
    # already.
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}").fetchall()


def migrate(connection: apsw.Connection, path: Path) -> None:
    """Bring the schema to this version, all or nothing. Raises OldFormat, NewerDatabase, StoreError."""
    steps = _steps()
    with translate_sqlite_errors(path), connection:
        _refuse_format_1(connection, path)
        applied = _applied_migrations(connection)
        if applied - {number for number, _ in steps}:
            raise NewerDatabase(_newer_schema_sentence(path, applied))
        require_own_schema(connection, path)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        for number, script in steps:
            if number not in applied:
                connection.execute(script)
                connection.execute("INSERT INTO migration VALUES (?)", (number,))


def _applied_migrations(connection: apsw.Connection) -> set[int]:
    """Return the numbers of the migrations that were applied to the file."""
    if connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'migration'").fetchone() is None:
        connection.execute(_MIGRATION_TABLE)
    return _numbers(connection)


def _numbers(connection: apsw.Connection) -> set[int]:
    rows: Any = connection.execute("SELECT number FROM migration")
    return {number for (number,) in rows}


def _steps() -> list[tuple[int, str]]:
    """Read the migration files, in order of their numbers."""
    folder = resources.files("store") / "migrations"
    files = [entry for entry in folder.iterdir() if entry.name.endswith(".sql")]
    return sorted((int(entry.name.split("_")[0]), entry.read_text("utf-8")) for entry in files)


@contextmanager
def translate_sqlite_errors(path: Path) -> Iterator[None]:
    """Raise the errors of SQLite about the world as StoreError; errors in our SQL stay what they are."""
    try:
        yield
    except (apsw.NotADBError, apsw.CorruptError) as fault:
        raise damaged_database(path, fault) from fault
    except apsw.FullError as fault:
        raise disk_full(path) from fault
    except (apsw.ReadOnlyError, apsw.PermissionsError) as fault:
        raise ReadOnlyDatabase(
            sentence(
                "database-not-writable",
                "{path} cannot be written: {reason}",
                path=str(path),
                reason=str(fault),
            )
        ) from fault
    except (apsw.CantOpenError, apsw.IOError) as fault:
        raise _cause(path, fault) from fault
    except (apsw.BusyError, apsw.LockedError) as fault:
        raise file_failed(path, fault) from fault


def _cause(path: Path, fault: apsw.Error) -> StoreError:
    """Return why a file cannot be read or written: the file system often knows more than SQLite reports."""
    try:
        file_system = os.statvfs(path.parent)
    except OSError:
        return file_failed(path, fault)
    if file_system.f_flag & os.ST_RDONLY:
        return ReadOnlyDatabase(
            sentence(
                "file-system-read-only",
                "{path} cannot be written: its file system is read-only",
                path=str(path),
            )
        )
    if file_system.f_bavail * file_system.f_frsize < FREE_BYTES_MIN:
        return disk_full(path)
    return file_failed(path, fault)
