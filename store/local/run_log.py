"""The run log: which runs of agents were begun on this device, and how they ended.

Never replicated, and never the reason that an agent is due: that is read from the log of commits.
"""

from collections.abc import Collection
from enum import StrEnum
from typing import Any, NamedTuple

from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto.ids import EntityId

RUNS_KEPT_PER_AGENT = 100
ERROR_CHARS_MAX = 300


class RunStatus(StrEnum):
    """The status of a run."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    SKIPPED = "skipped"
    FAILED = "failed"
    ABANDONED = "abandoned"


class WakeCause(StrEnum):
    """What wakes an agent: a change, a timer, or the request of a person."""

    SUBSCRIPTION = "subscription"
    TIMER = "timer"
    SESSION = "session"


class AgentRun(NamedTuple):
    """One run. Times are Unix time in milliseconds."""

    run_key: str
    agent: EntityId
    cause: WakeCause
    reason: str
    status: RunStatus
    started_ms: int
    ended_ms: int | None
    error: str


class FailureStreak(NamedTuple):
    """How many runs of an agent failed since the last one that did not, and when the newest of them ended.

    `cuts` is how often the process ended in the middle of a run that has not completed since.
    """

    number: int
    last_ms: int
    cuts: int = 0


class RunRequest(NamedTuple):
    """A run to queue or to begin. `lifecycle_mark` names the write that set the lifecycle of the agent."""

    run_key: str
    agent: EntityId
    cause: WakeCause
    reason: str
    lifecycle_mark: bytes = b""


_OVER = frozenset({RunStatus.COMPLETED, RunStatus.SKIPPED})


def queue(transaction: Transaction, wanted: RunRequest) -> bool:
    """Store a run that is to begin, so that a restart finds it; return False if its key is known already."""
    transaction.db.execute(
        "INSERT INTO run (run_key, agent, cause, reason, status, life, started_ms, error)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, '') ON CONFLICT (run_key) DO NOTHING",
        (*wanted[:4], RunStatus.QUEUED.value, wanted.lifecycle_mark, transaction.now_ms()),
    )
    queued = bool(transaction.db.changes())
    _keep_newest(transaction, wanted.agent)
    return queued


def begin(transaction: Transaction, wanted: RunRequest, live: Collection[str] = ()) -> bool:
    """Claim a run key; return False if its run is over, or is `live` in this process.

    A row with the status "running" that is not live belongs to a run whose end could not be written. A run
    that was skipped begins again only if a change caused it: a request was answered.
    """
    agent_run = find(transaction, wanted.run_key)
    if wanted.run_key in live or (agent_run is not None and is_over(agent_run)):
        return False
    transaction.db.execute(
        "INSERT INTO run (run_key, agent, cause, reason, status, life, started_ms, error)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, '')"
        " ON CONFLICT (run_key) DO UPDATE SET status = excluded.status, reason = excluded.reason,"
        " started_ms = excluded.started_ms, ended_ms = NULL, error = '', no = (SELECT max(no) + 1 FROM run),"
        " failures = iif(life = excluded.life, failures, 0), life = excluded.life",
        (*wanted[:4], RunStatus.RUNNING.value, wanted.lifecycle_mark, transaction.now_ms()),
    )
    _keep_newest(transaction, wanted.agent)
    return True


def is_over(run: AgentRun) -> bool:
    """Return whether the key of a run may not begin again."""
    if run.cause is WakeCause.SUBSCRIPTION:
        return run.status is RunStatus.COMPLETED
    return run.status in _OVER


def end(transaction: Transaction, run_key: str, status: RunStatus, error: str = "") -> None:
    """Store how a run ended; a run that has ended already stays as it is.

    The failed run of a timer is queued again, since nobody would request it once more. So is the run of any
    request that was interrupted.
    """
    line = " ".join(error.split())[:ERROR_CHARS_MAX]
    transaction.db.execute(
        "UPDATE run SET status = iif(cause = 'timer' AND ?1 = 'failed'"
        " OR cause != 'subscription' AND ?1 = 'abandoned', 'queued', ?1),"
        " ended_ms = ?2, error = ?3, failures = failures + (?1 = 'failed')"
        " WHERE run_key = ?4 AND status IN ('queued', 'running')",
        (status.value, transaction.now_ms(), line, run_key),
    )


def close_interrupted(transaction: Transaction) -> int:
    """End the runs that are still "running" at a start, when none can be; return how many there were.

    The run of a change is abandoned, since the log of commits still contains the change. Requests of people
    and timers are recorded here alone, so their runs are queued again.
    """
    transaction.db.execute(
        "UPDATE run SET status = iif(cause = 'subscription', 'abandoned', 'queued'), ended_ms = ?,"
        " cuts = cuts + 1 WHERE status = 'running'",
        (transaction.now_ms(),),
    )
    return transaction.db.changes()


def waiting_runs(snapshot: Snapshot) -> list[AgentRun]:
    """Return the runs of requests and timers that have not ended, in the order of the requests.

    Call it at a start: none of them is live then, even if a full disk kept `close_interrupted` from writing.
    """
    return _runs(
        snapshot, "WHERE status IN ('queued', 'running') AND cause != 'subscription' ORDER BY no", ()
    )


def last_unrequested_ms(snapshot: Snapshot, agent: EntityId) -> int | None:
    """Return when the last run of an agent without a request ended, None if there was none."""
    row: Any = snapshot.db.execute(
        "SELECT ended_ms FROM run WHERE agent = ? AND cause != 'session' AND ended_ms IS NOT NULL"
        " AND status != 'skipped' ORDER BY no DESC LIMIT 1",
        (agent,),
    ).fetchone()
    return None if row is None else row[0]


def cancel_timer_runs(transaction: Transaction, agent: EntityId, reason: str) -> int:
    """Skip the queued runs of an agent's timers; return how many there were."""
    transaction.db.execute(
        "UPDATE run SET status = 'skipped', ended_ms = ?, error = ? WHERE agent = ?"
        " AND cause = 'timer' AND status = 'queued'",
        (transaction.now_ms(), reason, agent),
    )
    return transaction.db.changes()


