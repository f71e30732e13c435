"""Timers: when a person wants agents of this device to wake.

Never replicated, and never forgotten before the run that a timer asks for stands in the run log.
"""

from typing import Any, NamedTuple

from store import runs
from store.runs import Cause, Wanted
from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto.ids import EntityId


class Timer(NamedTuple):
    """A moment at which an agent is to wake, Unix time in milliseconds."""

    run_key: str
    agent: EntityId
    at_ms: int


def put(transaction: Transaction, timer: Timer) -> None:
    """Set a timer; the same moment twice is one."""
    transaction.db.execute("INSERT INTO timer VALUES (?, ?, ?) ON CONFLICT (run_key) DO NOTHING", timer)


def of_agent(snapshot: Snapshot, agent: EntityId) -> list[int]:
    """Return when an agent is to wake, the next moment first."""
    rows: Any = snapshot.db.execute("SELECT at_ms FROM timer WHERE agent = ? ORDER BY at_ms", (agent,))
    return [at_ms for (at_ms,) in rows]


def clear(transaction: Transaction, agent: EntityId) -> int:
    """Take back an agent's timers. Returns how many there were."""
    transaction.db.execute("DELETE FROM timer WHERE agent = ?", (agent,))
    return transaction.db.changes()


def next_ms(snapshot: Snapshot) -> int | None:
    """Return the next moment at which any agent is to wake, None where none is set."""
    row: Any = snapshot.db.execute("SELECT min(at_ms) FROM timer").fetchone()
    return None if row is None else row[0]


def fire(transaction: Transaction, reason: str) -> list[Timer]:
    """Queue a run for each agent whose time has come, and forget its timers up to now.

    Of several that were missed, the newest stands for all.
    """
    rows: Any = transaction.db.execute(
        "DELETE FROM timer WHERE at_ms <= ? RETURNING run_key, agent, at_ms", (transaction.now_ms(),)
    ).fetchall()
    newest: dict[EntityId, Timer] = {}
    for timer in sorted((Timer(*row) for row in rows), key=lambda one: one.at_ms):
        newest[timer.agent] = timer
    return [
        one
        for one in newest.values()
        if runs.queue(transaction, Wanted(one.run_key, one.agent, Cause.TIMER, reason))
    ]
