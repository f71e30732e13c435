"""Figures at the size of a life: disk, start, rest and search in a store of a million entities.

Never measures a store that was not written by the store itself.
"""

import itertools
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from statistics import median

import apsw

from bench.stores import open_store, task_fields
from bench.table import Figure, paired
from daemon.journal import search
from daemon.journal.references import entities
from daemon.journal.views import task_lines
from daemon.peers.transport import identity
from store.fold.table_writer import TableWriter
from store.store import Store
from store.transaction import EntityWrite
from syncproto import codec
from syncproto.ids import id_to_text
from tests.support.devices import Device

MILLION, QUICK = 1_000_000, 20_000
AN_OPERATION_EACH, PER_COMMIT, PER_TRANSACTION = 50_000, 400, 4_000
ENTRIES, ENTRIES_QUICK = 100_000, 10_000
REFOLD, REFOLD_MAX_MS = 10_000, 100.0
VOCABULARY, ENTRY_WORDS = 20_000, 30
STARTS, LOOKS, REST_S = 5, 25, 20.0
RSS_MAX_MIB, CPU_MAX_PERCENT = 120.0, 0.5

_THIRD_PARTY = (
    "import sys, daemon.app.startup, daemon.app.composition;"
    "ours = ('daemon', 'store', 'syncproto', '__');"
    "print(*[name for name in list(sys.modules) if not name.startswith(ours)], sep='\\n')"
)


def _fill(store: Store, count: int) -> None:
    """Write tasks, many to a commit: real commits, of which each makes hundreds."""
    for first in range(0, count, PER_TRANSACTION):
        with store.write() as transaction:
            for begin in range(first, min(first + PER_TRANSACTION, count), PER_COMMIT):
                numbers = range(begin, min(begin + PER_COMMIT, count))
                transaction.commit(
                    [EntityWrite(transaction.new_id(), "task", task_fields(number)) for number in numbers]
                )


# -- disk ---------------------------------------------------------------------------------------------


def _disk(folder: Path) -> Figure:
    """Compare the file, each entity made by a commit of its own, with one table of the raw documents."""
    store = open_store(folder)
    for first in range(0, AN_OPERATION_EACH, 1000):
        with store.write() as transaction:
            for number in range(first, first + 1000):
                transaction.commit([EntityWrite(transaction.new_id(), "task", task_fields(number))])
    with store.read() as snapshot:
        ids = [name for (name,) in snapshot.db.execute("SELECT id FROM entity ORDER BY no")]
    store.close()
    raw = folder / "documents.db"
    table = apsw.Connection(str(raw))
    table.execute("CREATE TABLE document (id BLOB PRIMARY KEY, body BLOB) STRICT, WITHOUT ROWID")
    with table:
        table.executemany(
            "INSERT INTO document VALUES (?, ?)",
            ((name, codec.encode(task_fields(number))) for number, name in enumerate(ids)),
        )
    table.close()
    ours, theirs = (path.stat().st_size / AN_OPERATION_EACH for path in (store.path, raw))
    return Figure(
        "disk an entity, history and search kept", ours, theirs, "B", "one table of raw documents", "<= 4"
    )


# -- search, prefixes, lists --------------------------------------------------------------------------


def _words(draw: Random) -> str:
    """Draw words as unevenly as people use them."""
    return " ".join(f"w{min(int(draw.paretovariate(0.6)), VOCABULARY)}x" for _ in range(ENTRY_WORDS))


