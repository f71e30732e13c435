"""Timers: when a person wants agents of this device to wake.

Never replicated, and never deleted before the run of a timer is in the run log.
"""

from typing import Any, NamedTuple

from store.local import recurring_timers, run_log
from store.local.run_log import RunRequest, WakeCause
from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto.ids import EntityId


class Timer(NamedTuple):
    """A moment at which an agent is to wake, Unix time in milliseconds."""

    run_key: str
    agent: EntityId
    at_ms: int


def add_timer(transaction: Transaction, timer: Timer) -> None:
    """Set a timer; setting the same moment twice sets one timer."""
    transaction.db.execute("INSERT INTO timer VALUES (?, ?, ?) ON CONFLICT (run_key) DO NOTHING", timer)


def times_of_agent(snapshot: Snapshot, agent: EntityId) -> list[int]:
    """Return the times at which an agent is to wake, the next one first."""
    rows: Any = snapshot.db.execute("SELECT at_ms FROM timer WHERE agent = ? ORDER BY at_ms", (agent,))
    return [at_ms for (at_ms,) in rows]


def drop_timer(transaction: Transaction, run_key: str) -> None:
    """Delete the timer of a run, if there is one."""
    transaction.db.execute("DELETE FROM timer WHERE run_key = ?", (run_key,))


def clear_timers(transaction: Transaction, agent: EntityId) -> int:
    """Delete the timers of an agent, those that recur too; return how many were set."""
    recurring_timers.clear_recurring(transaction, agent)
    transaction.db.execute("DELETE FROM timer WHERE agent = ?", (agent,))
    return transaction.db.changes()


def next_wake_ms(snapshot: Snapshot) -> int | None:
    """Return the next time at which any agent is to wake, None if no timer is set."""
    row: Any = snapshot.db.execute("SELECT min(at_ms) FROM timer").fetchone()
    return None if row is None else row[0]


def queue_due_runs(transaction: Transaction, reason: str) -> list[Timer]:
    """Queue a run for each agent whose time has come, and delete its timers up to now.

    Several timers that were missed cause one run, that of the newest.
    """
    rows: Any = transaction.db.execute(
        "DELETE FROM timer WHERE at_ms <= ? RETURNING run_key, agent, at_ms", (transaction.now_ms(),)
    ).fetchall()
    newest: dict[EntityId, Timer] = {}
    for timer in sorted((Timer(*row) for row in rows), key=lambda timer: timer.at_ms):
        newest[timer.agent] = timer
    return [
        timer
        for timer in newest.values()
        if run_log.queue(transaction, RunRequest(timer.run_key, timer.agent, WakeCause.TIMER, reason))
    ]
