"""A person's use cases on agents: create, list, show.

Never runs an agent: the scheduler does, when what happened here makes it due.
"""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from daemon.agents import wakes
from daemon.agents.records import ACTIVE, AUTONOMOUS, DESTROYED, TASK_AGENT, Agent, agent_id, load, report_of
from daemon.agents.timetable import FAILURES_MAX, Outlook
from daemon.journal import refs
from daemon.journal.errors import Code, Refused
from daemon.journal.provenance import iso
from store import runs
from store.snapshot import Snapshot
from store.transaction import Transaction, Write
from store.verdicts import Status
from syncproto.codec import Value
from syncproto.ids import EntityId, text

RUNS_SHOWN = 10

OutlookOf = Callable[[EntityId], Outlook]


class RunShown(Struct, frozen=True, kw_only=True):
    """A run as it is shown."""

    run_key: str
    reason: str
    status: str
    started_at: str
    ended_at: str | None
    error: str | None


class AgentShown(Struct, frozen=True, kw_only=True):
    """An agent with its report, its state, and when it runs next and why."""

    id: str
    task_id: str
    display_name: str
    kind: str
    mode: str
    lifecycle: str
    model: str
    home_device_id: str
    at_home: bool
    report: dict[str, Any] | None
    last_wake_at: str | None
    next_wake_at: str | None
    next_wake_why: str
    consecutive_failures: int
    pending_items: int
    runs: list[RunShown]


class AgentCounts(Struct, frozen=True):
    """How many agents of this vault are in which state; due and running are those of this device."""

    active: int
    due: int
    running: int
    dormant: int


def create(tx: Transaction, task_ref: str, model: str) -> EntityId:
    """Give the task that `task_ref` names its agent, at home on this device; one that is there stays.

    Raises Refused as a reference does, and conflict for a task whose agent was destroyed.
    """
    task = refs.task(tx, task_ref)
    identifier = agent_id(task.id)
    known = load(tx, identifier)
    if known is not None:
        if known.lifecycle == DESTROYED:
            raise Refused(Code.CONFLICT, "the agent of this task was destroyed, which is final")
        return identifier
    fields: dict[str, Value] = {
        "kind": TASK_AGENT,
        "display_name": task.text("title")[:80],
        "mode": AUTONOMOUS,
        "lifecycle": ACTIVE,
        "task_id": task.id,
        "home_device_id": tx.device,
        "model": model,
    }
    tx.commit([Write(identifier, "agent", fields)])
    return identifier


def find(snapshot: Snapshot, ref: str) -> EntityId:
    """Find the agent that `ref` names: its id, a prefix of it, or anything that names its task."""
    try:
        return refs.entity(snapshot, ["agent"], ref).id
    except Refused as refused:
        if refused.code not in (Code.NOT_FOUND, Code.USAGE):
            raise
    agent = agent_id(refs.task(snapshot, ref).id)
    if load(snapshot, agent) is None:
        raise Refused(
            Code.NOT_FOUND, f"the task {ref[:80]!r} has no agent", "give it one: placet agent create"
        )
    return agent


def every(snapshot: Snapshot, now_ms: int, outlook: OutlookOf) -> list[AgentShown]:
    """List the agents in order of their tasks' making."""
    return [shown(snapshot, one.id, now_ms, outlook) for one in snapshot.entities("agent")]


def shown(snapshot: Snapshot, agent: EntityId, now_ms: int, outlook: OutlookOf) -> AgentShown:
    """Show an agent that is there."""
    known = load(snapshot, agent)
    assert known is not None
    next_in_s, why = _outlook(snapshot, known, outlook)
    log = runs.of_agent(snapshot, agent, RUNS_SHOWN)
    return AgentShown(
        id=text(agent),
        task_id=text(known.task),
        display_name=known.display_name,
        kind=TASK_AGENT,
        mode=known.mode,
        lifecycle=_lifecycle(snapshot, known),
        model=known.model,
        home_device_id=known.home.hex(),
        at_home=known.home == snapshot.device,
        report=report_of(snapshot, known),
        last_wake_at=None if known.last_wake_ms is None else iso(known.last_wake_ms),
        next_wake_at=None if next_in_s is None else iso(now_ms + round(next_in_s * 1000)),
        next_wake_why=why,
        consecutive_failures=runs.failures(snapshot, agent).number,
        pending_items=_pending(snapshot, known),
        runs=[run_shown(one) for one in log],
    )


def run_shown(run: runs.Run) -> RunShown:
    """Show a run."""
    return RunShown(
        run_key=run.run_key,
        reason=run.reason,
        status=run.status.value,
        started_at=iso(run.started_ms),
        ended_at=None if run.ended_ms is None else iso(run.ended_ms),
        error=run.error or None,
    )


def counts(snapshot: Snapshot, due: int, running: int) -> AgentCounts:
    """Count the agents; `due` and `running` are what the scheduler knows."""
    known = [load(snapshot, one.id) for one in snapshot.entities("agent")]
    states = [_lifecycle(snapshot, one) for one in known if one is not None]
    active = sum(state == ACTIVE for state in states)
    return AgentCounts(active, due, running, sum(state == "dormant" for state in states))


def _outlook(snapshot: Snapshot, agent: Agent, outlook: OutlookOf) -> Outlook:
    """Say when an agent runs next; what keeps it from running by itself comes first."""
    if agent.home != snapshot.device:
        return Outlook(None, "its home is another device")
    if not wakes.is_scheduled(snapshot, agent):
        return Outlook(None, "its task was removed, or it wakes only when asked")
    return outlook(agent.id)


def _lifecycle(snapshot: Snapshot, agent: Agent) -> str:
    """Return the lifecycle; dormant is read from what makes it so: a removed task, or too many failures."""
    task = snapshot.entity(agent.task)
    asleep = task is None or not task.visible
    failing = runs.failures(snapshot, agent.id).number >= FAILURES_MAX
    return "dormant" if agent.lifecycle == ACTIVE and (asleep or failing) else agent.lifecycle


def _pending(snapshot: Snapshot, agent: Agent) -> int:
    return sum(item.status is Status.PENDING for item in snapshot.items(agent.task))
