"""The routes of checklists and their items.

Never decides anything: each line names a use case.
"""

from msgspec import Struct

from daemon.control.route import CREATED, Route
from daemon.control.use_case_routes import read_ref_query, write_ref, write_ref_body
from daemon.journal import checklist_items, checklists, item_moves
from daemon.journal.checklist_items import ItemEdit, NewItem
from daemon.journal.checklists import ChecklistEdit, ChecklistMove, NewChecklist
from daemon.journal.item_moves import ItemMove
from daemon.journal.views.structures import Checklist, ChecklistItem
from store.snapshot import Snapshot


class Removed(Struct, frozen=True, forbid_unknown_fields=True):
    """Which elements to list: those in sight, or, with `removed`, the removed ones in their place."""

    removed: bool = False


def routes() -> list[Route]:
    """Return the part of the table on checklists and their items."""
    return [*_item_routes(), *_checklist_routes()]


def _item_routes() -> list[Route]:
    of_task, item = "/v1/tasks/{ref}/checklist", "/v1/checklist-items/{ref}"
    move, restore, shape = f"{item}/move", f"{item}/restore", ChecklistItem
    return [
        write_ref_body(
            "POST", of_task, "Add an item", checklist_items.add_item, shape, NewItem, status=CREATED
        ),
        write_ref_body("PATCH", item, "Change an item", checklist_items.edit_item, shape, ItemEdit),
        write_ref_body("POST", move, "Put an item elsewhere", item_moves.move_item, shape, ItemMove),
        write_ref("DELETE", item, "Take an item out of sight", checklist_items.remove_item, shape),
        write_ref("POST", restore, "Bring a removed item back", checklist_items.restore_item, shape),
    ]


def _checklist_routes() -> list[Route]:
    of_task, checklist = "/v1/tasks/{ref}/checklists", "/v1/checklists/{ref}"
    move, restore, shape = f"{checklist}/move", f"{checklist}/restore", Checklist
    return [
        read_ref_query(of_task, "List the checklists of a task", _list, list[Checklist], Removed),
        write_ref_body(
            "POST", of_task, "Make a checklist", checklists.add, shape, NewChecklist, status=CREATED
        ),
        write_ref_body("PATCH", checklist, "Rename a checklist", checklists.edit, shape, ChecklistEdit),
        write_ref_body("POST", move, "Put a checklist elsewhere", checklists.move, shape, ChecklistMove),
        write_ref(
            "DELETE", checklist, "Take a checklist out of sight, with its items", checklists.remove, shape
        ),
        write_ref("POST", restore, "Bring a removed checklist back", checklists.restore, shape),
    ]


def _list(snapshot: Snapshot, task: str, query: Removed) -> list[Checklist]:
    return checklists.list_checklists(snapshot, task, removed=query.removed)
