"""Words for single values: fields, statuses, authors, before and after.

Never colours a value that is not escaped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from daemon.task_fields import STATUSES, TASK_FIELDS
from daemon.words import terms
from daemon.words.dates import duration_words, full_day_words, hour_words
from daemon.words.terminal_text import escape, truncate
from daemon.words.translation import _, pgettext, pgettext_noop

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


pgettext_noop("source", "note", "transcript")


def source_word(source: object) -> str:
    """Say what kind of text a note is; what an import says of its source is shown as it came."""
    return pgettext("source", escape(source))


# Fields whose values are names that Placet gives.
_NAMED: Final[Mapping[str, Callable[[object], str]]] = {
    "status": terms.task_status,
    "lifecycle": terms.agent_state,
    "mode": terms.agent_state,
    "kind": terms.agent_state,
    "verdict": terms.proposal_status,
    "source": source_word,
}
_LENGTHS: Final = frozenset(field.name for field in TASK_FIELDS if field.type == "minutes")
_DAYS: Final = frozenset(field.name for field in TASK_FIELDS if field.type == "day")
_DAY_CHARS: Final = 10
_HOURS: Final = frozenset(field.name for field in TASK_FIELDS if field.type == "due_time")
_VALUE_WIDTH_MAX: Final = 200


def status_word(status: object) -> str:
    return terms.task_status(status)


def value_words(value: object, field: str = "") -> str:
    """Say a field's value in a few words."""
    if value is None or value == "":
        return _("nothing")
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if field in _NAMED:
        return _NAMED[field](value)
    if field in _LENGTHS:
        return duration_words(value)
    if field in _DAYS:
        return full_day_words(value, None).words
    if field in _HOURS:
        return f"{full_day_words(str(value)[:_DAY_CHARS], None).words}{hour_words(value)}"
    if isinstance(value, list):
        return ", ".join(value_words(element) for element in value) or _("nothing")
    if isinstance(value, dict):
        return ", ".join(f"{field_words(key)} {value_words(element, key)}" for key, element in value.items())
    return truncate(escape(value), _VALUE_WIDTH_MAX)


def sides_of_change(before: object, after: object, field: str) -> tuple[object, object]:
    """Return what a change leads from and to: a task of a series is open before it has a status."""
    if field == "status" and STATUSES[0] not in (before, after):
        return before or STATUSES[0], after or STATUSES[0]
    return before, after


def field_words(field: object) -> str:
    """Say a field's name: `is_checked` is "checked", `estimate_minutes` is "estimate"."""
    return terms.field_name(field)


def with_colon(name: str) -> str:
    """Write a name before what it stands for, with the colon that its language has."""
    return _("{name}: ").format(name=name)


def in_quotation_marks(text: object) -> str:
    """Put words of people between the quotation marks of the language."""
    return _("“{words}”").format(words=text)


def author_words(by: object, device: object = None, proposed: object = None) -> str:
    """Say who did something, and where: "agent on phone".

    What is `proposed` was confirmed by a person, as it was proposed (True) or with edits (False).
    """
    who = terms.author_name(by if proposed is None else "user")
    who = _("{who} on {device}").format(who=who, device=escape(device)) if device else who
    if proposed is None:
        return who
    words = _("{who}, as an agent proposed") if proposed else _("{who}, with edits to a proposal")
    return words.format(who=who)
