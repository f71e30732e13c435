"""Writes the open and finished tasks as a todo.txt file, a line each.

Never writes what the format has no place for: notes and checklists stay behind.
"""

from collections.abc import Iterator
from datetime import tzinfo

from daemon.formats.core.exported_tasks import ExportedTask, ExportedTasks, local_day
from daemon.formats.core.plan import PlannedTask
from daemon.formats.todotxt.lines import (
    ID_KEY,
    has_leading_mark,
    is_known_pair,
    is_mark,
    names_with_sign,
    split_pair,
)
from daemon.formats.todotxt.reader import (
    ATTRIBUTES,
    FORMAT,
    LOWEST,
    OPEN_STATUSES,
    PRIORITIES,
    REJECTED,
    parse,
)
from daemon.journal.fields.validation import CLOSED
from store.snapshot import Snapshot
from syncproto.ids import id_to_text

__all__ = ["FORMAT", "write"]

_LETTERS = {priority: letter for letter, priority in PRIORITIES.items()} | {LOWEST: "D"}
_STATUSES = {status: word for word, status in OPEN_STATUSES.items()}


def write(snapshot: Snapshot, zone: tzinfo) -> Iterator[str]:
    """Yield the file's lines."""
    for task in ExportedTasks(snapshot):
        yield _line(task, zone) + "\n"


def reread(task: ExportedTask, zone: tzinfo) -> PlannedTask | None:
    """Return what the reader makes of a task that is written now, None if it does not make one task of it."""
    plan = parse("", _line(task, zone), zone)
    return plan.tasks[0] if len(plan.tasks) == 1 else None


def _line(task: ExportedTask, zone: tzinfo) -> str:
    kept_pairs = _imported_marks(task)
    words = [_as_word(word) for word in _title(task).split()]
    sentence, marks = _split_trailing_marks(words)
    letter = _letter(task, kept_pairs)
    is_done = task.status in CLOSED
    text = " ".join(
        [
            *sentence,
            *_marks(task, marks, kept_pairs, set(sentence)),
            *_journal_pairs(task, letter, kept_pairs),
        ]
    )
    return " ".join(filter(None, [*_leading_marks(task, zone, text, letter, is_done=is_done), text]))


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
    full_title = task.imported_child_id(FORMAT, f"{task.id_in_format(FORMAT)}/title")
    texts = (note.text for note in task.notes if note.id == full_title)
    full = next(texts, "")
    return full if task.title.endswith("…") and full.startswith(task.title.removesuffix("…")) else task.title


def _imported_marks(task: ExportedTask) -> list[tuple[str, str]]:
    """Return the marks that an import found no place for."""
    wanted = task.imported_child_id(FORMAT, f"{task.id_in_format(FORMAT)}/{ATTRIBUTES}")
    lines = [line for note in task.notes if note.id == wanted for line in note.text.split("\n")]
    pairs = [line.partition(": ") for line in lines]
    return [(name, value) for name, _, value in pairs if name and value and len(value.split()) == 1]


def _as_word(word: str) -> str:
    """Keep a title's own word from being read as one of the journal's marks."""
    return word.replace(":", "：", 1) if is_known_pair(word) else word


def _split_trailing_marks(words: list[str]) -> tuple[list[str], list[str]]:
    """Part the marks at a title's end from the words before: they go among the other marks."""
    end = len(words)
    while end and is_mark(words[end - 1]):
        end -= 1
    return (words[:end], words[end:]) if end else (words, [])


def _marks(
    task: ExportedTask, own: list[str], kept_pairs: list[tuple[str, str]], names: set[str]
) -> Iterator[str]:
    """Yield projects, contexts and pairs that the sentence does not contain already, ordered by kind."""
    projects = [*([task.category] if task.category else []), *names_with_sign(own, "+")]
    projects += [value for name, value in kept_pairs if name == "project"]
    contexts = [
        *task.labels,
        *names_with_sign(own, "@"),
        *(value for name, value in kept_pairs if name == "context"),
    ]
    contexts.sort(key=lambda name: (name.casefold(), name))
    marks = [f"+{_one_word(name)}" for name in projects] + [f"@{_one_word(name)}" for name in contexts]
    marks += [word for word in own if split_pair(word)]
    marks += [
        word
        for name, value in kept_pairs
        if not is_known_pair(word := f"{name}:{value}")
        and split_pair(word) == (name, value)
        and name not in ("project", "context", "priority")
    ]
    yield from (mark for mark in dict.fromkeys(marks) if mark not in names)


def _journal_pairs(
    task: ExportedTask, letter: str | None, kept_pairs: list[tuple[str, str]]
) -> Iterator[str]:
    """Yield the pairs that have a place in the journal."""
    if task.due:
        yield f"due:{task.due}"
    if letter and task.status in CLOSED:
        yield f"pri:{letter}"
    if task.status == "REJECTED":
        yield f"status:{REJECTED}"
    elif task.status in _STATUSES:
        yield f"status:{_STATUSES[task.status]}"
    if task.reason:
        yield f"reason:{_one_word(task.reason)}"
    if task.estimate_minutes:
        yield f"estimate:{task.estimate_minutes}min"
    if task.language:
        yield f"lang:{task.language}"
    yield from (
        word for name, value in kept_pairs if is_known_pair(word := f"{name}:{value}") and name != ID_KEY
    )
    yield f"{ID_KEY}:{id_to_text(task.id)}"


def _letter(task: ExportedTask, kept_pairs: list[tuple[str, str]]) -> str | None:
    letter = _LETTERS.get(task.priority or "")
    further = next((value for name, value in kept_pairs if name == "priority" and len(value) == 1), None)
    return further if letter == "D" and further else letter


def _one_word(name: str) -> str:
    return "_".join(name.split())
