"""What the menu of a row offers: days, priorities, statuses and labels, each a press away.

Never offers a status that needs a reason: the page of the task asks for it.
"""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Final, NamedTuple

from daemon.journal.fields.validation import NEEDS_REASON, PRIORITIES, STATUSES
from daemon.journal.references.names import shown_name
from daemon.words import terms
from daemon.words.translation import _
from store.snapshot import Snapshot

LABELS_MAX: Final = 30
_MONDAY: Final = 7
_Part = tuple[str, str, list[tuple[str, str]]]


class MenuChoices(NamedTuple):
    """The parts of the menu: the field of each, its words, and its values with theirs."""

    parts: list[_Part]


def menu_choices(today: date, labels: Sequence[str]) -> MenuChoices:
    """Return what the menu offers on a day."""
    return MenuChoices(
        [
            ("due", _("Due"), due_choices(today)),
            ("priority", _("Priority"), [(name, name) for name in PRIORITIES]),
            (
                "status",
                _("Status"),
                [(name, terms.task_status(name)) for name in STATUSES if name not in NEEDS_REASON],
            ),
            ("labels", _("Label"), [(name, f"#{name}") for name in labels[:LABELS_MAX]]),
        ]
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
    return sorted({shown_name(entity) for entity in snapshot.entities("label")}, key=str.casefold)
