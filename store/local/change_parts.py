"""Which commits one request wrote, where it wrote several: an import, or an undo of one.

Never replicated, and never guessed from when something was written.
"""

from collections.abc import Sequence
from typing import Any

from store.snapshot import Snapshot
from store.transaction import CommitSpan, Transaction
from syncproto.vector_clock import Head

PARTS_MAX = 10_000


def note_written(tx: Transaction, earlier: Sequence[CommitSpan]) -> None:
    """Note what a person wrote in a transaction; `earlier` is what the same request wrote in those before.

    A commit that is all of a request needs no row. The oldest of too many rows are deleted.
    """
    written = tx.written
    if written is None:
        return
    own = [span for span in earlier if span.last.replica == written.last.replica]
    if not own and written.first == written.last.counter:
        return
    change = own[0].first if own else written.first
    if len(own) == 1 and own[0].first == own[0].last.counter:
        _add(tx, own[0], change)
    grown: Any = tx.db.execute(
        "UPDATE change_part SET last = ?, last_hash = ? WHERE replica = ? AND change = ? AND last = ?"
        " RETURNING no",
        (written.last.counter, written.last.hash, written.last.replica, change, written.first - 1),
    ).fetchone()
    if grown is None:
        _add(tx, written, change)
        tx.db.execute("DELETE FROM change_part WHERE no <= ?", (tx.db.last_insert_rowid() - PARTS_MAX,))


def _add(tx: Transaction, part: CommitSpan, change: int) -> None:
    tx.db.execute(
        "INSERT INTO change_part (replica, first, last, last_hash, change) VALUES (?, ?, ?, ?, ?)",
        (part.last.replica, part.first, part.last.counter, part.last.hash, change),
    )


def whole_change(snapshot: Snapshot, head: Head) -> list[CommitSpan]:
    """Return all that the request wrote which wrote a commit of this device, the first part first."""
    row: Any = snapshot.db.execute(
        "SELECT first, change FROM change_part WHERE replica = ? AND last >= ? ORDER BY last LIMIT 1",
        (head.replica, head.counter),
    ).fetchone()
    if row is None or row[0] > head.counter:
        return [CommitSpan(head.counter, head)]
    rows: Any = snapshot.db.execute(
        "SELECT first, last, last_hash FROM change_part WHERE replica = ? AND change = ? ORDER BY first",
        (head.replica, row[1]),
    )
    return [CommitSpan(first, Head(head.replica, last, last_hash)) for first, last, last_hash in rows]
