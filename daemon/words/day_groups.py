"""The groups of a day in words: the page and the command line head them alike.

Never decides what is in a group.
"""

from __future__ import annotations

from typing import Final

from daemon.words.dates import due_words, full_day_words
from daemon.words.translation import _, gettext_noop, ngettext

_DAYLESS: Final = {
    "overdue": gettext_noop("Overdue"),
    "in_progress": gettext_noop("In progress without a day"),
}
_NEAR: Final = (gettext_noop("Today"), gettext_noop("Tomorrow"))


def group_words(name: str, day: str | None, now_s: float | None) -> str:
    """Return the head of a group: "Overdue", "Today", "Fri 20 Nov 2026".

    What is today follows from `now_s`, and not from the name: the day that is shown may be another.
    """
    if day is None:
        return _(_DAYLESS[name]) if name in _DAYLESS else ""
    days = due_words(day, now_s)[1]
    return _(_NEAR[days]) if days in (0, 1) else full_day_words(day, None).words


def begin_later_words(count: int) -> str:
    """Say how many tasks do not show yet: "3 begin later"; nothing for none."""
    return ngettext("{count} begins later", "{count} begin later", count).format(count=count) if count else ""
