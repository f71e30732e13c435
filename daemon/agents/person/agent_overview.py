"""A person's view of agents: find, list, show, count.

Never writes, and never runs an agent.
"""

from collections import Counter
from collections.abc import Callable, Collection
from itertools import islice
from typing import Any, NamedTuple

from msgspec import Struct

from daemon.agents.context.open_wishes import open_wishes
from daemon.agents.context.task_view import view_of_task
from daemon.agents.context.unseen_changes import count_decisions_since_report, count_since_report
from daemon.agents.deciding.item_state import can_take_effect, confirmed_without_effect
from daemon.agents.deciding.waiting_items import list_waiting_items, waiting_count
from daemon.agents.person import policy_edits, presence_edits
from daemon.agents.running import wakes
from daemon.agents.running.report_facts import task_facts
from daemon.agents.running.timetable import Outlook
from daemon.agents.tools.agent_record import (
    ACTIVE,
    AUTONOMOUS,
    CREATED,
    DESTROYED,
    DORMANT,
    HYBRID,
    INTERACTIVE,
    PAUSED_REASON,
    TASK_AGENT,
    Agent,
    agent_id,
    current_report,
    dormancy_reason,
    hindrance,
    is_agent,
    is_paused,
    load_agent,
    replicated_failures,
    report_confidence,
)
from daemon.journal.references import entities
from daemon.journal.references.names import category_id_of, shown_name
from daemon.journal.views.lookup import NameLookup
from daemon.journal.views.report_facts import with_current_facts
from daemon.refusal import RefusalCode, Refused
from daemon.task_fields import CLOSED_STATUSES
from daemon.timestamps import iso_utc, stamp_utc
from store.fold.entity import Entity
from store.local import run_log, timers
from store.local.recurring_timers import recurring_timers
from store.queries import projections
from store.sentence import Sentence, sentence, sentence_fields
from store.snapshot import Snapshot
from syncproto.ids import DeviceId, EntityId, id_from_text, id_to_text

RUNS_SHOWN = 10
WITHOUT_EFFECT_SHOWN = 20
OUTLOOK_BY_MODE = {
    INTERACTIVE: sentence("agent-wakes-when-asked", "it wakes only when asked"),
    HYBRID: sentence("agent-wakes-when-asked-or-timed", "it wakes when asked, and by timers"),
}


OutlookLookup = Callable[[EntityId], Outlook]


class RunSummary(Struct, frozen=True, kw_only=True):
    """A run as people see it. `reason_id` and `reason_params` name the sentence of `reason`."""

    run_key: str
    reason: str
    reason_id: str = ""
    reason_params: dict[str, Any] = {}
    status: str
    started_at: str
    ended_at: str | None
    error: str | None


class AgentDetails(Struct, frozen=True, kw_only=True):
    """An agent with its report, its state, and when and why it runs next.

    `name` and `description` are a person's, null if none gave any. `recurring` says how often a timer recurs,
    by its next time. `paused_until` is when a pause ends by itself.

    `wishes` are the words of people that no completed run of the agent has read yet, the oldest first.
    `presence` is what verdicts on its proposals need, for `all` tools and for those set apart.

    `lifecycle_reason_id` and `next_wake_why_id` name the sentences of these texts, with what fills them.
    `report_changes_since` and `report_decisions_since` count up to 100. `report_confidence` is high, or low
    if the report had to be asked for or corrected, or if its run did not see or do everything.
    `confirmed_without_effect` contains the ids of items that are confirmed and not in effect, and
    `cannot_take_effect` those among them that confirming again does not put into effect: undo them.
    """

    id: str
    task_id: str
    task_title: str
    display_name: str
    kind: str
    mode: str
    lifecycle: str
    lifecycle_reason: str | None
    lifecycle_reason_id: str = ""
    lifecycle_reason_params: dict[str, Any] = {}
    model: str
    home_device_id: str
    home_device_name: str
    at_home: bool
    report: dict[str, Any] | None
    report_changes_since: int
    report_decisions_since: int
    last_wake_at: str | None
    next_wake_at: str | None
    next_wake_why: str
    next_wake_why_id: str = ""
    next_wake_why_params: dict[str, Any] = {}
    timers: list[str]
    recurring: dict[str, str] = {}
    policy: dict[str, str]
    presence: dict[str, str] = {}
    allowed_categories: list[str]
    consecutive_failures: int
    pending_items: int
    confirmed_without_effect: list[str]
    cannot_take_effect: list[str] = []
    runs: list[RunSummary]
    name: str | None = None
    description: str | None = None
    paused_until: str | None = None
    wishes: list[str] = []
    report_confidence: str | None = None


