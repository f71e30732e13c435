"""Agents as the store keeps them: one a task, with its home, its state and its report.

Never writes.
"""

from dataclasses import dataclass
from typing import Any

from daemon.agents.policy import category_refusal
from store.entity import Entity
from store.item import clock_from_value
from store.snapshot import Snapshot
from syncproto.heads import EMPTY, Clock, union
from syncproto.ids import ID_BYTES, EntityId, derived_id, text

TASK_AGENT = "task_agent"
AUTONOMOUS, INTERACTIVE, HYBRID = MODES = ("autonomous", "interactive", "hybrid")
CREATED, ACTIVE, DORMANT, DESTROYED = LIVES = ("created", "active", "dormant", "destroyed")
PAUSED = "it is paused"


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent and how far it has got. `watermark` is what its runs have seen, empty before the first.

    `life` names the write that its lifecycle comes from: what was counted under another one is over.
    """

    id: EntityId
    task: EntityId
    home: bytes
    mode: str
    lifecycle: str
    lifecycle_reason: str
    life: bytes
    model: str
    display_name: str
    watermark: Clock
    last_wake_ms: int | None
    report_id: EntityId | None


def agent_id(task: EntityId) -> EntityId:
    """Return the id of a task's agent: two devices that create it make one."""
    return derived_id("agent", text(task), time_of=task)


def state_id(agent: EntityId) -> EntityId:
    """Return the id of an agent's state."""
    return derived_id("state", text(agent), time_of=agent)


def is_agent(agent: EntityId, task: object) -> bool:
    """Say whether an id is that of a task's agent: what was written by hand under another one is none."""
    return isinstance(task, bytes) and len(task) == ID_BYTES and agent == agent_id(EntityId(task))


def load(snapshot: Snapshot, agent: EntityId) -> Agent | None:
    """Read an agent, None where there is none in sight."""
    held = snapshot.entity(agent)
    if held is None or held.kind != "agent" or not held.visible:
        return None
    task, home = held.value("task_id"), held.value("home_device_id")
    if not isinstance(task, bytes) or not is_agent(agent, task):
        return None
    state = snapshot.entity(state_id(agent))
    return Agent(
        id=agent,
        task=EntityId(task),
        home=home if isinstance(home, bytes) else b"",
        mode=_mode(held),
        lifecycle=_lifecycle(held),
        lifecycle_reason=held.text("lifecycle_reason"),
        life=_life(held),
        model=held.text("model"),
        display_name=held.text("display_name"),
        watermark=_watermark(snapshot, state),
        last_wake_ms=_number(state, "last_wake_at"),
        report_id=_id(state, "report_id"),
    )


def failures_told(snapshot: Snapshot, agent: EntityId) -> int:
    """Return how many failures in a row made an agent dormant, as all devices are told; else 0."""
    return _number(snapshot.entity(state_id(agent)), "consecutive_failures") or 0


class Hindered(Exception):
    """An agent may not run here, or not any more; the message says why."""


def hindrance(snapshot: Snapshot, agent: Agent | None) -> str | None:
    """Say why an agent may neither run nor end a run on this device; None where it may.

    A person's request is held to it too; whether the agent also runs by itself is its mode's to say.
    """
    if agent is None:
        return "there is no such agent"
    if agent.lifecycle == DESTROYED:
        return "it was destroyed"
    if agent.home != snapshot.device:
        return "its home is another device"
    task = snapshot.entity(agent.task)
    if task is None or not task.visible:
        return "its task was removed"
    if agent.lifecycle == DORMANT:
        return agent.lifecycle_reason or PAUSED
    return category_refusal(snapshot, snapshot.entity(agent.id), task)


def require_able(snapshot: Snapshot, agent: EntityId) -> None:
    """Raise Hindered where an agent may not run here; the end of a run asks it in its own transaction.

    What raises there writes nothing: the runner then tells the run as skipped.
    """
    why = hindrance(snapshot, load(snapshot, agent))
    if why is not None:
        raise Hindered(why)


def report_of(snapshot: Snapshot, agent: Agent) -> dict[str, Any] | None:
    """Return the content of an agent's current report, None before its first wake."""
    held = None if agent.report_id is None else snapshot.entity(agent.report_id)
    content = None if held is None else held.value("content")
    return content if isinstance(content, dict) else None


def _lifecycle(held: Entity) -> str:
    """Return how an agent stands; one that stands as only a newer version knows sleeps.

    Destroyed is final: no write that did not know of it takes it back.
    """
    versions = held.versions("lifecycle")
    if any(one.value == DESTROYED for one in versions):
        return DESTROYED
    told = held.text("lifecycle") or ACTIVE
    return told if told in LIVES else DORMANT


def _mode(held: Entity) -> str:
    """Return what wakes an agent; one of a newer version only wakes when asked."""
    told = held.text("mode") or AUTONOMOUS
    return told if told in MODES else INTERACTIVE


def _life(held: Entity) -> bytes:
    version = held.version("lifecycle")
    return b"" if version is None else version.source.head.hash8


def _watermark(snapshot: Snapshot, state: Entity | None) -> Clock:
    """Return what the runs have seen, those together that two devices made while apart.

    No run has seen what is not here yet: it would hide what is still to come.
    """
    seen = EMPTY
    for version in () if state is None else state.versions("watermark"):
        held = tuple(head for head in clock_from_value(version.value) if snapshot.log.holds(head))
        seen = union(seen, held, snapshot.log)
    return seen


def _number(state: Entity | None, field: str) -> int | None:
    value = None if state is None else state.value(field)
    return value if isinstance(value, int) else None


def _id(state: Entity | None, field: str) -> EntityId | None:
    value = None if state is None else state.value(field)
    return EntityId(value) if isinstance(value, bytes) else None
