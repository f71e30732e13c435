"""The store seen from asyncio: one writer thread, a few readers, and a call when the feed has grown.

Never passes a transaction across threads, and calls `on_commit` only after a commit is durable.
"""

import asyncio
import contextvars
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from store.file.errors import DamagedDatabase
from store.file.lease import ReplicaDoubt
from store.local.change_parts import note_written
from store.snapshot import Snapshot
from store.store import Store
from store.transaction import CommitSpan, Transaction
from syncproto.commit import DecodedCommit, SignedCommit, decode_page

READER_THREADS = 2

T = TypeVar("T")

_noted_writes: contextvars.ContextVar[list[CommitSpan] | None] = contextvars.ContextVar(
    "noted_writes", default=None
)


@contextmanager
def note_writes() -> Iterator[list[CommitSpan]]:
    """Note what is written by a person in this context: the list grows with each write that is durable."""
    spans: list[CommitSpan] = []
    token = _noted_writes.set(spans)
    try:
        yield spans
    finally:
        _noted_writes.reset(token)


def _noting(
    use: Callable[[Transaction], T], spans: list[CommitSpan], earlier: Sequence[CommitSpan]
) -> Callable[[Transaction], T]:
    def use_and_note(tx: Transaction) -> T:
        result = use(tx)
        note_written(tx, earlier)
        if tx.written is not None:
            spans.append(tx.written)
        return result

    return use_and_note


