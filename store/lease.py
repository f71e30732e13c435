"""The lease: a small file beside the database, by which a store that was put back or copied is known as such.

Never lets a replica go on where one of its counters may have been used already: in doubt, a new one begins.

A counter must not be written twice, and a database cannot see that it is an older copy of itself. The lease
says what the database must be, in bounds: the last commit of the store's own that is known to be durable
(`counter`, `hash8`), and the highest counter that it may have used since (`reserved`). Counters have no gaps,
so a bound only judges: it never moves the next counter.

    state      set when                                     durable       tip of an honest database
    open       the store opens; its own tip grows           reservations  counter <= tip <= reserved
    closed     the store has closed its database            always        tip == counter == reserved

    event              order, so that a kill at any moment leaves an honest pair (or one that begins anew)
    open, in doubt     database forgets its replica -> lease is written anew
    a commit           reservation, where used up (fsync) -> COMMIT (fsync) -> counter noted (fsync for the
                       first since the opening) -> told
    a new replica      lease names it with nothing used (fsync) -> COMMIT -> counter noted -> told
    close              database closes -> lease: closed (fsync)

    what happened to the files                             what tells
    clean stop, kill -9, power cut                         nothing: it goes on
    folder copied elsewhere, or onto another machine       inode of the database, machine
    database put back by rename (rsync, tar, an editor)    inode of the database
    database overwritten by an older copy of it (cp)       the last known commit is not in it
    folder overwritten by an older copy of it (cp -a)      the lease holds its own ctime, which no copy sets;
                                                           a minute is allowed where it was not closed, for
                                                           a power cut may lose its content or its ctime
    database put back together with its wal, or swapped    replica, last known commit, or reservation
    lease missing, cut short, changed                      there is nothing to judge by

    what no file can tell                                  what tells instead
    file system or machine put back as one (a snapshot);   a peer that holds more of this replica: its own
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

from store.faults import file_faults_in_words
from syncproto.heads import Head
from syncproto.ids import ReplicaId

SUFFIX = ".lease"
BLOCK = 4096
"""Commits a reservation: one more fsync for so many."""

CLOSED_WITHIN_NS = 100_000_000  # a busy machine between two calls of the system
OPEN_WITHIN_NS = 60_000_000_000
WRITES_MAX = 10
NOTES_MAX = 2
_RECORD_BYTES = 512  # one sector: it is written whole or not at all
_DIGEST_CHARS = 16


class Doubt(StrEnum):
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


class Record(Struct, frozen=True, forbid_unknown_fields=True):
    """What the file says. `ctime_ns` is its own, by the file system's clock, when it was written."""

    machine: bytes
    inode: int
    replica: bytes | None
    counter: int
    hash8: bytes
    reserved: int
    is_closed: bool = False
    ctime_ns: int = 0


class Here(NamedTuple):
    """Where the database is found: the machine, its inode, and the ctime of the lease beside it."""

    machine: bytes
    inode: int
    lease_ctime_ns: int = 0


# -- the rules, which touch no file ----------------------------------------------------------------------


def doubt(record: Record, here: Here, own: Head, holds: Callable[[Head], bool]) -> Doubt | None:
    """Say why the replica whose tip is `own` must not go on in this database, None where it may."""
    if record.machine != here.machine:
        return Doubt.MACHINE
    if record.inode != here.inode:
        return Doubt.FILE
    within_ns = CLOSED_WITHIN_NS if record.is_closed else OPEN_WITHIN_NS
    if abs(here.lease_ctime_ns - record.ctime_ns) > within_ns:
        return Doubt.FOLDER
    if record.replica != own.replica:
        return Doubt.REPLICA
    if record.counter and not holds(Head(own.replica, record.counter, record.hash8)):
        return Doubt.BEHIND
    if own.counter > record.reserved:
        return Doubt.AHEAD
    return None


def opened(here: Here, own: Head | None) -> Record:
    """Return the record of a store that opens, and goes on from `own`."""
    if own is None:
        return Record(here.machine, here.inode, None, 0, b"", 0)
    return Record(here.machine, here.inode, own.replica, own.counter, own.hash8, own.counter + BLOCK)


def reserved(record: Record, replica: ReplicaId, counter: int) -> Record:
    """Return the record under which a commit may be made; the same where it covers that already."""
    if record.replica != replica:
        return structs.replace(record, replica=replica, counter=0, hash8=b"", reserved=counter + BLOCK)
    return record if counter <= record.reserved else structs.replace(record, reserved=counter + BLOCK)


