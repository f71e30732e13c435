"""Figures of the store: single writes, bulk writes, and commits taken from a peer, against raw apsw.

Never touches the network.
"""

import itertools
import tempfile
import time
from pathlib import Path
from random import Random

from bench.raw import replay_s, rows_of
from bench.table import Figure, paired
from store.store import Store
from store.transaction import EntityWrite
from syncproto.codec import Value
from syncproto.commit import SignedCommit
from syncproto.keys import Signer

SINGLE, BULK = 400, 20_000
PAGE_BYTES = 768 * 1024
ROUNDS = 3

_numbers = itertools.count(1)


def open_store(folder: Path) -> Store:
    """Open a new store with a device and a seed of its own."""
    number = next(_numbers)
    clock = itertools.count(1_700_000_000_000)
    return Store.open(
        folder / f"store-{number}.db",
        signer=Signer(number.to_bytes(32, "big")),
        now_ms=lambda: next(clock),
        randomness=Random(number).randbytes,
    )


def task_fields(number: int) -> dict[str, Value]:
    """Return fields of a task's shape, about 300 bytes of MessagePack."""
    return {
        "title": f"Task {number}: " + "what is to be done, in a person's words " * 4,
        "status": "OPEN",
        "priority": "P2",
        "due": "2027-03-15",
        "estimate_minutes": 120,
        "language": "en",
    }


def write(store: Store, count: int, per_transaction: int) -> float:
    start = time.perf_counter()
    for first in range(0, count, per_transaction):
        with store.write() as transaction:
            for number in range(first, min(first + per_transaction, count)):
                transaction.commit([EntityWrite(transaction.new_id(), "task", task_fields(number))])
    return time.perf_counter() - start


def _written(folder: Path, name: str, count: int, per_transaction: int, goal: str) -> Figure:
    """Measure commits a second, ours and the raw replay of what ours wrote."""
    last: list[Path] = []

    def ours() -> float:
        store = open_store(folder)
        last.append(store.path)
        seconds = write(store, count, per_transaction)
        store.close()
        return count / seconds

    def raw() -> float:
        return count / replay_s(rows_of(last[-1]), folder / f"raw-{next(_numbers)}.db", per_transaction)

    mine, theirs = paired(ours, raw, ROUNDS)
    return Figure(name, mine, theirs, "commits/s", "raw apsw, same rows and transactions", goal)


def _pages(store: Store) -> list[list[SignedCommit]]:
    """Cut a store's feed into pages for a peer that holds nothing."""
    pages, after = [], 0
    with store.read() as snapshot:
        while (page := snapshot.page_lacking((), after, PAGE_BYTES)).commits:
            pages.append(page.commits)
            after = page.end
    return pages


def _taken(folder: Path) -> Figure:
    source = open_store(folder)
    write(source, BULK, 1000)
    pages = _pages(source)
    per_page = -(-BULK // len(pages))
    last: list[Path] = []

    def ours() -> float:
        store = open_store(folder)
        last.append(store.path)
        start = time.perf_counter()
        for page in pages:
            with store.write() as transaction:
                transaction.accept_page(page)
        seconds = time.perf_counter() - start
        store.close()
        return BULK / seconds

    def raw() -> float:
        return BULK / replay_s(rows_of(last[-1]), folder / f"raw-{next(_numbers)}.db", per_page)

    mine, theirs = paired(ours, raw, ROUNDS)
    source.close()
    return Figure(
        "commits taken from a peer", mine, theirs, "commits/s", "raw apsw, same rows and pages", ">= 0.5"
    )


def figures() -> list[Figure]:
    """Measure everything here."""
    with tempfile.TemporaryDirectory(prefix="placet-bench-") as name:
        folder = Path(name)
        return [
            _written(folder, "single writes, durable each", SINGLE, 1, "(shown)"),
            _written(folder, "bulk writes, 1 000 commits a transaction", BULK, 1000, "(shown)"),
            _taken(folder),
        ]
