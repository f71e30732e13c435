"""Whole checklists: make, rename, move, remove, restore, and look at those of a task.

Never takes an item along with its checklist: a removed one hides its items, and brings the same ones back.
"""

from msgspec import Struct

from daemon.journal.checklist_items import checklist_by_title, visible_children
from daemon.journal.fields import validation
from daemon.journal.fields.described_texts import TitleText
from daemon.journal.fields.placement import (
    TargetPlace,
    is_placed_at,
    positions_to_write,
    require_one_target,
    sorted_by_position,
    target_index,
)
from daemon.journal.fields.provenance import is_set_by_person
from daemon.journal.references import entities
from daemon.journal.references.entities import BaseClock
from daemon.journal.tasks import remove_child, require_visible_task, restore_child, touch_task
from daemon.journal.views.presenter import JournalPresenter
from daemon.journal.views.structures import Checklist
from store.fold.entity import Entity
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.ids import EntityId


class NewChecklist(Struct, frozen=True, forbid_unknown_fields=True):
    """A checklist to make."""

    title: TitleText


class ChecklistEdit(Struct, frozen=True, forbid_unknown_fields=True):
    """What to change of a checklist."""

    title: TitleText
    base: BaseClock = None


class ChecklistMove(Struct, frozen=True, forbid_unknown_fields=True):
    """Where to put a checklist among those of its task."""

    before: str | None = None
    after: str | None = None
    first: bool = False
    last: bool = False
    base: BaseClock = None


def list_checklists(snapshot: Snapshot, ref: str, *, removed: bool) -> list[Checklist]:
    """Show the checklists of a task; or `removed`, those and their items that are out of sight."""
    task = entities.find_task(snapshot, ref)
    presenter = JournalPresenter(snapshot)
    if not removed:
        return presenter.task(task).checklists
    children = [
        snapshot.entity(identifier)
        for identifier in snapshot.ids_pointing_at(task.id, "task_checklist", removed=True)
    ]
    checklists = [
        presenter.removed_part_of_checklist(entity, task.id)
        for entity in sorted_by_position([child for child in children if child])
    ]
    return [checklist for checklist in checklists if checklist.removed or checklist.items]


def add(tx: Transaction, ref: str, new: NewChecklist) -> Checklist:
    """Make a checklist at the end; one of that title that is there already is the answer."""
    task = entities.find_task(tx, ref)
    checklist, writes = checklist_by_title(tx, task, new.title)
    if writes:
        tx.commit([*writes, touch_task(task)])
    return _present(tx, checklist)


def edit(tx: Transaction, ref: str, change: ChecklistEdit) -> Checklist:
    """Rename a checklist."""
    checklist, task = _editable(tx, ref)
    clock = entities.resolve_base_clock(tx, checklist, change.base)
    title = validation.checked_title(change.title)
    if not is_set_by_person(checklist, "title", title):
        write = EntityWrite(checklist.id, "checklist", {"title": title}, base=clock)
        tx.commit([write, *([touch_task(task)] if task else [])])
    return _present(tx, checklist.id)


def move(tx: Transaction, ref: str, wanted: ChecklistMove) -> Checklist:
    """Move a checklist among those of its task."""
    checklist, task = _editable(tx, ref)
    spot = TargetPlace(wanted.before, wanted.after, wanted.first, wanted.last)
    require_one_target(spot)
    clock = entities.resolve_base_clock(tx, checklist, wanted.base)
    beside = spot.before if spot.before is not None else spot.after
    other = None if beside is None else entities.find_entity(tx, ["checklist"], beside)
    if task is None:
        return _present(tx, checklist.id)
    everyone = sorted_by_position(visible_children(tx, task.id, "task_checklist"))
    neighbours = [entity for entity in everyone if entity.id != checklist.id]
    index = target_index(neighbours, spot, other)
    if not is_placed_at(everyone, checklist, index):
        places = positions_to_write(neighbours, index, checklist.id)
        own = EntityWrite(checklist.id, "checklist", {"position": places.pop(checklist.id)}, base=clock)
        others = [
            EntityWrite(identifier, "checklist", {"position": place}) for identifier, place in places.items()
        ]
        tx.commit([own, *others, touch_task(task)])
    return _present(tx, checklist.id)


def remove(tx: Transaction, ref: str) -> Checklist:
    """Take a checklist out of sight, and its items with it."""
    return _present(tx, remove_child(tx, "checklist", ref).id)


def restore(tx: Transaction, ref: str) -> Checklist:
    """Bring a removed checklist back with the items that it had; those removed on their own stay removed."""
    checklist = entities.find_entity(tx, ["checklist"], ref, removed=True)
    restore_child(tx, checklist, _task(tx, checklist))
    return _present(tx, checklist.id)


def _editable(tx: Transaction, ref: str) -> tuple[Entity, Entity | None]:
    checklist = entities.find_entity(tx, ["checklist"], ref)
    return checklist, require_visible_task(_task(tx, checklist))


def _task(snapshot: Snapshot, checklist: Entity) -> Entity | None:
    target = checklist.value("task_id")
    return snapshot.entity(EntityId(target)) if isinstance(target, bytes) else None


def _present(tx: Transaction, checklist: EntityId) -> Checklist:
    held_now = tx.entity(checklist)
    assert held_now is not None
    return JournalPresenter(tx).checklist(held_now)
