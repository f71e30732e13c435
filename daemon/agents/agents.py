"""A person's use cases on agents: create, list, show.

Never runs an agent: the scheduler does, when what happened here makes it due.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from msgspec import Struct

from daemon.agents import permits
from daemon.agents.alarms import BY_TIMER
from daemon.agents.changed import since_report
from daemon.agents.pending import pending
from daemon.agents.policy import CATEGORIES
from daemon.agents.records import (
    ACTIVE,
    AUTONOMOUS,
    CREATED,
    DESTROYED,
    DORMANT,
    HYBRID,
    INTERACTIVE,
    PAUSED,
    TASK_AGENT,
    Agent,
    agent_id,
    failures_told,
    hindrance,
    is_agent,
    load,
    report_of,
)
from daemon.agents.timetable import Outlook
from daemon.journal import refs
from daemon.journal.errors import Code, Refused
from daemon.journal.names import category_of
from daemon.journal.provenance import iso
from daemon.journal.show import Shown
from store import glance, runs, timers
from store.snapshot import Snapshot
from store.transaction import Transaction, Write
from syncproto.codec import Value
from syncproto.ids import DeviceId, EntityId, text

RUNS_SHOWN = 10
BY_MODE = {INTERACTIVE: "it wakes only when asked", HYBRID: "it wakes when asked, and by timers"}

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
    task_title: str
    display_name: str
    kind: str
    mode: str
    lifecycle: str
    lifecycle_reason: str | None
    model: str
    home_device_id: str
    home_device_name: str
    at_home: bool
    report: dict[str, Any] | None
    report_changes_since: int
    last_wake_at: str | None
    next_wake_at: str | None
    next_wake_why: str
    timers: list[str]
    policy: dict[str, str]
    allowed_categories: list[str]
    consecutive_failures: int
    pending_items: int
    runs: list[RunShown]


class GivenUp(NamedTuple):
    """An agent that failed too often to go on by itself."""

    id: EntityId
    name: str
    reason: str


class AgentCounts(Struct, frozen=True):
    """How many agents of this vault are in which state; due and running are those of this device."""

    active: int
    due: int
    running: int
    dormant: int


def create(tx: Transaction, task_ref: str, model: str, mode: str | None = None) -> EntityId:
    """Give the task that `task_ref` names its agent, at home on this device; one that is there stays.

    It may work on tasks of the category that this one has. Raises Refused as a reference does, and conflict
    for a task whose agent was destroyed, or has another mode than the one that is asked for.
    """
    task = refs.task(tx, task_ref)
    identifier = agent_id(task.id)
    known = load(tx, identifier)
    if known is not None:
        if known.lifecycle == DESTROYED:
            raise Refused(Code.CONFLICT, "the agent of this task was destroyed, which is final")
        if mode is not None and mode != known.mode:
            raise Refused(
                Code.CONFLICT,
                f"the task has an agent already, which is {known.mode}",
                "change it: `agent edit`",
            )
        return identifier
    fields: dict[str, Value] = {
        "kind": TASK_AGENT,
        "display_name": task.text("title")[:80],
        "mode": mode or AUTONOMOUS,
        "lifecycle": ACTIVE,
        "task_id": task.id,
        "home_device_id": tx.device,
        "model": model,
    }
    category = category_of(task)
    if category is not None:
        fields[f"{CATEGORIES}/{text(category)}"] = True
    tx.commit([Write(identifier, "agent", fields)])
    return identifier


def find(snapshot: Snapshot, ref: str) -> EntityId:
    """Find the agent that `ref` names: its id, a prefix of it, or what names its task, be that removed."""
    try:
        named = refs.entity(snapshot, ["agent"], ref).id
        if load(snapshot, named) is not None:
            return named
    except Refused as refused:
        if refused.code not in (Code.NOT_FOUND, Code.USAGE):
            raise
    agent = agent_id(refs.task(snapshot, ref, removed=True).id)
    if load(snapshot, agent) is None:
        raise Refused(
            Code.NOT_FOUND, f"the task {ref[:80]!r} has no agent", "give it one: placet agent create"
        )
    return agent


def every(snapshot: Snapshot, now_ms: int, outlook: OutlookOf) -> list[AgentShown]:
    """List the agents in order of their tasks' making."""
    held = snapshot.entities("agent")
    ours = [one.id for one in held if is_agent(one.id, one.value("task_id"))]
    return [shown(snapshot, one, now_ms, outlook) for one in ours]


