"""The agents of tasks that a list shows, and how many proposals wait on each.

Never reads more than the tasks that it is asked for.
"""

from collections.abc import Iterable, Sequence

from daemon.agents.deciding.waiting_items import PendingItem, decided_together
from daemon.agents.tools.agent_record import DESTROYED, Agent, is_agent, lifecycle_of, load_agent
from store.snapshot import Snapshot
from syncproto.ids import EntityId


def agents_of_tasks(snapshot: Snapshot, tasks: Sequence[EntityId]) -> dict[EntityId, Agent]:
    """Return the agents that these tasks have, by the task; none that was destroyed."""
    agents = {
        task: load_agent(snapshot, agent) for task, agent in agent_ids_of_tasks(snapshot, tasks).items()
    }
    return {task: agent for task, agent in agents.items() if agent is not None}


def agent_ids_of_tasks(snapshot: Snapshot, tasks: Sequence[EntityId]) -> dict[EntityId, EntityId]:
    """Return the ids of the agents that these tasks have, by the task; none that was destroyed."""
    pointing = snapshot.entities_pointing_at_any(tasks, "agent_task")
    return {
        task: entity.id
        for task, entity in pointing
        if entity.kind == "agent" and is_agent(entity.id, task) and lifecycle_of(entity) != DESTROYED
    }


def waiting_by_task(items: Iterable[PendingItem]) -> dict[str, int]:
    """Count what waits for a person on each task; a question counts once, however many answers it has."""
    together: dict[str, set[str]] = {}
    for item in items:
        together.setdefault(item.task_id, set()).add(decided_together(item))
    return {task: len(decided) for task, decided in together.items()}
