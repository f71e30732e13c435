"""What agents of other makers have spent of their daily limits on this device.

Never replicated: an agent of another maker works on one device. Never keeps more than a week.
"""

from typing import Any

from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto.ids import EntityId

DAY_MS = 86_400_000
DAYS_KEPT = 7


def spent_today(snapshot: Snapshot, agent: EntityId, kind: str, now_ms: int) -> int:
    """Return what an agent has spent of a kind on the day of `now_ms` (Unix time in ms), a day of UTC."""
    row: Any = snapshot.db.execute(
        "SELECT amount FROM daily_spending WHERE agent = ? AND kind = ? AND day = ?",
        (agent, kind, now_ms // DAY_MS),
    ).fetchone()
    return 0 if row is None else int(row[0])


def spend(tx: Transaction, agent: EntityId, kind: str, amount: int) -> None:
    """Add to what an agent has spent today, and forget what is older than a week."""
    day = tx.now_ms() // DAY_MS
    tx.db.execute("DELETE FROM daily_spending WHERE agent = ? AND day < ?", (agent, day - DAYS_KEPT))
    tx.db.execute(
        "INSERT INTO daily_spending VALUES (?, ?, ?, ?)"
        " ON CONFLICT (agent, kind, day) DO UPDATE SET amount = amount + excluded.amount",
        (agent, kind, day, amount),
    )
