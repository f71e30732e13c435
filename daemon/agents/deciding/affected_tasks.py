"""Of which tasks the waiting proposals may look different after some commits; the others need not be read.

Never names too few: whatever it does not know may concern all.
"""

from collections.abc import Collection
from typing import Final, NamedTuple

from daemon.agents.tools.agent_record import CREATED, load_any_agent
from daemon.agents.tools.checklists import checklist_of
from store.fold.entity import Entity
from store.fold.entity_state import DELETED
from store.queries.items import effects_of_items, tasks_of_agent_proposals, tasks_of_items, tasks_of_sets
from store.snapshot import Snapshot
from syncproto.commit import Operation
from syncproto.ids import EntityId

COMMITS_READ_MAX = 200
OPERATIONS_READ_MAX = 1000
"""Beyond so many, reading all proposals costs hardly more."""

# None of these says anything of a proposal beyond its task, or nothing at all.
_NARROW: Final = frozenset(
    {"agent_state", "ask", "change_set", "decision", "entry", "link", "message", "payload", "preference"}
    | {"report", "standing_rule", "task", "time_record", "usage", "use"}
)
_AGENT_FIELDS: Final = frozenset(
    {"daily_limits", "description", "lifecycle", "lifecycle_reason", "mode", "model", "paused_until", "scope"}
)
"""What is written of an agent without changing how its proposals look, if it had been let in before."""
_TWIN_FIELDS: Final = frozenset({"category_id", "deleted", "status", "title"})
"""What of a task decides whether a proposal of a new task is one of a task that is there."""


class AffectedTasks(NamedTuple):
    """The tasks, and whether a task that is there may have come to be, or ceased to be, a proposed one."""

    tasks: set[EntityId]
    are_twins_affected: bool


def affected_tasks(
    snapshot: Snapshot, after: int, listed_agents: Collection[EntityId]
) -> AffectedTasks | None:
    """Return the tasks whose proposals may look different because of the commits beyond a feed position.

    `listed_agents` are those of which some proposal waited then. Entities that were touched are among the
    answer, be they tasks or not: what a proposal would write may have come to another task meanwhile. None
    means all tasks.
    """
    if snapshot.feed_end() - after > COMMITS_READ_MAX:
        return None
    operations = [
        operation
        for _, received in snapshot.read_feed(after, COMMITS_READ_MAX)
        for operation in received.commit.operations
    ]
    if len(operations) > OPERATIONS_READ_MAX or any(map(_moves, operations)):
        return None
    decided = {
        EntityId(item)
        for operation in operations
        if operation.kind == "decision" and isinstance(item := operation.fields.get("item_id"), bytes)
    }
    changed_agents = {
        operation.entity for operation in operations if not _AGENT_FIELDS.issuperset(operation.fields)
    }
    effects = effects_of_items(snapshot, decided)
    touched = {operation.entity for operation in operations} | effects
    tasks = touched | tasks_of_items(snapshot, decided) | tasks_of_sets(snapshot, touched)
    are_twins_affected = any(map(_makes_or_ends_twins, operations))
    for entity in map(snapshot.entity, touched):
        if entity is None:
            return None
        # A verdict can put into effect, or take back, what wrote a task. Any write can outlast a deletion
        # that had not seen it.
        are_twins_affected |= entity.kind == "task" and (
            entity.id in effects or bool(entity.versions(DELETED))
        )
        if entity.kind == "agent":
            if (
                entity.id in changed_agents
                or entity.id not in listed_agents
                or not _is_let_in(snapshot, entity)
            ):
                tasks |= tasks_of_agent_proposals(snapshot, entity.id)
        elif entity.kind == "checklist_item":
            task = _task_of_checklist_item(snapshot, entity)
            if task is None:
                return None
            tasks.add(task)
        elif entity.kind not in _NARROW:
            return None
    return AffectedTasks(tasks, are_twins_affected)


def _makes_or_ends_twins(operation: Operation) -> bool:
    """Report whether an operation may change which tasks there are to an agent that proposes a new one."""
    if operation.kind == "task":
        return not operation.base or not _TWIN_FIELDS.isdisjoint(operation.fields)
    return operation.kind == "agent"


def _moves(operation: Operation) -> bool:
    """Report whether an operation takes a checklist item to another checklist, so that both are concerned."""
    return operation.kind == "checklist_item" and bool(operation.base) and "checklist_id" in operation.fields


def _is_let_in(snapshot: Snapshot, entity: Entity) -> bool:
    agent = load_any_agent(snapshot, entity.id)
    return agent is not None and agent.lifecycle != CREATED


def _task_of_checklist_item(snapshot: Snapshot, item: Entity) -> EntityId | None:
    checklist = checklist_of(snapshot, item)
    task = None if checklist is None else checklist.value("task_id")
    return EntityId(task) if isinstance(task, bytes) else None