class StoppedAgent(NamedTuple):
    """An agent that failed too often to go on by itself."""

    id: EntityId
    name: str
    reason: Sentence


class AgentCounts(Struct, frozen=True):
    """How many agents of the vault are active and dormant; `due` and `running` count on this device alone."""

    active: int
    due: int
    running: int
    dormant: int


def find_agent(snapshot: Snapshot, ref: str) -> EntityId:
    """Find the agent that `ref` names: its id, a prefix of it, or a reference to its task.

    The task may be removed. Raises Refused if there is no such agent.
    """
    try:
        identifier = entities.find_entity(snapshot, ["agent"], ref).id
        if load_agent(snapshot, identifier) is not None:
            return identifier
    except Refused as refused:
        if refused.code not in (RefusalCode.NOT_FOUND, RefusalCode.USAGE):
            raise
    agent = agent_id(entities.find_task(snapshot, ref, removed=True).id)
    if load_agent(snapshot, agent) is None:
        raise Refused(
            RefusalCode.NOT_FOUND,
            sentence("task-without-agent", "the task {ref!r} has no agent", ref=ref[:80]),
            sentence("use-agent-create", "give it one: placet agent create"),
        )
    return agent


def list_agents(
    snapshot: Snapshot, now_ms: int, outlook: OutlookLookup, states: Collection[str] = ()
) -> list[AgentDetails]:
    """List the agents in the order in which their tasks were created; with `states`, those in one of them."""
    entities_of_kind = snapshot.entities("agent")
    agents = [agent.id for agent in entities_of_kind if is_agent(agent.id, agent.value("task_id"))]
    if states:
        agents = [agent for agent in agents if _state_of(snapshot, agent) in states]
    return [agent_details(snapshot, agent, now_ms, outlook) for agent in agents]


def agents_page(
    snapshot: Snapshot, now_ms: int, outlook: OutlookLookup, before: str, limit: int
) -> list[AgentDetails]:
    """List agents that were not destroyed, the newest first; `before` is the last id of the page before."""
    end = id_from_text(before) if before else None
    agents = (
        agent.id
        for agent in reversed(snapshot.entities("agent"))
        if (end is None or agent.id < end)
        and is_agent(agent.id, agent.value("task_id"))
        and _state_of(snapshot, agent.id) != DESTROYED
    )
    return [agent_details(snapshot, agent, now_ms, outlook) for agent in islice(agents, limit)]


def _state_of(snapshot: Snapshot, agent: EntityId) -> str:
    known_agent = load_agent(snapshot, agent)
    if known_agent is None:
        return ""
    task = snapshot.entity(known_agent.task)
    return displayed_lifecycle(known_agent, task is not None and task.visible)


def tasks_without_agent(snapshot: Snapshot, category: EntityId | None, limit: int) -> list[EntityId]:
    """Return open tasks that never had an agent, of a category or of all, in the order of their making."""
    tasks = (
        task.id
        for task in snapshot.entities("task")
        if task.text("status") not in CLOSED_STATUSES
        and (category is None or category_id_of(task) == category)
        and load_agent(snapshot, agent_id(task.id)) is None
    )
    return list(islice(tasks, limit))


