"""Backups: the database as one file of its own, and such a file put in place of a database.

Never changes what it copies, never shows a half-written file under the name that was asked for, and never
deletes the database that it replaces.
"""

import errno
import fcntl
import glob
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from store import database
from store.faults import DamagedDatabase, StoreError, file_faults_in_words
from store.lease import sync_folder
from store.snapshot import Snapshot
from syncproto.ids import DeviceId

PROGRESS_EVERY = 10_000  # instructions of SQLite's
HEADER = b"SQLite format 3\0"
WORKING_SUFFIX = ".restoring"

Told = Callable[[str, int, int], None]
"""Called now and then with the stage in plain words, how far it is, and of how many."""


class Contents(NamedTuple):
    """What a backup holds: whose journal, how much of it, and the device's sealed key where it is in it."""

    device: DeviceId
    commits: int
    entities: int
    size_bytes: int
    sealed_key: bytes | None


class NoBackup(StoreError):
    """The file is something else."""

    hint = "name a file that 'placet backup' wrote"


class InUse(StoreError):
    """Another process has the database open."""

    hint = "end what reads it, such as a backup that still runs, and try again"


def size(path: Path) -> int:
    """Return the bytes that a backup of this database may take at most."""
    with database.faults_in_words(path):
        source = database.connect(path, writes=False)
        try:
            return _bytes(source)
        finally:
            source.close()


def _bytes(db: apsw.Connection) -> int:
    row: Any = db.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").fetchone()
    return int(row[0])


@contextmanager
def reading(path: Path) -> Iterator[Snapshot]:
    """Read a database that a daemon may be using, from another process. Raises StoreError."""
    with database.faults_in_words(path):
        db = database.connect(path, writes=False)
        try:
            database.require_current(db, path)
            db.execute("BEGIN")
            # BEGIN alone takes no snapshot: the first read does.
            db.execute("SELECT one FROM standing").fetchall()
            yield Snapshot(db)
        finally:
            db.close()


# -- making one -------------------------------------------------------------------------------------------


def write_backup(path: Path, target: Path, told: Told, sealed_key: bytes | None = None) -> Contents:
    """Copy the database, as it is now, to `target` in place of what is there; others may write meanwhile.

    Raises StoreError: then `target` is as it was.
    """
    with _part_of(target) as part:
        _copy_out(path, part, told)
        contents = _finish(part, target, told, sealed_key)
        with file_faults_in_words(target):
            _sync(part)
            part.replace(target)
            sync_folder(target.parent)
    return contents


@contextmanager
def _part_of(target: Path) -> Iterator[Path]:
    """Give a new file beside `target`, locked as long as it is written: two backups may have one target."""
    _discard_left(target)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    with file_faults_in_words(target):
        # SQLite would let others read it.
        descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        # Where a file system knows no locks, another backup to this target may end this one, in an error.
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield part
    except BaseException:
        discard(part)
        raise
    finally:
        os.close(descriptor)


