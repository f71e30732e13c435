"""The run log: which runs of agents were begun on this device, and how they ended.

Never replicated, and never the reason that an agent is due: that is read from the log of commits.
"""

from collections.abc import Collection
from enum import StrEnum
from typing import Any, NamedTuple

from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto.ids import EntityId

KEPT_PER_AGENT = 100
ERROR_CHARS_MAX = 300


class RunStatus(StrEnum):
    """How a run stands."""

    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    ABANDONED = "abandoned"


class Run(NamedTuple):
    """One run. Times are Unix time in milliseconds."""

    run_key: str
    agent: EntityId
    reason: str
    status: RunStatus
    started_ms: int
    ended_ms: int | None
    error: str


class Failures(NamedTuple):
    """How many runs of an agent failed since the last one that did not, and when the newest of them ended."""

    number: int
    last_ms: int


def begin(
    transaction: Transaction, run_key: str, agent: EntityId, reason: str, live: Collection[str] = ()
) -> bool:
    """Claim a run key; False where it was completed, or is one of those that are `live` in this process.

    A row that says "running" without being live is what a run left whose end could not be written.
    """
    known = find(transaction, run_key)
    if run_key in live or (known is not None and known.status is RunStatus.COMPLETED):
        return False
    transaction.db.execute(
        "INSERT INTO run (run_key, agent, reason, status, started_ms, error) VALUES (?, ?, ?, ?, ?, '')"
        " ON CONFLICT (run_key) DO UPDATE SET status = excluded.status, reason = excluded.reason,"
        " started_ms = excluded.started_ms, ended_ms = NULL, error = '', no = (SELECT max(no) + 1 FROM run)",
        (run_key, agent, reason, RunStatus.RUNNING.value, transaction.now_ms()),
    )
    _keep_newest(transaction, agent)
    return True


def end(transaction: Transaction, run_key: str, status: RunStatus, error: str = "") -> None:
    """Say how a run ended; one that has ended already stays as it is."""
    line = " ".join(error.split())[:ERROR_CHARS_MAX]
    transaction.db.execute(
        "UPDATE run SET status = ?1, ended_ms = ?2, error = ?3, failures = failures + (?1 = ?5)"
        " WHERE run_key = ?4 AND status = ?6",
        (
            status.value,
            transaction.now_ms(),
            line,
            run_key,
            RunStatus.FAILED.value,
            RunStatus.RUNNING.value,
        ),
    )


def abandon_running(transaction: Transaction) -> int:
    """Mark what is still running as abandoned: at a start, nothing can be. Returns how many there were."""
    transaction.db.execute(
        "UPDATE run SET status = ?, ended_ms = ? WHERE status = ?",
        (RunStatus.ABANDONED.value, transaction.now_ms(), RunStatus.RUNNING.value),
    )
    return transaction.db.changes()


def find(snapshot: Snapshot, run_key: str) -> Run | None:
    """Return one run."""
    rows = _runs(snapshot, "WHERE run_key = ?", (run_key,))
    return rows[0] if rows else None


def of_agent(snapshot: Snapshot, agent: EntityId, limit: int) -> list[Run]:
    """Return the newest runs of an agent, newest first, by their order: the clock may have been set back."""
    return _runs(snapshot, "WHERE agent = ? ORDER BY no DESC LIMIT ?", (agent, limit))


def failures(snapshot: Snapshot, agent: EntityId) -> Failures:
    """Count an agent's failures since its last success; runs cut short by a stop do not count.

    A key that is tried again keeps one row: the row counts its failures.
    """
    number, last_ms = 0, 0
    rows: Any = snapshot.db.execute(
        "SELECT status, failures, ended_ms FROM run WHERE agent = ? ORDER BY no DESC", (agent,)
    )
    for status, failed, ended_ms in rows:
        if status == RunStatus.COMPLETED.value:
            break
        number += failed
        if status == RunStatus.FAILED.value:
            last_ms = last_ms or ended_ms
    return Failures(number, last_ms)


def by_status(snapshot: Snapshot) -> dict[str, int]:
    """Count the runs that the log still holds, by how they stand."""
    counted: Any = snapshot.db.execute("SELECT status, count(*) FROM run GROUP BY status")
    return {status.value: 0 for status in RunStatus} | dict(counted)


def _runs(snapshot: Snapshot, where: str, bindings: tuple[Any, ...]) -> list[Run]:
    rows: Any = snapshot.db.execute(
        f"SELECT run_key, agent, reason, status, started_ms, ended_ms, error FROM run {where}", bindings
    )
    return [Run(key, agent, why, RunStatus(status), *rest) for key, agent, why, status, *rest in rows]


def _keep_newest(transaction: Transaction, agent: EntityId) -> None:
    """Forget an agent's oldest runs. Its watermark, not this log, keeps them from being due again."""
    transaction.db.execute(
        "DELETE FROM run WHERE agent = ?1 AND status != ?2 AND no NOT IN"
        " (SELECT no FROM run WHERE agent = ?1 ORDER BY no DESC LIMIT ?3)",
        (agent, RunStatus.RUNNING.value, KEPT_PER_AGENT),
    )
