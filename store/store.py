"""The store: one SQLite file, one writer, and consistent snapshots beside it.

Never runs two writing transactions at once, and never ends one before it is durable.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from store import database
from store.faults import StoreError
from store.log import Log
from store.snapshot import Snapshot
from store.transaction import Transaction, World
from syncproto.keys import Signer


class Store:
    """An open store. Its writer belongs to one thread at a time; snapshots may be taken from any."""

    def __init__(self, path: Path, writer: apsw.Connection, world: World) -> None:
        self.path = path
        self._writer = writer
        self._world = world
        self._log = Log(writer)
        self._idle_readers: list[apsw.Connection] = []
        self._lock = threading.Lock()

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        signer: Signer,
        now_ms: Callable[[], int],
        randomness: Callable[[int], bytes],
    ) -> "Store":
        """Open the file, or make it; bring its schema to this version.

        Raises StoreError: DamagedDatabase, NewerDatabase, ReadOnlyDatabase, DiskFull, or where the file
        belongs to another device's key.
        """
        writer = database.connect(path, writes=True)
        try:
            database.migrate(writer, path)
            with database.faults_in_words(path):
                _establish(writer, path, signer)
                return cls(path, writer, World(signer, now_ms, randomness))
        except BaseException:
            writer.close()
            raise

    def close(self) -> None:
        """Close every connection; the write-ahead log is folded into the file."""
        for reader in self._idle_readers:
            reader.close()
        self._writer.close()

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """Run a writing transaction: durable when the block has ended, undone where it raised."""
        with database.faults_in_words(self.path):
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                transaction = Transaction(self._writer, self._log, self._world)
                yield transaction
                transaction.finish()
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                self._log.reload()
                raise

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