def agent_details(snapshot: Snapshot, agent: EntityId, now_ms: int, outlook: OutlookLookup) -> AgentDetails:
    """Return an existing agent as people see it."""
    known_agent, entity = load_agent(snapshot, agent), snapshot.entity(agent)
    assert known_agent is not None
    assert entity is not None
    task = snapshot.entity(known_agent.task)
    is_task_visible = task is not None and task.visible
    next_run = _outlook(snapshot, known_agent, outlook, now_ms)
    runs = run_log.runs_of_agent(snapshot, agent, RUNS_SHOWN)
    without_effect = confirmed_without_effect(snapshot, WITHOUT_EFFECT_SHOWN, known_agent.task)
    woken_ms = known_agent.last_wake_ms
    return AgentDetails(
        id=id_to_text(agent),
        task_id=id_to_text(known_agent.task),
        task_title=known_agent.display_name if task is None else shown_name(task),
        display_name=known_agent.display_name,
        kind=TASK_AGENT,
        mode=known_agent.mode,
        lifecycle=displayed_lifecycle(known_agent, is_task_visible),
        **sentence_fields("lifecycle_reason", _lifecycle_reason(snapshot, known_agent)),
        model=known_agent.model,
        home_device_id=known_agent.home.hex(),
        home_device_name=NameLookup(snapshot).device_name(DeviceId(known_agent.home)),
        at_home=known_agent.home == snapshot.device,
        report=_report_of_now(snapshot, known_agent, task),
        report_changes_since=count_since_report(snapshot, known_agent),
        report_decisions_since=count_decisions_since_report(snapshot, known_agent),
        last_wake_at=None if woken_ms is None else stamp_utc(woken_ms, now_ms),
        next_wake_at=None if next_run.in_s is None else iso_utc(now_ms + round(next_run.in_s * 1000)),
        **sentence_fields("next_wake_why", next_run.reason),
        timers=[iso_utc(at_ms) for at_ms in timers.times_of_agent(snapshot, agent)],
        recurring={iso_utc(timer.next_ms): timer.every for timer in recurring_timers(snapshot, agent)},
        policy=policy_edits.policy_by_tool(entity),
        presence=presence_edits.presence_by_tool(entity),
        allowed_categories=policy_edits.allowed_category_names(snapshot, entity),
        consecutive_failures=max(
            run_log.failure_streak(snapshot, agent, known_agent.lifecycle_write).number,
            replicated_failures(snapshot, agent),
        ),
        pending_items=waiting_count(list_waiting_items(snapshot, now_ms, task=known_agent.task)),
        confirmed_without_effect=[id_to_text(item) for item in without_effect],
        cannot_take_effect=[
            id_to_text(item)
            for item in without_effect
            if (stored := snapshot.item(item)) is None or not can_take_effect(snapshot, stored)
        ],
        runs=[run_summary(run) for run in runs],
        name=known_agent.name or None,
        description=known_agent.description or None,
        paused_until=_paused_until(known_agent),
        wishes=[wish.text("text") for wish in open_wishes(snapshot, known_agent)],
        report_confidence=report_confidence(snapshot, known_agent),
    )


def _report_of_now(snapshot: Snapshot, agent: Agent, task: Entity | None) -> dict[str, Any] | None:
    """Return the report with the facts of the task as they are now; as it was written if the task is gone."""
    report = current_report(snapshot, agent)
    if report is None or task is None:
        return report
    view = view_of_task(snapshot, task)
    ticks = ((item.title, item.is_checked) for item in view.items if not item.is_archived)
    return with_current_facts(report, task_facts(view), ticks)


def _paused_until(agent: Agent) -> str | None:
    if not is_paused(agent) or agent.paused_until_ms is None:
        return None
    return iso_utc(agent.paused_until_ms)


def _lifecycle_reason(snapshot: Snapshot, agent: Agent) -> Sentence | None:
    if agent.lifecycle != DORMANT or not agent.lifecycle_reason:
        return None
    return dormancy_reason(snapshot, agent.id, agent.lifecycle_reason)


