"""Reads a todo.txt file into a plan: a task a line, known by its words.

Never loses a mark: what has no place in the journal is kept as text, and an export writes it again.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, tzinfo
from typing import Any

from daemon.formats.core import extension_fields
from daemon.formats.core.plan import (
    ImportFault,
    Plan,
    PlannedEntry,
    PlannedTask,
    cut_title,
    fits_title,
    joined_line,
    split_entry,
    tasks_max,
    text_fault,
    too_many_tasks_sentence,
    unreadable_plan,
    with_faults,
)
from daemon.formats.todotxt.lines import (
    DUE_MARK,
    SPELLED,
    UNITS,
    MalformedLine,
    TodoLine,
    is_id_pair,
    parse_date,
    read_line,
)
from daemon.journal.fields.validation import NAME_CHARS_MAX, REASON_CHARS_MAX
from daemon.journal.tasks import LABELS_MAX
from daemon.task_fields import TaskField
from store.sentence import sentence
from syncproto.ids import EntityId, id_from_text

FORMAT = "todotxt"

ATTRIBUTES = "attributes"
"""What ends the key of the entry with the marks that have no place of their own: a line each, as written."""
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
_DUE = re.compile(r"(\d{4}-\d{2}-\d{2})(?:T\S+)?", re.ASCII)
_LETTER = re.compile(r"[A-Z]")
_KEY_CHARS = 16


def parse(name: str, text: str, zone: tzinfo = UTC, now_ms: int | None = None) -> Plan:
    """Read a file; never raises, what cannot be read is in the plan's faults.

    A line that was not exported has no identity: the file's `name` tells one list from another, and which of
    its tasks a line is follows from a comparison with the journal. `zone` is the zone of the file's days.
    """
    del now_ms  # nothing in a line depends on it
    if fault := text_fault(text):
        return unreadable_plan(FORMAT, fault)
    list_key, most = _short_hash(name.replace("\0", "")), tasks_max(text)
    names: set[str] = set()  # of labels and categories: each is one more to write
    tasks: list[PlannedTask] = []
    faults: list[ImportFault] = []
    key_counts: Counter[str] = Counter()
    for number, raw_line in enumerate(_lines(text), 1):
        if not raw_line.strip():
            continue
        if len(tasks) + len(names) >= most:  # before they take memory
            return unreadable_plan(FORMAT, ImportFault(number, too_many_tasks_sentence(most)))
        try:
            line = read_line(raw_line)
            names.update(line.projects, line.contexts)
            words = cut_title(line.title)
            key_counts[words] += 1
            tasks.append(_task(line, number, f"{list_key}/{_short_hash(words)}/{key_counts[words]}", zone))
        except MalformedLine as error:
            faults.append(ImportFault(number, error.words))
    return with_faults(Plan(FORMAT, tuple(tasks), list_key=list_key), faults)


def _lines(text: str) -> list[str]:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:_KEY_CHARS]


def _task(line: TodoLine, number: int, key: str, zone: tzinfo) -> PlannedTask:
    reader = _Pairs(line)
    done_ms = _midnight_ms(line.done_on, zone)
    made_ms = _midnight_ms(line.made_on, zone)
    category = next((project for project in line.projects if _fits_name(project)), None)
    labels = [context for context in line.contexts if _fits_name(context)][:LABELS_MAX]
    kept_marks = [*reader.left]
    kept_marks += [f"+{project}" for project in line.projects if project != category]
    kept_marks += [f"@{context}" for context in line.contexts if context not in labels]
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
        **reader.values,
        category=category,
        labels=tuple(labels),
        entries=tuple(_entries(line, key, kept_marks, made_ms)),
        exported_id=reader.exported_id,
        # Most programs drop the letter of a task that is done: nobody took its priority away.
        unsaid=frozenset({"priority"} if line.is_done and reader.priority is None else ()),
    )


def _entries(line: TodoLine, key: str, kept_marks: list[str], made_ms: int | None) -> Iterator[PlannedEntry]:
    if not fits_title(line.title):
        yield from split_entry(f"{key}/title", line.title, made_ms)
    if text := "\n".join(kept_marks):
        yield from split_entry(f"{key}/{ATTRIBUTES}", text, made_ms)


def _midnight_ms(on: date | None, zone: tzinfo) -> int | None:
    if on is None:
        return None
    try:
        return int(datetime.combine(on, time(), zone).timestamp()) * 1000
    except (OverflowError, ValueError):
        raise MalformedLine(
            sentence("todotxt-beyond-calendar", "the date {day} is beyond the calendar", day=on.isoformat())
        ) from None


def _fits_name(name: str) -> bool:
    return len(name) <= NAME_CHARS_MAX


class _Pairs:
    """The parsed pairs of a line: each has a field, or is in `left` to be kept as it is written."""

    def __init__(self, line: TodoLine) -> None:
        self.left: list[str] = []
        self.reason: str | None = None
        self.values: dict[str, Any] = {}
        self.exported_id: EntityId | None = None
        self.status = "DONE" if line.is_done else "OPEN"
        self.priority = self._priority(line.priority) if line.priority else None
        self.due = self._due([value for key, value in line.pairs if key == "due"])
        for key, value in line.pairs:
            if key != "due" and not self._take(key, value, is_done=line.is_done):
                self.left.append(f"{key}:{value}")

    def _take(self, key: str, value: str, *, is_done: bool) -> bool:
        if key == "pri" and self.priority is None and _LETTER.fullmatch(value):
            self.priority = self._priority(value)
            return True
        if key == "status":
            return self._status(value, is_done=is_done)
        if key == "reason" and self.reason is None and len(value) <= REASON_CHARS_MAX:
            self.reason = joined_line(value.replace("_", " ")) or None
            return self.reason is not None
        if field := SPELLED.get(key):
            return self._take_value(field, value)
        if is_id_pair(key, value):
            # The first one counts; another names a task that this line is not.
            self.exported_id = self.exported_id or EntityId(id_from_text(value))
            return True
        return False

    def _take_value(self, field: TaskField, value: str) -> bool:
        unit = UNITS.get(field.type, "")
        text = value.removesuffix(unit) if value.endswith(unit) else ""
        read = extension_fields.read_value(field.type, text)
        if field.name in self.values or read is None:
            return False
        self.values[field.name] = read
        return True

    def _due(self, values: list[str]) -> str | None:
        """Return the first day; keep all that the line says of it if that is more than a day."""
        days = [day for value in values if (day := due_day(value))]
        if days[:1] != values:
            self.left += [f"due:{value}" for value in values]
        return parse_date(days[0], DUE_MARK).isoformat() if days else None

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
        # First, since a finished task has its letter behind other marks.
        self.left.insert(0, f"({letter})")
        return LOWEST


def unread_pairs(line: TodoLine) -> list[str]:
    """Return the pairs of a line that give its task nothing, and are kept as text."""
    return _Pairs(line).left


def due_day(value: str) -> str | None:
    """Return the day of a due date, with a time or without: the day that its author saw."""
    match = _DUE.fullmatch(value)
    return match[1] if match else None
