"""The groups of a day in words: the page and the command line head them alike.

Never decides what is in a group.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Final

from daemon.task_fields import CLOSED_STATUSES
from daemon.words.dates import due_words, full_day_words
from daemon.words.translation import _, gettext_noop, ngettext

if TYPE_CHECKING:
    from collections.abc import Mapping

_DAYLESS: Final = {
    "overdue": gettext_noop("Overdue"),
    "in_progress": gettext_noop("In progress without a day"),
}
_DAY_CHARS: Final = 10
_NEAR: Final = (gettext_noop("Today"), gettext_noop("Tomorrow"))


def group_words(name: str, day: str | None, today: str | None) -> str:
    """Return the head of a group: "Overdue", "Today", "Fri 20 Nov 2026".

    What is today follows from `today`, the day that it is where the daemon runs, and not from the name: the
    day that is shown may be another.
    """
    if day is None:
        return _(_DAYLESS[name]) if name in _DAYLESS else ""
    is_known = is_day(day) and is_day(today)
    days = (date.fromisoformat(day) - date.fromisoformat(str(today))).days if is_known else None
    return _(_NEAR[days]) if days in (0, 1) else full_day_words(day, None).words


def begins_later(task: Mapping[str, object], now_s: float | None) -> bool:
    """Say whether a task is open and its start is still to come."""
    start = task.get("start")
    days = due_words(start, now_s)[1] if is_day(start) else None
    return days is not None and days > 0 and task.get("status") not in CLOSED_STATUSES


def is_day(value: object) -> bool:
    """Say whether a value is a day, YYYY-MM-DD, and nothing else.

    What lists are narrowed by in the store, `day_text`, is the same: the command line knows no store.
    """
    if not isinstance(value, str) or len(value) != _DAY_CHARS or value[4] != "-" or value[7] != "-":
        return False
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True


def begin_later_words(count: int) -> str:
    """Say how many tasks do not show yet: "3 begin later"; nothing for none."""
    return ngettext("{count} begins later", "{count} begin later", count).format(count=count) if count else ""


def option_for_later(words: str) -> str:
    """Return what `begin_later_words` says with the option that shows these tasks."""
    return f"{words}: --later"
