"""The items of checklists: add, tick, reword, archive, remove, restore.

Never writes an item without an empty operation on its checklist and its task: what was deleted elsewhere
meanwhile stays in sight with what a person did in it.
"""

import itertools

from msgspec import UNSET, Struct, UnsetType

from daemon.journal import refs, values
from daemon.journal.errors import Code, Refused
from daemon.journal.order import end_of, sorted_by_place
from daemon.journal.show import Shown
from daemon.journal.tasks import Base, stands
from daemon.journal.values import folded
from daemon.journal.views import ChecklistItem
from store.entity import Entity
from store.fold import DELETED
from store.snapshot import Snapshot
from store.transaction import Transaction, Write
from syncproto.codec import Value
from syncproto.ids import EntityId, derived_id, text

TODOS = "Todos"


class NewItem(Struct, frozen=True, forbid_unknown_fields=True):
    """An item to add, to the checklist of that title where one is named, else to the task's first."""

    title: str
    checklist: str | None = None
    is_checked: bool = False


class ItemEdit(Struct, frozen=True, forbid_unknown_fields=True):
    """What to change of an item; what is left out stays."""

    is_checked: bool | UnsetType = UNSET
    title: str | UnsetType = UNSET
    is_archived: bool | UnsetType = UNSET
    base: Base = None


def todos_id(task: EntityId, number: int = 0) -> EntityId:
    """Return the id of the checklist that is made where a task has none: one, on every device.

    `number` counts those before it that were removed, or are called something else now.
    """
    parts = (text(task), number) if number else (text(task),)
    return derived_id("checklist", *parts, time_of=task)


# -- writing ------------------------------------------------------------------------------------------


def add_item(tx: Transaction, ref: str, new: NewItem) -> ChecklistItem:
    """Add an item at the end of a checklist of the task that `ref` names."""
    task = refs.task(tx, ref)
    checklist, writes = checklist_for(tx, task, new.checklist)
    item = tx.new_id()
    fields: dict[str, Value] = {
        "checklist_id": checklist,
        "title": values.title(new.title),
        "is_checked": new.is_checked,
        "is_archived": False,
        "position": end_of(held(tx, checklist, "checklist_item"), item),
    }
    above = writes or [Write(checklist, "checklist", {})]
    tx.commit([*above, Write(item, "checklist_item", fields), touch(task)])
    return shown(tx, item, task.id)


def edit_item(tx: Transaction, ref: str, change: ItemEdit) -> ChecklistItem:
    """Change an item; what already stands as the person's own is not written again."""
    item, task = editable(tx, ref)
    clock = refs.base_shown(tx, item, change.base)
    changed = {name: value for name, value in _fields(change).items() if not stands(item, name, value)}
    if changed:
        tx.commit([Write(item.id, "checklist_item", changed, base=clock), *_above(tx, item)])
    return shown(tx, item.id, task.id if task else None)


def remove_item(tx: Transaction, ref: str) -> ChecklistItem:
    """Take an item out of sight."""
    item = refs.entity(tx, ["checklist_item"], ref, removed=True)
    task = task_of(tx, item)
    if item.visible:
        tx.commit([Write(item.id, "checklist_item", {DELETED: True})])
    return shown(tx, item.id, task.id if task else None)


def restore_item(tx: Transaction, ref: str) -> ChecklistItem:
    """Bring a removed item back, with its checklist where that was removed too."""
    item = refs.entity(tx, ["checklist_item"], ref, removed=True)
    task = require_task(task_of(tx, item))
    checklist = _pointed(tx, item, "checklist_id")
    back: dict[str, Value] = {DELETED: False}
    if not stands(item, DELETED, False) or (checklist is not None and not checklist.visible):
        writes = [Write(item.id, "checklist_item", back)]
        if checklist is not None:
            writes.append(Write(checklist.id, checklist.kind, {} if checklist.visible else back))
        tx.commit([*writes, *([touch(task)] if task else [])])
    return shown(tx, item.id, task.id if task else None)


