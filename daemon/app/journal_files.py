"""Backup, restore and verify: what `placet` does to the journal's files itself, whether a daemon runs or not.

Never goes through the daemon: its sandbox lets it write nowhere else. A database with which it cannot
start must still be checked, saved and replaced. Never replaces a database while a daemon uses it.
"""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import structs

from daemon import config, paths
from daemon.app.machine import machine_id
from daemon.clock import SystemClock
from daemon.config import ConfigError
from daemon.disk import free_bytes, os_error_sentences
from daemon.folder_lock import DataFolderInUse, is_locked, lock_folder, unsafe_folder_sentence
from daemon.journal.verification import verify_database
from daemon.paths import UMASK, Paths, UnsafeFolder
from daemon.peers.transport import identity, sealed_key
from daemon.peers.transport.identity import Identity, IdentityError
from daemon.refusal import RefusalCode, Refused, not_found_refusal, usage_error
from store.file.errors import DiskFull, StoreError
from store.sentence import Sentence, json_params, sentence, sentence_fields
from store.store import Store
from store.upkeep import backup as backups
from store.upkeep.backup import BackupSummary
from store.upkeep.progress import ReportProgress
from store.upkeep.rebuild import rebuild_tables

Answer = dict[str, Any]
MIB = 1 << 20


def with_error_answer(use: Callable[[Paths], Answer]) -> Answer:
    """Run one of these uses; an error is returned in the form of the control API's errors."""
    os.umask(UMASK)
    try:
        return use(paths.find_paths())
    except Refused as fault:
        return _error(fault.code, fault.sentence, fault.hint_sentence)
    except DataFolderInUse as fault:
        hint = sentence(
            "stop-daemon-first", "stop it first: Ctrl-C where it runs, or systemctl --user stop placet"
        )
        return _error(RefusalCode.FAILED, fault.sentence, hint)
    except (StoreError, IdentityError) as fault:
        code = RefusalCode.DISK if isinstance(fault, DiskFull) else RefusalCode.FAILED
        return _error(code, fault.sentence, fault.hint_sentence)
    except ConfigError as fault:
        return _error(RefusalCode.USAGE, fault.sentence)
    except UnsafeFolder as fault:
        return _error(RefusalCode.FORBIDDEN, unsafe_folder_sentence(fault))
    except PermissionError as fault:
        return _error(RefusalCode.FORBIDDEN, *os_error_sentences(fault))
    except OSError as fault:
        return _error(RefusalCode.FAILED, *os_error_sentences(fault))


def _error(code: RefusalCode, message: Sentence, hint: Sentence | None = None) -> Answer:
    error: Answer = {"code": code.value, "message": " ".join(message.text.split()), "hint": ""}
    if message.id:
        error |= {"id": message.id, "params": json_params(message)}
    return {"error": error if hint is None else error | sentence_fields("hint", hint)}


# -- backup -----------------------------------------------------------------------------------------------


def backup(target: str, report: ReportProgress, *, force: bool, passphrase: str | None) -> Answer:
    """Write a backup of the journal to `target`; with a passphrase, the device's key goes along, sealed."""
    return with_error_answer(
        lambda local_paths: _back_up(local_paths, Path(target), report, force, passphrase)
    )


def _back_up(
    local_paths: Paths, target: Path, report: ReportProgress, force: bool, passphrase: str | None
) -> Answer:
    database = existing_database(local_paths)
    _require_target(local_paths, target, force)
    require_disk_space(local_paths, target.parent, backups.backup_bytes_max(database))
    sealed = None if passphrase is None else _sealed_key(local_paths, passphrase)
    contents = backups.write_backup(database, target, report, sealed)
    return {"file": str(target), **_counts(contents), "with_key": sealed is not None}


def file_timestamp() -> str:
    """Return the current time in UTC, in the form used in names of files."""
    return datetime.fromtimestamp(SystemClock().now_ms() / 1000, UTC).strftime("%Y%m%dT%H%M%SZ")


def existing_database(local_paths: Paths) -> Path:
    """Return the path of the journal. Raises Refused if there is none yet."""
    database = Path(local_paths.database)
    if not database.exists():
        raise Refused(
            RefusalCode.NOT_FOUND,
            sentence("no-journal", "there is no journal yet at {file}", file=str(database)),
            sentence("up-begins-one", "placet up begins one"),
        )
    return database


