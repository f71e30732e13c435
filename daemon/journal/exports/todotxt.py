"""Writes the open and finished tasks as a todo.txt file, a line each.

Never writes what the format has no place for: notes and checklists stay behind.
"""

from collections.abc import Iterator
from datetime import tzinfo

from daemon.journal.exports.each import Each, Eachs, local_day
from daemon.journal.imports.todotxt import ATTRIBUTES, FORMAT, LOWEST, OPEN_STATUSES, PRIORITIES, REJECTED
from daemon.journal.imports.todotxt_lines import is_known, is_mark, is_prefixed, named, pair
from daemon.journal.values import CLOSED
from store.snapshot import Snapshot

__all__ = ["FORMAT", "write"]

_LETTERS = {priority: letter for letter, priority in PRIORITIES.items()} | {LOWEST: "D"}
_STATUSES = {status: word for word, status in OPEN_STATUSES.items()}


def write(snapshot: Snapshot, zone: tzinfo) -> Iterator[str]:
    """Yield the file's lines."""
    for each in Eachs(snapshot):
        yield _line(each, zone) + "\n"


def _line(each: Each, zone: tzinfo) -> str:
    kept = _kept(each)
    words = [_as_word(word) for word in _title(each).split()]
    sentence, marks = _apart(words)
    letter = _letter(each, kept)
    is_done = each.status in CLOSED
    text = " ".join([*sentence, *_marks(each, marks, kept, set(sentence)), *_known(each, letter, kept)])
    return " ".join(filter(None, [*_before(each, zone, text, letter, is_done=is_done), text]))


def _before(each: Each, zone: tzinfo, text: str, letter: str | None, *, is_done: bool) -> Iterator[str]:
    """Yield what stands before the words: no day where the task came without one and the words need none."""
    if is_done:
        yield "x"
    elif letter:
        yield f"({letter})"
    made = [local_day(each.made_ms, zone).isoformat()] if each.is_dated or is_prefixed(text) else []
    if is_done and (made or each.is_end_dated):
        yield local_day(each.ended_ms or each.made_ms, zone).isoformat()
    yield from made


def _title(each: Each) -> str:
    """Return the title, in full where an import had to cut it and nobody changed it since."""
    whole = each.derived(FORMAT, f"{each.key(FORMAT)}/title")
    texts = (note.text for note in each.notes if note.id == whole)
    full = next(texts, "")
    return full if each.title.endswith("…") and full.startswith(each.title.removesuffix("…")) else each.title


def _kept(each: Each) -> list[tuple[str, str]]:
    """Return the marks that an import found no place for."""
    wanted = each.derived(FORMAT, f"{each.key(FORMAT)}/{ATTRIBUTES}")
    lines = [line for note in each.notes if note.id == wanted for line in note.text.split("\n")]
    pairs = [line.partition(": ") for line in lines]
    return [(name, value) for name, _, value in pairs if name and value and len(value.split()) == 1]


def _as_word(word: str) -> str:
    """Keep a title's own word from being read as one of the journal's marks."""
    return word.replace(":", "：", 1) if is_known(word) else word


def _apart(words: list[str]) -> tuple[list[str], list[str]]:
    """Part the marks at a title's end from the words before: they go among the other marks."""
    end = len(words)
    while end and is_mark(words[end - 1]):
        end -= 1
    return (words[:end], words[end:]) if end else (words, [])


def _marks(each: Each, own: list[str], kept: list[tuple[str, str]], said: set[str]) -> Iterator[str]:
    """Yield projects, contexts and pairs that the sentence does not say already, ordered by kind."""
    projects = [*([each.category] if each.category else []), *named(own, "+")]
    projects += [value for name, value in kept if name == "project"]
    contexts = [*each.labels, *named(own, "@"), *(value for name, value in kept if name == "context")]
    contexts.sort(key=lambda name: (name.casefold(), name))
    marks = [f"+{_joined(name)}" for name in projects] + [f"@{_joined(name)}" for name in contexts]
    marks += [word for word in own if pair(word)]
    marks += [
        word
        for name, value in kept
        if not is_known(word := f"{name}:{value}")
        and pair(word) == (name, value)
        and name not in ("project", "context", "priority")
    ]
    yield from (mark for mark in dict.fromkeys(marks) if mark not in said)


def _known(each: Each, letter: str | None, kept: list[tuple[str, str]]) -> Iterator[str]:
    """Yield the pairs that have a place in the journal."""
    if each.due:
        yield f"due:{each.due}"
    if letter and each.status in CLOSED:
        yield f"pri:{letter}"
    if each.status == "REJECTED":
        yield f"status:{REJECTED}"
    elif each.status in _STATUSES:
        yield f"status:{_STATUSES[each.status]}"
    if each.reason:
        yield f"reason:{_joined(each.reason)}"
    if each.estimate_minutes:
        yield f"estimate:{each.estimate_minutes}min"
    if each.language:
        yield f"lang:{each.language}"
    yield from (word for name, value in kept if is_known(word := f"{name}:{value}"))


def _letter(each: Each, kept: list[tuple[str, str]]) -> str | None:
    letter = _LETTERS.get(each.priority or "")
    further = next((value for name, value in kept if name == "priority" and len(value) == 1), None)
    return further if letter == "D" and further else letter


def _joined(name: str) -> str:
    return "_".join(name.split())
