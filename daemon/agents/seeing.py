"""What an agent is shown of its task, read from one snapshot: the state that its proposals rest on.

Never writes, and never shows what belongs to another task.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from daemon.agents.judging import children
from daemon.journal import positions
from daemon.journal.values import PRIORITY_DEFAULT
from store.entity import Entity
from store.snapshot import Snapshot
from syncproto.codec import Value
from syncproto.heads import EMPTY, Clock
from syncproto.ids import EntityId


@dataclass(frozen=True, slots=True)
class Seen:
    """What the agent saw when its run began: the task and its checklist items, as they stood then.

    `entities` lacks what could not be read. `last_place` is that of the last item of the first checklist.
    """

    task: EntityId
    entities: Mapping[EntityId, Entity]
    last_place: str | None = None

    @property
    def items(self) -> list[Entity] | None:
        """Return the checklist items, archived ones too; None where the task could not be read."""
        if self.task not in self.entities:
            return None
        return [one for one in self.entities.values() if one.kind == "checklist_item"]

    def clock(self, entity: EntityId) -> Clock:
        """Return what had been seen of an entity: the base of what is proposed for it."""
        held = self.entities.get(entity)
        return EMPTY if held is None else held.clock

    def value(self, entity: EntityId, field: str) -> Value:
        """Return the value of a field as readers see it."""
        held = self.entities.get(entity)
        value = None if held is None else held.value(field)
        return PRIORITY_DEFAULT if value is None and entity == self.task and field == "priority" else value


def seen_of(snapshot: Snapshot, task: EntityId) -> Seen:
    """Return what proposals about a task rest on."""
    held = snapshot.entity(task)
    if held is None or not held.exists:
        return Seen(task, {})
    checklists = children(snapshot, task, "task_checklist")
    items = [children(snapshot, one.id, "checklist_item") for one in checklists]
    entities = {one.id: one for of_list in items for one in of_list}
    return Seen(task, {task: held, **entities}, _last_place(items[0]) if items else None)


def _last_place(items: list[Entity]) -> str | None:
    places = (one.text("position") for one in items)
    return max((place for place in places if positions.is_place(place)), default=None)
