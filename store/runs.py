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

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    SKIPPED = "skipped"
    FAILED = "failed"
    ABANDONED = "abandoned"


class Cause(StrEnum):
    """What wakes an agent: what changed, a time that was set, or a person who asks."""

    SUBSCRIPTION = "subscription"
    TIMER = "timer"
    SESSION = "session"


class Run(NamedTuple):
    """One run. Times are Unix time in milliseconds."""

    run_key: str
    agent: EntityId
    cause: Cause
    reason: str
    status: RunStatus
    started_ms: int
    ended_ms: int | None
    error: str


class Failures(NamedTuple):
    """How many runs of an agent failed since the last one that did not, and when the newest of them ended.

    `cuts` is how often a process ended in the middle of what has not completed since.
    """

    number: int
    last_ms: int
    cuts: int = 0


class Wanted(NamedTuple):
    """A run to queue or to begin. `life` names the write that made the agent's lifecycle what it is."""

    run_key: str
    agent: EntityId
    cause: Cause
    reason: str
    life: bytes = b""


_OVER = frozenset({RunStatus.COMPLETED, RunStatus.SKIPPED})


def queue(transaction: Transaction, wanted: Wanted) -> bool:
    """Note a run that is to begin, so that a restart finds it; False where its key is known already."""
    transaction.db.execute(
        "INSERT INTO run (run_key, agent, cause, reason, status, life, started_ms, error)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, '') ON CONFLICT (run_key) DO NOTHING",
        (*wanted[:4], RunStatus.QUEUED.value, wanted.life, transaction.now_ms()),
    )
    queued = bool(transaction.db.changes())
    _keep_newest(transaction, wanted.agent)
    return queued


def begin(transaction: Transaction, wanted: Wanted, live: Collection[str] = ()) -> bool:
    """Claim a run key; False where it is over, or is one of those that are `live` in this process.

    A row that says "running" without being live is what a run left whose end could not be written. What was
    skipped for want of its agent begins again only as what has changed: a request was answered.
    """
    known = find(transaction, wanted.run_key)
    if wanted.run_key in live or (known is not None and is_over(known)):
        return False
    transaction.db.execute(
        "INSERT INTO run (run_key, agent, cause, reason, status, life, started_ms, error)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, '')"
        " ON CONFLICT (run_key) DO UPDATE SET status = excluded.status, reason = excluded.reason,"
        " started_ms = excluded.started_ms, ended_ms = NULL, error = '', no = (SELECT max(no) + 1 FROM run),"
        " failures = iif(life = excluded.life, failures, 0), life = excluded.life",
        (*wanted[:4], RunStatus.RUNNING.value, wanted.life, transaction.now_ms()),
    )
    _keep_newest(transaction, wanted.agent)
    return True


def is_over(run: Run) -> bool:
    """Say whether a run's key may not begin again."""
    if run.cause is Cause.SUBSCRIPTION:
        return run.status is RunStatus.COMPLETED
    return run.status in _OVER


def end(transaction: Transaction, run_key: str, status: RunStatus, error: str = "") -> None:
    """Say how a run ended; one that has ended already stays as it is.

    A timer's run that failed is queued again, since nobody is there to ask once more; so is any request
    that was cut short.
    """
    line = " ".join(error.split())[:ERROR_CHARS_MAX]
    transaction.db.execute(
        "UPDATE run SET status = iif(cause = 'timer' AND ?1 = 'failed'"
        " OR cause != 'subscription' AND ?1 = 'abandoned', 'queued', ?1),"
        " ended_ms = ?2, error = ?3, failures = failures + (?1 = 'failed')"
        " WHERE run_key = ?4 AND status IN ('queued', 'running')",
        (status.value, transaction.now_ms(), line, run_key),
    )


def recover(transaction: Transaction) -> int:
    """Settle what is still running: at a start, nothing can be. Returns how many there were.

    What changed is found again in the log of commits, so its run is abandoned; a person's request and a
    timer stand here alone, and are queued again.
    """
    transaction.db.execute(
        "UPDATE run SET status = iif(cause = 'subscription', 'abandoned', 'queued'), ended_ms = ?,"
        " cuts = cuts + 1 WHERE status = 'running'",
        (transaction.now_ms(),),
    )
    return transaction.db.changes()


def waiting(snapshot: Snapshot) -> list[Run]:
    """Return the requests and timers whose runs have not ended, in the order in which they were asked for.

    At a start: none of them is live then, also those that `recover` could not settle on a full disk.
    """
    return _runs(
        snapshot, "WHERE status IN ('queued', 'running') AND cause != 'subscription' ORDER BY no", ()
    )


def ran_ms(snapshot: Snapshot, agent: EntityId) -> int | None:
    """Return when an agent's last run that nobody asked for ended, None where it never ran."""
    row: Any = snapshot.db.execute(
        "SELECT ended_ms FROM run WHERE agent = ? AND cause != 'session' AND ended_ms IS NOT NULL"
        " AND status != 'skipped' ORDER BY no DESC LIMIT 1",
        (agent,),
    ).fetchone()
    return None if row is None else row[0]


def take_back(transaction: Transaction, agent: EntityId, why: str) -> int:
    """Skip the timers' runs of an agent that wait to begin. Returns how many there were."""
    transaction.db.execute(
        "UPDATE run SET status = 'skipped', ended_ms = ?, error = ? WHERE agent = ?"
        " AND cause = 'timer' AND status = 'queued'",
        (transaction.now_ms(), why, agent),
    )
    return transaction.db.changes()


def find(snapshot: Snapshot, run_key: str) -> Run | None:
    """Return one run."""
    rows = _runs(snapshot, "WHERE run_key = ?", (run_key,))
    return rows[0] if rows else None


def of_agent(snapshot: Snapshot, agent: EntityId, limit: int) -> list[Run]:
    """Return the newest runs of an agent, newest first, by their order: the clock may have been set back."""
    return _runs(snapshot, "WHERE agent = ? ORDER BY no DESC LIMIT ?", (agent, limit))


def failures(snapshot: Snapshot, agent: EntityId, life: bytes = b"") -> Failures:
    """Count an agent's failures of one life since its last success; runs cut short by a stop do not count.

    A key that is tried again keeps one row: the row counts its failures.
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
    return Failures(number, last_ms, cuts)


def by_status(snapshot: Snapshot) -> dict[str, int]:
    """Count the runs that the log still holds, by how they stand."""
    counted: Any = snapshot.db.execute("SELECT status, count(*) FROM run GROUP BY status")
    return {status.value: 0 for status in RunStatus} | dict(counted)


def _runs(snapshot: Snapshot, where: str, bindings: tuple[Any, ...]) -> list[Run]:
    rows: Any = snapshot.db.execute(
        f"SELECT run_key, agent, cause, reason, status, started_ms, ended_ms, error FROM run {where}",
        bindings,
    )
    return [
        Run(key, agent, Cause(cause), why, RunStatus(status), *rest)
        for key, agent, cause, why, status, *rest in rows
    ]


def _keep_newest(transaction: Transaction, agent: EntityId) -> None:
    """Forget an agent's oldest runs. Its watermark, not this log, keeps them from being due again."""
    transaction.db.execute(
        "DELETE FROM run WHERE agent = ?1 AND status NOT IN ('queued', 'running') AND no NOT IN"
        " (SELECT no FROM run WHERE agent = ?1 ORDER BY no DESC LIMIT ?2)",
        (agent, KEPT_PER_AGENT),
    )
