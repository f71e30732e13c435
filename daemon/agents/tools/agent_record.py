"""Agents as the store keeps them: one per task, and those of other makers, each with its home and lifecycle.

Never writes.
"""

from dataclasses import dataclass
from typing import Any, TypeGuard

from daemon.agents.tools.policy import category_refusal
from daemon.refusal import RefusalCode, Refused
from daemon.text_comparison import comparison_key
from daemon.timestamps import iso_utc
from store.fold.entity import Entity
from store.fold.item import clock_from_value
from store.sentence import Sentence, foreign_text, sentence
from store.snapshot import Snapshot
from syncproto.commit import AuthorKind
from syncproto.ids import ID_BYTES, ZERO_ID, DeviceId, EntityId, derived_id, id_to_text
from syncproto.vector_clock import EMPTY_CLOCK, VectorClock, merge_clocks

TASK_AGENT = "task_agent"
EXTERNAL = "external"
"""The kind of an agent that another maker's program is: it has no task, and no run here."""
AUTONOMOUS, INTERACTIVE, HYBRID = MODES = ("autonomous", "interactive", "hybrid")
CREATED, ACTIVE, DORMANT, DESTROYED = LIFECYCLES = ("created", "active", "dormant", "destroyed")
PAUSED_REASON = "it is paused"
_TIME_MS_MAX = 1 << 47


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent, as its entity and its state describe it.

    `watermark` covers the commits that its completed runs have seen; it is empty before the first run. `name`
    and `description` are a person's; they are empty if none gave any. `paused_until_ms` is when a pause ends,
    None if it does not end by itself. `lifecycle_write` is the hash of the commit that set the lifecycle.
    Failures that were counted under another lifecycle write are forgotten.
    """

    id: EntityId
    task: EntityId
    home: bytes
    mode: str
    lifecycle: str
    lifecycle_reason: str
    lifecycle_write: bytes
    model: str
    display_name: str
    watermark: VectorClock
    last_wake_ms: int | None
    report_id: EntityId | None
    name: str = ""
    description: str = ""
    paused_until_ms: int | None = None


@dataclass(frozen=True, slots=True)
class ExternalAgent:
    """An agent of another maker: a program that proposes and asks on its home device, under its name.

    Its lifecycle is `created` until a person lets it in. It works on the tasks of its scope alone.
    """

    id: EntityId
    home: bytes
    name: str
    lifecycle: str
    lifecycle_reason: str
    paused_until_ms: int | None = None

    @property
    def display_name(self) -> str:
        """Return the name by which people know it."""
        return self.name


AnyAgent = Agent | ExternalAgent


def external_agent_id(home: DeviceId, name: str) -> EntityId:
    """Return the id of an agent of another maker: on one device, one name is one agent."""
    return derived_id("external agent", home.hex(), comparison_key(name), time_of=ZERO_ID)


def agent_id(task: EntityId) -> EntityId:
    """Return the id of a task's agent: two devices that create it derive the same id."""
    return derived_id("agent", id_to_text(task), time_of=task)


def state_id(agent: EntityId) -> EntityId:
    """Return the id of an agent's state."""
    return derived_id("state", id_to_text(agent), time_of=agent)


def is_agent(agent: EntityId, task: object) -> bool:
    """Report whether an id is that of the task's agent.

    An entity under another id was forged, and is no agent.
    """
    return isinstance(task, bytes) and len(task) == ID_BYTES and agent == agent_id(EntityId(task))


def load_agent(snapshot: Snapshot, agent: EntityId) -> Agent | None:
    """Read an agent. Return None if there is none, or if it is not visible."""
    entity = snapshot.entity(agent)
    if entity is None or entity.kind != "agent" or not entity.visible:
        return None
    task, home = entity.value("task_id"), entity.value("home_device_id")
    if not isinstance(task, bytes) or not is_agent(agent, task):
        return None
    state = snapshot.entity(state_id(agent))
    return Agent(
        id=agent,
        task=EntityId(task),
        home=home if isinstance(home, bytes) else b"",
        mode=_mode(entity),
        lifecycle=lifecycle_of(entity),
        lifecycle_reason=entity.text("lifecycle_reason"),
        lifecycle_write=_lifecycle_write(entity),
        model=entity.text("model"),
        display_name=entity.text("display_name"),
        watermark=_watermark(snapshot, state),
        last_wake_ms=_number(state, "last_wake_at"),
        report_id=_id(state, "report_id"),
        name=entity.text("name"),
        description=entity.text("description"),
        paused_until_ms=_paused_until_ms(entity),
    )


