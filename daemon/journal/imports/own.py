"""What an export writes beside a format's own fields, so that an import has all of the task again.

Never believed where the format's own fields say otherwise: another program may have changed those since.
"""

import re
from collections.abc import Iterable, Iterator

from daemon.journal.imports.plan import PlannedChecklist, PlannedItem, fits_title, on_one_line
from daemon.journal.values import ESTIMATE_MAX, NEEDS_REASON, REASON_CHARS_MAX

_ESTIMATE = re.compile(r"[1-9]\d{0,6}", re.ASCII)
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*", re.ASCII)
_ITEM = re.compile(r"\[([ x])\] (\S.*)")

LINK_TYPES = ("basic", "follows_up", "duplicates", "fixes")
"""The links beside `blocks`, which formats have a word of their own for."""


def estimate(written: str) -> int | None:
    """Read minutes, None where it is no number of them that a task may have."""
    return int(written) if _ESTIMATE.fullmatch(written) and int(written) <= ESTIMATE_MAX else None


def language(written: str) -> str | None:
    """Read the code of a language."""
    return written if _LANGUAGE.fullmatch(written) else None


def reason(written: str) -> str | None:
    """Read a reason."""
    line = on_one_line(written)
    return line if 0 < len(line) <= REASON_CHARS_MAX else None


def is_status(written: str, reason_given: str | None, allowed: Iterable[str]) -> bool:
    """Say whether a status may be taken: one of those allowed here, with its reason where it needs one."""
    return written in allowed and (written not in NEEDS_REASON or reason_given is not None)


def checklist_text(title: str, lines: Iterable[tuple[str, bool]]) -> str:
    """Write a checklist: its title, then a line for each item with its box."""
    return "\n".join([title, *(f"[{'x' if is_checked else ' '}] {text}" for text, is_checked in lines)])


def checklists(written: str, key: str) -> tuple[PlannedChecklist, ...] | None:
    """Read checklists with blank lines between them; None where a line is none of theirs."""
    found: list[PlannedChecklist] = []
    for nth, block in enumerate(re.split(r"\n{2,}", written.strip("\n")), 1):
        title, *lines = block.split("\n")
        boxes = [_ITEM.fullmatch(line) for line in lines]
        title = on_one_line(title)
        if not title or not fits_title(title) or not all(boxes):
            return None
        pairs = [(on_one_line(box[2]), box[1] == "x") for box in boxes if box]
        if not all(fits_title(text) for text, _ in pairs):
            return None
        list_key = f"{key}/checklist/{nth}"
        found.append(PlannedChecklist(list_key, title, tuple(_items(list_key, pairs))))
    return tuple(found)


def _items(key: str, pairs: Iterable[tuple[str, bool]]) -> Iterator[PlannedItem]:
    seen: dict[str, int] = {}
    for text, is_checked in pairs:
        seen[text] = seen.get(text, 0) + 1
        yield PlannedItem(f"{key}/item/{text}/{seen[text]}", text, is_checked)
