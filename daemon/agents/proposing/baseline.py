"""The state of a task that an agent's proposals rest on, read from one snapshot.

Never writes, and never contains what belongs to another task.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from daemon.agents.tools.checklists import ordered_children
from daemon.journal.fields import positions
from daemon.journal.fields.validation import PRIORITY_DEFAULT
from store.fold.entity import Entity
from store.snapshot import Snapshot
from syncproto.codec import Value
from syncproto.ids import EntityId
from syncproto.vector_clock import EMPTY_CLOCK, VectorClock


@dataclass(frozen=True, slots=True)
class Baseline:
    """What the agent saw when its run began: the task and its checklist items.

    `entities` lacks what could not be read. `last_place` is the position of the last item of the first
    checklist.
    """

    task: EntityId
    entities: Mapping[EntityId, Entity]
    last_place: str | None = None

    @property
    def checklist_items(self) -> list[Entity] | None:
        """Return the checklist items, archived ones too; None if the task could not be read."""
        if self.task not in self.entities:
            return None
        return [entity for entity in self.entities.values() if entity.kind == "checklist_item"]

    def seen_clock(self, entity: EntityId) -> VectorClock:
        """Return the clock of an entity as it was seen: the base of what is proposed for it."""
        seen_entity = self.entities.get(entity)
        return EMPTY_CLOCK if seen_entity is None else seen_entity.clock

    def seen_value(self, entity: EntityId, field: str) -> Value:
        """Return the value of a field as readers see it."""
        seen_entity = self.entities.get(entity)
        value = None if seen_entity is None else seen_entity.value(field)
        return PRIORITY_DEFAULT if value is None and entity == self.task and field == "priority" else value


def baseline_of(snapshot: Snapshot, task: EntityId) -> Baseline:
    """Return what proposals about a task rest on."""
    entity = snapshot.entity(task)
    if entity is None or not entity.exists:
        return Baseline(task, {})
    checklists = ordered_children(snapshot, task, "task_checklist")
    items = [ordered_children(snapshot, checklist.id, "checklist_item") for checklist in checklists]
    entities = {item.id: item for of_list in items for item in of_list}
    return Baseline(task, {task: entity, **entities}, _last_place(items[0]) if items else None)


def _last_place(items: list[Entity]) -> str | None:
    return positions.last_with_room(item.text("position") for item in items)
