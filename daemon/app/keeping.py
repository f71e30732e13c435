"""Backup, restore and verify: what `placet` does to the journal's files itself, whether a daemon runs or not.

Never goes through the daemon: its sandbox lets it write nowhere else, and a database that keeps it from
starting must still be looked at, saved and replaced. Never replaces a database while a daemon has it.
"""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from daemon import config, paths
from daemon.app.entry import UMASK
from daemon.app.lock import InUse, is_held, locked
from daemon.app.machine import machine_id
from daemon.clock import SystemClock
from daemon.config import ConfigError
from daemon.disk import free_bytes, in_words
from daemon.journal.errors import Code, Refused, not_found, usage
from daemon.paths import Paths, UnsafeFolder
from daemon.peers import identity, sealing
from daemon.peers.identity import Identity, IdentityError
from store import backup as backups
from store import verifying
from store.backup import Contents, Told
from store.faults import DiskFull, StoreError
from store.store import Store

Answer = dict[str, Any]
MIB = 1 << 20


def answered(use: Callable[[Paths], Answer]) -> Answer:
    """Run one of these parts; what goes wrong is answered in the form of the control API's errors."""
    os.umask(UMASK)
    try:
        return use(paths.find_paths())
    except Refused as fault:
        return _error(fault.code.value, fault.message, fault.hint)
    except InUse as fault:
        hint = "stop it first: Ctrl-C where it runs, or systemctl --user stop placet"
        return _error(Code.FAILED, str(fault), hint)
    except (StoreError, IdentityError) as fault:
        return _error(Code.DISK if isinstance(fault, DiskFull) else Code.FAILED, str(fault), fault.hint)
    except ConfigError as fault:
        return _error(Code.USAGE, str(fault), "")
    except UnsafeFolder as fault:
        return _error(Code.FORBIDDEN, str(fault), "")
    except PermissionError as fault:
        return _error(Code.FORBIDDEN, *in_words(fault))
    except OSError as fault:
        return _error(Code.FAILED, *in_words(fault))


def _error(code: str, message: str, hint: str) -> Answer:
    return {"error": {"code": str(code), "message": " ".join(message.split()), "hint": hint}}


# -- backup -----------------------------------------------------------------------------------------------


def backup(target: str, told: Told, *, force: bool, passphrase: str | None) -> Answer:
    """Write a backup of the journal to `target`; with a passphrase, the device's key goes along, sealed."""
    return answered(lambda where: _back_up(where, Path(target), told, force, passphrase))


def _back_up(where: Paths, target: Path, told: Told, force: bool, passphrase: str | None) -> Answer:
    database = existing(where)
    _require_target(where, target, force)
    require_room(where, target.parent, backups.size(database))
    sealed = None if passphrase is None else _sealed_key(where, passphrase)
    contents = backups.write_backup(database, target, told, sealed)
    return {"file": str(target), **_counts(contents), "with_key": sealed is not None}


def stamp() -> str:
    """Return this moment, as a file's name has it."""
    return datetime.fromtimestamp(SystemClock().now_ms() / 1000, UTC).strftime("%Y%m%dT%H%M%SZ")


def existing(where: Paths) -> Path:
    """Return where the journal is. Raises Refused where there is none yet."""
    database = Path(where.database)
    if not database.exists():
        raise Refused(Code.NOT_FOUND, f"there is no journal yet at {database}", "placet up begins one")
    return database


def _require_target(where: Paths, target: Path, force: bool) -> None:
    if target.is_dir():
        raise usage(f"{target} is a folder", f"name a file in it: {target / 'placet.backup'}")
    if not target.parent.is_dir():
        seen = f"{target} cannot be written: {os.strerror(errno.ENOENT)}"
        raise Refused(Code.FAILED, seen, "make its folder first")
    if target.parent.samefile(where.data) and target.name.startswith(
        (Path(where.database).name, identity.FILE_NAME, "daemon.lock")
    ):
        raise usage(f"{target} is one of Placet's own files", "name another one, best on another disk")
    if target.exists() and not force:
        raise Refused(Code.NEEDS_CONFIRMATION, f"{target} exists", "add --force to replace it")


def require_room(where: Paths, folder: Path, needed: int) -> None:
    """Refuse early what would fill a disk, or leave the daemon too little to write on."""
    free = free_bytes(folder)
    same = folder.stat().st_dev == Path(where.data).stat().st_dev
    floor = config.load(Path(where.config_file), os.environ, {}).settings.disk.floor_mib * MIB if same else 0
    if free < needed + floor:
        kept = f", and {floor // MIB} MiB are to stay free" if floor else ""
        seen = f"{folder} has {free // MIB} MiB left, this may take {-(-needed // MIB)} MiB{kept}"
        raise Refused(Code.DISK, seen, "free some space, or use another disk")


def _sealed_key(where: Paths, passphrase: str) -> bytes:
    if len(passphrase) < sealing.PASSPHRASE_CHARS_MIN:
        seen = f"a passphrase needs at least {sealing.PASSPHRASE_CHARS_MIN} characters"
        raise usage(seen, "several words are best")
    clock = SystemClock()
    key = identity.key_of(Path(where.data))
    own = identity.load(Path(where.data))
    return sealing.seal(key, passphrase, own.device, clock.randomness)


