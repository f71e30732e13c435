"""The SQLite file: connections, pragmas, numbered migrations, and errors in words for a person.

Never knows what the tables mean.
"""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from enum import Enum
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from store.file.errors import (
    DamagedDatabase,
    ForeignDatabase,
    NewerDatabase,
    OldFormat,
    ReadOnlyDatabase,
    StoreError,
    damaged_database,
    disk_full,
    file_failure,
)
from store.sentence import sentence

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


class SchemaRow(NamedTuple):
    """One thing in a schema: type (table, index, trigger, view), name, table, and the SQL that made it."""

    type: str
    name: str
    tbl_name: str
    sql: str | None


# The query planner's statistics: `ANALYZE` and `PRAGMA optimize` of any program make these tables.
_STATISTICS = frozenset(f"sqlite_stat{number}" for number in range(1, 5))
_TABLE = "CREATE TABLE "  # so begins the SQL of every table that is not virtual


class SchemaRule(Enum):
    """What `connect` asks of the schema of a file, besides being as migrations of this version make it."""

    KNOWN = "known"
    """It may be an older one, and stays so."""
    CURRENT = "current"
    """It must be that of this version."""
    MIGRATED = "migrated"
    """An older one is brought to this version."""
    CREATED = "created"
    """As `MIGRATED`; a file that is missing or empty becomes a database of Placet."""


_WRITING = frozenset({SchemaRule.MIGRATED, SchemaRule.CREATED})


def connect(path: Path, rule: SchemaRule, *, shown_as: Path | None = None) -> apsw.Connection:
    """Open a database whose schema is as migrations of this version make it; errors name `shown_as`.

    A file that is refused stays as it was. Raises StoreError: ForeignDatabase, DamagedDatabase,
    NewerDatabase, OldFormat, ReadOnlyDatabase, DiskFull, or a plain one.
    """
    shown = shown_as or path
    flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if rule is SchemaRule.CREATED else 0)
    with translate_sqlite_errors(shown):
        connection = open_file(path, flags)
        try:
            # All checks come before the pragmas: to set the journal mode writes to the file.
            applied = _check_migrations(connection, shown, rule)
            _set_pragmas(connection)
            has_statistics = rule in _WRITING and _bring_up(connection, applied)
        except BaseException:
            connection.close()
            raise
    if has_statistics:
        # What the planner has read of them goes with the connection alone.
        connection.close()
        return connect(path, rule, shown_as=shown_as)
    return connection


def open_file(path: Path, flags: int = apsw.SQLITE_OPEN_READWRITE) -> apsw.Connection:
    """Open a file in which no trigger and no view runs, whoever wrote it; nothing of it is read yet.

    Every connection of Placet to a file begins here.
    """
    connection = apsw.Connection(str(path), flags=flags)
    for option, value in _GUARDS.items():
        connection.config(option, value)
    return connection


def outdated_schema(path: Path) -> int | None:
    """Return the newest migration of a database that lacks some of this version; None if it lacks none.

    None too for a file that is no database yet. Nothing of the file is changed. Raises StoreError.
    """
    if not path.exists():
        return None
    try:
        connection = connect(path, SchemaRule.KNOWN)
    except ForeignDatabase:
        return None
    try:
        with translate_sqlite_errors(path):
            applied = _numbers(connection, path)
    finally:
        connection.close()
    return max(applied) if {number for number, _ in _steps()} - applied else None


def open_temporary() -> apsw.Connection:
    """Open an empty database of this version in a file that SQLite removes by itself."""
    connection = apsw.Connection("")
    connection.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF")
    _bring_up(connection, frozenset())
    return connection


# -- checking pages ---------------------------------------------------------------------------------------


def table_names(connection: apsw.Connection) -> list[str]:
    """Return the tables that have pages of their own."""
    rows = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0")
    return sorted(str(name) for (name,) in rows)


def require_sound_pages(connection: apsw.Connection, table: str) -> None:
    """Raise apsw.CorruptError if a page of a table or of its indexes is damaged."""
    name = apsw.format_sql_value(table)
    (first, *_more) = [str(line) for (line,) in connection.execute(f"PRAGMA quick_check({name})")]
    if first != "ok":
        raise apsw.CorruptError(first)


