"""The store seen from asyncio: one writer thread, a few readers, and a call when the feed has grown.

Never hands a transaction across threads, and tells of a commit only after it is durable.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from store.lease import Doubt
from store.snapshot import Snapshot
from store.store import Store
from store.transaction import Transaction

READERS = 2

T = TypeVar("T")


class StoreThreads:
    """Runs functions against a store without blocking the event loop."""

    def __init__(self, store: Store) -> None:
        self._store = store
        store.tend_apart()
        self._writer = ThreadPoolExecutor(1, "store-writer")
        self._readers = ThreadPoolExecutor(READERS, "store-reader")
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
        return await durable

    def _in_transaction(self, use: Callable[[Transaction], T], durable: "asyncio.Future[T]") -> None:
        if durable.cancelled():
            return
        loop, feed_end = durable.get_loop(), None
        try:
            with self._store.write() as transaction:
                result = use(transaction)
            feed_end = transaction.feed_end() if transaction.committed else None
        except BaseException as fault:  # noqa: BLE001 - whatever it is, it is raised where the write was asked for
            loop.call_soon_threadsafe(self._failed, durable, fault)
            return
        loop.call_soon_threadsafe(self._done, durable, result, feed_end)
        self._store.tend()

    def _done(self, durable: "asyncio.Future[T]", result: T, feed_end: int | None) -> None:
        if not durable.done():
            durable.set_result(result)
        if feed_end is not None:
            self._feed_end = feed_end
            for tell in self.on_commit:
                tell()

    def _failed(self, durable: "asyncio.Future[T]", fault: BaseException) -> None:
        if not durable.done():
            durable.set_exception(fault)

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
        self._writer.shutdown(wait=True)
        self._readers.shutdown(wait=True)
        self._store.close()
