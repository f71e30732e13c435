"""What an export writes beside a format's own fields, so that an import has all of the task again.

Never believed if the format's own fields differ: another program may have changed those since.
"""

import re
from collections.abc import Iterable, Iterator
from typing import assert_never

from daemon.due_time import read_due_time
from daemon.formats.core.plan import PlannedChecklist, PlannedItem, fits_title, joined_line
from daemon.journal.fields.validation import (
    ESTIMATE_MAX,
    LANGUAGE_PATTERN,
    NEEDS_REASON,
    REASON_CHARS_MAX,
    checked_due_day,
)
from daemon.refusal import Refused
from daemon.task_fields import FieldType

_ESTIMATE = re.compile(r"[1-9]\d{0,6}", re.ASCII)
_LANGUAGE = re.compile(LANGUAGE_PATTERN)
_ITEM = re.compile(r"\[([ x])\] (\S.*)")

NON_BLOCKING_LINK_TYPES = ("basic", "follows_up", "duplicates", "fixes")
"""The links beside `blocks`, which formats have a word of their own for."""


def read_estimate(text: str) -> int | None:
    """Read minutes, None if it is no number of minutes that a task may have."""
    return int(text) if _ESTIMATE.fullmatch(text) and int(text) <= ESTIMATE_MAX else None


def read_language(text: str) -> str | None:
    """Read the code of a language."""
    return text if _LANGUAGE.fullmatch(text) else None


def read_value(type_: FieldType, text: str) -> str | int | None:
    """Read a value of a field as `str` writes it, None if no task may have it."""
    match type_:
        case "minutes":
            return read_estimate(text)
        case "language":
            return read_language(text)
        case "day":
            return read_day(text)
        case "due_time":
            return None if (hour := read_due_time(text)) is None else hour.text()
        case "title" | "status" | "reason" | "priority" | "name" | "names":
            return None
        case _:
            assert_never(type_)


def read_day(text: str) -> str | None:
    """Read a day."""
    try:
        return checked_due_day(text)
    except Refused:
        return None


def read_reason(text: str) -> str | None:
    """Read a reason."""
    line = joined_line(text)
    return line if 0 < len(line) <= REASON_CHARS_MAX else None


def is_status_allowed(text: str, reason_given: str | None, allowed: Iterable[str]) -> bool:
    """Report whether a status is acceptable: allowed here, and with its reason if it needs one."""
    return text in allowed and (text not in NEEDS_REASON or reason_given is not None)


def write_checklist(title: str, lines: Iterable[tuple[str, bool]]) -> str:
    """Write a checklist: its title, then a line for each item with its box."""
    return "\n".join([title, *(f"[{'x' if is_checked else ' '}] {text}" for text, is_checked in lines)])


def read_checklists(attribute: str, key: str) -> tuple[PlannedChecklist, ...] | None:
    """Read checklists with blank lines between them; None if a line belongs to no checklist."""
    planned_checklists: list[PlannedChecklist] = []
    for nth, block in enumerate(re.split(r"\n{2,}", attribute.strip("\n")), 1):
        title, *lines = block.split("\n")
        boxes = [_ITEM.fullmatch(line) for line in lines]
        title = joined_line(title)
        if not title or not fits_title(title) or not all(boxes):
            return None
        pairs = [(joined_line(box[2]), box[1] == "x") for box in boxes if box]
        if not all(fits_title(text) for text, _ in pairs):
            return None
        list_key = f"{key}/checklist/{nth}"
        planned_checklists.append(PlannedChecklist(list_key, title, tuple(_items(list_key, pairs))))
    return tuple(planned_checklists)


def _items(key: str, pairs: Iterable[tuple[str, bool]]) -> Iterator[PlannedItem]:
    key_counts: dict[str, int] = {}
    for text, is_checked in pairs:
        key_counts[text] = key_counts.get(text, 0) + 1
        yield PlannedItem(f"{key}/item/{text}/{key_counts[text]}", text, is_checked)