# -- checking the schema --------------------------------------------------------------------------------


def _check_migrations(connection: apsw.Connection, shown: Path, rule: SchemaRule) -> frozenset[int]:
    """Return the numbers of the file's migrations, if this version can use the file by this rule."""
    try:
        _require_ours(connection, shown, rule)
        applied = _numbers(connection, shown)
        _require_fitting(applied, shown, rule)
        _require_own_schema(connection, applied, shown)
    except apsw.SQLError as fault:
        # Before the schema is known to be ours, an error in these statements is the fault of the file.
        raise damaged_database(shown, fault) from fault
    return applied


def _require_ours(connection: apsw.Connection, shown: Path, rule: SchemaRule) -> None:
    """Raise ForeignDatabase if Placet did not make the file."""
    (application,) = connection.execute("PRAGMA application_id").fetchone() or (0,)
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() or (0,)
    # An empty file belongs to nobody: SQLite has just made it, or a crash came before the first migration.
    is_empty = not application and not tables
    if application != APPLICATION_ID and not (is_empty and rule is SchemaRule.CREATED):
        raise ForeignDatabase(
            sentence("no-database-of-placet", "{path} is not a Placet database", path=str(shown))
        )


def _numbers(connection: apsw.Connection, shown: Path) -> frozenset[int]:
    """Return the numbers of the migrations that were applied to the file."""
    # SQLite does not tell upper from lower case in names. Whatever has this name but the table is refused
    # before it is read: a virtual table or another column would fail in a way of its own.
    rows: Any = connection.execute("SELECT sql FROM sqlite_schema WHERE lower(name) = 'migration'").fetchall()
    if not rows:
        return frozenset()
    if rows != [(_MIGRATION_TABLE,)]:
        raise _foreign_schema(shown, "table migration")
    numbers: Any = connection.execute("SELECT number FROM migration")
    return frozenset(number for (number,) in numbers)


def _require_fitting(applied: frozenset[int], shown: Path, rule: SchemaRule) -> None:
    """Raise StoreError if the migrations of a file are not among those of this version."""
    numbers = {number for number, _ in _steps()}
    if FORMAT_1_MIGRATION in applied:
        # Each commit of format 1 names others by a part of their hash, and signs that. Nothing else could be
        # read out of them with the same authors.
        raise OldFormat(
            sentence(
                "database-of-format-1",
                "{path} was written by a development version of Placet whose commits this version cannot"
                " verify; it was left as it is",
                path=str(shown),
            )
        )
    if applied - numbers:
        raise NewerDatabase(
            sentence(
                "database-newer",
                "{path} was written by a newer version of Placet (migration {migration})",
                path=str(shown),
                migration=max(applied),
            )
        )
    if rule is SchemaRule.CURRENT and numbers - applied:
        raise StoreError(
            sentence(
                "database-older",
                "{path} was written by an older version of Placet: start the daemon once",
                path=str(shown),
            )
        )


def _require_own_schema(connection: apsw.Connection, applied: frozenset[int], shown: Path) -> None:
    """Raise DamagedDatabase unless the schema is what the file's migrations make.

    A trigger that somebody put into a file would act with each write, and let a stranger in. What SQLite
    itself writes is no reason to refuse: its statistics, and the SQL of the tables of the word index.
    """
    try:
        expected, generated = _schema_after(tuple(script for number, script in _steps() if number in applied))
    except apsw.SQLError as fault:
        # A migration rests on an earlier one that is not named: Placet applies them in order.
        raise _foreign_schema(shown, "table migration") from fault
    differing = sorted(
        f"{row.type} {row.name}".encode(errors="replace").decode()
        for row in _schema(connection, generated) ^ expected
    )
    if differing:
        raise _foreign_schema(shown, differing[0])


def _foreign_schema(shown: Path, what: str) -> DamagedDatabase:
    return DamagedDatabase(
        sentence(
            "database-foreign-schema",
            "{path} was changed by another program: {what} is not as Placet makes it",
            path=str(shown),
            what=what,
        )
    )


