"""The cost of a read, counted in steps of SQLite's own machine.

Never measures time: the count is the same on every machine.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import apsw

from store.snapshot import Snapshot
from store.store import Store


@contextmanager
def steps_of(snapshot: Snapshot) -> Iterator[Callable[[], int]]:
    """Count the steps of SQLite's machine inside of the block: they grow with the rows that it visits."""
    used: list[int] = []

    def note(event: dict[str, dict[str, int]]) -> None:
        used.append(event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"])

    snapshot.db.trace_v2(apsw.SQLITE_TRACE_PROFILE, note)
    yield lambda: sum(used)
    snapshot.db.trace_v2(0, None)


def steps_to_read(store: Store, read: Callable[[Snapshot], object]) -> int:
    """Return how many steps of SQLite's machine one read of a store takes."""
    with store.read() as snapshot:
        _ = snapshot.log
        with steps_of(snapshot) as steps:
            snapshot.db.execute("SELECT 1").fetchall()
            read(snapshot)
        assert steps() > 0, "no steps are counted"
        return steps()
