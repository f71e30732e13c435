"""The lease: a small file beside the database that shows if the database was restored or copied.

Never lets a replica continue if one of its counters may have been used already: in doubt, a new one begins.

A counter must not be written twice, and a database cannot see that it is an older copy of itself. The lease
says what the database must be, in bounds: the last commit of the store's own that is known to be durable
(`counter`, `hash`), and the highest counter that it may have used since (`reserved`). Counters have no gaps,
so a bound only judges: it never moves the next counter.

    state      set when                                     durable       tip of an honest database
    open       the store opens; its own tip grows           reservations  counter <= tip <= reserved
    closed     the store has closed its database            always        tip == counter == reserved

    event              order, so that a kill at any moment leaves an honest pair (or one that begins anew)
    open, in doubt     database forgets its replica -> lease is written anew
    a commit           reservation, if used up (fsync) -> COMMIT (fsync) -> counter noted (fsync for the
                       first since the opening) -> reported
    a new replica      lease names it with nothing used (fsync) -> COMMIT -> counter noted -> reported
    close              database closes -> lease: closed (fsync)

    what happened to the files                             what tells
    clean stop, kill -9, power cut                         nothing: it goes on
    folder copied elsewhere, or onto another machine       inode of the database, machine
    database put back by rename (rsync, tar, an editor)    inode of the database
    database overwritten by an older copy of it (cp)       the last known commit is not in it
    folder overwritten by an older copy of it (cp -a)      the lease contains its ctime, which no copy sets;
                                                           a minute is allowed if it was not closed, for
                                                           a power cut may lose its content or its ctime
    database put back together with its wal, or swapped    replica, last known commit, or reservation
    lease missing, cut short, changed                      there is nothing to judge by

    what no file can tell                                  what tells instead
    file system or machine put back as one (a snapshot);   a peer that has more of this replica: its own
    a copy of the folder of a daemon that ran or was       commits come back, and it goes on as a new one
    killed, put back in place within that minute;
    a copy made between a COMMIT and its note
"""

import hashlib
import os
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct, structs

from store.file.errors import translate_os_errors
from syncproto.ids import ReplicaId
from syncproto.vector_clock import Head

SUFFIX = ".lease"
RESERVED_COMMITS = 4096
"""Commits per reservation: one more fsync for so many commits."""

CLOSED_WITHIN_NS = 100_000_000  # two system calls on a busy machine may be so far apart
OPEN_WITHIN_NS = 60_000_000_000
WRITES_MAX = 10
NOTES_MAX = 2
_RECORD_BYTES = 512  # one sector: it is written whole or not at all
_DIGEST_CHARS = 16


class ReplicaDoubt(StrEnum):
    """Why a database may be an older or another copy of itself, in words for a person."""

    MISSING = "its lease file is missing"
    UNREADABLE = "its lease file cannot be read"
    MACHINE = "it was copied from another machine"
    FILE = "the file is not the one that was here before: it was copied or put back"
    FOLDER = "its folder was put back as it was before, or its files were changed by hand"
    REPLICA = "its lease file belongs to another copy of it"
    BEHIND = "it lacks commits of its own: it was put back"
    AHEAD = "its lease file is older than it"
    PEER = "another device held changes of its own that it lacked: it was put back, or a copy of it was used"


class LeaseRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """The content of the file. `ctime_ns` is its own ctime at the write, by the clock of the file system."""

    machine: bytes
    inode: int
    replica: bytes | None
    counter: int
    hash: bytes
    reserved: int
    is_closed: bool = False
    ctime_ns: int = 0


class DatabaseLocation(NamedTuple):
    """Where the database was found: the machine, its inode, and the ctime of the lease beside it."""

    machine: bytes
    inode: int
    lease_ctime_ns: int = 0


# -- the rules, which touch no file ----------------------------------------------------------------------


def find_doubt(
    record: LeaseRecord, database_location: DatabaseLocation, own: Head, holds: Callable[[Head], bool]
) -> ReplicaDoubt | None:
    """Return why the replica with the tip `own` must not continue in this database, None if it may."""
    if record.machine != database_location.machine:
        return ReplicaDoubt.MACHINE
    if record.inode != database_location.inode:
        return ReplicaDoubt.FILE
    # A power cut may lose the last write of an open lease, and with it the latest ctime.
    within_ns = CLOSED_WITHIN_NS if record.is_closed else OPEN_WITHIN_NS
    if abs(database_location.lease_ctime_ns - record.ctime_ns) > within_ns:
        return ReplicaDoubt.FOLDER
    if record.replica != own.replica:
        return ReplicaDoubt.REPLICA
    # 0: no commit of this replica was known to be durable yet, so none can be missing.
    if record.counter and not holds(Head(own.replica, record.counter, record.hash)):
        return ReplicaDoubt.BEHIND
    if own.counter > record.reserved:
        return ReplicaDoubt.AHEAD
    return None


def record_on_open(database_location: DatabaseLocation, own: Head | None) -> LeaseRecord:
    """Return the record of a store that opens and continues from `own`."""
    if own is None:
        return LeaseRecord(database_location.machine, database_location.inode, None, 0, b"", 0)
    return LeaseRecord(
        database_location.machine,
        database_location.inode,
        own.replica,
        own.counter,
        own.hash,
        own.counter + RESERVED_COMMITS,
    )


