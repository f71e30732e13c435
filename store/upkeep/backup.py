"""Backups: copying the database to one file, and putting such a file in place of a database.

Never changes what it copies, never leaves a half-written file under the final name, and never deletes the
database that it replaces.
"""

import errno
import fcntl
import glob
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from store.file import database
from store.file.database import SchemaRule
from store.file.errors import (
    DamagedDatabase,
    ForeignDatabase,
    StoreError,
    damaged_database,
    translate_os_errors,
)
from store.file.lease import sync_folder
from store.sentence import sentence
from store.snapshot import Snapshot
from store.upkeep.progress import ReportProgress
from store.upkeep.rebuild import rebuild_tables
from store.upkeep.restored_rows import drop_unbelieved_rows
from syncproto.ids import DeviceId

PROGRESS_EVERY = 10_000  # instructions of SQLite's
HEADER = b"SQLite format 3\0"
WORKING_SUFFIX = ".restoring"
SIDE_SUFFIXES = ("-wal", "-shm", "-journal")  # of the files beside a database that SQLite takes for its own


class BackupSummary(NamedTuple):
    """The content of a backup: whose journal, how much, and the sealed key of the device if included."""

    device: DeviceId
    commits: int
    entities: int
    size_bytes: int
    sealed_key: bytes | None


class KeptFiles(NamedTuple):
    """What a restore kept of the database that it replaced.

    `database` is None if there was none. `side_files` were beside a database that was gone or damaged: they
    may contain its last changes.
    """

    database: Path | None
    side_files: tuple[Path, ...] = ()


class NotABackup(StoreError):
    """The file is something else."""

    hint_sentence = sentence("name-a-backup", "name a file that 'placet backup' wrote")


class DatabaseInUse(StoreError):
    """Another process has the database open."""

    hint_sentence = sentence(
        "end-what-reads-it", "end the program that reads it, such as a backup that still runs, and try again"
    )


def backup_bytes_max(path: Path) -> int:
    """Return the bytes that a backup of this database may take at most."""
    with database.translate_sqlite_errors(path):
        source = database.connect(path, SchemaRule.KNOWN)
        try:
            return _bytes(source)
        finally:
            source.close()


def _bytes(db: apsw.Connection) -> int:
    row: Any = db.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").fetchone()
    return int(row[0])


@contextmanager
def open_snapshot(path: Path) -> Iterator[Snapshot]:
    """Read a database that a daemon may be using, from another process. Raises StoreError."""
    with database.translate_sqlite_errors(path):
        db = database.connect(path, SchemaRule.CURRENT)
        try:
            db.execute("BEGIN")
            # BEGIN alone takes no snapshot: the first read does.
            db.execute("SELECT one FROM standing").fetchall()
            yield Snapshot(db)
        finally:
            db.close()


# -- making one -------------------------------------------------------------------------------------------


def write_backup(
    path: Path, target: Path, report: ReportProgress, sealed_key: bytes | None = None
) -> BackupSummary:
    """Copy the database, as it is now, to `target`, replacing what is there; others may write meanwhile.

    Raises StoreError; then `target` is unchanged.
    """
    with _part_of(target) as part:
        _copy_out(path, part, report)
        contents = _finish(part, target, report, sealed_key)
        with translate_os_errors(target):
            _sync(part)
            part.replace(target)
            sync_folder(target.parent)
    return contents


def keep_before_upgrade(path: Path, schema: int) -> Path:
    """Copy a database whose newest migration is `schema` beside it, as it is, for the version that wrote it.

    The copy replaces those of earlier upgrades, once it is whole. Raises StoreError; then nothing is changed.
    """
    target = path.with_name(f"{path.name}.schema-{schema:04}")
    with _part_of(target) as part:
        _copy_out(path, part, lambda *_progress: None)
        with translate_os_errors(target):
            _sync(part)
            part.replace(target)
            sync_folder(target.parent)
    for earlier in path.parent.glob(f"{glob.escape(path.name)}.schema-*"):
        if earlier != target:
            earlier.unlink(missing_ok=True)
    return target


@contextmanager
def _part_of(target: Path) -> Iterator[Path]:
    """Yield a new file beside `target`, locked while it is written: two backups may have the same target."""
    _discard_leftovers(target)
    # A name that nobody guesses: whoever may write to the folder could have put something there before.
    part = target.with_name(f".{target.name}.{os.urandom(8).hex()}.part")  # noqa: TID251 - any name would do
    with translate_os_errors(target):
        # Made here with these rights: SQLite would let other users read it.
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(part, flags, 0o600)
    try:
        # On a file system without locks, another backup to this target may end this one with an error.
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield part
    except BaseException:
        discard_unfinished(part)
        raise
    finally:
        os.close(descriptor)


