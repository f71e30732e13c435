"""The routes of labels and categories.

Never decides anything: each line names a use case.
"""

from msgspec import Struct

from daemon.control.routes import Call, Nothing, Reads, Route, Writes
from daemon.journal import categories, labels
from daemon.journal.categories import Category, CategoryEdit, NewCategory
from daemon.journal.labels import Label, LabelEdit, NewLabel
from store.snapshot import Snapshot
from store.transaction import Transaction

CREATED = 201


class LabelQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which labels: those in sight, the `removed` ones, or those that a `task` may be given and has not."""

    task: str | None = None
    removed: bool = False


class CategoryQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which categories: those in sight, or the `removed` ones."""

    removed: bool = False


def routes() -> list[Route]:
    """Return the part of the table that is about labels and categories."""
    all_, one = "/v1/labels", "/v1/labels/{ref}"
    return [
        Route("POST", all_, "Add a label", Writes(_add), Label, NewLabel, status=CREATED),
        Route("GET", all_, "List labels", Reads(_list), list[Label], query=LabelQuery),
        Route("GET", one, "Show a label", Reads(_show), Label),
        Route("PATCH", one, "Change a label", Writes(_edit), Label, LabelEdit),
        Route("DELETE", one, "Take a label out of sight", Writes(_remove), Label),
        Route("POST", f"{one}/restore", "Bring a label back", Writes(_restore), Label),
        *_category_routes(),
    ]


def _category_routes() -> list[Route]:
    all_, one = "/v1/categories", "/v1/categories/{ref}"
    restore = f"{one}/restore"
    return [
        Route("POST", all_, "Add a category", Writes(_add_category), Category, NewCategory, status=CREATED),
        Route("GET", all_, "List categories", Reads(_categories), list[Category], query=CategoryQuery),
        Route("GET", one, "Show a category", Reads(_category), Category),
        Route("PATCH", one, "Change a category", Writes(_edit_category), Category, CategoryEdit),
        Route("DELETE", one, "Take a category out of sight", Writes(_remove_category), Category),
        Route("POST", restore, "Bring a category back", Writes(_restore_category), Category),
    ]


def _add(tx: Transaction, call: Call[NewLabel, Nothing]) -> Label:
    return labels.add(tx, call.body)


def _list(snapshot: Snapshot, call: Call[Nothing, LabelQuery]) -> list[Label]:
    return labels.listed(snapshot, task=call.query.task or None, removed=call.query.removed)


def _show(snapshot: Snapshot, call: Call[Nothing, Nothing]) -> Label:
    return labels.show(snapshot, call.ref)


def _edit(tx: Transaction, call: Call[LabelEdit, Nothing]) -> Label:
    return labels.edit(tx, call.ref, call.body)


def _remove(tx: Transaction, call: Call[Nothing, Nothing]) -> Label:
    return labels.remove(tx, call.ref)


def _restore(tx: Transaction, call: Call[Nothing, Nothing]) -> Label:
    return labels.restore(tx, call.ref)


def _add_category(tx: Transaction, call: Call[NewCategory, Nothing]) -> Category:
    return categories.add(tx, call.body)


def _categories(snapshot: Snapshot, call: Call[Nothing, CategoryQuery]) -> list[Category]:
    return categories.listed(snapshot, removed=call.query.removed)


def _category(snapshot: Snapshot, call: Call[Nothing, Nothing]) -> Category:
    return categories.show(snapshot, call.ref)


def _edit_category(tx: Transaction, call: Call[CategoryEdit, Nothing]) -> Category:
    return categories.edit(tx, call.ref, call.body)


def _remove_category(tx: Transaction, call: Call[Nothing, Nothing]) -> Category:
    return categories.remove(tx, call.ref)


def _restore_category(tx: Transaction, call: Call[Nothing, Nothing]) -> Category:
    return categories.restore(tx, call.ref)