def _counts(contents: Contents) -> Answer:
    return {"commits": contents.commits, "entities": contents.entities, "bytes": contents.size_bytes}


def _require_at_rest(where: Paths, file: Path) -> None:
    """Refuse to copy the files of another journal while its daemon writes to them: the copy would be torn."""
    whole = file.resolve()
    if whole.name == Path(where.database).name and is_held(whole.parent):
        raise Refused(
            Code.FAILED,
            f"a daemon is writing to {file}",
            f"name a backup: PLACET_HOME={whole.parent} placet backup",
        )


# -- restore ----------------------------------------------------------------------------------------------


def restore(file: str, told: Told, *, passphrase: Callable[[], str], as_this_device: bool) -> Answer:
    """Put a backup in place of the journal. `passphrase` is called where a sealed key is needed.

    The key that is in the data folder wins over one in the backup; a folder without any becomes the device
    whose key the backup holds, else a new device.
    """
    return answered(lambda where: _restore(where, Path(file), told, passphrase, as_this_device))


def _restore(where: Paths, file: Path, told: Told, passphrase: Callable[[], str], here: bool) -> Answer:
    if not file.is_file():
        raise Refused(Code.NOT_FOUND, f"there is no backup {file}", "")
    paths.make_folders(where)
    database, data = Path(where.database), Path(where.data)
    if database.exists() and file.samefile(database):
        raise usage(f"{file} is the journal itself", "name a backup of it")
    _require_at_rest(where, file)
    with locked(data):
        require_room(where, data, file.stat().st_size)
        working = backups.working_copy(database)
        try:
            contents = backups.prepare(file, working, told)
            had_key = (data / identity.FILE_NAME).exists()
            own, from_backup = _own(data, contents, passphrase, here)
            try:
                kept = backups.put_in_place(working, database, own.device, stamp())
            except BaseException:
                if not had_key and working.exists():
                    # Left there, it would make this the backup of another device when it is tried again.
                    own.file.unlink()
                raise
        finally:
            backups.discard(working)
    return {
        "file": str(file),
        **_counts(contents),
        "replaced": None if kept is None else str(kept),
        "device_id": own.device.hex(),
        "of_device_id": contents.device.hex(),
        "key_restored": from_backup,
    }


def _own(data: Path, contents: Contents, passphrase: Callable[[], str], here: bool) -> tuple[Identity, bool]:
    """Return who this device is from now on, and whether that came out of the backup."""
    clock = SystemClock()
    if (data / identity.FILE_NAME).exists() or contents.sealed_key is None or here:
        is_new = not (data / identity.FILE_NAME).exists()
        own = identity.load_or_create(data, clock.randomness)
        if own.device != contents.device and not (here or is_new):
            seen = f"this is the backup of another device ({contents.device.hex()[:12]})"
            raise Refused(
                Code.NEEDS_CONFIRMATION, seen, "add --as-this-device to go on with its journal here"
            )
        return own, False
    try:
        key = sealing.unseal(contents.sealed_key, passphrase(), contents.device)
    except sealing.CannotUnseal as fault:
        hint = "try again, or add --as-this-device to go on as a new device"
        raise Refused(Code.FORBIDDEN, str(fault), hint) from fault
    return identity.create(data, key), True


# -- verify -----------------------------------------------------------------------------------------------


def verify(file: str | None, told: Told, *, rebuild: bool = False) -> Answer:
    """Check the journal, or a backup of one, against everything that follows from its log.

    With `rebuild`, what follows from the journal's log is made anew first.
    """

    def use(where: Paths) -> Answer:
        if rebuild:
            _rebuild(where, told)
        return _verify(where, None if file is None else Path(file), told)

    return answered(use)


def _rebuild(where: Paths, told: Told) -> None:
    database, clock = existing(where), SystemClock()
    with locked(Path(where.data)):
        require_room(where, Path(where.data), backups.size(database))
        store = Store.open(
            database,
            signer=identity.load(Path(where.data)).signer,
            now_ms=clock.now_ms,
            randomness=clock.randomness,
            machine=machine_id(),
        )
        try:
            with store.write() as tx:
                verifying.rebuild(tx, told)
        finally:
            store.close()


def _verify(where: Paths, file: Path | None, told: Told) -> Answer:
    with _checkable(where, file, told) as database, backups.reading(database) as snapshot:
        found = verifying.verify(snapshot, told)
    return {
        "file": str(file or where.database),
        "sound": found.sound,
        "commits": found.commits,
        "signatures": found.signatures,
        "entities": found.entities,
        "findings": [finding._asdict() for finding in found.findings],
        "more": found.more,
    }


@contextmanager
def _checkable(where: Paths, file: Path | None, told: Told) -> Iterator[Path]:
    """Give the database to look at: of a backup, a copy of it, since looking would write to it."""
    if file is None:
        yield existing(where)
        return
    if not file.is_file():
        raise not_found("file", str(file))
    own = Path(where.database)
    if own.exists() and file.samefile(own):
        # Copied while a daemon writes to it, it would look damaged.
        yield own
        return
    _require_at_rest(where, file)
    paths.make_folders(where)
    require_room(where, Path(where.data), file.stat().st_size)
    copy = Path(where.data) / f"{Path(where.database).name}.verifying-{os.getpid()}"
    try:
        backups.prepare(file, copy, told)
        yield copy
    finally:
        backups.discard(copy)
