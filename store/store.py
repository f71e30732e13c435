"""The store: one SQLite file, one writer, and consistent snapshots beside it.

Never runs two writing transactions at once, and never ends one before it is durable.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw

from store import database, lease
from store.faults import StoreError
from store.lease import Doubt, Lease
from store.log import Log
from store.snapshot import Snapshot
from store.transaction import Transaction, World
from syncproto.commit import head_of
from syncproto.heads import Head
from syncproto.keys import Signer

WAL_PAGES = 1000
"""How long the write-ahead log may grow before it is written back, as SQLite itself has it."""


class Store:
    """An open store. Its writer belongs to one thread at a time; snapshots may be taken from any."""

    def __init__(self, path: Path, writer: apsw.Connection, world: World, machine: bytes | None) -> None:
        self.path = path
        self._writer = writer
        self._world = world
        self._log = Log(writer)
        self.doubt: Doubt | None = None
        """Why this store has begun a new replica at its opening, None where it has not."""
        self._lease = None if machine is None else self._take_lease(machine)
        self._idle_readers: list[apsw.Connection] = []
        self._lock = threading.Lock()
        self._wal_pages = 0
        self._unfolded: StoreError | None = None

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        signer: Signer,
        now_ms: Callable[[], int],
        randomness: Callable[[int], bytes],
        machine: bytes | None = None,
    ) -> "Store":
        """Open the file, or make it; bring its schema to this version.

        With `machine`, which tells this machine from others, a lease beside the file guards against copies:
        see `store.lease`.

        Raises StoreError: DamagedDatabase, NewerDatabase, ReadOnlyDatabase, DiskFull, or where the file
        belongs to another device's key.
        """
        writer = database.connect(path, writes=True)
        try:
            database.migrate(writer, path)
            with database.faults_in_words(path):
                _establish(writer, path, signer)
                return cls(path, writer, World(signer, now_ms, randomness), machine)
        except BaseException:
            writer.close()
            raise

    def close(self) -> None:
        """Close every connection; the write-ahead log is folded into the file."""
        for reader in self._idle_readers:
            reader.close()
        self._writer.close()
        if self._lease is not None:
            self._lease.close()
            self._lease = None

    # -- the lease ------------------------------------------------------------------------------------

    def _own_tip(self) -> Head | None:
        """Return the last commit of the replica that this store writes as, None where it is to begin one."""
        row = self._writer.execute("SELECT replica FROM standing").fetchone()
        assert row is not None
        tip = None if row[0] is None else self._log.tip(row[0])
        return None if tip is None else head_of(row[0], tip.tip, tip.tip_hash)

    def _take_lease(self, machine: bytes) -> Lease:
        """Judge the file by its lease, and begin a new replica where it may be a copy."""
        own = self._own_tip()
        said, here = lease.read(self.path, machine)
        if own is not None:
            self.doubt = said if isinstance(said, Doubt) else lease.doubt(said, here, own, self._log.holds)
        if self.doubt is not None:
            self._writer.execute("UPDATE standing SET replica = NULL")
            own = None
        return Lease(self.path, lease.opened(here, own))

    @property
    def lease_is_stale(self) -> bool:
        """Say whether the lease could not be written of late."""
        return self._lease is not None and self._lease.stale

    # -- writing and reading --------------------------------------------------------------------------

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """Run a writing transaction: durable when the block has ended, undone where it raised."""
        with database.faults_in_words(self.path):
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                transaction = Transaction(self._writer, self._log, self._world)
                yield transaction
                transaction.finish()
                own = self._own_tip() if self._lease is not None and transaction.committed else None
                if self._lease is not None and own is not None:
                    self._lease.reserve(own.replica, own.counter)
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                self._log.reload()
                raise
            if transaction.overtaken:
                self.doubt = Doubt.PEER
            if self._lease is not None and transaction.committed:
                self._lease.note(own)

    def tend_apart(self) -> None:
        """Leave writing the write-ahead log back to `tend`: else one commit in some fifty waits for that."""
        self._writer.set_wal_hook(self._note_wal)

    def _note_wal(self, _connection: apsw.Connection, _name: str, pages: int) -> int:
        self._wal_pages = pages
        return apsw.SQLITE_OK

    def tend(self) -> StoreError | None:
        """Write the write-ahead log back where it is long; return what kept it from that, None where nothing.

        Call it after a write, when nobody waits. What cannot be written back stays where it is, as durable,
        and is tried again after the next commit.
        """
        if self._wal_pages < WAL_PAGES:
            return self._unfolded
        self._wal_pages, self._unfolded = 0, None
        try:
            # Whoever reads or writes it back beside this is in the way for a moment, and no fault.
            with database.faults_in_words(self.path), suppress(apsw.BusyError, apsw.LockedError):
                self._writer.wal_checkpoint()
        except StoreError as fault:
            self._unfolded = fault
        except apsw.Error as fault:
            self._unfolded = StoreError(f"{self.path}: {fault}")
        return self._unfolded

    @contextmanager
    def read(self) -> Iterator[Snapshot]:
        """Take a snapshot: it sees what was durable when the block began, and nothing newer."""
        with database.faults_in_words(self.path):
            with self._lock:
                reader = self._idle_readers.pop() if self._idle_readers else None
            reader = reader or database.connect(self.path, writes=False)
            reader.execute("BEGIN")
            try:
                # BEGIN alone takes no snapshot: the first read does.
                reader.execute("SELECT one FROM standing").fetchall()
                yield Snapshot(reader)
            finally:
                reader.execute("ROLLBACK")
                with self._lock:
                    self._idle_readers.append(reader)


def _establish(writer: apsw.Connection, path: Path, signer: Signer) -> None:
    """Make the standing row at the first start; refuse a file that another device's key made."""
    row = writer.execute("SELECT device FROM standing").fetchone()
    if row is None:
        writer.execute(
            "INSERT INTO standing VALUES (1, ?, NULL, NULL, ?, 0, 0, 0)", (signer.device, bytes(32))
        )
    elif row[0] != signer.device:
        raise StoreError(f"{path} belongs to another device: its key is not this one's")
