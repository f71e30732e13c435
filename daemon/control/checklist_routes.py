"""The routes of checklists and their items.

Never decides anything: each line names a use case.
"""

from msgspec import Struct

from daemon.control.routes import Call, Nothing, Reads, Route, Writes
from daemon.journal import checklists, lists, moving
from daemon.journal.checklists import ItemEdit, NewItem
from daemon.journal.lists import ChecklistEdit, ChecklistMove, NewChecklist
from daemon.journal.moving import ItemMove
from daemon.journal.views import Checklist, ChecklistItem
from store.snapshot import Snapshot
from store.transaction import Transaction

CREATED = 201


class Removed(Struct, frozen=True, forbid_unknown_fields=True):
    """Which: those in sight, or instead the `removed` ones."""

    removed: bool = False


def routes() -> list[Route]:
    """Return the table."""
    return [*_item_routes(), *_list_routes()]


def _item_routes() -> list[Route]:
    add, item = "/v1/tasks/{ref}/checklist", "/v1/checklist-items/{ref}"
    shape = ChecklistItem
    return [
        Route("POST", add, "Add an item", Writes(_add_item), shape, NewItem, status=CREATED),
        Route("PATCH", item, "Change an item", Writes(_edit_item), shape, ItemEdit),
        Route("POST", f"{item}/move", "Put an item elsewhere", Writes(_move_item), shape, ItemMove),
        Route("DELETE", item, "Take an item out of sight", Writes(_remove_item), shape),
        Route("POST", f"{item}/restore", "Bring a removed item back", Writes(_restore_item), shape),
    ]


def _list_routes() -> list[Route]:
    several, one = "/v1/tasks/{ref}/checklists", "/v1/checklists/{ref}"
    shape, every = Checklist, list[Checklist]
    return [
        Route("GET", several, "List the checklists of a task", Reads(_lists), every, query=Removed),
        Route("POST", several, "Make a checklist", Writes(_add), shape, NewChecklist, status=CREATED),
        Route("PATCH", one, "Rename a checklist", Writes(_edit), shape, ChecklistEdit),
        Route("POST", f"{one}/move", "Put a checklist elsewhere", Writes(_move), shape, ChecklistMove),
        Route("DELETE", one, "Take a checklist out of sight, with its items", Writes(_remove), shape),
        Route("POST", f"{one}/restore", "Bring a removed checklist back", Writes(_restore), shape),
    ]


def _add_item(tx: Transaction, call: Call[NewItem, Nothing]) -> ChecklistItem:
    return checklists.add_item(tx, call.ref, call.body)


def _edit_item(tx: Transaction, call: Call[ItemEdit, Nothing]) -> ChecklistItem:
    return checklists.edit_item(tx, call.ref, call.body)


def _move_item(tx: Transaction, call: Call[ItemMove, Nothing]) -> ChecklistItem:
    return moving.move_item(tx, call.ref, call.body)


def _remove_item(tx: Transaction, call: Call[Nothing, Nothing]) -> ChecklistItem:
    return checklists.remove_item(tx, call.ref)


def _restore_item(tx: Transaction, call: Call[Nothing, Nothing]) -> ChecklistItem:
    return checklists.restore_item(tx, call.ref)


def _lists(snapshot: Snapshot, call: Call[Nothing, Removed]) -> list[Checklist]:
    return lists.checklists(snapshot, call.ref, removed=call.query.removed)


def _add(tx: Transaction, call: Call[NewChecklist, Nothing]) -> Checklist:
    return lists.add(tx, call.ref, call.body)


def _edit(tx: Transaction, call: Call[ChecklistEdit, Nothing]) -> Checklist:
    return lists.edit(tx, call.ref, call.body)


def _move(tx: Transaction, call: Call[ChecklistMove, Nothing]) -> Checklist:
    return lists.move(tx, call.ref, call.body)


def _remove(tx: Transaction, call: Call[Nothing, Nothing]) -> Checklist:
    return lists.remove(tx, call.ref)


def _restore(tx: Transaction, call: Call[Nothing, Nothing]) -> Checklist:
    return lists.restore(tx, call.ref)
