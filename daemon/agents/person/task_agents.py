"""The agents of tasks that a list shows, and how many proposals wait on each.

Never reads more than the tasks that it is asked for.
"""

from collections.abc import Iterable, Sequence

from daemon.agents.deciding.waiting_items import PendingItem, decided_together
from daemon.agents.tools.agent_record import DESTROYED, Agent, is_agent, load_agent
from store.snapshot import Snapshot
from syncproto.ids import EntityId


def agents_of_tasks(snapshot: Snapshot, tasks: Sequence[EntityId]) -> dict[EntityId, Agent]:
    """Return the agents that these tasks have, by the task; none that was destroyed."""
    pointing = snapshot.entities_pointing_at_any(tasks, "agent_task")
    agents = {task: load_agent(snapshot, entity.id) for task, entity in pointing if is_agent(entity.id, task)}
    return {
        task: agent for task, agent in agents.items() if agent is not None and agent.lifecycle != DESTROYED
    }


def waiting_by_task(items: Iterable[PendingItem]) -> dict[str, int]:
    """Count what waits for a person on each task; a question counts once, however many answers it has."""
    together: dict[str, set[str]] = {}
    for item in items:
        together.setdefault(item.task_id, set()).add(decided_together(item))
    return {task: len(decided) for task, decided in together.items()}