class StoreThreads:
    """Runs functions against a store without blocking the event loop."""

    def __init__(self, store: Store) -> None:
        self._store = store
        store.defer_wal_write_back()
        self._writer_thread_id: int | None = None
        self._writer = ThreadPoolExecutor(1, "store-writer", self._note_writer_thread)
        self._readers = ThreadPoolExecutor(READER_THREADS, "store-reader")
        self._pages = ThreadPoolExecutor(1, "store-pages")
        self._checks = ThreadPoolExecutor(1, "store-checks")
        self._pages_waiting = 0
        self._wal_error_reported = False
        self.on_commit: list[Callable[[], None]] = []
        with store.read() as snapshot:
            self._feed_end = snapshot.feed_end()

    @property
    def replica_doubt(self) -> ReplicaDoubt | None:
        """Return why the store began a new replica when it was opened, None if it did not."""
        return self._store.doubt

    @property
    def damage(self) -> DamagedDatabase | None:
        """Return what first found the file damaged, a read, a write or a check; None if none did."""
        return self._store.damage

    @property
    def lease_is_stale(self) -> bool:
        """Return whether the last write of the lease failed."""
        return self._store.lease_is_stale

    @property
    def feed_end(self) -> int:
        """Return the feed position of the newest commit that `on_commit` was called for."""
        return self._feed_end

    @property
    def writer_thread_id(self) -> int | None:
        """Return by which number the system knows the thread that writes, None before it began."""
        return self._writer_thread_id

    def _note_writer_thread(self) -> None:
        self._writer_thread_id = threading.get_native_id()

    def ask_writer(self) -> "asyncio.Future[None]":
        """Have the writer read a row after what it has to write; the future ends once it has, or failed."""
        return asyncio.get_running_loop().run_in_executor(self._writer, self._store.touch)

    async def write(self, use: Callable[[Transaction], T]) -> T:
        """Run `use` in a transaction of its own; return when what it wrote is durable.

        An exception of `use` undoes the transaction and is raised here. Cancelling the caller does not stop a
        transaction that has begun; `on_commit` is called for it all the same. The caller continues before
        `on_commit` is called: by then, a link knows which peer sent what it wrote.
        """
        durable: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        # What is true of one request, such as the language of its words, is true on the thread as well.
        run = contextvars.copy_context().run
        spans, noted = list[CommitSpan](), _noted_writes.get()
        self._writer.submit(run, self._in_transaction, _noting(use, spans, tuple(noted or ())), durable)
        try:
            result = await durable
            if noted is not None:
                noted += spans
            return result
        finally:
            # An exception refers to this frame, and the frame to it: break the cycle here.
            del durable

    def accept_page(
        self, commits: Sequence[SignedCommit], use: Callable[[Transaction, Sequence[DecodedCommit]], T]
    ) -> "asyncio.Future[T]":
        """Decode a page of commits and run `use` on it in a transaction, pages in the order of the calls.

        A page is decoded while the one before it becomes durable; at most these two are in memory as objects,
        however many peers send. The future gets what `write` would return or raise. If it is cancelled before
        its turn, the page is not accepted.
        """
        durable: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        first, self._pages_waiting = self._pages_waiting == 0, self._pages_waiting + 1
        durable.add_done_callback(self._end_page)
        if first:
            # No other page is being folded, and going through one more thread would delay a live change.
            self._writer.submit(self._in_transaction, lambda tx: use(tx, decode_page(commits)), durable)
        else:
            self._pages.submit(self._decode_ahead, commits, use, durable)
        return durable

    def _end_page(self, durable: "asyncio.Future[T]") -> None:
        self._pages_waiting -= 1
        if not durable.cancelled():
            # Retrieved here, since a link that ends over one page does not wait for the others.
            durable.exception()

    def _decode_ahead(
        self,
        commits: Sequence[SignedCommit],
        use: Callable[[Transaction, Sequence[DecodedCommit]], T],
        durable: "asyncio.Future[T]",
    ) -> None:
        """Decode a page, pass it to the writer, and return when it is folded."""
        if durable.cancelled():
            return
        try:
            page = [decode_page(commits)]
        except BaseException as fault:
            self._report_failure(durable, fault)
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
            result, feed_end = self._write_transaction(use, folded)
        except BaseException as fault:
            self._report_failure(durable, fault)
            # The exception refers to this frame; the executor drops its arguments only if it sees it too.
            del durable, use
            raise
        finally:
            if folded is not None:
                folded.set()
        durable.get_loop().call_soon_threadsafe(self._report_result, durable, result, feed_end)
        self._write_back_wal(durable.get_loop())

    def _write_back_wal(self, loop: asyncio.AbstractEventLoop) -> None:
        """Write the write-ahead log back; report a failure once, and again only after a success."""
        fault = self._store.write_back_wal()
        if fault is not None and not self._wal_error_reported:
            event = {"message": f"the write-ahead log stays as long as it is, which loses nothing: {fault}"}
            loop.call_soon_threadsafe(loop.call_exception_handler, event)
        self._wal_error_reported = fault is not None

    def _write_transaction(
        self, use: Callable[[Transaction], T], folded: threading.Event | None
    ) -> tuple[T, int | None]:
        """Return what `use` returned, and the end of the feed if it has grown."""
        with self._store.write() as transaction:
            result = use(transaction)
            if folded is not None:
                folded.set()
        return result, transaction.feed_end() if transaction.committed else None

    def _report_result(self, durable: "asyncio.Future[T]", result: T, feed_end: int | None) -> None:
        if not durable.done():
            durable.set_result(result)
        if feed_end is not None:
            self._feed_end = feed_end
            for notify in self.on_commit:
                notify()

    def _report_failure(self, durable: "asyncio.Future[T]", fault: BaseException) -> None:
        """Report a failure to the caller; of its traceback only the places are kept, not their variables."""
        traceback.clear_frames(fault.__traceback__)
        durable.get_loop().call_soon_threadsafe(self._set_exception, durable, fault)

    def _set_exception(self, durable: "asyncio.Future[T]", fault: BaseException) -> None:
        if not durable.done():
            durable.set_exception(fault)
        else:
            fields = {"message": "a write failed after its caller had gone", "exception": fault}
            durable.get_loop().call_exception_handler(fields)

    async def read(self, use: Callable[[Snapshot], T]) -> T:
        """Run `use` on a snapshot."""
        loop = asyncio.get_running_loop()
        here = contextvars.copy_context()
        return await loop.run_in_executor(self._readers, here.run, self._on_snapshot, use)

    async def table_names(self) -> list[str]:
        """Return the tables that `check_table` takes."""
        return await asyncio.get_running_loop().run_in_executor(self._checks, self._store.table_names)

    async def check_table(self, table: str) -> None:
        """Check the pages of a table. Raises StoreError; `damage` then says what is damaged.

        On a thread of its own: a large table takes minutes, and those who read wait for none of it.
        """
        await asyncio.get_running_loop().run_in_executor(self._checks, self._store.check_table, table)

    def read_now(self, use: Callable[[Snapshot], T]) -> T:
        """Run `use` on a snapshot at once, on the event loop: only for reads that are short in any store."""
        return self._on_snapshot(use)

    def _on_snapshot(self, use: Callable[[Snapshot], T]) -> T:
        with self._store.read() as snapshot:
            return use(snapshot)

    def close(self) -> None:
        """Wait for what has begun, then close the store."""
        self.end_threads()
        self._store.close()

    def end_threads(self) -> None:
        """Wait for what has begun, also for what follows a write that was reported; the store stays open."""
        self._store.end_checks()
        self._pages.shutdown(wait=True, cancel_futures=True)
        self._writer.shutdown(wait=True)
        self._readers.shutdown(wait=True)
        self._checks.shutdown(wait=True)