def _schema(connection: apsw.Connection, generated: frozenset[str]) -> frozenset[SchemaRow]:
    """Return the schema without statistics; of the tables named in `generated`, only that they are tables."""
    schema: set[SchemaRow] = set()
    for row in _schema_rows(connection):
        # A virtual table runs code: none is taken for a table that SQLite makes, whatever its name.
        is_plain_table = row.type == "table" and row.sql is not None and row.sql.startswith(_TABLE)
        if is_plain_table and row.name in _STATISTICS:
            continue
        schema.add(row._replace(sql=_TABLE) if is_plain_table and row.name in generated else row)
    return frozenset(schema)


def _schema_rows(connection: apsw.Connection) -> Iterator[SchemaRow]:
    # As bytes: what somebody wrote into a schema need not be text, or UTF-8.
    rows: Any = connection.execute(
        "SELECT "
        + ", ".join(f"CAST({column} AS BLOB)" for column in SchemaRow._fields)
        + " FROM sqlite_schema"
    )
    for row in rows:
        yield SchemaRow(*(part and part.decode(errors="replace") for part in row))


@cache
def _schema_after(scripts: tuple[str, ...]) -> tuple[frozenset[SchemaRow], frozenset[str]]:
    """Return the schema that these migrations make, and the names of the tables whose SQL SQLite generates.

    These are the shadow tables of the word index. Each version of SQLite may write their SQL in its own way.
    """
    if not scripts:
        return frozenset(), frozenset()
    with closing(apsw.Connection(":memory:")) as empty:
        empty.execute(_MIGRATION_TABLE)
        for script in scripts:
            empty.execute(script)
        shadows: Any = empty.execute("SELECT name FROM pragma_table_list WHERE type = 'shadow'")
        generated = frozenset(name for (name,) in shadows)
        return _schema(empty, generated), generated


# -- making and changing it -------------------------------------------------------------------------------


def _set_pragmas(connection: apsw.Connection) -> None:
    """Set what every connection needs: durable commits and a bounded wait for locks."""
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    # FULL: with NORMAL, a power cut can undo a commit in WAL mode, and an Ack or the lease has named it
    # already.
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}").fetchall()


def _bring_up(connection: apsw.Connection, applied: frozenset[int]) -> bool:
    """Bring a checked schema to this version, all or nothing; return whether the planner's statistics went.

    Statistics that do not fit the content can make each query slow, so those of other programs go.
    """
    with connection:
        statistics = [row.name for row in _schema_rows(connection) if row.name in _STATISTICS]
        for name in statistics:
            connection.execute(f"DROP TABLE {name}")
        missing = [(number, script) for number, script in _steps() if number not in applied]
        if missing and not applied:
            connection.execute(_MIGRATION_TABLE)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        for number, script in missing:
            connection.execute(script)
            connection.execute("INSERT INTO migration VALUES (?)", (number,))
    return bool(statistics)


@cache
def _steps() -> list[tuple[int, str]]:
    """Read the migration files, in order of their numbers."""
    folder = resources.files("store") / "migrations"
    files = [entry for entry in folder.iterdir() if entry.name.endswith(".sql")]
    return sorted((int(entry.name.split("_")[0]), entry.read_text("utf-8")) for entry in files)


# -- errors -----------------------------------------------------------------------------------------------


@contextmanager
def translate_sqlite_errors(path: Path) -> Iterator[None]:
    """Raise the errors of SQLite about the world as StoreError; errors in our SQL stay what they are."""
    try:
        yield
    except apsw.NotADBError as fault:
        raise ForeignDatabase(damaged_database(path, fault).sentence) from fault
    except apsw.CorruptError as fault:
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
        raise file_failure(path, fault) from fault


def _cause(path: Path, fault: apsw.Error) -> StoreError:
    """Return why a file cannot be read or written: the file system often knows more than SQLite reports."""
    try:
        file_system = os.statvfs(path.parent)
    except OSError:
        return file_failure(path, fault)
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
    return file_failure(path, fault)