def find(snapshot: Snapshot, run_key: str) -> AgentRun | None:
    """Return the run with a key, None if there is none."""
    rows = _runs(snapshot, "WHERE run_key = ?", (run_key,))
    return rows[0] if rows else None


def runs_of_agent(snapshot: Snapshot, agent: EntityId, limit: int) -> list[AgentRun]:
    """Return the newest runs of an agent, newest first; by their numbers, since clocks can be set back."""
    return _runs(snapshot, "WHERE agent = ? ORDER BY no DESC LIMIT ?", (agent, limit))


def failure_streak(snapshot: Snapshot, agent: EntityId, life: bytes = b"") -> FailureStreak:
    """Count the failures of an agent under one lifecycle mark since its last success.

    Runs that a stop of the process interrupted are counted apart. A key that is tried again has one row,
    which counts its failures.
    """
    number, last_ms, cuts = 0, 0, 0
    rows: Any = snapshot.db.execute(
        "SELECT status, failures, ended_ms, cuts FROM run WHERE agent = ? AND life = ? ORDER BY no DESC",
        (agent, life),
    )
    for status, failed, ended_ms, cut in rows:
        if status == RunStatus.COMPLETED.value:
            break
        number, cuts = number + failed, cuts + cut
        if failed or cut:
            last_ms = last_ms or ended_ms or 0
    return FailureStreak(number, last_ms, cuts)


def counts_by_status(snapshot: Snapshot) -> dict[str, int]:
    """Return the number of runs in the run log by status."""
    counted: Any = snapshot.db.execute("SELECT status, count(*) FROM run GROUP BY status")
    return {status.value: 0 for status in RunStatus} | dict(counted)


def _runs(snapshot: Snapshot, where: str, bindings: tuple[Any, ...]) -> list[AgentRun]:
    rows: Any = snapshot.db.execute(
        f"SELECT run_key, agent, cause, reason, status, started_ms, ended_ms, error FROM run {where}",
        bindings,
    )
    return [
        AgentRun(key, agent, WakeCause(cause), reason, RunStatus(status), *rest)
        for key, agent, cause, reason, status, *rest in rows
    ]


def _keep_newest(transaction: Transaction, agent: EntityId) -> None:
    """Delete the oldest runs of an agent. Its watermark, not this log, keeps them from being due again."""
    transaction.db.execute(
        "DELETE FROM run WHERE agent = ?1 AND status NOT IN ('queued', 'running') AND no NOT IN"
        " (SELECT no FROM run WHERE agent = ?1 ORDER BY no DESC LIMIT ?2)",
        (agent, RUNS_KEPT_PER_AGENT),
    )