# -- what a write rests on ----------------------------------------------------------------------------


def touch(task: Entity) -> Write:
    """Return the empty operation by which a person's write to a child rests on its task."""
    return Write(task.id, task.kind, {})


def _above(snapshot: Snapshot, item: Entity) -> list[Write]:
    """Return the empty operations on what an item belongs to."""
    checklist = _pointed(snapshot, item, "checklist_id")
    task = None if checklist is None else _pointed(snapshot, checklist, "task_id")
    return [touch(one) for one in (checklist, task) if one is not None]


def task_of(snapshot: Snapshot, item: Entity) -> Entity | None:
    """Return the task that an item belongs to, None where an end is missing."""
    checklist = _pointed(snapshot, item, "checklist_id")
    return None if checklist is None else _pointed(snapshot, checklist, "task_id")


def require_task(task: Entity | None) -> Entity | None:
    """Refuse what belongs to a task that was removed."""
    if task is not None and not task.visible:
        title = refs.candidate(task).title
        raise Refused(Code.NOT_FOUND, f"the task {title!r} was removed", "restore it first")
    return task


def editable(tx: Transaction, ref: str) -> tuple[Entity, Entity | None]:
    """Find an item that a person can write to, and its task."""
    item = refs.entity(tx, ["checklist_item"], ref)
    task = require_task(task_of(tx, item))
    checklist = _pointed(tx, item, "checklist_id")
    if checklist is not None and not checklist.visible:
        title = refs.candidate(checklist).title
        raise Refused(Code.NOT_FOUND, f"the checklist {title!r} of this item was removed", "restore it first")
    return item, task


def _pointed(snapshot: Snapshot, entity: Entity, field: str) -> Entity | None:
    target = entity.value(field)
    return snapshot.entity(EntityId(target)) if isinstance(target, bytes) else None


def _fields(change: ItemEdit) -> dict[str, Value]:
    fields: dict[str, Value] = {}
    if change.title is not UNSET:
        fields["title"] = values.title(change.title)
    if change.is_checked is not UNSET:
        fields["is_checked"] = change.is_checked
    if change.is_archived is not UNSET:
        fields["is_archived"] = change.is_archived
    return fields


# -- where an item goes -------------------------------------------------------------------------------


def checklist_for(tx: Transaction, task: Entity, wanted: str | None) -> tuple[EntityId, list[Write]]:
    """Return the checklist of that title, or else the first, and the write that makes a missing one."""
    lists = sorted_by_place(held(tx, task.id, "task_checklist"))
    title = TODOS if wanted is None else values.title(wanted)
    meant = lists if wanted is None else [one for one in lists if folded(one.text("title")) == folded(title)]
    if meant:
        return meant[0].id, []
    shared = folded(title) == folded(TODOS)
    identifier = _unused_todos(tx, task.id) if shared else tx.new_id()
    # One thing on every device has one title, however it was typed: two would be a conflict.
    title = TODOS if shared else title
    place = end_of(lists, identifier)
    return identifier, [
        Write(identifier, "checklist", {"task_id": task.id, "title": title, "position": place})
    ]


def _unused_todos(tx: Transaction, task: EntityId) -> EntityId:
    """Return the first id of "Todos" that no checklist has: one that was removed stays removed."""
    for number in itertools.count():
        identifier = todos_id(task, number)
        known = tx.entity(identifier)
        if known is None or not known.exists:
            return identifier
    raise AssertionError("counting does not end")


def held(snapshot: Snapshot, target: EntityId, relation: str) -> list[Entity]:
    """Return what is in sight of the children of one relation."""
    found = (snapshot.entity(one) for one in snapshot.referring(target, relation))
    return [one for one in found if one is not None]


def shown(tx: Transaction, item: EntityId, task: EntityId | None) -> ChecklistItem:
    """Show an item as it is after a write."""
    found = tx.entity(item)
    assert found is not None
    return Shown(tx).item(found, task)
