"""What the menu of tasks offers for each of their values: what is a press away, and a field to type into.

Never decides which of the labels a task has: the page marks these where the menu opens.
"""

from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from typing import Final, NamedTuple

from daemon.journal.fields.validation import NEEDS_REASON, PRIORITIES, STATUSES
from daemon.journal.references.names import shown_name
from daemon.task_fields import DAY_FIELDS
from daemon.words import terms
from daemon.words.dates import duration_words
from daemon.words.translation import _
from store.snapshot import Snapshot

LABELS_MAX: Final = 30
CATEGORIES_MAX: Final = 20
_LENGTHS: Final = (15, 30, 60, 120)
_MONDAY: Final = 7


class MenuPart(NamedTuple):
    """A part of the menu: the field that it sets, its words, and its values with theirs.

    `asked` stands in the field for another value, which `typed` names; both are "" if there is none.
    """

    field: str
    words: str
    choices: list[tuple[str, str]]
    typed: str = ""
    asked: str = ""


class MenuChoices(NamedTuple):
    """The parts of the menu. `own_labels` are those that the task has, if the menu is that of one task."""

    parts: list[MenuPart]
    own_labels: Sequence[str] = ()
    needs_reason: Sequence[str] = tuple(NEEDS_REASON)


def menu_choices(
    today: date, labels: Sequence[str], categories: Sequence[str], own_labels: Sequence[str] = ()
) -> MenuChoices:
    """Return what the menu offers on a day."""
    day = _("Another day, such as Friday")
    hints = {"due": _("Another day, such as Friday 14:00")}
    due, *other_days = [
        MenuPart(
            field.name,
            _(field.form.label),
            due_choices(today),
            field.name,
            hints.get(field.name, day),
        )
        for field in DAY_FIELDS
        if field.form is not None
    ]
    status = [(name, terms.task_status(name)) for name in STATUSES]
    lengths = [*((str(length), duration_words(length)) for length in _LENGTHS), ("", _("No length"))]
    named = [*((name, name) for name in categories[:CATEGORIES_MAX]), ("", _("No category"))]
    return MenuChoices(
        [
            due,
            MenuPart("priority", _("Priority"), [(name, name) for name in PRIORITIES]),
            MenuPart("status", _("Status"), status, "reason", _("Why")),
            MenuPart(
                "labels", _("Labels"), [(name, f"#{name}") for name in labels], "label", _("Another label")
            ),
            MenuPart(
                "estimate_minutes",
                _("Length"),
                lengths,
                "estimate_minutes",
                _("Another length, such as 3 h"),
            ),
            *other_days,
            MenuPart("category", _("Category"), named, "category", _("Another category")),
        ],
        own_labels,
    )


def due_choices(today: date) -> list[tuple[str, str]]:
    """Return the days that are a press away, the last of which is none."""
    monday = today + timedelta(_MONDAY - today.weekday())
    return [
        (today.isoformat(), _("Today")),
        ((today + timedelta(1)).isoformat(), _("Tomorrow")),
        (monday.isoformat(), _("Next week")),
        ("", _("No day")),
    ]


def label_names(snapshot: Snapshot) -> list[str]:
    """Return the names of all labels."""
    return _names(snapshot, "label")


def category_names(snapshot: Snapshot) -> list[str]:
    """Return the names of all categories."""
    return _names(snapshot, "category")


def _names(snapshot: Snapshot, kind: str) -> list[str]:
    return sorted({shown_name(entity) for entity in snapshot.entities(kind)}, key=str.casefold)


def offered_labels(labels: Sequence[str], own_labels: Iterable[str]) -> list[str]:
    """Return the first of all labels, with those that the shown tasks have: each can be taken away."""
    return sorted({*labels[:LABELS_MAX], *own_labels}, key=str.casefold)
