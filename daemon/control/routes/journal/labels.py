"""The routes of labels and categories.

Never decides anything: each line names a use case.
"""

from msgspec import Struct

from daemon.control.route import CREATED, Route
from daemon.control.use_case_routes import read_query, read_ref, write_body, write_ref, write_ref_body
from daemon.journal import categories, labels
from daemon.journal.categories import Category, CategoryEdit, NewCategory
from daemon.journal.labels import Label, LabelEdit, NewLabel
from store.snapshot import Snapshot


class LabelQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which labels: those in sight, the `removed` ones, or those that a `task` may be given and has not."""

    task: str | None = None
    removed: bool = False


class CategoryQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which categories: those in sight, or the `removed` ones."""

    removed: bool = False


def routes() -> list[Route]:
    """Return the part of the table on labels and categories."""
    text, label = "/v1/labels", "/v1/labels/{ref}"
    return [
        write_body("POST", text, "Add a label", labels.add, Label, NewLabel, status=CREATED),
        read_query(text, "List labels", _list_labels, list[Label], LabelQuery),
        read_ref(label, "Show a label", labels.show, Label),
        write_ref_body("PATCH", label, "Change a label", labels.edit, Label, LabelEdit),
        write_ref("DELETE", label, "Take a label out of sight", labels.remove, Label),
        write_ref("POST", f"{label}/restore", "Bring a label back", labels.restore, Label),
        *_category_routes(),
    ]


def _category_routes() -> list[Route]:
    text, category = "/v1/categories", "/v1/categories/{ref}"
    return [
        write_body("POST", text, "Add a category", categories.add, Category, NewCategory, status=CREATED),
        read_query(text, "List categories", _list_categories, list[Category], CategoryQuery),
        read_ref(category, "Show a category", categories.show, Category),
        write_ref_body("PATCH", category, "Change a category", categories.edit, Category, CategoryEdit),
        write_ref("DELETE", category, "Take a category out of sight", categories.remove, Category),
        write_ref("POST", f"{category}/restore", "Bring a category back", categories.restore, Category),
    ]


def _list_labels(snapshot: Snapshot, query: LabelQuery) -> list[Label]:
    return labels.list_labels(snapshot, task=query.task or None, removed=query.removed)


def _list_categories(snapshot: Snapshot, query: CategoryQuery) -> list[Category]:
    return categories.list_categories(snapshot, removed=query.removed)
