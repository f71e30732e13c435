"""Whole checklists: make, rename, move, remove, restore, and look at those of a task.

Never takes an item along with its checklist: a removed one hides its items, and brings the same ones back.
"""

from msgspec import Struct

from daemon.journal import refs, values
from daemon.journal.checklists import checklist_for, held, require_task, touch
from daemon.journal.order import Spot, index_at, placed, require_one, sorted_by_place, stands_at
from daemon.journal.show import Shown
from daemon.journal.tasks import Base, stands
from daemon.journal.views import Checklist
from store.entity import Entity
from store.fold import DELETED
from store.snapshot import Snapshot
from store.transaction import Transaction, Write
from syncproto.codec import Value
from syncproto.ids import EntityId


class NewChecklist(Struct, frozen=True, forbid_unknown_fields=True):
    """A checklist to make."""

    title: str


class ChecklistEdit(Struct, frozen=True, forbid_unknown_fields=True):
    """What to change of a checklist."""

    title: str
    base: Base = None


class ChecklistMove(Struct, frozen=True, forbid_unknown_fields=True):
    """Where to put a checklist among those of its task."""

    before: str | None = None
    after: str | None = None
    first: bool = False
    last: bool = False
    base: Base = None


def checklists(snapshot: Snapshot, ref: str, *, removed: bool) -> list[Checklist]:
    """Show the checklists of a task; or `removed`, those and their items that are out of sight."""
    task = refs.task(snapshot, ref)
    shown = Shown(snapshot)
    if not removed:
        return shown.task(task).checklists
    every = [snapshot.entity(one) for one in snapshot.referring(task.id, "task_checklist", removed=True)]
    told = [shown.removed_of(one, task.id) for one in sorted_by_place([one for one in every if one])]
    return [one for one in told if one.removed or one.items]


def add(tx: Transaction, ref: str, new: NewChecklist) -> Checklist:
    """Make a checklist at the end; one of that title that is there already is the answer."""
    task = refs.task(tx, ref)
    checklist, writes = checklist_for(tx, task, new.title)
    if writes:
        tx.commit([*writes, touch(task)])
    return _shown(tx, checklist)


def edit(tx: Transaction, ref: str, change: ChecklistEdit) -> Checklist:
    """Rename a checklist."""
    checklist, task = _editable(tx, ref)
    clock = refs.base_shown(tx, checklist, change.base)
    title = values.title(change.title)
    if not stands(checklist, "title", title):
        write = Write(checklist.id, "checklist", {"title": title}, base=clock)
        tx.commit([write, *([touch(task)] if task else [])])
    return _shown(tx, checklist.id)


def move(tx: Transaction, ref: str, wanted: ChecklistMove) -> Checklist:
    """Put a checklist elsewhere among those of its task."""
    checklist, task = _editable(tx, ref)
    spot = Spot(wanted.before, wanted.after, wanted.first, wanted.last)
    require_one(spot)
    clock = refs.base_shown(tx, checklist, wanted.base)
    beside = spot.before if spot.before is not None else spot.after
    other = None if beside is None else refs.entity(tx, ["checklist"], beside)
    if task is None:
        return _shown(tx, checklist.id)
    everyone = sorted_by_place(held(tx, task.id, "task_checklist"))
    neighbours = [one for one in everyone if one.id != checklist.id]
    index = index_at(neighbours, spot, other)
    if not stands_at(everyone, checklist, index):
        places = placed(neighbours, index, checklist.id)
        own = Write(checklist.id, "checklist", {"position": places.pop(checklist.id)}, base=clock)
        others = [Write(one, "checklist", {"position": place}) for one, place in places.items()]
        tx.commit([own, *others, touch(task)])
    return _shown(tx, checklist.id)


def remove(tx: Transaction, ref: str) -> Checklist:
    """Take a checklist out of sight, and its items with it."""
    checklist = refs.entity(tx, ["checklist"], ref, removed=True)
    if checklist.visible:
        tx.commit([Write(checklist.id, "checklist", {DELETED: True})])
    return _shown(tx, checklist.id)


def restore(tx: Transaction, ref: str) -> Checklist:
    """Bring a removed checklist back with the items that it had; those removed on their own stay removed."""
    checklist = refs.entity(tx, ["checklist"], ref, removed=True)
    task = require_task(_task(tx, checklist))
    fields: dict[str, Value] = {DELETED: False}
    if not stands(checklist, DELETED, False):
        tx.commit([Write(checklist.id, "checklist", fields), *([touch(task)] if task else [])])
    return _shown(tx, checklist.id)


def _editable(tx: Transaction, ref: str) -> tuple[Entity, Entity | None]:
    checklist = refs.entity(tx, ["checklist"], ref)
    return checklist, require_task(_task(tx, checklist))


def _task(snapshot: Snapshot, checklist: Entity) -> Entity | None:
    target = checklist.value("task_id")
    return snapshot.entity(EntityId(target)) if isinstance(target, bytes) else None


def _shown(tx: Transaction, checklist: EntityId) -> Checklist:
    held_now = tx.entity(checklist)
    assert held_now is not None
    return Shown(tx).checklist(held_now)
