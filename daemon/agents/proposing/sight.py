"""What an agent of another maker may know of: the same answer for what is hidden and for what is not there.

Never says why something is not shown, and limits no agent of a task: that one is given its context.
"""

from daemon.agents.tools.checklists import checklist_of
from daemon.agents.tools.policy import category_refusal
from daemon.journal.references import names
from store.fold.entity import Entity
from store.snapshot import Snapshot
from syncproto.ids import EntityId


class Sight:
    """What one agent may know of, with its scope as it is in this snapshot.

    `is_limited` is True for an agent of another maker.
    """

    def __init__(self, snapshot: Snapshot, agent: EntityId) -> None:
        self.snapshot = snapshot
        self._agent = snapshot.entity(agent)
        self.is_limited = self._agent is not None and self._agent.value("task_id") is None

    def shows_task(self, task: Entity | None) -> bool:
        """Report whether something is a task in sight, and of the agent's scope."""
        return task is not None and task.kind == "task" and task.visible and not self._refuses(task)

    def hides(self, entity: Entity) -> bool:
        """Report whether a task, or the task of a checklist item, is beyond the agent's scope by now."""
        return self.is_limited and self._refuses(self._task_of(entity))

    def shows_target(self, task: EntityId, entity: Entity | None) -> bool:
        """Report whether the agent may know the checklist item or label that a call about a task names."""
        if not self.is_limited:
            return entity is not None
        subject = self.snapshot.entity(task)
        if entity is None or not entity.visible or subject is None or not self.shows_task(subject):
            return False
        if entity.kind == "checklist_item":
            checklist = checklist_of(self.snapshot, entity)
            return checklist is not None and checklist.visible and checklist.value("task_id") == task
        return entity.kind == "label" and (
            entity.id in names.member_ids(subject, names.TASK_LABELS)
            or names.label_allows_category(entity, names.category_id_of(subject))
        )

    def _refuses(self, task: Entity | None) -> bool:
        return self.is_limited and category_refusal(self.snapshot, self._agent, task) is not None

    def _task_of(self, entity: Entity) -> Entity | None:
        if entity.kind != "checklist_item":
            return entity
        checklist = checklist_of(self.snapshot, entity)
        task = None if checklist is None else checklist.value("task_id")
        return self.snapshot.entity(EntityId(task)) if isinstance(task, bytes) else None
