"""Moving an item: within its checklist, or into another one of the same task.

Never takes an item to another task, and never writes an item that is already in its place.
"""

from msgspec import Struct

from daemon.journal.checklist_items import (
    checklist_by_title,
    find_editable_item,
    present_item,
    task_of_item,
    visible_children,
)
from daemon.journal.fields.placement import (
    TargetPlace,
    is_placed_at,
    positions_to_write,
    require_one_target,
    sorted_by_position,
    target_index,
)
from daemon.journal.references import entities
from daemon.journal.references.entities import BaseClock
from daemon.journal.tasks import touch_task
from daemon.journal.views.structures import ChecklistItem
from daemon.refusal import usage_error
from daemon.text_comparison import comparison_key
from store.fold.entity import Entity
from store.sentence import sentence
from store.snapshot import ID_PREFIX_CHARS_MIN
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.ids import EntityId, id_to_text


class ItemMove(Struct, frozen=True, forbid_unknown_fields=True):
    """Where to put an item: beside another item, first, last, or into a checklist of the same task.

    `checklist` is a title or an id. Without another place, the item goes to the end of that checklist.
    """

    before: str | None = None
    after: str | None = None
    first: bool = False
    last: bool = False
    checklist: str | None = None
    base: BaseClock = None


def move_item(tx: Transaction, ref: str, move: ItemMove) -> ChecklistItem:
    """Put an item elsewhere in its checklist, or into another one of the same task."""
    item, task = find_editable_item(tx, ref)
    if task is None:
        raise usage_error(
            sentence("item-without-task", "this item belongs to no task"),
            sentence("item-stays", "an item stays with its task"),
        )
    clock = entities.resolve_base_clock(tx, item, move.base)
    beside, spot = _spot(tx, move)
    checklist, needed = _target(tx, task, item, beside, move.checklist)
    neighbours = [
        sibling for sibling in visible_children(tx, checklist, "checklist_item") if sibling.id != item.id
    ]
    index = target_index(sorted_by_position(neighbours), spot, beside)
    moves = item.value("checklist_id") != checklist
    if moves or not is_placed_at(sorted_by_position([*neighbours, item]), item, index):
        places = positions_to_write(sorted_by_position(neighbours), index, item.id)
        fields: dict[str, Value] = {"position": places.pop(item.id)}
        own = EntityWrite(
            item.id, "checklist_item", fields | ({"checklist_id": checklist} if moves else {}), clock
        )
        others = [
            EntityWrite(identifier, "checklist_item", {"position": place})
            for identifier, place in places.items()
        ]
        tx.commit([own, *others, *(needed or [EntityWrite(checklist, "checklist", {})]), touch_task(task)])
    return present_item(tx, item.id, task.id)


def step_item(tx: Transaction, ref: str, *, is_up: bool, base: BaseClock = None) -> ChecklistItem:
    """Move an item past its neighbour above or below that is not archived; at an end it stays."""
    item, task = find_editable_item(tx, ref)
    checklist = item.value("checklist_id")
    assert isinstance(checklist, bytes)
    siblings = sorted_by_position(visible_children(tx, EntityId(checklist), "checklist_item"))
    index = [sibling.id for sibling in siblings].index(item.id)
    passed = siblings[:index][::-1] if is_up else siblings[index + 1 :]
    beside = next(
        (id_to_text(entity.id) for entity in passed if entity.value("is_archived") is not True), None
    )
    if beside is None:
        return present_item(tx, item.id, task.id if task else None)
    move = ItemMove(before=beside, base=base) if is_up else ItemMove(after=beside, base=base)
    return move_item(tx, ref, move)


def _spot(tx: Transaction, move: ItemMove) -> tuple[Entity | None, TargetPlace]:
    """Return the item beside which another goes, if any, and the spot; into a checklist means at its end."""
    spot = TargetPlace(move.before, move.after, move.first, move.last)
    if spot == TargetPlace() and move.checklist is not None:
        spot = TargetPlace(last=True)
    require_one_target(spot)
    beside = spot.before if spot.before is not None else spot.after
    return None if beside is None else find_editable_item(tx, beside)[0], spot


def _target(
    tx: Transaction, task: Entity, item: Entity, beside: Entity | None, wanted: str | None
) -> tuple[EntityId, list[EntityWrite]]:
    """Return the checklist to move to, and the write that makes a missing one."""
    named_target = None if wanted is None else _find_or_make_checklist(tx, task, wanted)
    if beside is None:
        if named_target is not None:
            return named_target
        checklist = item.value("checklist_id")
        assert isinstance(checklist, bytes)
        return EntityId(checklist), []
    other = task_of_item(tx, beside)
    if other is None:
        raise usage_error(
            sentence("item-without-task", "this item belongs to no task"),
            sentence("nothing-beside", "nothing can be placed beside it"),
        )
    if other.id != task.id:
        raise usage_error(
            sentence("items-of-two-tasks", "these two items belong to different tasks"),
            sentence("item-stays", "an item stays with its task"),
        )
    checklist = beside.value("checklist_id")
    assert isinstance(checklist, bytes)
    if named_target is not None and named_target[0] != checklist:
        raise usage_error(
            sentence(
                "beside-elsewhere",
                "the item beside which to place it is not in {checklist!r}",
                checklist=wanted or "",
            ),
            sentence("leave-one-out", "leave one of them out"),
        )
    return EntityId(checklist), []


def _find_or_make_checklist(tx: Transaction, task: Entity, wanted: str) -> tuple[EntityId, list[EntityWrite]]:
    """Return a checklist of a task by its id or title; make one if none has that title."""
    lists = visible_children(tx, task.id, "task_checklist")
    by_id = [
        checklist
        for checklist in lists
        if len(wanted) >= ID_PREFIX_CHARS_MIN and id_to_text(checklist.id).startswith(wanted.lower())
    ]
    titled = [
        checklist for checklist in lists if comparison_key(checklist.text("title")) == comparison_key(wanted)
    ]
    if len(by_id) == 1 and not titled:
        return by_id[0].id, []
    return checklist_by_title(tx, task, wanted)