def shown(snapshot: Snapshot, agent: EntityId, now_ms: int, outlook: OutlookOf) -> AgentShown:
    """Show an agent that is there."""
    known, held = load(snapshot, agent), snapshot.entity(agent)
    assert known is not None
    assert held is not None
    task = snapshot.entity(known.task)
    seen = task is not None and task.visible
    next_in_s, why = _outlook(snapshot, known, outlook, now_ms)
    log = runs.of_agent(snapshot, agent, RUNS_SHOWN)
    return AgentShown(
        id=text(agent),
        task_id=text(known.task),
        task_title=known.display_name if task is None else task.text("title"),
        display_name=known.display_name,
        kind=TASK_AGENT,
        mode=known.mode,
        lifecycle=lifecycle_shown(known, seen),
        lifecycle_reason=(known.lifecycle_reason or None) if known.lifecycle == DORMANT else None,
        model=known.model,
        home_device_id=known.home.hex(),
        home_device_name=Shown(snapshot).device_names.get(DeviceId(known.home), ""),
        at_home=known.home == snapshot.device,
        report=report_of(snapshot, known),
        report_changes_since=since_report(snapshot, known),
        last_wake_at=None if known.last_wake_ms is None else iso(known.last_wake_ms),
        next_wake_at=None if next_in_s is None else iso(now_ms + round(next_in_s * 1000)),
        next_wake_why=why,
        timers=[iso(at_ms) for at_ms in timers.of_agent(snapshot, agent)],
        policy=permits.policies(held),
        allowed_categories=permits.categories(snapshot, held),
        consecutive_failures=max(
            runs.failures(snapshot, agent, known.life).number, failures_told(snapshot, agent)
        ),
        pending_items=len(pending(snapshot, now_ms, task=known.task)),
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
    """Count the agents; `due` and `running` are what the scheduler knows. Costs a glance at each."""
    states = [_glanced(values, seen) for _, values, seen in glance.agents(snapshot)]
    return AgentCounts(
        active=sum(state == ACTIVE for state in states),
        due=due,
        running=running,
        dormant=sum(state == DORMANT for state in states),
    )


def given_up(snapshot: Snapshot) -> list[GivenUp]:
    """Return the agents that sleep because they failed too often; paused ones are no matter."""
    return [
        GivenUp(agent, str(values["display_name"][0]), reason)
        for agent, values, seen in glance.agents(snapshot)
        if seen and _glanced(values, seen) == DORMANT and is_agent(agent, values["task_id"][0])
        for reason in (str(values.get("lifecycle_reason", [""])[0] or PAUSED),)
        if reason != PAUSED and "display_name" in values
    ]


def homes(snapshot: Snapshot) -> Counter[bytes]:
    """Count the active agents by the devices on which they run."""
    return Counter(
        home
        for agent, values, seen in glance.agents(snapshot)
        if seen and _glanced(values, seen) == ACTIVE and is_agent(agent, values["task_id"][0])
        for home in values.get("home_device_id", [])[:1]
        if isinstance(home, bytes)
    )


def _glanced(values: dict[str, list[Any]], seen: bool) -> str:
    """Return how an agent stands, as `lifecycle_shown` does."""
    told = values.get("lifecycle", [ACTIVE])
    if DESTROYED in told:
        return DESTROYED
    return ACTIVE if seen and (told[0] or ACTIVE) in (CREATED, ACTIVE) else DORMANT


def _outlook(snapshot: Snapshot, agent: Agent, outlook: OutlookOf, now_ms: int) -> Outlook:
    """Say when an agent runs next; what keeps it from running comes first, then what is nearest."""
    why = hindrance(snapshot, agent)
    if why is not None:
        return Outlook(None, why)
    known = outlook(agent.id)
    set_for = timers.of_agent(snapshot, agent.id)
    if set_for and agent.mode != INTERACTIVE:
        in_s = max(set_for[0] - now_ms, 0) / 1000
        if known.in_s is None or in_s < known.in_s:
            return Outlook(in_s, BY_TIMER)
    if known.in_s is None and agent.mode != AUTONOMOUS:
        return Outlook(None, BY_MODE[agent.mode])
    return known


def lifecycle_shown(agent: Agent, seen: bool) -> str:
    """Return the lifecycle as it is shown; `seen` says whether the agent's task is in sight.

    Created until the first run has ended, and dormant while the task is removed: both are read from what
    makes them so, and written nowhere.
    """
    if agent.lifecycle != ACTIVE:
        return agent.lifecycle
    if not seen:
        return DORMANT
    return ACTIVE if agent.last_wake_ms is not None else CREATED
