"""Agents as the store keeps them: one a task, with its home, its state and its report.

Never writes.
"""

from dataclasses import dataclass
from typing import Any

from store.entity import Entity
from store.item import clock_from_value
from store.snapshot import Snapshot
from syncproto.heads import EMPTY, Clock, union
from syncproto.ids import EntityId, derived_id, text

TASK_AGENT = "task_agent"
AUTONOMOUS = "autonomous"
ACTIVE = "active"
DESTROYED = "destroyed"


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent and how far it has got. `watermark` is what its runs have seen, empty before the first."""

    id: EntityId
    task: EntityId
    home: bytes
    mode: str
    lifecycle: str
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


def load(snapshot: Snapshot, agent: EntityId) -> Agent | None:
    """Read an agent, None where there is none in sight."""
    held = snapshot.entity(agent)
    if held is None or held.kind != "agent" or not held.visible:
        return None
    task, home = held.value("task_id"), held.value("home_device_id")
    state = snapshot.entity(state_id(agent))
    return Agent(
        id=agent,
        task=EntityId(task if isinstance(task, bytes) else b""),
        home=home if isinstance(home, bytes) else b"",
        mode=held.text("mode") or AUTONOMOUS,
        lifecycle=held.text("lifecycle") or ACTIVE,
        model=held.text("model"),
        display_name=held.text("display_name"),
        watermark=_watermark(snapshot, state),
        last_wake_ms=_number(state, "last_wake_at"),
        report_id=_id(state, "report_id"),
    )


def report_of(snapshot: Snapshot, agent: Agent) -> dict[str, Any] | None:
    """Return the content of an agent's current report, None before its first wake."""
    held = None if agent.report_id is None else snapshot.entity(agent.report_id)
    content = None if held is None else held.value("content")
    return content if isinstance(content, dict) else None


def _watermark(snapshot: Snapshot, state: Entity | None) -> Clock:
    """Return what the runs have seen, those together that two devices made while apart."""
    seen = EMPTY
    for version in () if state is None else state.versions("watermark"):
        seen = union(seen, clock_from_value(version.value), snapshot.log)
    return seen


def _number(state: Entity | None, field: str) -> int | None:
    value = None if state is None else state.value(field)
    return value if isinstance(value, int) else None


def _id(state: Entity | None, field: str) -> EntityId | None:
    value = None if state is None else state.value(field)
    return EntityId(value) if isinstance(value, bytes) else None