def _discard_leftovers(target: Path) -> None:
    """Remove the files of backups that were killed; a file that cannot be locked or removed stays."""
    for left in target.parent.glob(f".{glob.escape(target.name)}.*.part"):
        with suppress(OSError):
            descriptor = os.open(left, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                discard_unfinished(left)
            finally:
                os.close(descriptor)


def _copy_out(path: Path, part: Path, report: ReportProgress) -> None:
    source = database.connect(path, SchemaRule.KNOWN)
    number = _bytes(source)

    def report_size() -> bool:
        report("writing", min(part.stat().st_size, number), number)
        return False

    try:
        source.set_progress_handler(report_size, PROGRESS_EVERY)
        source.execute("VACUUM INTO ?", (str(part),))
    except apsw.CorruptError as fault:
        raise damaged_database(path, fault) from fault
    except apsw.Error:
        with database.translate_sqlite_errors(part):
            raise
    finally:
        source.close()


def _finish(part: Path, target: Path, report: ReportProgress, sealed_key: bytes | None) -> BackupSummary:
    """Delete from the copy what must not be restored, add the key, and check that the copy is whole."""
    with database.translate_sqlite_errors(target):
        copy = database.connect(part, SchemaRule.MIGRATED, shown_as=target)
        try:
            # No second file beside the copy: it could be lost, and a copy that a crash leaves is not used.
            copy.execute("PRAGMA journal_mode = MEMORY").fetchall()
            with copy:
                # A device that was about to join must not get in by a restore (docs/decisions/0055).
                copy.execute("DELETE FROM newcomer")
                if sealed_key is not None:
                    copy.execute("INSERT INTO sealed_key VALUES (1, ?)", (sealed_key,))
            report("checking", 0, 0)
            _require_whole(copy, target)
            return _contents(copy, part)
        finally:
            copy.close()


# -- putting one back -------------------------------------------------------------------------------------


def working_copy_path(path: Path) -> Path:
    """Return the path at which a backup is prepared, beside the database that it will replace."""
    return path.with_name(path.name + WORKING_SUFFIX)


def prepare_copy(backup: Path, working: Path, report: ReportProgress, *, folds_anew: bool) -> BackupSummary:
    """Copy a backup, or another database of Placet with its -wal, to `working`; check and migrate the copy.

    With `folds_anew`, the log of the copy is checked as if a stranger had sent it, and all that follows from
    it is made anew. Raises StoreError: NotABackup, DamagedDatabase, NewerDatabase, OldFormat, DiskFull.
    """
    discard_unfinished(working)
    report("reading", 0, 0)
    with translate_os_errors(backup):
        # The -wal is beside the file itself, not beside a link to it.
        path = backup.resolve()
        for suffix in ("", "-wal"):
            if (source := path.with_name(path.name + suffix)).exists() or not suffix:
                _copy_in(source, working.with_name(working.name + suffix))
    copy = _open_copy(working, backup)
    try:
        report("checking", 0, 0)
        with database.translate_sqlite_errors(backup):
            if folds_anew:
                _require_sound_pages(copy, backup)
                _fold_anew(copy, backup, report)
            else:
                _require_whole(copy, backup)
            return _contents(copy, working)
    finally:
        copy.close()


def _copy_in(source: Path, target: Path) -> None:
    # A pipe beside a backup would keep a restore waiting for ever, and a device would fill the disk.
    with open(source, "rb", opener=lambda path, flags: os.open(path, flags | os.O_NONBLOCK)) as reading:
        if not stat.S_ISREG(os.fstat(reading.fileno()).st_mode):
            raise _not_a_backup(source)
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as writing:
            shutil.copyfileobj(reading, writing, 1 << 20)


def _not_a_backup(path: Path) -> NotABackup:
    return NotABackup(sentence("not-a-backup", "{path} is not a Placet backup", path=str(path)))


def _open_copy(working: Path, backup: Path) -> apsw.Connection:
    """Open the copy; errors name the file that the person gave."""
    try:
        return database.connect(working, SchemaRule.MIGRATED, shown_as=backup)
    except ForeignDatabase:
        raise _not_a_backup(backup) from None


def _fold_anew(copy: apsw.Connection, backup: Path, report: ReportProgress) -> None:
    try:
        with copy:
            rebuild_tables(copy, report, is_strict=True)
            drop_unbelieved_rows(copy)
    except DamagedDatabase as fault:
        raise DamagedDatabase(
            sentence(
                "backup-log-damaged",
                "{path} cannot be restored: {fault}",
                path=str(backup),
                fault=fault.sentence,
            )
        ) from fault


def install_copy(working: Path, path: Path, device: DeviceId, stamp: str) -> KeptFiles:
    """Put a prepared copy in place as the database of this device, as a new replica; return what is kept.

    At every moment one of the two is whole under the name of the database. Without hard links, the old one
    has for a moment only the name under which it is kept. Raises DatabaseInUse and other StoreErrors.
    """
    with database.translate_sqlite_errors(working):
        copy = database.connect(working, SchemaRule.CURRENT)
        try:
            with copy:
                # Counters beyond the backup's may have been used: only a new replica numbers no commit twice.
                copy.execute("UPDATE standing SET device = ?, replica = NULL", (device,))
                for table in ("newcomer", "sealed_key"):
                    copy.execute(f"DELETE FROM {table}")
            copy.execute("PRAGMA journal_mode = DELETE").fetchall()
        finally:
            copy.close()
    with translate_os_errors(path):
        _sync(working)
        kept_files = _keep_old(path, stamp)
        working.replace(path)
        sync_folder(path.parent)
    return kept_files


def _keep_old(path: Path, stamp: str) -> KeptFiles:
    """Give the database that will be replaced, and what is left beside it, names under which they stay."""
    kept_path = _unused_name(path, stamp)
    exists = path.exists()
    side_files: list[Path] = []
    if not exists or not _fold_wal(path):
        # The database is gone or damaged: what is left is kept as it is. SQLite would replay a -wal into
        # whatever database it meets next.
        side_files = _move_side_files(path, kept_path)
    if exists:
        _second_name(path, kept_path)
    return KeptFiles(kept_path if exists else None, tuple(side_files))


def _unused_name(path: Path, stamp: str) -> Path:
    """Return a name beside `path` that no kept database and no file beside one has yet."""
    name = f"{path.name}.replaced-{stamp}"
    candidate, number = name, 1
    while any(path.with_name(candidate + suffix).exists() for suffix in ("", *SIDE_SUFFIXES)):
        number += 1
        candidate = f"{name}-{number}"
    return path.with_name(candidate)


def _move_side_files(path: Path, kept_path: Path) -> list[Path]:
    """Rename what SQLite left beside a database, durably before another database gets its name."""
    moved = [
        side_file.replace(kept_path.with_name(kept_path.name + suffix))
        for suffix in SIDE_SUFFIXES
        if (side_file := path.with_name(path.name + suffix)).exists()
    ]
    sync_folder(path.parent)
    return moved


def _second_name(path: Path, kept_path: Path) -> None:
    """Give a file a second name, or only that name on a file system without hard links (exFAT)."""
    try:
        os.link(path, kept_path)
    except OSError as fault:
        if fault.errno not in (errno.EPERM, errno.EOPNOTSUPP):
            raise
        path.replace(kept_path)


def _fold_wal(path: Path) -> bool:
    """Write the -wal into its database and remove it; False if the file is damaged. Raises DatabaseInUse."""
    with path.open("rb") as file:
        if file.read(len(HEADER)) != HEADER:
            # SQLite would remove the -wal of a file that is no database.
            return False
    try:
        with database.translate_sqlite_errors(path):
            old = database.open_file(path)
            try:
                # This needs exclusive access to the file.
                old.execute("PRAGMA journal_mode = DELETE").fetchall()
            except (apsw.BusyError, apsw.LockedError) as fault:
                raise DatabaseInUse(
                    sentence("database-in-use", "{path} is in use by another process", path=str(path))
                ) from fault
            finally:
                old.close()
    except DamagedDatabase:
        return False
    return True


def discard_unfinished(unfinished: Path) -> None:
    """Remove an unfinished file, with the files that SQLite made beside it."""
    for suffix in ("", *SIDE_SUFFIXES):
        unfinished.with_name(unfinished.name + suffix).unlink(missing_ok=True)


# -- both -------------------------------------------------------------------------------------------------


def _require_sound_pages(db: apsw.Connection, path: Path) -> None:
    """Raise DamagedDatabase if pages are damaged, or if a row is missing on which others rest."""
    texts = [str(line) for (line,) in db.execute("PRAGMA integrity_check(1)")]
    if texts != ["ok"]:
        raise damaged_database(path, texts[0])
    has_standing = db.execute("SELECT 1 FROM standing").fetchone() is not None
    if db.execute("PRAGMA foreign_key_check").fetchone() or not has_standing:
        raise _tables_differ(path)


def _tables_differ(path: Path) -> DamagedDatabase:
    return DamagedDatabase(
        sentence(
            "database-tables-differ",
            "{path} is damaged: its tables do not match each other",
            path=str(path),
        )
    )


def _require_whole(db: apsw.Connection, path: Path) -> None:
    """Raise DamagedDatabase if pages are damaged, or if the tables contradict each other."""
    _require_sound_pages(db, path)
    snapshot = Snapshot(db)
    row: Any = db.execute(
        "SELECT (SELECT count(*) FROM feed), (SELECT count(*) FROM entity), (SELECT count(*) FROM branch"
        " JOIN feed ON feed.replica = branch.replica AND counter = tip AND hash = tip_hash),"
        " (SELECT count(*) FROM branch)"
    ).fetchone()
    commits, entities, tips, branches = row
    if (commits, entities, tips) != (snapshot.feed_end(), snapshot.counts().entities, branches):
        raise _tables_differ(path)


def _contents(db: apsw.Connection, file: Path) -> BackupSummary:
    snapshot = Snapshot(db)
    counts = snapshot.counts()
    row: Any = db.execute("SELECT sealed FROM sealed_key").fetchone()
    sealed = None if row is None else bytes(row[0])
    return BackupSummary(snapshot.device, counts.commits, counts.entities, file.stat().st_size, sealed)


def _sync(file: Path) -> None:
    descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