def load_external_agent(snapshot: Snapshot, agent: EntityId) -> ExternalAgent | None:
    """Read an agent of another maker; None if there is none whose id is that of its home and name."""
    entity = snapshot.entity(agent)
    if entity is None or entity.kind != "agent" or not entity.visible or entity.text("kind") != EXTERNAL:
        return None
    home, name = entity.value("home_device_id"), entity.text("name")
    if not isinstance(home, bytes) or external_agent_id(DeviceId(home), name) != agent:
        return None
    return ExternalAgent(
        id=agent,
        home=home,
        name=name,
        lifecycle=_admitted_lifecycle(entity),
        lifecycle_reason=entity.text("lifecycle_reason"),
        paused_until_ms=_paused_until_ms(entity),
    )


def load_any_agent(snapshot: Snapshot, agent: EntityId) -> AnyAgent | None:
    """Read an agent of either kind; None if there is none."""
    return load_agent(snapshot, agent) or load_external_agent(snapshot, agent)


def replicated_failures(snapshot: Snapshot, agent: EntityId) -> int:
    """Return how many failures in a row made the agent dormant, as every device knows it; else 0."""
    return _number(snapshot.entity(state_id(agent)), "consecutive_failures") or 0


class AgentHindered(Exception):
    """An agent may not run on this device, or not any more; the message is the reason."""

    def __init__(self, reason: Sentence) -> None:
        super().__init__(reason.text)


def failed_often_sentence(failures: int, fault: str) -> Sentence:
    """Return why an agent became dormant by itself. `fault` is how its last run failed."""
    return sentence(
        "agent-failed-because", "it failed {count} times in a row: {fault}", count=failures, fault=fault
    )


def is_paused(agent: AnyAgent) -> bool:
    """Report whether an agent is dormant because a person paused it."""
    return agent.lifecycle == DORMANT and agent.lifecycle_reason in ("", PAUSED_REASON)


def dormancy_reason(snapshot: Snapshot, agent: EntityId, stored: str) -> Sentence:
    """Return why an agent is dormant, from the English text that is stored with it.

    The number of failures is stored beside the text, so the rest of the text is the fault.
    """
    if stored in ("", PAUSED_REASON):
        entity = snapshot.entity(agent)
        until_ms = None if entity is None else _paused_until_ms(entity)
        if until_ms is None:
            return sentence("agent-paused", "it is paused")
        return sentence("agent-paused-until", "it is paused until {time}", time=iso_utc(until_ms))
    failures = replicated_failures(snapshot, agent)
    begin = failed_often_sentence(failures, "").text
    return (
        failed_often_sentence(failures, stored.removeprefix(begin))
        if stored.startswith(begin)
        else foreign_text(stored)
    )


def hindrance(snapshot: Snapshot, agent: AnyAgent | None) -> Sentence | None:
    """Return why an agent may neither run nor end a run on this device, nor propose; None if it may.

    This also applies to a person's request. The mode of the agent decides in addition whether the agent runs
    by itself.
    """
    if agent is not None and agent.lifecycle != DESTROYED and agent.home != snapshot.device:
        return sentence("agent-home-elsewhere", "its home is another device")
    return hindrance_at_home(snapshot, agent)


def refusal_of_hindered(snapshot: Snapshot, agent: AnyAgent | None) -> Refused | None:
    """Return how a program is refused that speaks as an agent which may not work here; None if it may.

    It is never told the command by which a person lets it in: it may be able to run commands.
    """
    reason = hindrance(snapshot, agent)
    if reason is None or not (is_unadmitted(agent) and agent.home == snapshot.device):
        return None if reason is None else Refused(RefusalCode.CONFLICT, reason)
    return Refused(
        RefusalCode.CONFLICT,
        sentence("agent-waits-for-person", "a person has to let this agent in first"),
        sentence("wait-to-be-let-in", "wait, and tell the person that it waits; do not let it in yourself"),
    )


def is_unadmitted(agent: AnyAgent | None) -> TypeGuard[ExternalAgent]:
    """Return whether this is an agent of another maker that no person has let in yet."""
    return isinstance(agent, ExternalAgent) and agent.lifecycle == CREATED