def _search(folder: Path, entries: int) -> list[Figure]:
    """Search in notes: a rare word, and one that a tenth of them have; against the index alone."""
    store, draw = open_store(folder), Random(1)
    with store.write() as transaction:
        task = transaction.new_id()
        transaction.commit([EntityWrite(task, "task", {"title": "notes"})])
    for _ in range(0, entries, 2000):
        with store.write() as transaction:
            for _ in range(2000 // 20):
                task = transaction.new_id()
                writes = [EntityWrite(task, "task", {"title": _words(draw)[:60]})]
                writes += [
                    EntityWrite(transaction.new_id(), "entry", {"task_id": task, "text": _words(draw)})
                    for _ in range(19)
                ]
                transaction.commit(writes)
    found_figures = []
    for name, word in (("a rare word", "w19"), ("a common word", "w2x")):
        with store.read() as snapshot:
            bare = f'"{word}"*'

            def ours(word: str = word) -> float:
                start = time.perf_counter()
                search.search_tasks(snapshot, word, removed=False, after=0, limit=20)
                return 1e3 * (time.perf_counter() - start)

            def index(bare: str = bare) -> float:
                start = time.perf_counter()
                snapshot.db.execute(
                    "SELECT rowid FROM search WHERE search MATCH ? ORDER BY rank LIMIT 20", (bare,)
                ).fetchall()
                return 1e3 * (time.perf_counter() - start)

            mine, theirs = paired(ours, index, LOOKS)
        found_figures.append(
            Figure(
                f"search, {entries} notes, {name}", mine, theirs, "ms", "FTS5 alone, same words", "(shown)"
            )
        )
    store.close()
    return found_figures


def _looks(store: Store, small: Store) -> list[Figure]:
    """Compare what a person looks at in the large store and in a small one."""

    def prefix(stored_store: Store) -> float:
        with stored_store.read() as snapshot:
            row = snapshot.db.execute("SELECT id FROM entity ORDER BY no LIMIT 1 OFFSET 999").fetchone()
            assert row is not None
            raw = bytes(row[0])
            start = time.perf_counter()
            entities.find_task(snapshot, id_to_text(raw)[:12])
            return 1e3 * (time.perf_counter() - start)

    def titled(stored_store: Store) -> float:
        with stored_store.read() as snapshot:
            start = time.perf_counter()
            entities.find_task(snapshot, "Task 999: what")
            return 1e3 * (time.perf_counter() - start)

    def page(stored_store: Store) -> float:
        with stored_store.read() as snapshot:
            start = time.perf_counter()
            task_lines.task_lines_page(snapshot, closed=False, removed=False)
            return 1e3 * (time.perf_counter() - start)

    found_figures = []
    for name, look in (("id prefix", prefix), ("part of a title", titled), ("first page of the list", page)):
        mine, theirs = paired(lambda look=look: look(store), lambda look=look: look(small), LOOKS)  # type: ignore[misc]
        found_figures.append(
            Figure(f"{name}, the large store", mine, theirs, "ms", "the same in 1 k tasks", "(shown)")
        )
    return found_figures


# -- the fold -----------------------------------------------------------------------------------------


def _refold(folder: Path) -> Figure:
    """Fold an entity of many operations again from its history, as an undo does."""
    store = open_store(folder)
    with store.write() as transaction:
        entity = transaction.new_id()
        for number in range(REFOLD):
            transaction.commit(
                [EntityWrite(entity, "task", task_fields(number) if number < 1 else {"title": str(number)})]
            )
    with store.write() as transaction:
        folding = TableWriter(transaction.db, transaction.log)
        durations = []
        for _ in range(7):
            start = time.perf_counter()
            folding.refold_entity(entity)
            durations.append(1e3 * (time.perf_counter() - start))
    store.close()
    return Figure(
        f"refold of an entity with {REFOLD} operations",
        median(durations),
        REFOLD_MAX_MS,
        "ms",
        "the budget",
        "<= 1",
    )


# -- the daemon ---------------------------------------------------------------------------------------


@contextmanager
def _ready_socket(folder: Path) -> Iterator[tuple[socket.socket, str]]:
    path = folder / "notify.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready_socket:
        ready_socket.bind(str(path))
        ready_socket.settimeout(60.0)
        yield ready_socket, str(path)
    path.unlink()


def ready_s(device: Device, folder: Path) -> float:
    """Start the daemon and wait until it says that it is ready."""
    with _ready_socket(folder) as (ready_socket, path):
        device.settings["NOTIFY_SOCKET"] = path
        start = time.perf_counter()
        device.launch()
        assert ready_socket.recv(64) == b"READY=1"
        return time.perf_counter() - start


def _imports_s(modules: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", modules], check=True)
    return time.perf_counter() - start


def _third_party() -> str:
    """Return a program that imports what the daemon imports, without the daemon."""
    parts = subprocess.run(
        [sys.executable, "-c", _THIRD_PARTY], check=True, capture_output=True, text=True
    ).stdout.split()
    # Some of those names are attributes that look like modules; what cannot be imported costs nothing.
    return (
        "import contextlib, importlib\n"
        f"for name in {parts}:\n"
        "    with contextlib.suppress(ImportError):\n"
        "        importlib.import_module(name)\n"
    )


def _daemon(device: Device, folder: Path) -> list[Figure]:
    modules = _third_party()

    def ours() -> float:
        seconds = ready_s(device, folder)
        device.stop()
        return 1e3 * seconds

    mine, theirs = paired(ours, lambda: 1e3 * _imports_s(modules), STARTS)
    start = Figure(
        "start to ready, the large store", mine, theirs, "ms", "importing the same packages", "<= 1.5"
    )
    ready_s(device, folder)
    device.do("status")
    rss, cpu = rest(device)
    device.stop()
    return [
        start,
        Figure("memory at rest, the large store", rss, RSS_MAX_MIB, "MiB", "the budget", "<= 1"),
        Figure("processor at rest, the large store", cpu, CPU_MAX_PERCENT, "%", "the budget", "<= 1"),
    ]


def rest(device: Device) -> tuple[float, float]:
    """Return MiB resident, and percent of a processor, while nobody asks for anything."""
    assert device.daemon is not None
    process = Path(f"/proc/{device.daemon.pid}")

    def ticks() -> int:
        fields = (process / "stat").read_text().rpartition(")")[2].split()
        return int(fields[11]) + int(fields[12])

    time.sleep(5.0)  # noqa: TID251 - what follows the start is not rest
    before = ticks()
    time.sleep(REST_S)  # noqa: TID251 - rest is what is measured
    spent_s = (ticks() - before) / os.sysconf("SC_CLK_TCK")
    pages = int((process / "statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20), 100 * spent_s / REST_S


def figures(*, quick: bool) -> list[Figure]:
    """Measure everything here; `quick` makes the large store small."""
    count, entries = (QUICK, ENTRIES_QUICK) if quick else (MILLION, ENTRIES)
    with tempfile.TemporaryDirectory(prefix="placet-bench-") as name:
        folder = Path(name)
        found_figures = [_disk(folder), _refold(folder), *_search(folder, entries)]
        small = open_store(folder)
        _fill(small, 1000)
        device = Device("large", folder / "large")
        signer = identity.load_or_create(device.home, Random(1).randbytes).signer
        clock = itertools.count(1_700_000_000_000)
        path = device.home / "placet.db"
        with _ended(device):
            large = Store.open(
                path, signer=signer, now_ms=lambda: next(clock), randomness=Random(2).randbytes
            )
            start = time.perf_counter()
            _fill(large, count)
            seconds = time.perf_counter() - start
            size = path.stat().st_size / count
            found_figures += [
                Figure(
                    f"{count} entities, {PER_COMMIT} a commit",
                    count / seconds,
                    1.0,
                    "/s",
                    "a second",
                    "(shown)",
                ),
                Figure(
                    "disk an entity, many to a commit",
                    size,
                    found_figures[0].baseline,
                    "B",
                    "raw documents",
                    "<= 4",
                ),
                *_looks(large, small),
            ]
            large.close()
            found_figures += _daemon(device, folder)
        small.close()
    return found_figures


@contextmanager
def _ended(device: Device) -> Iterator[None]:
    """Leave no daemon behind."""
    try:
        yield
    finally:
        if device.daemon is not None and device.daemon.poll() is None:
            device.kill()
