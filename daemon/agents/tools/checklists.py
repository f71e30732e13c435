"""The checklists of a task and their items, in the order in which people see them.

Never writes.
"""

from store.fold.entity import Entity
from store.snapshot import Snapshot
from syncproto.ids import EntityId


def checklist_of(snapshot: Snapshot, item: Entity) -> Entity | None:
    """Return the checklist that an item is in; None if that is not known."""
    checklist = item.value("checklist_id")
    return snapshot.entity(EntityId(checklist)) if isinstance(checklist, bytes) else None


def open_checklist_items(snapshot: Snapshot, task: EntityId) -> list[Entity]:
    """Return the visible checklist items of a task in order, without the archived ones."""
    items: list[Entity] = []
    for checklist in ordered_children(snapshot, task, "task_checklist"):
        items += ordered_children(snapshot, checklist.id, "checklist_item")
    return [item for item in items if item.value("is_archived") is not True]


def ordered_children(snapshot: Snapshot, target: EntityId, relation: str) -> list[Entity]:
    """Return the visible entities that point at `target` by `relation`, ordered by position, then by id."""
    children = (snapshot.entity(child) for child in snapshot.ids_pointing_at(target, relation))
    visible = (child for child in children if child is not None)
    return sorted(visible, key=lambda child: (child.text("position"), child.id))
