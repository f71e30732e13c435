"""Timers that recur: the rows from which the next timer of an agent of this device is set.

Never replicated, and never computes a time: what recurs at a local time is for the caller, who knows the
zone.
"""

from typing import Any, NamedTuple

from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto.ids import EntityId


class RecurringTimer(NamedTuple):
    """An agent's timer that recurs: its first time and its next, Unix time in milliseconds."""

    agent: EntityId
    anchor_ms: int
    every: str
    next_ms: int


def put_recurring(transaction: Transaction, timer: RecurringTimer) -> None:
    """Store a timer that recurs, or its next time."""
    transaction.db.execute(
        "INSERT INTO recurring_timer VALUES (?, ?, ?, ?)"
        " ON CONFLICT (agent, anchor_ms, every) DO UPDATE SET next_ms = excluded.next_ms",
        timer,
    )


def recurring_timers(snapshot: Snapshot, agent: EntityId | None = None) -> list[RecurringTimer]:
    """Return the timers that recur, of an agent or of all, the next one first."""
    rows: Any = snapshot.db.execute(
        "SELECT * FROM recurring_timer WHERE ?1 IS NULL OR agent = ?1 ORDER BY next_ms", (agent,)
    )
    return [RecurringTimer(EntityId(agent_id), *rest) for agent_id, *rest in rows]


def clear_recurring(transaction: Transaction, agent: EntityId) -> None:
    """Delete the timers of an agent that recur."""
    transaction.db.execute("DELETE FROM recurring_timer WHERE agent = ?", (agent,))
