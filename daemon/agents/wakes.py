"""Which agents are due, and why: what others changed of their tasks beyond their watermarks.

Never keeps a queue: what is due is read from the log each time, so a restart finds the same.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from daemon.agents.records import AUTONOMOUS, Agent, agent_id, hindrance, load
from daemon.journal.provenance import iso
from store import glance, runs
from store.entity import Entity
from store.fold import Written, written
from store.history import first_beyond, positions
from store.snapshot import Snapshot
from syncproto.commit import By
from syncproto.heads import Head, covers
from syncproto.ids import EntityId, text

FEED_PAGE = 500


@dataclass(frozen=True, slots=True)
class Trigger:
    """One operation that an agent has not seen and did not make."""

    head: Head
    entity: EntityId
    kind: str
    fields: frozenset[str]


def is_scheduled(snapshot: Snapshot, agent: Agent) -> bool:
    """Say whether what changes wakes an agent on this device: it may run here, and is autonomous."""
    return agent.mode == AUTONOMOUS and hindrance(snapshot, agent) is None


def triggers(snapshot: Snapshot, agent: Agent) -> list[Trigger]:
    """Return what touched an agent's task beyond its watermark, in no order that matters.

    Its own writes are none, nor are the effects of its proposals. An agent writes to its own task only, so
    whatever an agent wrote there without an effect is its own.
    """
    first = first_beyond(snapshot, agent.watermark)
    if first is None:
        return []
    names = frozenset([agent.task, *glance.belongings(snapshot, agent.task)])
    return [
        _trigger(write)
        for seq in positions(snapshot, names, first - 1)
        for write in _unseen(snapshot, agent, seq)
        if write.operation.entity in names and _is_news(snapshot, agent, write)
    ]


def _unseen(snapshot: Snapshot, agent: Agent, seq: int) -> list[Written]:
    """Return the operations of a commit, none where the agent has seen it."""
    received = snapshot.log.at(seq)
    if covers(agent.watermark, received.head, snapshot.log):
        return []
    return [written(received, operation) for operation in received.commit.operations]


def _is_news(snapshot: Snapshot, agent: Agent, write: Written) -> bool:
    if not write.operation.fields:
        # What a person did beneath it is news by itself; a timer that they started is none to an agent.
        return False
    effect = write.operation.effect
    if effect is None:
        return write.operation.by is By.USER
    item = snapshot.item(effect)
    return item is None or all(occurrence.agent != agent.id for occurrence in item.occurrences)


def _trigger(write: Written) -> Trigger:
    operation = write.operation
    return Trigger(write.head, operation.entity, operation.kind, frozenset(operation.fields))


# -- run keys -----------------------------------------------------------------------------------------


def change_key(heads: Iterable[Head]) -> str:
    """Return the logical change key: a hash of the sorted dots, the same on every device."""
    dots = sorted({f"{head.replica.hex()}:{head.counter}:{head.hash8.hex()}" for head in heads})
    return hashlib.sha256("|".join(dots).encode()).hexdigest()


def subscription_key(agent: EntityId, heads: Iterable[Head]) -> str:
    """Return the run key of a change: no change is run twice, wherever it is looked at."""
    return _run_key(text(agent), "subscription", change_key(heads))


def session_key(agent: EntityId, session: str, turn: int) -> str:
    """Return the run key of a person's request."""
    return _run_key(text(agent), session, str(turn))


def timer_key(agent: EntityId, at_ms: int) -> str:
    """Return the run key of a timer: the same moment set twice, here or on another device, is one."""
    return _run_key(text(agent), "timer", iso(at_ms))


def _run_key(*parts: str) -> str:
    return hashlib.sha256("|".join(parts).encode()).hexdigest()


# -- whom the feed concerns ---------------------------------------------------------------------------


def all_agents(snapshot: Snapshot) -> list[EntityId]:
    """Return the agents that are at home on this device."""
    return [one.id for one in snapshot.entities("agent") if one.value("home_device_id") == snapshot.device]


def concerned(snapshot: Snapshot, after: int) -> tuple[set[EntityId], int]:
    """Return the agents whose tasks were touched beyond a feed position, and how far was read."""
    if not snapshot.holds_kind("agent"):
        # A new device takes a life's worth of commits before the first of them has an agent.
        return set(), snapshot.feed_end()
    found: set[EntityId] = set()
    touched: set[EntityId] = set()
    seq = after
    for position, received in snapshot.feed(after, FEED_PAGE):
        seq = position
        touched.update(operation.entity for operation in received.commit.operations)
    for entity in touched:
        found.update(_agents_of(snapshot, entity))
    # Most tasks have no agent: to look at those would cost, and keep, something for each of an import's.
    return {agent for agent in found if snapshot.entity(agent) is not None}, seq


def _agents_of(snapshot: Snapshot, entity: EntityId) -> list[EntityId]:
    """Return the agents that watch an entity: its task's, or itself."""
    held = snapshot.entity(entity)
    if held is None:
        return []
    if held.kind == "agent":
        return [held.id]
    return [agent_id(task) for task in _tasks_of(snapshot, held)]


def _tasks_of(snapshot: Snapshot, held: Entity) -> list[EntityId]:
    match held.kind:
        case "task":
            return [held.id]
        case "checklist" | "entry":
            return _pointed(held, "task_id")
        case "link":
            return _pointed(held, "from_id") + _pointed(held, "to_id")
        case "checklist_item":
            lists = (snapshot.entity(one) for one in _pointed(held, "checklist_id"))
            return [task for one in lists if one is not None for task in _pointed(one, "task_id")]
    return []


def _pointed(held: Entity, field: str) -> list[EntityId]:
    value = held.value(field)
    return [EntityId(value)] if isinstance(value, bytes) else []


def due(snapshot: Snapshot, agent: EntityId) -> bool:
    """Say whether an agent should run by itself, for what has changed."""
    known = load(snapshot, agent)
    return known is not None and has_news(snapshot, known)


def has_news(snapshot: Snapshot, agent: Agent) -> bool:
    """Say whether an agent should run by itself, for what has changed.

    What a run of this device has dealt with to the end is no news, even where the watermark has lost it:
    such a run may not begin again.
    """
    if not is_scheduled(snapshot, agent):
        return False
    changed = triggers(snapshot, agent)
    if not changed:
        return False
    before = runs.find(snapshot, subscription_key(agent.id, (one.head for one in changed)))
    return before is None or not runs.is_over(before)
