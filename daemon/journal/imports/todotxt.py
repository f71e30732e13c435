"""Reads a todo.txt file into a plan: a task a line, known by its words.

Never loses a mark: what has no place in the journal is kept as text, and an export writes it again.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, tzinfo

from daemon.journal.imports.plan import (
    ImportFault,
    Plan,
    PlannedEntry,
    PlannedTask,
    cut_title,
    entries_of,
    failed,
    fits_title,
    on_one_line,
    unreadable,
)
from daemon.journal.imports.todotxt_lines import Line, Unreadable, day, read_line
from daemon.journal.tasks import LABELS_MAX
from daemon.journal.values import ESTIMATE_MAX, NAME_CHARS_MAX, REASON_CHARS_MAX

FORMAT = "todotxt"

ATTRIBUTES = "attributes"
"""What ends the key of the entry with the marks that have no place of their own: lines of `name: value`."""
PRIORITIES = {"A": "P0", "B": "P1", "C": "P2"}
"""By letter; all further letters are the lowest priority, and kept beside it."""
LOWEST = "P3"
OPEN_STATUSES = {
    "groomed": "GROOMED",
    "in-progress": "IN PROGRESS",
    "blocked": "BLOCKED",
    "on-hold": "ON HOLD",
}
REJECTED = "rejected"
_ESTIMATE = re.compile(r"([1-9]\d{0,6})min", re.ASCII)
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*", re.ASCII)
_DATE_LIKE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_LETTER = re.compile(r"[A-Z]")
_KEY_CHARS = 16


def parse(name: str, text: str, zone: tzinfo = UTC, now_ms: int | None = None) -> Plan:
    """Read a file; never raises, what cannot be read is in the plan's faults.

    The format gives a line no identity: the file's `name` tells one list from another, and which of its tasks
    a line is the journal says (`recognise`). `zone` is where the days of the file begin.
    """
    del now_ms  # nothing in a line depends on it
    if fault := unreadable(text):
        return failed(FORMAT, fault)
    list_key = _hashed(name.replace("\0", ""))
    tasks: list[PlannedTask] = []
    faults: list[ImportFault] = []
    seen: Counter[str] = Counter()
    for number, written in enumerate(_lines(text), 1):
        if not written.strip():
            continue
        try:
            line = read_line(written)
            words = cut_title(line.title)
            seen[words] += 1
            tasks.append(_task(line, number, f"{list_key}/{_hashed(words)}/{seen[words]}", zone))
        except Unreadable as error:
            faults.append(ImportFault(number, str(error)))
    return failed(FORMAT, *faults) if faults else Plan(FORMAT, tuple(tasks), list_key=list_key)


def _lines(text: str) -> list[str]:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:_KEY_CHARS]


def _task(line: Line, number: int, key: str, zone: tzinfo) -> PlannedTask:
    reader = _Pairs(line)
    done_ms = _midnight_ms(line.done_on, zone)
    made_ms = _midnight_ms(line.made_on, zone)
    category = next((one for one in line.projects if _fits_name(one)), None)
    labels = [one for one in line.contexts if _fits_name(one)][:LABELS_MAX]
    kept = [*reader.left]
    kept += [("project", one) for one in line.projects if one != category]
    kept += [("context", one) for one in line.contexts if one not in labels]
    return PlannedTask(
        key=key,
        line=number,
        title=cut_title(line.title),
        made_ms=made_ms,
        ended_ms=done_ms,
        source=key,
        status=reader.status,
        reason=reader.reason,
        priority=reader.priority,
        due=reader.due,
        estimate_minutes=reader.estimate,
        language=reader.language,
        category=category,
        labels=tuple(labels),
        entries=tuple(_entries(line, key, kept, made_ms)),
    )


def _entries(
    line: Line, key: str, kept: list[tuple[str, str]], made_ms: int | None
) -> Iterator[PlannedEntry]:
    if not fits_title(line.title):
        yield from entries_of(f"{key}/title", line.title, made_ms)
    if text := "\n".join(f"{name}: {value}" for name, value in kept):
        yield from entries_of(f"{key}/{ATTRIBUTES}", text, made_ms)


def _midnight_ms(on: date | None, zone: tzinfo) -> int | None:
    if on is None:
        return None
    try:
        return int(datetime.combine(on, time(), zone).timestamp()) * 1000
    except (OverflowError, ValueError):
        raise Unreadable(f"the date {on} is beyond the calendar") from None


def _fits_name(name: str) -> bool:
    return len(name) <= NAME_CHARS_MAX


class _Pairs:
    """What the pairs of a line say: each has a place, or is `left` to be kept as text."""

    def __init__(self, line: Line) -> None:
        self.left: list[tuple[str, str]] = []
        self.due: str | None = None
        self.reason: str | None = None
        self.estimate: int | None = None
        self.language: str | None = None
        self.status = "DONE" if line.is_done else "OPEN"
        self.priority = self._priority(line.priority) if line.priority else None
        for key, value in line.pairs:
            if not self._take(key, value, is_done=line.is_done):
                self.left.append((key, value))

    def _take(self, key: str, value: str, *, is_done: bool) -> bool:
        if key == "due":
            return self._due(value)
        if key == "pri" and self.priority is None and _LETTER.fullmatch(value):
            self.priority = self._priority(value)
            return True
        if key == "status":
            return self._status(value, is_done=is_done)
        if key == "reason" and self.reason is None and len(value) <= REASON_CHARS_MAX:
            self.reason = on_one_line(value.replace("_", " ")) or None
            return self.reason is not None
        if key == "estimate" and self.estimate is None and (found := _ESTIMATE.fullmatch(value)):
            minutes = int(found[1])
            self.estimate = minutes if minutes <= ESTIMATE_MAX else None
            return minutes <= ESTIMATE_MAX
        if key == "lang" and self.language is None and _LANGUAGE.fullmatch(value):
            self.language = value
            return True
        return False

    def _due(self, value: str) -> bool:
        if self.due is not None or not _DATE_LIKE.fullmatch(value):
            return False
        self.due = day(value, "due").isoformat()
        return True

    def _status(self, value: str, *, is_done: bool) -> bool:
        if is_done and value == REJECTED:
            self.status = "REJECTED"
            return True
        if not is_done and self.status == "OPEN" and value in OPEN_STATUSES:
            self.status = OPEN_STATUSES[value]
            return True
        return False

    def _priority(self, letter: str) -> str:
        if letter in PRIORITIES or letter == "D":
            return PRIORITIES.get(letter, LOWEST)
        self.left.append(("priority", letter))
        return LOWEST
