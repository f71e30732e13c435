"""Writes the open and finished tasks as a todo.txt file, a line each.

Never writes what the format has no place for: notes and checklists stay behind.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import tzinfo

from daemon.formats.core.exported_tasks import ExportedTask, ExportedTasks, local_day
from daemon.formats.core.plan import PlannedTask, cut_title
from daemon.formats.todotxt.lines import (
    ID_KEY,
    SPELLED,
    START_KEY,
    UNITS,
    MalformedLine,
    TodoLine,
    as_text,
    has_leading_mark,
    is_known_pair,
    is_mark,
    names_with_sign,
    read_line,
    split_pair,
    words_with_blanks,
)
from daemon.formats.todotxt.reader import (
    ATTRIBUTES,
    FORMAT,
    LOWEST,
    OPEN_STATUSES,
    PRIORITIES,
    REJECTED,
    due_day,
    parse,
    unread_pairs,
)
from daemon.journal.fields.validation import CLOSED
from store.snapshot import Snapshot
from syncproto.ids import id_to_text

_LETTERS = {priority: letter for letter, priority in PRIORITIES.items()} | {LOWEST: "D"}
_STATUSES = {status: word for word, status in OPEN_STATUSES.items()}
_LETTER = re.compile(r"\(([A-Z])\)")
_A_DAY = "2026-01-01"
"""Behind a day, words are a title even if they look like what a line begins with."""


def write(snapshot: Snapshot, zone: tzinfo) -> Iterator[str]:
    """Yield the file's lines."""
    for task in ExportedTasks(snapshot):
        yield _line(task, zone) + "\n"


def reread(task: ExportedTask, zone: tzinfo) -> PlannedTask | None:
    """Return what the reader makes of a task that is written now, None if it does not make one task of it."""
    plan = parse("", _line(task, zone), zone)
    return plan.tasks[0] if len(plan.tasks) == 1 else None


def _line(task: ExportedTask, zone: tzinfo) -> str:
    kept_marks = _imported_marks(task)
    title = _title(task) or "…"
    plain = _text(task, title, kept_marks)
    words = words_with_blanks(title)
    text = _text(task, "".join(before + as_text(word) for before, word in words), kept_marks)
    # A mark in a title that says what the task has anyway stays a mark.
    if _read(plain) == _read(text):
        text = plain
    letter, is_done = _letter(task, kept_marks), task.status in CLOSED
    return " ".join(filter(None, [*_leading_marks(task, zone, text, letter, is_done=is_done), text]))


def _read(text: str) -> TodoLine | None:
    try:
        line = read_line(f"{_A_DAY} {text}")
    except MalformedLine:
        return None
    return replace(line, contexts=tuple(sorted(line.contexts)))


def _text(task: ExportedTask, title: str, kept_marks: list[str]) -> str:
    names = {word for _, word in words_with_blanks(title)}
    marks = [*_marks(task, kept_marks, names), *_journal_pairs(task, kept_marks)]
    return " ".join([title, *marks])


def _leading_marks(
    task: ExportedTask, zone: tzinfo, text: str, letter: str | None, *, is_done: bool
) -> Iterator[str]:
    """Yield the text before the words: no day if the task came without one and the words need none."""
    if is_done:
        yield "x"
    elif letter:
        yield f"({letter})"
    texts = [local_day(task.made_ms, zone).isoformat()] if task.is_dated or has_leading_mark(text) else []
    if is_done and (texts or task.is_end_dated):
        yield local_day(task.ended_ms or task.made_ms, zone).isoformat()
    yield from texts


def _title(task: ExportedTask) -> str:
    """Return the title, in full if an import had to cut it and nobody changed it since."""
    notes = task.imported_notes(FORMAT, f"{task.id_in_format(FORMAT)}/title")
    full = "".join(note.text for note in notes)
    return full if full and cut_title(full) == task.title else task.title


def _imported_marks(task: ExportedTask) -> list[str]:
    """Return the marks that an import found no place for."""
    notes = task.imported_notes(FORMAT, f"{task.id_in_format(FORMAT)}/{ATTRIBUTES}")
    words = "".join(note.text for note in notes).split("\n")
    return [word for word in words if len(word.split()) == 1 and (is_mark(word) or _LETTER.fullmatch(word))]


def _marks(task: ExportedTask, kept_marks: list[str], names: set[str]) -> Iterator[str]:
    """Yield projects, contexts and pairs that the title does not contain already, ordered by kind."""
    contexts = [*task.labels, *names_with_sign(kept_marks, "@")]
    contexts.sort(key=lambda name: (name.casefold(), name))
    marks = [f"+{_one_word(task.category)}"] if task.category else []
    marks += [f"+{name}" for name in names_with_sign(kept_marks, "+")]
    marks += [f"@{_one_word(name)}" for name in contexts]
    pairs = [word for word in kept_marks if split_pair(word) and not is_known_pair(word)]
    yield from (mark for mark in (*dict.fromkeys(marks), *pairs) if mark not in names)


def _journal_pairs(task: ExportedTask, kept_marks: list[str]) -> Iterator[str]:
    """Yield the pairs that have a place in the journal, and those of their keys that an import kept."""
    kept_pairs = [pair for word in kept_marks if is_known_pair(word) and (pair := split_pair(word))]
    yield from _dues(task, [value for key, value in kept_pairs if key == "due"])
    letter = _letter(task, kept_marks)
    own = list(_own_pairs(task, letter))
    yield from own
    others = [pair for pair in kept_pairs if pair[0] not in ("due", ID_KEY)]
    pairs = (*filter(None, map(split_pair, own)), *others)
    line = TodoLine(task.title, task.status in CLOSED, letter, pairs=pairs)
    # What an import would read now was of no effect beside a value that a person took away.
    left = unread_pairs(line)
    kept_before = () if task.is_start_written else (START_KEY,)
    yield from (f"{key}:{value}" for key, value in others if f"{key}:{value}" in left or key in kept_before)
    yield f"{ID_KEY}:{id_to_text(task.id)}"


def _own_pairs(task: ExportedTask, letter: str | None) -> Iterator[str]:
    if letter and task.status in CLOSED:
        yield f"pri:{letter}"
    if task.status == "REJECTED":
        yield f"status:{REJECTED}"
    elif task.status in _STATUSES:
        yield f"status:{_STATUSES[task.status]}"
    if task.reason:
        word = f"reason:{_one_word(task.reason)}"
        # Some values, such as those that begin with slashes, are of no pair.
        yield word if split_pair(word) else word.replace(":", ":_", 1)
    for key, field in SPELLED.items():
        if value := getattr(task, field.name):
            yield f"{key}:{value}{UNITS.get(field.type, '')}"


def _dues(task: ExportedTask, kept_values: list[str]) -> Iterator[str]:
    """Yield what the file said of the due date, with the day of now in the place of another one."""
    is_said = False
    for value in kept_values:
        day = due_day(value)
        if day is None or (is_said and task.due):
            yield f"due:{value}"
            continue
        is_said = True
        if task.due:
            yield f"due:{value if day == task.due else task.due}"
    if task.due and not is_said:
        yield f"due:{task.due}"


def _letter(task: ExportedTask, kept_marks: list[str]) -> str | None:
    letter = _LETTERS.get(task.priority or "")
    further = next((match[1] for word in kept_marks if (match := _LETTER.fullmatch(word))), None)
    return further if letter == "D" and further else letter


def _one_word(name: str) -> str:
    return "_".join(name.split())
