"""Checklists and their items: add, tick, untick, reword.

Never writes an item without an empty operation on its task: a task that was deleted elsewhere meanwhile stays
in sight with what a person did in it.
"""

from msgspec import UNSET, Struct, UnsetType

from daemon.journal import positions, refs, values
from daemon.journal.errors import Code, Refused
from daemon.journal.show import Shown, place
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
_FIRST_PLACE = positions.between(None, None)


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


def todos_id(task: EntityId) -> EntityId:
    """Return the id of the checklist that is made where a task has none: one, on every device."""
    return derived_id("checklist", text(task), time_of=task)


def add_item(tx: Transaction, ref: str, new: NewItem) -> ChecklistItem:
    """Add an item at the end of a checklist of the task that `ref` names."""
    task = refs.task(tx, ref)
    checklist, writes = _checklist(tx, task, new.checklist)
    item = tx.new_id()
    fields: dict[str, Value] = {
        "checklist_id": checklist,
        "title": values.title(new.title),
        "is_checked": new.is_checked,
        "is_archived": False,
        "position": _end(tx, checklist),
    }
    tx.commit([*writes, Write(item, "checklist_item", fields), touch(task)])
    return _shown(tx, item, task.id)


def edit_item(tx: Transaction, ref: str, change: ItemEdit) -> ChecklistItem:
    """Change an item; what already stands as the person's own is not written again."""
    item = refs.entity(tx, ["checklist_item"], ref)
    task = task_of(tx, item)
    if task is not None and not task.visible:
        title = refs.candidate(task).title
        raise Refused(Code.NOT_FOUND, f"the task {title!r} of this item was removed", "restore it first")
    clock = refs.base_shown(tx, item, change.base)
    changed = {name: value for name, value in _fields(change).items() if not stands(item, name, value)}
    if changed:
        writes = [Write(item.id, "checklist_item", changed, base=clock)]
        tx.commit(writes if task is None else [*writes, touch(task)])
    return _shown(tx, item.id, task.id if task else None)


def touch(task: Entity) -> Write:
    """Return the empty operation by which a person's write to a child rests on its task."""
    return Write(task.id, task.kind, {})


def task_of(snapshot: Snapshot, item: Entity) -> Entity | None:
    """Return the task that an item belongs to, None where an end is missing."""
    checklist = _pointed(snapshot, item, "checklist_id")
    return None if checklist is None else _pointed(snapshot, checklist, "task_id")


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


def _checklist(tx: Transaction, task: Entity, wanted: str | None) -> tuple[EntityId, list[Write]]:
    """Return the checklist that is meant, and the write that makes it where it is missing."""
    held = sorted(_held(tx, task.id, "task_checklist"), key=place)
    title = TODOS if wanted is None else values.title(wanted)
    meant = held if wanted is None else [one for one in held if folded(one.text("title")) == folded(title)]
    if meant:
        return meant[0].id, []
    fields: dict[str, Value] = {"task_id": task.id, "title": title, "position": _after(held)}
    identifier = todos_id(task.id) if folded(title) == folded(TODOS) else tx.new_id()
    before = tx.entity(identifier)
    if before is not None and before.visible:
        identifier, before = tx.new_id(), None  # "Todos" by origin, but called something else now
    if before is not None:
        fields[DELETED] = False
    return identifier, [Write(identifier, "checklist", fields)]


def _held(snapshot: Snapshot, target: EntityId, relation: str) -> list[Entity]:
    found = (snapshot.entity(one) for one in snapshot.referring(target, relation))
    return [one for one in found if one is not None]


def _end(snapshot: Snapshot, checklist: EntityId) -> str:
    return _after(_held(snapshot, checklist, "checklist_item"))


def _after(held: list[Entity]) -> str:
    """Return the place after all of these; malformed places from elsewhere do not count."""
    last = max(
        (one.text("position") for one in held if positions.is_place(one.text("position"))), default=None
    )
    return _FIRST_PLACE if last is None else positions.between(last, None)


def _shown(tx: Transaction, item: EntityId, task: EntityId | None) -> ChecklistItem:
    held = tx.entity(item)
    assert held is not None
    return Shown(tx).item(held, task)
