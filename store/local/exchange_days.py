"""What this device exchanged with others, counted by day.

Never replicated, and never counts a commit by itself: whoever counts adds up first, and stores seldom.
"""

from typing import Any, NamedTuple

from store.snapshot import Snapshot
from store.transaction import Transaction

DAYS_MAX = 30


class ExchangeCounts(NamedTuple):
    """What happened on a day.

    `links` were opened, `failed_calls` led to none, and `faults` ended some. `received` and `sent` are
    commits over links. `visits` are looks into mailboxes that ended well, `failed_visits` those that did not;
    `taken` and `put` are the files that were taken from there or left there.
    """

    links: int = 0
    failed_calls: int = 0
    faults: int = 0
    received: int = 0
    sent: int = 0
    visits: int = 0
    failed_visits: int = 0
    taken: int = 0
    put: int = 0

    def plus(self, other: "ExchangeCounts") -> "ExchangeCounts":
        """Return both together."""
        return ExchangeCounts(*map(sum, zip(self, other, strict=True)))


_COLUMNS = ", ".join(ExchangeCounts._fields)
_PLACES = ", ".join("?" for _ in ExchangeCounts._fields)
_SUMS = ", ".join(f"{name} = {name} + excluded.{name}" for name in ExchangeCounts._fields)


def add_counts(tx: Transaction, day: str, counts: ExchangeCounts) -> None:
    """Add to what happened on a day (YYYY-MM-DD). If there are too many, the days begun first make room."""
    tx.db.execute(
        f"INSERT INTO exchange_day (day, {_COLUMNS}) VALUES (?, {_PLACES})"
        f" ON CONFLICT (day) DO UPDATE SET {_SUMS}",
        (day, *counts),
    )
    # Not by their dates: a clock that was ahead for a moment would delete all that is true.
    tx.db.execute(
        "DELETE FROM exchange_day WHERE begun NOT IN"
        " (SELECT begun FROM exchange_day ORDER BY begun DESC LIMIT ?)",
        (DAYS_MAX,),
    )


def counted_days(snapshot: Snapshot) -> dict[str, ExchangeCounts]:
    """Return what happened on each day that is kept, by its date."""
    rows: Any = snapshot.db.execute(f"SELECT day, {_COLUMNS} FROM exchange_day ORDER BY day")
    return {day: ExchangeCounts(*counts) for day, *counts in rows}
