"""The store seen from asyncio: one writer thread, a few readers, and a call when the feed has grown.

Never hands a transaction across threads, and tells of a commit only after it is durable.
"""

import asyncio
import threading
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from store.lease import Doubt
from store.snapshot import Snapshot
from store.store import Store
from store.transaction import Transaction
from syncproto.commit import Received, SignedCommit, read_page

READERS = 2

T = TypeVar("T")


class StoreThreads:
    """Runs functions against a store without blocking the event loop."""

    def __init__(self, store: Store) -> None:
        self._store = store
        store.tend_apart()
        self._writer = ThreadPoolExecutor(1, "store-writer")
        self._readers = ThreadPoolExecutor(READERS, "store-reader")
        self._pages = ThreadPoolExecutor(1, "store-pages")
        self._taking = 0
        self._is_unfolded = False
        self.on_commit: list[Callable[[], None]] = []
        with store.read() as snapshot:
            self._feed_end = snapshot.feed_end()

    @property
    def doubt(self) -> Doubt | None:
        """Return why the store began a new replica when it was opened, None where it did not."""
        return self._store.doubt

    @property
    def lease_is_stale(self) -> bool:
        """Say whether the lease could not be written of late."""
        return self._store.lease_is_stale

    @property
    def feed_end(self) -> int:
        """Return the feed position of the newest commit that was told of: a reader there has read all."""
        return self._feed_end

    async def write(self, use: Callable[[Transaction], T]) -> T:
        """Run `use` in a transaction of its own; return when what it wrote is durable.

        What `use` raises undoes the transaction and is raised here. A caller that is cancelled does not stop
        a transaction that has begun, and what it wrote is told all the same. The caller goes on before anyone
        who is told: a link knows by then who brought what it wrote.
        """
        durable: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._writer.submit(self._in_transaction, use, durable)
        try:
            return await durable
        finally:
            # What was raised holds this frame: together they would stay until the collector comes.
            del durable

    def take(
        self, commits: Sequence[SignedCommit], use: Callable[[Transaction, Sequence[Received]], T]
    ) -> "asyncio.Future[T]":
        """Read a page of commits and run `use` on it in a transaction, pages in the order of the calls.

        A page is read while the one before it becomes durable; no more than these two are held as objects,
        whoever brings pages. The future is told what `write` returns and raises; cancelled before its turn, a
        page is not taken.
        """
        durable: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        first, self._taking = self._taking == 0, self._taking + 1
        durable.add_done_callback(self._taken)
        if first:
            # There is none to read it beside, and every thread that is asked costs a live change its time.
            self._writer.submit(self._in_transaction, lambda tx: use(tx, read_page(commits)), durable)
        else:
            self._pages.submit(self._read_ahead, commits, use, durable)
        return durable

    def _taken(self, durable: "asyncio.Future[T]") -> None:
        self._taking -= 1
        if not durable.cancelled():
            # Looked at here: a link that ends over one page waits for none of the others.
            durable.exception()

    def _read_ahead(
        self,
        commits: Sequence[SignedCommit],
        use: Callable[[Transaction, Sequence[Received]], T],
        durable: "asyncio.Future[T]",
    ) -> None:
        """Read a page, leave it to the writer, and end when it is folded."""
        if durable.cancelled():
            return
        try:
            page = [read_page(commits)]
        except BaseException as fault:
            self._failed(durable, fault)
            del durable
            raise
        folded = threading.Event()
        self._writer.submit(self._in_transaction, lambda tx: use(tx, page.pop()), durable, folded)
        folded.wait()

    def _in_transaction(
        self,
        use: Callable[[Transaction], T],
        durable: "asyncio.Future[T]",
        folded: threading.Event | None = None,
    ) -> None:
        try:
            if durable.cancelled():
                return
            result, feed_end = self._written(use, folded)
        except BaseException as fault:
            self._failed(durable, fault)
            # The fault holds this frame, and the executor what it was given unless it sees the fault too.
            del durable, use
            raise
        finally:
            if folded is not None:
                folded.set()
        durable.get_loop().call_soon_threadsafe(self._done, durable, result, feed_end)
        self._tend(durable.get_loop())

    def _tend(self, loop: asyncio.AbstractEventLoop) -> None:
        """Have the write-ahead log written back; where that fails, say so once, until it does not."""
        fault = self._store.tend()
        if fault is not None and not self._is_unfolded:
            seen = {"message": f"the write-ahead log stays as long as it is, which loses nothing: {fault}"}
            loop.call_soon_threadsafe(loop.call_exception_handler, seen)
        self._is_unfolded = fault is not None

    def _written(
        self, use: Callable[[Transaction], T], folded: threading.Event | None
    ) -> tuple[T, int | None]:
        """Return what `use` returned, and where the feed ends if it has grown."""
        with self._store.write() as transaction:
            result = use(transaction)
            if folded is not None:
                folded.set()
        return result, transaction.feed_end() if transaction.committed else None

    def _done(self, durable: "asyncio.Future[T]", result: T, feed_end: int | None) -> None:
        if not durable.done():
            durable.set_result(result)
        if feed_end is not None:
            self._feed_end = feed_end
            for tell in self.on_commit:
                tell()

    def _failed(self, durable: "asyncio.Future[T]", fault: BaseException) -> None:
        """Tell whoever waits, and keep nothing of what was under way but where it failed."""
        traceback.clear_frames(fault.__traceback__)
        durable.get_loop().call_soon_threadsafe(self._tell_fault, durable, fault)

    def _tell_fault(self, durable: "asyncio.Future[T]", fault: BaseException) -> None:
        if not durable.done():
            durable.set_exception(fault)
        else:
            seen = {"message": "a write failed after its caller had gone", "exception": fault}
            durable.get_loop().call_exception_handler(seen)

    async def read(self, use: Callable[[Snapshot], T]) -> T:
        """Run `use` on a snapshot."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, self._on_snapshot, use)

    def read_now(self, use: Callable[[Snapshot], T]) -> T:
        """Run `use` on a snapshot at once, on the event loop: only what is short in any store."""
        return self._on_snapshot(use)

    def _on_snapshot(self, use: Callable[[Snapshot], T]) -> T:
        with self._store.read() as snapshot:
            return use(snapshot)

    def close(self) -> None:
        """Wait for what is under way, then close the store."""
        self._pages.shutdown(wait=True, cancel_futures=True)
        self._writer.shutdown(wait=True)
        self._readers.shutdown(wait=True)
        self._store.close()