def run_summary(run: run_log.AgentRun) -> RunSummary:
    """Return a run as people see it."""
    return RunSummary(
        run_key=run.run_key,
        **sentence_fields("reason", wakes.stored_reason(run.reason)),
        status=run.status.value,
        started_at=iso_utc(run.started_ms),
        ended_at=None if run.ended_ms is None else iso_utc(run.ended_ms),
        error=run.error or None,
    )


def count_agents(snapshot: Snapshot, due: int, running: int) -> AgentCounts:
    """Count the agents of tasks; those of other makers never run here.

    `due` and `running` come from the scheduler. Reads a projection of each agent alone.
    """
    states = [
        _projected_lifecycle(values, is_task_visible)
        for _, values, is_task_visible in projections.visible_agents(snapshot)
        if "task_id" in values
    ]
    return AgentCounts(
        active=sum(state == ACTIVE for state in states),
        due=due,
        running=running,
        dormant=sum(state == DORMANT for state in states),
    )


def stopped_agents(snapshot: Snapshot) -> list[StoppedAgent]:
    """Return the agents that are dormant because they failed too often; paused ones are left out."""
    return [
        StoppedAgent(agent, str(values["display_name"][0]), dormancy_reason(snapshot, agent, reason))
        for agent, values, is_task_visible in projections.visible_agents(snapshot)
        if is_task_visible
        and _projected_lifecycle(values, is_task_visible) == DORMANT
        and is_agent(agent, values["task_id"][0])
        for reason in (str(values.get("lifecycle_reason", [""])[0] or PAUSED_REASON),)
        if reason != PAUSED_REASON and "display_name" in values
    ]


def count_by_home(snapshot: Snapshot) -> Counter[bytes]:
    """Count the active agents by the devices on which they run."""
    return Counter(
        home
        for agent, values, is_task_visible in projections.visible_agents(snapshot)
        if is_task_visible
        and _projected_lifecycle(values, is_task_visible) == ACTIVE
        and is_agent(agent, values["task_id"][0])
        for home in values.get("home_device_id", [])[:1]
        if isinstance(home, bytes)
    )


def _projected_lifecycle(values: dict[str, list[Any]], is_task_visible: bool) -> str:
    """Return the lifecycle of an agent from its projection, by the rules of `displayed_lifecycle`."""
    lifecycles = values.get("lifecycle", [ACTIVE])
    if DESTROYED in lifecycles:
        return DESTROYED
    return ACTIVE if is_task_visible and (lifecycles[0] or ACTIVE) in (CREATED, ACTIVE) else DORMANT


def _outlook(snapshot: Snapshot, agent: Agent, outlook: OutlookLookup, now_ms: int) -> Outlook:
    """Return when an agent runs next. What keeps it from running comes first, then the nearest time."""
    reason = hindrance(snapshot, agent)
    if reason is not None:
        return Outlook(None, reason)
    scheduled = outlook(agent.id)
    timer_times_ms = timers.times_of_agent(snapshot, agent.id)
    if timer_times_ms and agent.mode != INTERACTIVE:
        in_s = max(timer_times_ms[0] - now_ms, 0) / 1000
        if scheduled.in_s is None or in_s < scheduled.in_s:
            return Outlook(in_s, wakes.TIMER_FIRED)
    if scheduled.in_s is None and agent.mode != AUTONOMOUS:
        return Outlook(None, OUTLOOK_BY_MODE[agent.mode])
    return scheduled


def displayed_lifecycle(agent: Agent, is_task_visible: bool) -> str:
    """Return the lifecycle that people see.

    An agent is shown as created until its first run has ended, and as dormant while its task is removed. Both
    follow from the state, and are written nowhere.
    """
    if agent.lifecycle != ACTIVE:
        return agent.lifecycle
    if not is_task_visible:
        return DORMANT
    return ACTIVE if agent.last_wake_ms is not None else CREATED
