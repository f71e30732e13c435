"""Which mailbox brought which commits to this device, by their feed positions.

Never says anything of commits that came over a link, or before mailboxes were noted.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any

from store.snapshot import Snapshot
from store.transaction import Transaction

RANGES_MAX = 10_000
"""So many are kept, the newest; those of one mailbox that follow each other are one."""


def note_brought(transaction: Transaction, mailbox: str, first: int, last: int) -> None:
    """Store that a mailbox brought the newest commits, at the feed positions from `first` to `last`."""
    db = transaction.db
    db.execute(
        "UPDATE brought_range SET last_seq = ? WHERE mailbox = ? AND last_seq = ?"
        " AND first_seq = (SELECT max(first_seq) FROM brought_range)",
        (last, mailbox, first - 1),
    )
    if db.changes():
        return
    db.execute("INSERT OR REPLACE INTO brought_range VALUES (?, ?, ?)", (first, last, mailbox))
    db.execute(
        "DELETE FROM brought_range WHERE first_seq IN"
        " (SELECT first_seq FROM brought_range ORDER BY first_seq DESC LIMIT -1 OFFSET ?)",
        (RANGES_MAX,),
    )


def count_brought(snapshot: Snapshot, positions: Sequence[int]) -> dict[str, int]:
    """Return how many of the commits at some feed positions, in ascending order, each mailbox brought."""
    counts: dict[str, int] = {}
    if not positions:
        return counts
    rows: Any = snapshot.db.execute(
        "SELECT mailbox, first_seq, last_seq FROM brought_range WHERE last_seq >= ? AND first_seq <= ?",
        (positions[0], positions[-1]),
    )
    for mailbox, first, last in rows:
        count = bisect_right(positions, last) - bisect_left(positions, first)
        if count > 0:
            counts[mailbox] = counts.get(mailbox, 0) + count
    return counts