def hindrance_at_home(snapshot: Snapshot, agent: AnyAgent | None) -> Sentence | None:
    """Return why an agent may not work on its home device, as far as this device knows; None if it may."""
    if agent is None:
        return sentence("agent-unknown", "there is no such agent")
    if agent.lifecycle == DESTROYED:
        return sentence("agent-destroyed", "it was destroyed")
    task = snapshot.entity(agent.task) if isinstance(agent, Agent) else None
    if isinstance(agent, Agent) and (task is None or not task.visible):
        return task_removed_sentence()
    if is_unadmitted(agent):
        return sentence("agent-not-admitted", "it waits until you let it in: placet agent admit")
    if agent.lifecycle == DORMANT:
        return dormancy_reason(snapshot, agent.id, agent.lifecycle_reason)
    return category_refusal(snapshot, snapshot.entity(agent.id), task)


def task_removed_sentence() -> Sentence:
    """Return the sentence about an agent or a proposal whose task is not visible any more."""
    return sentence("task-removed", "its task was removed")


def require_unhindered(snapshot: Snapshot, agent: EntityId) -> None:
    """Raise AgentHindered if an agent may not run here.

    The end of a run calls this in its own transaction, so that nothing is written if it raises. The runner
    then records the run as skipped.
    """
    reason = hindrance(snapshot, load_agent(snapshot, agent))
    if reason is not None:
        raise AgentHindered(reason)


def current_report(snapshot: Snapshot, agent: Agent) -> dict[str, Any] | None:
    """Return the content of an agent's current report; None before its first one, or if it is another's."""
    report = _own_report(snapshot, agent)
    content = None if report is None else report.value("content")
    return content if isinstance(content, dict) else None


def report_confidence(snapshot: Snapshot, agent: Agent) -> str | None:
    """Return how sure the current report is, high or low; None without one, or if it does not say."""
    report = _own_report(snapshot, agent)
    confidence = "" if report is None else report.text("confidence")
    return confidence if confidence in ("high", "low") else None


def _own_report(snapshot: Snapshot, agent: Agent) -> Entity | None:
    report = None if agent.report_id is None else snapshot.entity(agent.report_id)
    return report if report is not None and report.value("agent_id") == agent.id else None


def lifecycle_of(entity: Entity) -> str:
    """Return the lifecycle of an agent; a value that only a newer version knows counts as dormant.

    Destroyed is final: if any concurrent version says so, a write that did not know of it does not take it
    back.
    """
    versions = entity.versions("lifecycle")
    if any(version.value == DESTROYED for version in versions):
        return DESTROYED
    lifecycle = entity.text("lifecycle") or ACTIVE
    return lifecycle if lifecycle in LIFECYCLES else DORMANT


def _admitted_lifecycle(entity: Entity) -> str:
    """Return the lifecycle of an agent of another maker: only a person's own write lets it in."""
    lifecycle, version = lifecycle_of(entity), entity.version("lifecycle")
    if lifecycle in (DESTROYED, DORMANT):
        return lifecycle
    is_admitted = version is not None and version.value == ACTIVE and version.source.by is AuthorKind.USER
    return ACTIVE if is_admitted else CREATED


def _paused_until_ms(entity: Entity) -> int | None:
    """Return when the pause of an agent ends; None if it does not, or for a time that no clock shows."""
    until_ms = entity.value("paused_until")
    return until_ms if type(until_ms) is int and 0 < until_ms < _TIME_MS_MAX else None


def _mode(entity: Entity) -> str:
    """Return what wakes an agent; a mode that only a newer version knows counts as interactive."""
    mode = entity.text("mode") or AUTONOMOUS
    return mode if mode in MODES else INTERACTIVE


def _lifecycle_write(entity: Entity) -> bytes:
    version = entity.version("lifecycle")
    return b"" if version is None else version.source.head.hash


def _watermark(snapshot: Snapshot, state: Entity | None) -> VectorClock:
    """Return the clock that the runs have seen. Watermarks that two devices wrote while apart are merged.

    Heads that are not in the log here are left out: they would hide commits that are still to arrive.
    """
    heads = EMPTY_CLOCK
    for version in () if state is None else state.versions("watermark"):
        known_heads = tuple(head for head in clock_from_value(version.value) if snapshot.log.has_commit(head))
        heads = merge_clocks(heads, known_heads, snapshot.log)
    return heads


def _number(state: Entity | None, field: str) -> int | None:
    value = None if state is None else state.value(field)
    return value if isinstance(value, int) else None


def _id(state: Entity | None, field: str) -> EntityId | None:
    value = None if state is None else state.value(field)
    return EntityId(value) if isinstance(value, bytes) else None
