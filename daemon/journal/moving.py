"""Moving an item: within its checklist, or into another one of the same task.

Never takes an item to another task, and never writes what stands where it should already.
"""

from msgspec import Struct

from daemon.journal import refs
from daemon.journal.checklists import checklist_for, editable, held, shown, task_of, touch
from daemon.journal.errors import usage
from daemon.journal.order import Spot, index_at, placed, require_one, sorted_by_place, stands_at
from daemon.journal.tasks import Base
from daemon.journal.values import folded
from daemon.journal.views import ChecklistItem
from store.entity import Entity
from store.snapshot import PREFIX_MIN
from store.transaction import Transaction, Write
from syncproto.codec import Value
from syncproto.ids import EntityId, text


class ItemMove(Struct, frozen=True, forbid_unknown_fields=True):
    """Where to put an item; `checklist` is one of the same task, by title or id, at its end unless said."""

    before: str | None = None
    after: str | None = None
    first: bool = False
    last: bool = False
    checklist: str | None = None
    base: Base = None


def move_item(tx: Transaction, ref: str, move: ItemMove) -> ChecklistItem:
    """Put an item elsewhere in its checklist, or into another one of the same task."""
    item, task = editable(tx, ref)
    if task is None:
        raise usage("this item belongs to no task", "nothing can stand beside it")
    clock = refs.base_shown(tx, item, move.base)
    beside, spot = _spot(tx, move)
    checklist, needed = _target(tx, task, item, beside, move.checklist)
    neighbours = [one for one in held(tx, checklist, "checklist_item") if one.id != item.id]
    index = index_at(sorted_by_place(neighbours), spot, beside)
    moves = item.value("checklist_id") != checklist
    if moves or not stands_at(sorted_by_place([*neighbours, item]), item, index):
        places = placed(sorted_by_place(neighbours), index, item.id)
        fields: dict[str, Value] = {"position": places.pop(item.id)}
        own = Write(item.id, "checklist_item", fields | ({"checklist_id": checklist} if moves else {}), clock)
        others = [Write(one, "checklist_item", {"position": place}) for one, place in places.items()]
        tx.commit([own, *others, *(needed or [Write(checklist, "checklist", {})]), touch(task)])
    return shown(tx, item.id, task.id)


def _spot(tx: Transaction, move: ItemMove) -> tuple[Entity | None, Spot]:
    """Return the item beside which another goes, if any, and the spot; into a checklist means at its end."""
    spot = Spot(move.before, move.after, move.first, move.last)
    if spot == Spot() and move.checklist is not None:
        spot = Spot(last=True)
    require_one(spot)
    beside = spot.before if spot.before is not None else spot.after
    return None if beside is None else editable(tx, beside)[0], spot


def _target(
    tx: Transaction, task: Entity, item: Entity, beside: Entity | None, wanted: str | None
) -> tuple[EntityId, list[Write]]:
    """Return the checklist to move to, and the write that makes a missing one."""
    named = None if wanted is None else _named(tx, task, wanted)
    if beside is None:
        if named is not None:
            return named
        checklist = item.value("checklist_id")
        assert isinstance(checklist, bytes)
        return EntityId(checklist), []
    other = task_of(tx, beside)
    if other is None or other.id != task.id:
        raise usage("these two items belong to different tasks", "an item stays with its task")
    checklist = beside.value("checklist_id")
    assert isinstance(checklist, bytes)
    if named is not None and named[0] != checklist:
        raise usage(f"the item beside which it goes is not in {wanted!r}", "leave one of them out")
    return EntityId(checklist), []


def _named(tx: Transaction, task: Entity, wanted: str) -> tuple[EntityId, list[Write]]:
    """Return a checklist of a task by its id, or by its title, made where nothing is called so."""
    lists = held(tx, task.id, "task_checklist")
    by_id = [one for one in lists if len(wanted) >= PREFIX_MIN and text(one.id).startswith(wanted.lower())]
    titled = [one for one in lists if folded(one.text("title")) == folded(wanted)]
    if len(by_id) == 1 and not titled:
        return by_id[0].id, []
    return checklist_for(tx, task, wanted)
