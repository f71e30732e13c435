"""The items of checklists: add, tick, reword, archive, remove, restore.

Never writes an item without an empty operation on its checklist and its task: what was deleted elsewhere
meanwhile stays in sight with what a person did in it.
"""

import itertools

from msgspec import UNSET, Struct, UnsetType

from daemon.journal.fields import validation
from daemon.journal.fields.described_texts import TitleText
from daemon.journal.fields.placement import position_at_end, sorted_by_position
from daemon.journal.fields.provenance import is_set_by_person
from daemon.journal.references import entities
from daemon.journal.references.entities import BaseClock
from daemon.journal.tasks import require_visible_task, touch_task
from daemon.journal.views.presenter import JournalPresenter
from daemon.journal.views.structures import ChecklistItem
from daemon.refusal import RefusalCode, Refused
from daemon.text_comparison import comparison_key
from store.fold.entity import Entity
from store.fold.entity_state import DELETED
from store.sentence import sentence
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.ids import EntityId, derived_id, id_to_text

TODOS_TITLE = "Todos"


class NewItem(Struct, frozen=True, forbid_unknown_fields=True):
    """An item to add, to the checklist of that title if one is named, else to the task's first."""

    title: TitleText
    checklist: str | None = None
    is_checked: bool = False


class ItemEdit(Struct, frozen=True, forbid_unknown_fields=True):
    """What to change of an item; what is left out stays."""

    is_checked: bool | UnsetType = UNSET
    title: TitleText | UnsetType = UNSET
    is_archived: bool | UnsetType = UNSET
    base: BaseClock = None


def todos_id(task: EntityId, number: int = 0) -> EntityId:
    """Return the id of the checklist that is made if a task has none: the same id on every device.

    `number` counts those before it that were removed, or are called something else now.
    """
    parts = (id_to_text(task), number) if number else (id_to_text(task),)
    return derived_id("checklist", *parts, time_of=task)


# -- writing ------------------------------------------------------------------------------------------


def add_item(tx: Transaction, ref: str, new: NewItem) -> ChecklistItem:
    """Add an item at the end of a checklist of the task that `ref` names."""
    task = entities.find_task(tx, ref)
    checklist, writes = checklist_by_title(tx, task, new.checklist)
    item = tx.new_id()
    fields: dict[str, Value] = {
        "checklist_id": checklist,
        "title": validation.checked_title(new.title),
        "is_checked": new.is_checked,
        "is_archived": False,
        "position": position_at_end(visible_children(tx, checklist, "checklist_item"), item),
    }
    above = writes or [EntityWrite(checklist, "checklist", {})]
    tx.commit([*above, EntityWrite(item, "checklist_item", fields), touch_task(task)])
    return present_item(tx, item, task.id)


def edit_item(tx: Transaction, ref: str, change: ItemEdit) -> ChecklistItem:
    """Change an item; a value that is already the person's own is not written again."""
    item, task = find_editable_item(tx, ref)
    clock = entities.resolve_base_clock(tx, item, change.base)
    changed = {
        name: value for name, value in _fields(change).items() if not is_set_by_person(item, name, value)
    }
    if changed:
        tx.commit([EntityWrite(item.id, "checklist_item", changed, base=clock), *_touches_above(tx, item)])
    return present_item(tx, item.id, task.id if task else None)


def remove_item(tx: Transaction, ref: str) -> ChecklistItem:
    """Take an item out of sight."""
    item = entities.find_entity(tx, ["checklist_item"], ref, removed=True)
    task = task_of_item(tx, item)
    if item.visible:
        tx.commit([EntityWrite(item.id, "checklist_item", {DELETED: True})])
    return present_item(tx, item.id, task.id if task else None)


def restore_item(tx: Transaction, ref: str) -> ChecklistItem:
    """Bring a removed item back, with its checklist if that was removed too."""
    item = entities.find_entity(tx, ["checklist_item"], ref, removed=True)
    task = require_visible_task(task_of_item(tx, item))
    checklist = _entity_in_field(tx, item, "checklist_id")
    back: dict[str, Value] = {DELETED: False}
    if not is_set_by_person(item, DELETED, False) or (checklist is not None and not checklist.visible):
        writes = [EntityWrite(item.id, "checklist_item", back)]
        if checklist is not None:
            writes.append(EntityWrite(checklist.id, checklist.kind, {} if checklist.visible else back))
        tx.commit([*writes, *([touch_task(task)] if task else [])])
    return present_item(tx, item.id, task.id if task else None)