def record_reserving(record: LeaseRecord, replica: ReplicaId, counter: int) -> LeaseRecord:
    """Return the record under which a commit may be made: the same one if it covers the counter."""
    # No commit of the new replica is durable yet; the counter of the old one would judge it wrongly.
    if record.replica != replica:
        return structs.replace(
            record, replica=replica, counter=0, hash=b"", reserved=counter + RESERVED_COMMITS
        )
    return (
        record if counter <= record.reserved else structs.replace(record, reserved=counter + RESERVED_COMMITS)
    )


def record_durable(record: LeaseRecord, own: Head | None) -> LeaseRecord:
    """Return the record once the tip of the store is durable."""
    if own is None:
        return record_on_open(DatabaseLocation(record.machine, record.inode), None)
    return structs.replace(record, counter=own.counter, hash=own.hash)


def record_on_close(record: LeaseRecord) -> LeaseRecord:
    """Return the record of a store that has closed its database."""
    return structs.replace(record, reserved=record.counter, is_closed=True)


# -- the file --------------------------------------------------------------------------------------------


def lease_path(database: Path) -> Path:
    """Return the path of the lease of a database."""
    return database.with_name(database.name + SUFFIX)


def read_lease(database: Path, machine: bytes) -> tuple[LeaseRecord | ReplicaDoubt, DatabaseLocation]:
    """Return the record of the lease, or why there is none; and where the database was found."""
    inode = database.stat().st_ino
    try:
        with lease_path(database).open("rb") as file:
            raw = file.read(_RECORD_BYTES + 1)
            database_location = DatabaseLocation(machine, inode, os.fstat(file.fileno()).st_ctime_ns)
    except FileNotFoundError:
        return ReplicaDoubt.MISSING, DatabaseLocation(machine, inode)
    except OSError:
        # The reason does not matter: without a record, nothing is known of the database.
        return ReplicaDoubt.UNREADABLE, DatabaseLocation(machine, inode)
    return _decode_record(raw) or ReplicaDoubt.UNREADABLE, database_location


def _encode_record(record: LeaseRecord) -> bytes:
    text = msgspec.json.encode(record)
    line = f"{_digest(text)} ".encode() + text
    assert len(line) < _RECORD_BYTES
    return line.ljust(_RECORD_BYTES - 1) + b"\n"


def _decode_record(raw: bytes) -> LeaseRecord | None:
    digest, _, text = raw.rstrip(b" \n").partition(b" ")
    if len(raw) != _RECORD_BYTES or digest.decode("ascii", "replace") != _digest(text):
        return None
    try:
        return msgspec.json.decode(text, type=LeaseRecord)
    except msgspec.MsgspecError:
        return None


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:_DIGEST_CHARS]


class Lease:
    """The lease of an open store. The store calls its methods in the order of the table above."""

    def __init__(self, database: Path, record: LeaseRecord) -> None:
        self._path = lease_path(database)
        self._record = record
        self._noted = False
        self.stale = False
        """Whether the last write failed: then the lease records less than it could."""
        with translate_os_errors(self._path):
            self._file = self._make()

    def _make(self) -> int:
        """Replace the file by a new one: what was there may be unreadable, or belong to another copy."""
        part = self._path.with_suffix(".part")
        part.unlink(missing_ok=True)
        descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            _write(descriptor, self._record)
            os.fsync(descriptor)
            part.replace(self._path)
            sync_folder(self._path.parent)
        except BaseException:
            os.close(descriptor)
            part.unlink(missing_ok=True)
            raise
        return descriptor

    def reserve(self, replica: ReplicaId, counter: int) -> None:
        """Make the lease cover a commit before that is durable. Raises StoreError."""
        record = record_reserving(self._record, replica, counter)
        if record is not self._record:
            with translate_os_errors(self._path):
                _write(self._file, record)
                os.fsync(self._file)
            self._record = record

    def note_durable(self, own: Head | None) -> None:
        """Record what has become durable, before anyone learns of it.

        A kill does not undo the write, a power cut may. The first write is synced, so that the lease is ahead
        of every copy that was made before this opening.
        """
        self._record = record_durable(self._record, own)
        try:
            # At most twice: the commit waits for it, and a lease that was not closed may be a minute off.
            _write(self._file, self._record, times=NOTES_MAX)
            if not self._noted:
                os.fsync(self._file)
            self._noted, self.stale = True, False
        except OSError:
            # The commit is durable and cannot be undone; the record before it is still true.
            self.stale = True

    def close(self) -> None:
        """Record that the database was closed in good order."""
        try:
            _write(self._file, record_on_close(self._record))
            os.fsync(self._file)
        except OSError:
            # Then the lease is as after a kill, from which a store continues as well.
            pass
        finally:
            os.close(self._file)


def _write(descriptor: int, record: LeaseRecord, times: int = WRITES_MAX) -> None:
    """Write a record that contains the ctime of its file; again if too much time passed in between.

    A process may be stopped between any two calls: its machine is busy, or sleeps.
    """
    for _ in range(times):
        # This sets the ctime to now. The write that contains it follows at once, and sets it once more.
        os.utime(descriptor)
        stamped = structs.replace(record, ctime_ns=os.fstat(descriptor).st_ctime_ns)
        os.pwrite(descriptor, _encode_record(stamped), 0)
        if abs(os.fstat(descriptor).st_ctime_ns - stamped.ctime_ns) <= CLOSED_WITHIN_NS:
            return


def sync_folder(folder: Path) -> None:
    """Make the names of the files in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