def noted(record: Record, own: Head | None) -> Record:
    """Return the record once the store's tip is durable."""
    if own is None:
        return opened(Here(record.machine, record.inode), None)
    return structs.replace(record, counter=own.counter, hash8=own.hash8)


def closed(record: Record) -> Record:
    """Return the record of a store that has closed its database."""
    return structs.replace(record, reserved=record.counter, is_closed=True)


# -- the file --------------------------------------------------------------------------------------------


def path_of(database: Path) -> Path:
    """Return where the lease of a database is."""
    return database.with_name(database.name + SUFFIX)


def read(database: Path, machine: bytes) -> tuple[Record | Doubt, Here]:
    """Return what the lease says, or why it says nothing; and where the database is found."""
    inode = database.stat().st_ino
    try:
        with path_of(database).open("rb") as file:
            raw = file.read(_RECORD_BYTES + 1)
            here = Here(machine, inode, os.fstat(file.fileno()).st_ctime_ns)
    except FileNotFoundError:
        return Doubt.MISSING, Here(machine, inode)
    except OSError:
        # Whatever keeps it from being read: nothing is known, and that is an answer.
        return Doubt.UNREADABLE, Here(machine, inode)
    return _decoded(raw) or Doubt.UNREADABLE, here


def _encoded(record: Record) -> bytes:
    text = msgspec.json.encode(record)
    line = f"{_digest(text)} ".encode() + text
    assert len(line) < _RECORD_BYTES
    return line.ljust(_RECORD_BYTES - 1) + b"\n"


def _decoded(raw: bytes) -> Record | None:
    digest, _, text = raw.rstrip(b" \n").partition(b" ")
    if len(raw) != _RECORD_BYTES or digest.decode("ascii", "replace") != _digest(text):
        return None
    try:
        return msgspec.json.decode(text, type=Record)
    except msgspec.MsgspecError:
        return None


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:_DIGEST_CHARS]


class Lease:
    """The lease of an open store. Its calls follow the table above; the store makes them in that order."""

    def __init__(self, database: Path, record: Record) -> None:
        self._path = path_of(database)
        self._record = record
        self._noted = False
        self.stale = False
        """Whether a note could not be written: the lease then knows less than it might."""
        with file_faults_in_words(self._path):
            self._file = self._make()

    def _make(self) -> int:
        """Put a new file in place: whatever was there (unreadable, another's) is not written into."""
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
        """See to it that the lease covers a commit before that is durable. Raises StoreError."""
        record = reserved(self._record, replica, counter)
        if record is not self._record:
            with file_faults_in_words(self._path):
                _write(self._file, record)
                os.fsync(self._file)
            self._record = record

    def note(self, own: Head | None) -> None:
        """Write down what has become durable, before it is told.

        A kill does not take it back, a power cut may: the first is synced, so that the lease is ahead of
        every copy that was made before this opening.
        """
        self._record = noted(self._record, own)
        try:
            # Again once at most: the commit is told after it, and a minute is allowed to what was not closed.
            _write(self._file, self._record, times=NOTES_MAX)
            if not self._noted:
                os.fsync(self._file)
            self._noted, self.stale = True, False
        except OSError:
            # The commit is durable and cannot be taken back; what the lease said before is still true.
            self.stale = True

    def close(self) -> None:
        """Say that the database was closed as it should be."""
        try:
            _write(self._file, closed(self._record))
            os.fsync(self._file)
        except OSError:
            # Then it stays as after a kill, which is as good.
            pass
        finally:
            os.close(self._file)


def _write(descriptor: int, record: Record, times: int = WRITES_MAX) -> None:
    """Write a record that holds the ctime of its file; again where too much time went by in between.

    A process may stand still between any two calls: its machine is busy, or sleeps.
    """
    for _ in range(times):
        # Sets the ctime to now, so that it can be written down; the write that sets it again follows at once.
        os.utime(descriptor)
        now = structs.replace(record, ctime_ns=os.fstat(descriptor).st_ctime_ns)
        os.pwrite(descriptor, _encoded(now), 0)
        if abs(os.fstat(descriptor).st_ctime_ns - now.ctime_ns) <= CLOSED_WITHIN_NS:
            return


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
