"""The SQLite file: connections, pragmas, numbered migrations, and errors in a person's words.

Never knows what the tables mean.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any

import apsw

from store.faults import DamagedDatabase, DiskFull, NewerDatabase, ReadOnlyDatabase, StoreError

APPLICATION_ID = 0x506C6163  # "Plac"
BUSY_TIMEOUT_MS = 10_000
ROOM_BYTES_MIN = 64 * 1024  # what the files beside a database need, so that it can be opened at all


def connect(path: Path, *, writes: bool) -> apsw.Connection:
    """Open the file. Raises StoreError where it is no database of Placet's or cannot be opened."""
    flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if writes else 0)
    with faults_in_words(path):
        connection = apsw.Connection(str(path), flags=flags)
        try:
            _refuse_foreign(connection, path)
            _prepare(connection)
        except BaseException:
            connection.close()
            raise
    return connection


def _refuse_foreign(connection: apsw.Connection, path: Path) -> None:
    """Raise DamagedDatabase where the file is another program's, before anything is written to it."""
    (application,) = connection.execute("PRAGMA application_id").fetchone() or (0,)
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone() or (0,)
    if application != APPLICATION_ID and (application or tables):
        raise DamagedDatabase(f"{path} is a database, but not of Placet's")


def require_ours(connection: apsw.Connection, path: Path) -> None:
    """Raise DamagedDatabase where the file is not a database that Placet has made."""
    if connection.execute("PRAGMA application_id").fetchone() != (APPLICATION_ID,):
        raise DamagedDatabase(f"{path} is no database of Placet's")


def require_current(connection: apsw.Connection, path: Path) -> None:
    """Raise StoreError where the schema is not this version's, for those that only read."""
    require_ours(connection, path)
    done = _numbers(connection)
    known = {number for number, _ in _steps()}
    if done - known:
        raise NewerDatabase(_newer(path, done))
    if known - done:
        raise StoreError(f"{path} was written by an older version of Placet: start the daemon once")


def _newer(path: Path, done: Iterable[int]) -> str:
    return f"{path} was written by a newer version of Placet (migration {max(done)})"


def _prepare(connection: apsw.Connection) -> None:
    """Set what must hold on every connection: durable commits and a bounded wait for locks."""
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "trusted_schema = OFF"):
        connection.execute(f"PRAGMA {pragma}").fetchall()


def migrate(connection: apsw.Connection, path: Path) -> None:
    """Bring the schema to this version, all or nothing. Raises NewerDatabase."""
    steps = _steps()
    with faults_in_words(path), connection:
        done = _applied(connection)
        if done - {number for number, _ in steps}:
            raise NewerDatabase(_newer(path, done))
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        for number, script in steps:
            if number not in done:
                connection.execute(script)
                connection.execute("INSERT INTO migration VALUES (?)", (number,))


def _applied(connection: apsw.Connection) -> set[int]:
    """Return the numbers of the migrations that the file has."""
    connection.execute("CREATE TABLE IF NOT EXISTS migration (number INTEGER PRIMARY KEY) STRICT")
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
def faults_in_words(path: Path) -> Iterator[None]:
    """Turn SQLite's errors about the world into ours; errors in our SQL stay what they are."""
    try:
        yield
    except (apsw.NotADBError, apsw.CorruptError) as fault:
        raise DamagedDatabase(f"{path} is damaged: {fault}") from fault
    except apsw.FullError as fault:
        raise DiskFull(f"no space left for {path}") from fault
    except (apsw.ReadOnlyError, apsw.PermissionsError) as fault:
        raise ReadOnlyDatabase(f"{path} cannot be written: {fault}") from fault
    except (apsw.CantOpenError, apsw.IOError) as fault:
        raise _cause(path, fault) from fault
    except (apsw.BusyError, apsw.LockedError) as fault:
        raise StoreError(f"{path}: {fault}") from fault


def _cause(path: Path, fault: apsw.Error) -> StoreError:
    """Say why a file cannot be read or written: SQLite says no more than that, the file system often does."""
    try:
        seen = os.statvfs(path.parent)
    except OSError:
        return StoreError(f"{path}: {fault}")
    if seen.f_flag & os.ST_RDONLY:
        return ReadOnlyDatabase(f"{path} cannot be written: its file system is read-only")
    if seen.f_bavail * seen.f_frsize < ROOM_BYTES_MIN:
        return DiskFull(f"no space left for {path}")
    return StoreError(f"{path}: {fault}")
