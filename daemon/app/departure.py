"""Leaving a vault: the journal begins anew, alone, with the content that this device keeps.

Never copies the log of the vault: it contains the roster, which would reach the next vault of this device.
Never removes the old journal: it stays beside the new one.
"""

from datetime import UTC
from pathlib import Path
from tempfile import TemporaryDirectory

from daemon.app import journal_files
from daemon.app.journal_files import Answer
from daemon.app.machine import machine_id
from daemon.clock import SystemClock
from daemon.control.spool import Spool
from daemon.disk import DiskFloor
from daemon.folder_lock import lock_folder
from daemon.formats.core.importer import ImportResult
from daemon.formats.jsonl import importer
from daemon.formats.jsonl import reader as lines_in
from daemon.formats.jsonl import writer as lines_out
from daemon.paths import Paths
from daemon.peers.roster import member_records
from daemon.peers.transport import identity
from daemon.peers.transport.identity import Identity
from daemon.refusal import RefusalCode, Refused
from store.sentence import sentence
from store.snapshot import Snapshot
from store.store import Store
from store.upkeep import backup as backups
from store.upkeep.progress import ReportProgress


def leave(_file: None, report: ReportProgress, *, empty: bool, force: bool) -> Answer:
    """Begin a journal of this device's own; with `empty`, copy nothing into it.

    With `force`, leave although the others do not know it yet.
    """
    return journal_files.with_error_answer(
        lambda local_paths: _leave(local_paths, report, empty=empty, force=force)
    )


def _leave(local_paths: Paths, report: ReportProgress, *, empty: bool, force: bool) -> Answer:
    database, data = journal_files.existing_database(local_paths), Path(local_paths.data)
    with lock_folder(data):
        own = identity.load(data)
        with backups.open_snapshot(database) as snapshot:
            _require_goodbye(snapshot, own, force)
        journal_files.require_disk_space(local_paths, data, 2 * backups.backup_bytes_max(database))
        working = backups.working_copy_path(database)
        with TemporaryDirectory(prefix="leaving-", dir=data) as folder:
            fresh = Path(folder) / database.name
            imported = _make_journal(fresh, database, own, report, empty=empty)
            try:
                backups.prepare_copy(fresh, working, report, folds_anew=False)
                kept = backups.install_copy(working, database, own.device, journal_files.file_timestamp())
            finally:
                backups.discard_unfinished(working)
    return {"replaced": str(kept.database), "tasks": imported.tasks, "device_id": own.device.hex()}


def _require_goodbye(snapshot: Snapshot, own: Identity, force: bool) -> None:
    """Refuse to leave if there is no other member, or if the others do not know it and `force` is not set."""
    members = member_records.read_members(snapshot)
    others = [
        member.name for member in members.values() if member.device != own.device and not member.removed
    ]
    local_member = members.get(own.device)
    if not others:
        raise Refused(
            RefusalCode.USAGE,
            sentence("vault-not-shared", "this device shares its vault with nobody"),
            sentence("nothing-to-leave", "there is nothing to leave"),
        )
    # The running daemon removes this device from the roster and tells the others. Without that they go on
    # calling it.
    if local_member is not None and not local_member.removed and not force:
        message = sentence(
            "leave-unknown", "{names} would not know that this device leaves", names=", ".join(others)
        )
        hint = sentence(
            "leave-while-running",
            "start placet and run 'placet devices leave' while it runs, or add --force",
        )
        raise Refused(RefusalCode.NEEDS_CONFIRMATION, message, hint)


def _make_journal(
    fresh: Path, database: Path, own: Identity, report: ReportProgress, *, empty: bool
) -> ImportResult:
    """Make a new journal, and import what the old one shows."""
    clock = SystemClock()
    store = Store.open(
        fresh, signer=own.signer, now_ms=clock.now_ms, randomness=clock.randomness, machine=machine_id()
    )
    imported = ImportResult()
    try:
        if not empty:
            # Content is taken across as an export: the log itself would carry the old roster along.
            with Spool(fresh.parent, DiskFloor(fresh.parent, 0)) as spool:
                with backups.open_snapshot(database) as snapshot:
                    for line in lines_out.write(snapshot, UTC):
                        spool.append(line.encode())
                total = lines_in.count_checked(spool, is_own=True)
                for part in lines_in.read_parts(spool):
                    report("writing", 0, total)
                    with store.write() as tx:
                        imported += importer.import_part(tx, part)
    finally:
        store.close()
    return imported