def _require_target(local_paths: Paths, target: Path, force: bool) -> None:
    if target.is_dir():
        raise usage_error(
            sentence("target-is-folder", "{file} is a folder", file=str(target)),
            sentence("name-file-in-it", "name a file in it: {file}", file=str(target / "placet.backup")),
        )
    if not target.parent.is_dir():
        message = sentence(
            "file-not-writable",
            "{file} cannot be written: {fault}",
            file=str(target),
            fault=os.strerror(errno.ENOENT),
        )
        raise Refused(RefusalCode.FAILED, message, sentence("make-folder-first", "make its folder first"))
    # The beginning of the name is enough: SQLite keeps files beside the database under longer names.
    if target.parent.samefile(local_paths.data) and target.name.startswith(
        (Path(local_paths.database).name, identity.FILE_NAME, "daemon.lock")
    ):
        raise usage_error(
            sentence("own-file", "{file} is one of Placet's own files", file=str(target)),
            sentence("name-another-file", "name another one, best on another disk"),
        )
    if target.exists() and not force:
        raise Refused(
            RefusalCode.NEEDS_CONFIRMATION,
            sentence("file-exists", "{file} exists", file=str(target)),
            sentence("force-replaces", "add --force to replace it"),
        )


def require_disk_space(local_paths: Paths, folder: Path, needed: int) -> None:
    """Refuse early what would fill a disk, or leave the daemon too little space to write.

    The daemon's floor counts only if `folder` is on the file system of the data folder.
    """
    free = free_bytes(folder)
    same = folder.stat().st_dev == Path(local_paths.data).stat().st_dev
    floor = (
        config.load(Path(local_paths.config_file), os.environ, {}).settings.disk.floor_mib * MIB
        if same
        else 0
    )
    if free < needed + floor:
        raise Refused(
            RefusalCode.DISK,
            _too_little_space(folder, free // MIB, -(-needed // MIB), floor // MIB),
            sentence("free-space-or-other-disk", "free some space, or use another disk"),
        )


def _too_little_space(folder: Path, free_mib: int, needed_mib: int, floor_mib: int) -> Sentence:
    if not floor_mib:
        return sentence(
            "disk-too-small",
            "{folder} has {free} MiB left, this may take {needed} MiB",
            folder=str(folder),
            free=free_mib,
            needed=needed_mib,
        )
    return sentence(
        "disk-too-small-for-floor",
        "{folder} has {free} MiB left, this may take {needed} MiB, and {floor} MiB are to stay free",
        folder=str(folder),
        free=free_mib,
        needed=needed_mib,
        floor=floor_mib,
    )


def _sealed_key(local_paths: Paths, passphrase: str) -> bytes:
    if len(passphrase) < sealed_key.PASSPHRASE_CHARS_MIN:
        raise usage_error(
            sentence(
                "passphrase-too-short",
                "a passphrase needs at least {count} characters",
                count=sealed_key.PASSPHRASE_CHARS_MIN,
            ),
            sentence("several-words", "several words are best"),
        )
    clock = SystemClock()
    key = identity.read_private_key(Path(local_paths.data))
    own = identity.load(Path(local_paths.data))
    return sealed_key.seal(key, passphrase, own.device, clock.randomness)


def _counts(contents: BackupSummary) -> Answer:
    return {"commits": contents.commits, "entities": contents.entities, "bytes": contents.size_bytes}


def _require_at_rest(local_paths: Paths, file: Path) -> None:
    """Refuse to copy the files of another journal while its daemon writes to them: the copy would be torn."""
    resolved = file.resolve()
    if resolved.name == Path(local_paths.database).name and is_locked(resolved.parent):
        raise Refused(
            RefusalCode.FAILED,
            sentence("daemon-writes", "a daemon is writing to {file}", file=str(file)),
            sentence(
                "make-backup-there",
                "name a backup: PLACET_HOME={folder} placet backup",
                folder=str(resolved.parent),
            ),
        )


# -- restore ----------------------------------------------------------------------------------------------


def restore(
    file: str, report: ReportProgress, *, passphrase: Callable[[], str], as_this_device: bool
) -> Answer:
    """Replace the journal by a backup. `passphrase` is called if a sealed key is needed.

    The key in the data folder has precedence over that of the backup. A folder without a key becomes the
    device whose key the backup contains, else a new device.
    """
    return with_error_answer(
        lambda local_paths: _restore(local_paths, Path(file), report, passphrase, as_this_device)
    )


def _restore(
    local_paths: Paths,
    file: Path,
    report: ReportProgress,
    passphrase: Callable[[], str],
    as_this_device: bool,
) -> Answer:
    if not file.is_file():
        raise Refused(
            RefusalCode.NOT_FOUND, sentence("no-backup", "there is no backup {file}", file=str(file))
        )
    paths.make_folders(local_paths)
    database, data = Path(local_paths.database), Path(local_paths.data)
    if database.exists() and file.samefile(database):
        raise usage_error(
            sentence("journal-itself", "{file} is the journal itself", file=str(file)),
            sentence("name-backup", "name a backup of it"),
        )
    _require_at_rest(local_paths, file)
    with lock_folder(data):
        # While the log is folded anew, the old tables are kept beside the new ones.
        require_disk_space(local_paths, data, 2 * file.stat().st_size)
        working = backups.working_copy_path(database)
        try:
            contents = backups.prepare_copy(file, working, report, folds_anew=True)
            had_key = (data / identity.FILE_NAME).exists()
            own, from_backup = _identity_to_use(data, contents, passphrase, as_this_device)
            try:
                kept = backups.install_copy(working, database, own.device, file_timestamp())
            except BaseException:
                if not had_key and working.exists():
                    # If the new key stayed, the next attempt would see the backup of another device.
                    own.file.unlink()
                raise
        finally:
            backups.discard_unfinished(working)
    return {
        "file": str(file),
        **_counts(contents),
        "replaced": None if kept.database is None else str(kept.database),
        "side_files": [str(path) for path in kept.side_files],
        "device_id": own.device.hex(),
        "of_device_id": contents.device.hex(),
        "key_restored": from_backup,
    }


def _identity_to_use(
    data: Path, contents: BackupSummary, passphrase: Callable[[], str], as_this_device: bool
) -> tuple[Identity, bool]:
    """Return the identity of this device from now on, and whether it came from the backup."""
    clock = SystemClock()
    if (data / identity.FILE_NAME).exists() or contents.sealed_key is None or as_this_device:
        is_new = not (data / identity.FILE_NAME).exists()
        own = identity.load_or_create(data, clock.randomness)
        if own.device != contents.device and not (as_this_device or is_new):
            raise Refused(
                RefusalCode.NEEDS_CONFIRMATION,
                sentence(
                    "backup-of-other-device",
                    "this is the backup of another device ({id})",
                    id=contents.device.hex()[:12],
                ),
                sentence("go-on-as-this-device", "add --as-this-device to go on with its journal here"),
            )
        return own, False
    try:
        key = sealed_key.unseal(contents.sealed_key, passphrase(), contents.device)
    except sealed_key.UnsealError as fault:
        hint = sentence(
            "try-again-or-new-device", "try again, or add --as-this-device to go on as a new device"
        )
        raise Refused(RefusalCode.FORBIDDEN, fault.sentence, hint) from fault
    return identity.create(data, key), True


# -- verify -----------------------------------------------------------------------------------------------


def verify(file: str | None, report: ReportProgress, *, rebuild: bool = False) -> Answer:
    """Check the journal, or a backup of one, against everything that is computed from its log.

    With `rebuild`, what is computed from the journal's log is written anew first.
    """

    def use(local_paths: Paths) -> Answer:
        if rebuild:
            _rebuild(local_paths, report)
        return _verify(local_paths, None if file is None else Path(file), report)

    return with_error_answer(use)


def _rebuild(local_paths: Paths, report: ReportProgress) -> None:
    database, clock = existing_database(local_paths), SystemClock()
    with lock_folder(Path(local_paths.data)):
        require_disk_space(local_paths, Path(local_paths.data), backups.backup_bytes_max(database))
        store = Store.open(
            database,
            signer=identity.load(Path(local_paths.data)).signer,
            now_ms=clock.now_ms,
            randomness=clock.randomness,
            machine=machine_id(),
        )
        try:
            with store.write() as tx:
                rebuild_tables(tx.db, report)
        finally:
            store.close()


def _verify(local_paths: Paths, file: Path | None, report: ReportProgress) -> Answer:
    with _checkable(local_paths, file, report) as database:
        verified = verify_database(database, report)
    return {"file": str(file or local_paths.database), **structs.asdict(verified)}


@contextmanager
def _checkable(local_paths: Paths, file: Path | None, report: ReportProgress) -> Iterator[Path]:
    """Yield the database to check: for a backup a copy of it, because a check writes to the file."""
    if file is None:
        yield existing_database(local_paths)
        return
    if not file.is_file():
        raise not_found_refusal("file", str(file))
    own = Path(local_paths.database)
    if own.exists() and file.samefile(own):
        # A copy made while a daemon writes to the file would look damaged.
        yield own
        return
    _require_at_rest(local_paths, file)
    paths.make_folders(local_paths)
    require_disk_space(local_paths, Path(local_paths.data), file.stat().st_size)
    copy = Path(local_paths.data) / f"{Path(local_paths.database).name}.verifying-{os.getpid()}"
    try:
        backups.prepare_copy(file, copy, report, folds_anew=False)
        yield copy
    finally:
        backups.discard_unfinished(copy)