def _discard_left(target: Path) -> None:
    """Remove what backups have left that were killed; what nobody may remove or lock is left alone."""
    for left in target.parent.glob(f".{glob.escape(target.name)}.*.part"):
        with suppress(OSError):
            descriptor = os.open(left, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                discard(left)
            finally:
                os.close(descriptor)


def _copy_out(path: Path, part: Path, told: Told) -> None:
    source = database.connect(path, writes=False)
    whole = _bytes(source)

    def progressed() -> bool:
        told("writing", min(part.stat().st_size, whole), whole)
        return False

    try:
        source.set_progress_handler(progressed, PROGRESS_EVERY)
        source.execute("VACUUM INTO ?", (str(part),))
    except (apsw.NotADBError, apsw.CorruptError) as fault:
        raise DamagedDatabase(f"{path} is damaged: {fault}") from fault
    except apsw.Error:
        with database.faults_in_words(part):
            raise
    finally:
        source.close()


def _finish(part: Path, target: Path, told: Told, sealed_key: bytes | None) -> Contents:
    """Take out what must not come back, put the key in, and check that the copy is whole."""
    with database.faults_in_words(target):
        copy = apsw.Connection(str(part), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            # A file beside it would be one more to lose; what a crash leaves is not used.
            copy.execute("PRAGMA journal_mode = MEMORY").fetchall()
            with copy:
                copy.execute("DELETE FROM newcomer")
                if sealed_key is not None:
                    copy.execute("INSERT INTO sealed_key VALUES (1, ?)", (sealed_key,))
            told("checking", 0, 0)
            _require_whole(copy, target)
            return _contents(copy, part)
        finally:
            copy.close()


# -- putting one back -------------------------------------------------------------------------------------


def working_copy(path: Path) -> Path:
    """Return where a backup is made ready, beside the database that it is to replace."""
    return path.with_name(path.name + WORKING_SUFFIX)


def prepare(backup: Path, working: Path, told: Told) -> Contents:
    """Copy a backup, or another database file of Placet's with its -wal, to `working`; check it, and bring
    its schema to this version.

    Raises StoreError: DamagedDatabase, NewerDatabase, DiskFull.
    """
    discard(working)
    told("reading", 0, 0)
    with file_faults_in_words(backup):
        # SQLite has a wal beside the file itself, not beside a link to it.
        whole = backup.resolve()
        for suffix in ("", "-wal"):
            if (source := whole.with_name(whole.name + suffix)).exists() or not suffix:
                _copy_in(source, working.with_name(working.name + suffix))
    copy = _connected(working, backup)
    try:
        database.migrate(copy, backup)
        told("checking", 0, 0)
        with database.faults_in_words(backup):
            _require_whole(copy, backup)
            return _contents(copy, working)
    finally:
        copy.close()


def _copy_in(source: Path, target: Path) -> None:
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with source.open("rb") as reading, os.fdopen(descriptor, "wb") as writing:
        shutil.copyfileobj(reading, writing, 1 << 20)


def _connected(working: Path, backup: Path) -> apsw.Connection:
    """Open the copy; what is wrong with it is said of the file that the person named."""
    with database.faults_in_words(backup):
        copy = apsw.Connection(str(working), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            _require_ours(copy, backup)
        except BaseException:
            copy.close()
            raise
    return copy


def _require_ours(copy: apsw.Connection, backup: Path) -> None:
    try:
        database.require_ours(copy, backup)
    except (apsw.NotADBError, DamagedDatabase):
        raise NoBackup(f"{backup} is no backup of Placet's") from None


def put_in_place(working: Path, path: Path, device: DeviceId, stamp: str) -> Path | None:
    """Let a prepared copy be this device's database, a new replica of it; return where the old one is kept.

    At every moment one of the two is whole under its name; without hard links, for a moment under the name
    by which the old one is kept. Raises InUse and other StoreErrors.
    """
    with database.faults_in_words(working):
        copy = apsw.Connection(str(working), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            with copy:
                copy.execute("UPDATE standing SET device = ?, replica = NULL", (device,))
                for table in ("newcomer", "sealed_key"):
                    copy.execute(f"DELETE FROM {table}")
            copy.execute("PRAGMA journal_mode = DELETE").fetchall()
        finally:
            copy.close()
    with file_faults_in_words(path):
        _sync(working)
        kept = _keep_old(path, stamp) if path.exists() else None
        working.replace(path)
        sync_folder(path.parent)
    return kept


def _keep_old(path: Path, stamp: str) -> Path:
    """Give the database that is to be replaced a second name."""
    kept = path.with_name(f"{path.name}.replaced-{stamp}")
    number = 1
    while kept.exists():
        number += 1
        kept = path.with_name(f"{path.name}.replaced-{stamp}-{number}")
    if not _fold_wal(path):
        # It is damaged: its parts go along as they are, and a wal must never meet another database.
        for suffix in ("-wal", "-shm"):
            if (part := path.with_name(path.name + suffix)).exists():
                part.replace(kept.with_name(kept.name + suffix))
    _second_name(path, kept)
    return kept


def _second_name(path: Path, kept: Path) -> None:
    """Give a file a name more or, on a file system that knows but one (exFAT), that name instead."""
    try:
        os.link(path, kept)
    except OSError as fault:
        if fault.errno not in (errno.EPERM, errno.EOPNOTSUPP):
            raise
        path.replace(kept)


def _fold_wal(path: Path) -> bool:
    """Write the wal into its database, and leave none; False where the file is damaged. Raises InUse."""
    with path.open("rb") as file:
        if file.read(len(HEADER)) != HEADER:
            # SQLite would remove the wal of what is no database.
            return False
    try:
        with database.faults_in_words(path):
            old = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
            try:
                # Needs the file for itself alone.
                old.execute("PRAGMA journal_mode = DELETE").fetchall()
            except (apsw.BusyError, apsw.LockedError) as fault:
                raise InUse(f"{path} is in use by another process") from fault
            finally:
                old.close()
    except DamagedDatabase:
        return False
    return True


def discard(unfinished: Path) -> None:
    """Remove what was not finished, with the files that SQLite had beside it."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        unfinished.with_name(unfinished.name + suffix).unlink(missing_ok=True)


# -- both -------------------------------------------------------------------------------------------------


def _require_whole(db: apsw.Connection, path: Path) -> None:
    """Raise DamagedDatabase where pages, or what the tables say of each other, do not fit."""
    found = [str(line) for (line,) in db.execute("PRAGMA integrity_check(1)")]
    if found != ["ok"]:
        raise DamagedDatabase(f"{path} is damaged: {found[0]}")
    snapshot = Snapshot(db)
    row: Any = db.execute(
        "SELECT (SELECT count(*) FROM feed), (SELECT count(*) FROM entity), (SELECT count(*) FROM branch"
        " JOIN feed ON feed.replica = branch.replica AND counter = tip AND hash8 = substr(tip_hash, 1, 8)),"
        " (SELECT count(*) FROM branch)"
    ).fetchone()
    commits, entities, tips, branches = row
    if (commits, entities, tips) != (snapshot.feed_end(), snapshot.counts().entities, branches):
        raise DamagedDatabase(f"{path} is damaged: its tables do not fit each other")


def _contents(db: apsw.Connection, file: Path) -> Contents:
    snapshot = Snapshot(db)
    counts = snapshot.counts()
    row: Any = db.execute("SELECT sealed FROM sealed_key").fetchone()
    sealed = None if row is None else bytes(row[0])
    return Contents(snapshot.device, counts.commits, counts.entities, file.stat().st_size, sealed)


def _sync(file: Path) -> None:
    descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
