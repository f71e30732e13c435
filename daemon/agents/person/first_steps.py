"""What a newcomer does first: bring tasks in, give a task an agent, pair a second device; what of it is done.

Never writes, apart from the example that a person asks for.
"""

from typing import Final

from msgspec import Struct

from daemon.agents.person import lifecycle
from daemon.agents.tools.agent_record import load_agent
from daemon.journal import entries, tasks
from daemon.journal.entries import NewEntry
from daemon.journal.tasks import NewTask
from daemon.journal.views.task_lines import TaskLine, task_lines_page
from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto.ids import EntityId, id_to_text

STEPS: Final = 3
OFFERED_MAX: Final = 100


class FirstSteps(Struct, frozen=True):
    """Which of the steps are done."""

    has_tasks: bool
    has_agents: bool
    has_other_devices: bool

    @property
    def done(self) -> int:
        """Count the steps that are done, of STEPS."""
        return self.has_tasks + self.has_agents + self.has_other_devices


def first_steps(snapshot: Snapshot) -> FirstSteps:
    """Say which of the steps are done. Costs what devices there are."""
    return FirstSteps(
        has_tasks=snapshot.has_visible("task") or snapshot.has_visible("series"),
        has_agents=snapshot.has_visible("agent"),
        has_other_devices=len(snapshot.entities("device")) > 1,
    )


def offered_tasks(snapshot: Snapshot) -> list[TaskLine]:
    """Return the open tasks that were made first, OFFERED_MAX at most: one of them gets the first agent."""
    return task_lines_page(snapshot, closed=False, removed=False, limit=OFFERED_MAX)


def add_example(tx: Transaction, title: str, note: str, model: str) -> EntityId:
    """Make a task with a note and an agent, and return the agent. Raises Refused as the use cases do."""
    task = tasks.add(tx, NewTask(title=title))
    entries.add(tx, task.id, NewEntry(note))
    return lifecycle.create_agent(tx, task.id, model)


def task_of(snapshot: Snapshot, agent: EntityId) -> str | None:
    """Return the id of an agent's task; None if another device has just destroyed the agent."""
    existing = load_agent(snapshot, agent)
    return None if existing is None else id_to_text(existing.task)