# -- what a write rests on ----------------------------------------------------------------------------


def _touches_above(snapshot: Snapshot, item: Entity) -> list[EntityWrite]:
    """Return the empty operations on what an item belongs to."""
    checklist = _entity_in_field(snapshot, item, "checklist_id")
    task = None if checklist is None else _entity_in_field(snapshot, checklist, "task_id")
    return [touch_task(entity) for entity in (checklist, task) if entity is not None]


def task_of_item(snapshot: Snapshot, item: Entity) -> Entity | None:
    """Return the task that an item belongs to, None if an end is missing."""
    checklist = _entity_in_field(snapshot, item, "checklist_id")
    return None if checklist is None else _entity_in_field(snapshot, checklist, "task_id")


def find_editable_item(tx: Transaction, ref: str) -> tuple[Entity, Entity | None]:
    """Find an item that a person can write to, and its task."""
    item = entities.find_entity(tx, ["checklist_item"], ref)
    task = require_visible_task(task_of_item(tx, item))
    checklist = _entity_in_field(tx, item, "checklist_id")
    if checklist is not None and not checklist.visible:
        title = entities.as_candidate(checklist).title
        raise Refused(
            RefusalCode.NOT_FOUND,
            sentence(
                "checklist-of-item-removed", "the checklist {title!r} of this item was removed", title=title
            ),
            sentence("restore-first", "restore it first"),
        )
    return item, task


def _entity_in_field(snapshot: Snapshot, entity: Entity, field: str) -> Entity | None:
    target = entity.value(field)
    return snapshot.entity(EntityId(target)) if isinstance(target, bytes) else None


def _fields(change: ItemEdit) -> dict[str, Value]:
    fields: dict[str, Value] = {}
    if change.title is not UNSET:
        fields["title"] = validation.checked_title(change.title)
    if change.is_checked is not UNSET:
        fields["is_checked"] = change.is_checked
    if change.is_archived is not UNSET:
        fields["is_archived"] = change.is_archived
    return fields


# -- where an item goes -------------------------------------------------------------------------------


def checklist_by_title(
    tx: Transaction, task: Entity, wanted: str | None
) -> tuple[EntityId, list[EntityWrite]]:
    """Return the checklist of that title, or else the first, and the write that makes a missing one."""
    lists = sorted_by_position(visible_children(tx, task.id, "task_checklist"))
    title = TODOS_TITLE if wanted is None else validation.checked_title(wanted)
    meant = (
        lists
        if wanted is None
        else [entity for entity in lists if comparison_key(entity.text("title")) == comparison_key(title)]
    )
    if meant:
        return meant[0].id, []
    shared = comparison_key(title) == comparison_key(TODOS_TITLE)
    identifier = _unused_todos(tx, task.id) if shared else tx.new_id()
    # One thing on every device has one title, however it was typed: two would be a conflict.
    title = TODOS_TITLE if shared else title
    place = position_at_end(lists, identifier)
    return identifier, [
        EntityWrite(identifier, "checklist", {"task_id": task.id, "title": title, "position": place})
    ]


def _unused_todos(tx: Transaction, task: EntityId) -> EntityId:
    """Return the first id of "Todos" that no checklist has: one that was removed stays removed."""
    for number in itertools.count():
        identifier = todos_id(task, number)
        entity = tx.entity(identifier)
        if entity is None or not entity.exists:
            return identifier
    raise AssertionError("counting does not end")


def visible_children(snapshot: Snapshot, target: EntityId, relation: str) -> list[Entity]:
    """Return what is in sight of the children of one relation."""
    found_entities = (
        snapshot.entity(identifier) for identifier in snapshot.ids_pointing_at(target, relation)
    )
    return [found_entity for found_entity in found_entities if found_entity is not None]


def present_item(tx: Transaction, item: EntityId, task: EntityId | None) -> ChecklistItem:
    """Show an item as it is after a write."""
    entity = tx.entity(item)
    assert entity is not None
    return JournalPresenter(tx).item(entity, task)
