"""The store: one SQLite file, one writer, and consistent snapshots beside it.

Never runs two writing transactions at once, and never ends one before it is durable.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw

from store.file import database, lease
from store.file.database import SchemaRule
from store.file.errors import DamagedDatabase, StoreError, damaged_database, file_failure
from store.file.lease import Lease, ReplicaDoubt
from store.fold.list_columns import fill_columns
from store.fold.relation_index import index_new_fields
from store.log.commit_log import CommitLog
from store.log.head_memory import HeadMemory
from store.log.reader_memory import ReaderMemory
from store.sentence import sentence
from store.snapshot import Snapshot
from store.transaction import StoreEnvironment, Transaction
from syncproto.keys import Signer
from syncproto.vector_clock import Head

WAL_PAGES = 1000
"""The pages that the write-ahead log may have before it is written back: the default of SQLite itself."""


PAGE_CHECK_STEPS = 1000
"""The steps of SQLite between two questions whether a check of pages is to go on."""


class Store:
    """An open store. Its writer belongs to one thread at a time; snapshots may be taken from any."""

    def __init__(
        self, path: Path, writer: apsw.Connection, world: StoreEnvironment, machine: bytes | None
    ) -> None:
        self.path = path
        self._writer = writer
        self._world = world
        self._log = CommitLog(writer)
        self._memory = HeadMemory()
        self._readers_memory = ReaderMemory()
        self.doubt: ReplicaDoubt | None = None
        """Why this store began a new replica when it was opened, None if it did not."""
        self.damage: DamagedDatabase | None = None
        """What first found the file damaged, a read, a write or a check: from then on nothing is written."""
        self._lease = None if machine is None else self._take_lease(machine)
        self._idle_readers: list[apsw.Connection] = []
        self._lock = threading.Lock()
        self._wal_pages = 0
        self._wal_error: StoreError | None = None
        self._is_ending = False

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
        """Open the file, or create it; bring its schema to this version.

        With `machine`, an id of this machine, a lease beside the file guards against copies of the file: see
        `store.file.lease`.

        Raises StoreError: DamagedDatabase, NewerDatabase, OldFormat, ReadOnlyDatabase, DiskFull, or a plain
        one if the file belongs to the key of another device.
        """
        writer = database.connect(path, SchemaRule.CREATED)
        try:
            with database.translate_sqlite_errors(path):
                _establish(writer, path, signer)
                index_new_fields(writer)
                fill_columns(writer)
                return cls(path, writer, StoreEnvironment(signer, now_ms, randomness), machine)
        except BaseException:
            writer.close()
            raise

    def close(self) -> None:
        """Close every connection; SQLite then writes the write-ahead log back into the file."""
        for reader in self._idle_readers:
            reader.close()
        self._writer.close()
        if self._lease is not None:
            self._lease.close()
            self._lease = None

    # -- the lease ------------------------------------------------------------------------------------

    def _own_tip(self) -> Head | None:
        """Return the last commit of the replica of this store, None if it has to begin one."""
        row = self._writer.execute("SELECT replica FROM standing").fetchone()
        assert row is not None
        tip = None if row[0] is None else self._log.chains.own_tip(row[0])
        return None if tip is None else Head(row[0], tip.tip, tip.tip_hash)

    def _take_lease(self, machine: bytes) -> Lease:
        """Compare the file with its lease, and begin a new replica if the file may be a copy."""
        own = self._own_tip()
        record, database_location = lease.read_lease(self.path, machine)
        if own is not None:
            self.doubt = (
                record
                if isinstance(record, ReplicaDoubt)
                else lease.find_doubt(record, database_location, own, self._log.has_commit)
            )
        if self.doubt is not None:
            self._writer.execute("UPDATE standing SET replica = NULL")
            own = None
        return Lease(self.path, lease.record_on_open(database_location, own))

    @property
    def lease_is_stale(self) -> bool:
        """Return whether the last write of the lease failed."""
        return self._lease is not None and self._lease.stale

    # -- writing and reading --------------------------------------------------------------------------

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """Run a writing transaction: durable when the block has ended, undone if the block raised.

        Raises DamagedDatabase if the file was found damaged before: a write could spread the damage.
        """
        if self.damage is not None:
            raise DamagedDatabase(
                sentence(
                    "damaged-nothing-written",
                    "{damage}; nothing is written to it",
                    damage=self.damage.sentence,
                )
            )
        with database.translate_sqlite_errors(self.path), self._noting_damage():
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                transaction = Transaction(self._writer, self._log, self._world, self._readers_memory)
                yield transaction
                transaction.finish()
                # The order is that of the table in `store.file.lease`: reserve, COMMIT, note.
                own = self._own_tip() if self._lease is not None and transaction.committed else None
                if self._lease is not None and own is not None:
                    self._lease.reserve(own.replica, own.counter)
                if transaction.committed:
                    # Before readers can see these commits: the first one would go through all chains.
                    self._memory.remember(self._log.feed_end(), self._log.chains.heads())
                self._writer.execute("COMMIT")
                self._log.note_durable()
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                self._memory.forget_all()
                self._log.undo()
                raise
            if transaction.own_replica_ahead:
                self.doubt = ReplicaDoubt.PEER
            if self._lease is not None and transaction.committed:
                self._lease.note_durable(own)

    def touch(self) -> None:
        """Read a row by the connection that writes: it answers. Raises StoreError, and notes damage."""
        with database.translate_sqlite_errors(self.path), self._noting_damage():
            self._writer.execute("SELECT one FROM standing").fetchall()

    def defer_wal_write_back(self) -> None:
        """Leave the write-ahead log to `write_back_wal`: otherwise one commit in some fifty waits for it."""
        self._writer.set_wal_hook(self._note_wal)

    def _note_wal(self, _connection: apsw.Connection, _name: str, pages: int) -> int:
        self._wal_pages = pages
        return apsw.SQLITE_OK

    def write_back_wal(self) -> StoreError | None:
        """Write the write-ahead log back if it is long; return the error that prevented it, None if none did.

        Call it after a write, when nobody waits. What cannot be written back stays in the log, which is as
        durable, and is tried again after the next commit.
        """
        if self._wal_pages < WAL_PAGES:
            return self._wal_error
        self._wal_pages, self._wal_error = 0, None
        try:
            # A reader, or another process that writes it back, blocks this for a moment: no fault.
            with database.translate_sqlite_errors(self.path), suppress(apsw.BusyError, apsw.LockedError):
                self._writer.wal_checkpoint()
        except StoreError as fault:
            self._wal_error = fault
        except apsw.Error as fault:
            self._wal_error = file_failure(self.path, fault)
        return self._wal_error

    @contextmanager
    def _noting_damage(self) -> Iterator[None]:
        try:
            yield
        except (apsw.CorruptError, apsw.NotADBError) as fault:
            self.damage = self.damage or damaged_database(self.path, fault)
            raise

    @contextmanager
    def read(self) -> Iterator[Snapshot]:
        """Take a snapshot: it sees what was durable when the block began, and nothing newer."""
        with database.translate_sqlite_errors(self.path), self._noting_damage():
            with self._lock:
                reader = self._idle_readers.pop() if self._idle_readers else None
            reader = reader or database.connect(self.path, SchemaRule.CURRENT)
            reader.execute("BEGIN")
            try:
                # BEGIN alone takes no snapshot: the first read does.
                reader.execute("SELECT one FROM standing").fetchall()
                yield Snapshot(
                    reader, self._memory, self._readers_memory, self.damage, clock=self._world.now_ms
                )
            finally:
                reader.execute("ROLLBACK")
                with self._lock:
                    self._idle_readers.append(reader)

    # -- looking at pages that nothing reads --------------------------------------------------------------

    def table_names(self) -> list[str]:
        """Return the tables whose pages can be checked, each with its indexes."""
        with self.read() as snapshot:
            return database.table_names(snapshot.db)

    def check_table(self, table: str) -> None:
        """Check the pages of a table and of its indexes, unless the checks are ended meanwhile.

        What is damaged counts as if a read had met it. Raises StoreError.
        """
        with self.read() as snapshot:
            # Between pages, so that the end of the daemon waits for none of a long table.
            snapshot.db.set_progress_handler(lambda: self._is_ending, PAGE_CHECK_STEPS)
            try:
                database.require_sound_pages(snapshot.db, table)
            except apsw.InterruptError:
                return
            finally:
                snapshot.db.set_progress_handler(None)

    def end_checks(self) -> None:
        """End the check of a table that is under way, and all later ones."""
        self._is_ending = True


def _establish(writer: apsw.Connection, path: Path, signer: Signer) -> None:
    """Insert the row of the store at the first start; refuse a file of another device."""
    row = writer.execute("SELECT device FROM standing").fetchone()
    if row is None:
        writer.execute(
            "INSERT INTO standing VALUES (1, ?, NULL, NULL, ?, 0, 0, 0)", (signer.device, bytes(32))
        )
    elif row[0] != signer.device:
        raise StoreError(
            sentence(
                "database-of-another-device",
                "{path} belongs to another device: its key is not this one's",
                path=str(path),
            )
        )
