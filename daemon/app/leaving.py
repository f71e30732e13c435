"""Leaving a vault: the journal begins anew, alone, with what this device takes along.

Never takes the log of the vault along: it holds the roster, which would go wherever this device goes next.
Never lets go of the old journal: it stays beside the new one.
"""

from datetime import UTC
from pathlib import Path
from tempfile import TemporaryDirectory

from daemon.app import keeping
from daemon.app.keeping import Answer
from daemon.app.lock import locked
from daemon.app.machine import machine_id
from daemon.clock import SystemClock
from daemon.control.spool import Spool
from daemon.disk import Floor
from daemon.journal.errors import Code, Refused
from daemon.journal.exports import jsonl as lines_out
from daemon.journal.imports import jsonl as lines_in
from daemon.journal.imports import jsonl_apply
from daemon.journal.imports.apply import ImportResult
from daemon.paths import Paths
from daemon.peers import identity, roster
from daemon.peers.identity import Identity
from store import backup as backups
from store.backup import Told
from store.snapshot import Snapshot
from store.store import Store


def leave(_file: None, told: Told, *, empty: bool, force: bool) -> Answer:
    """Begin a journal of this device's own; with `empty`, take nothing along.

    `force` leaves although the others have not been told.
    """
    return keeping.answered(lambda where: _leave(where, told, empty=empty, force=force))


def _leave(where: Paths, told: Told, *, empty: bool, force: bool) -> Answer:
    database, data = keeping.existing(where), Path(where.data)
    with locked(data):
        own = identity.load(data)
        with backups.reading(database) as snapshot:
            _require_goodbye(snapshot, own, force)
        keeping.require_room(where, data, 2 * backups.size(database))
        working = backups.working_copy(database)
        with TemporaryDirectory(prefix="leaving-", dir=data) as folder:
            fresh = Path(folder) / database.name
            brought = _begin(fresh, database, own, told, empty=empty)
            try:
                backups.prepare(fresh, working, told)
                kept = backups.put_in_place(working, database, own.device, keeping.stamp())
            finally:
                backups.discard(working)
    return {"replaced": str(kept), "tasks": brought.tasks, "device_id": own.device.hex()}


def _require_goodbye(snapshot: Snapshot, own: Identity, force: bool) -> None:
    """Refuse to leave where there is nobody to leave, or without a word."""
    members = roster.read(snapshot)
    others = [one.name for one in members.values() if one.device != own.device and not one.removed]
    here = members.get(own.device)
    if not others:
        raise Refused(Code.USAGE, "this device shares its vault with nobody", "there is nothing to leave")
    if here is not None and not here.removed and not force:
        seen = f"{', '.join(others)} would not know that this device leaves"
        hint = "start placet and run 'placet devices leave' while it runs, or add --force"
        raise Refused(Code.NEEDS_CONFIRMATION, seen, hint)


def _begin(fresh: Path, database: Path, own: Identity, told: Told, *, empty: bool) -> ImportResult:
    """Make a new journal, and bring along what the old one shows."""
    clock = SystemClock()
    store = Store.open(
        fresh, signer=own.signer, now_ms=clock.now_ms, randomness=clock.randomness, machine=machine_id()
    )
    done = ImportResult()
    try:
        if not empty:
            with Spool(fresh.parent, Floor(fresh.parent, 0)) as spool:
                with backups.reading(database) as snapshot:
                    for line in lines_out.write(snapshot, UTC):
                        spool.put(line.encode())
                total = lines_in.check(spool)
                for part in lines_in.parts(spool):
                    told("writing", 0, total)
                    with store.write() as tx:
                        done += jsonl_apply.take(tx, part)
    finally:
        store.close()
    return done
