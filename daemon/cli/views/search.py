"""What was found: each task with the places in it, and the words that matched.

Never shows more of a place than its snippet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from daemon.cli.short import shorts
from daemon.cli.text import cells, shown
from daemon.cli.views.values import STATUS_STYLES, field_words, headed, status_word
from daemon.cli.words import _, later

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from daemon.cli.look import Look

_INDENT: Final = "      "
_PLACES: Final = {
    "checklist": later("checklist"),
    "checklist_item": later("item"),
    "entry": later("note"),
    "time_record": later("time"),
    "label": later("label"),
    "category": later("category"),
    "reason": later("reason"),
}


def found_rows(found: Any) -> Iterator[Sequence[object]]:
    """Give the plain columns: task, title, kind, field, id, text; a row for each place."""
    for task in found.get("tasks") or ():
        for place in task.get("places") or ():
            yield (
                task.get("id"),
                task.get("title"),
                place.get("kind"),
                place.get("field"),
                place.get("id"),
                _snippet(place),
            )


def found_list(found: Any, look: Look) -> Iterator[str]:
    """Draw a line for each task, and below it the places other than its title."""
    tasks = found.get("tasks") or ()
    ids = shorts(tasks)
    for task in tasks:
        short = shown(ids.get(task.get("id", ""), ""))
        yield f"{look.paint(short, 'cyan')}  {_title(task, look)}{_standing(task, look)}"
        for place in task.get("places") or ():
            if not _is_title(place):
                yield from _place(place, look)


def _is_title(place: Any) -> bool:
    return bool(place.get("kind") == "task" and place.get("field") == "title")


def _title(task: Any, look: Look) -> str:
    """Mark the words in the title where the snippet holds all of it."""
    title = str(task.get("title") or "")
    for place in task.get("places") or ():
        if _is_title(place) and _snippet(place) == title:
            return _marked(place, look)
    return shown(title)


def _standing(task: Any, look: Look) -> str:
    status = str(task.get("status") or "")
    if task.get("removed"):
        return "  " + look.paint(status_word("removed"), "red")
    if status in ("", "OPEN"):
        return ""
    return "  " + look.paint(status_word(status), *STATUS_STYLES.get(status, ()))


def _place(place: Any, look: Look) -> Iterator[str]:
    kind = str(place.get("kind") or "")
    word = str(place.get("field") or "") if kind == "task" else kind
    said = headed(_(_PLACES[word]) if word in _PLACES else field_words(word))
    room = look.width - len(_INDENT) - cells(said)
    text = _marked(place, look) if cells(shown(_snippet(place))) <= room else None
    if text is not None:
        yield f"{_INDENT}{look.paint(said, 'dim')}{text}"
        return
    yield f"{_INDENT}{look.paint(said.rstrip(), 'dim')}"
    yield from (f"{_INDENT}  {line}" for line in _wrapped(place, look.width - len(_INDENT) - 2, look))


def _wrapped(place: Any, width: int, look: Look) -> Iterator[str]:
    """Break a snippet into lines between words, marked ones painted after they were measured."""
    line, used = "", 0
    for piece in place.get("snippet") or ():
        for part in _words(str(piece.get("text") or "")):
            word = shown(part)
            if used and used + cells(word.rstrip()) > width:
                yield line.rstrip()
                line, used = "", 0
            line += look.paint(word, "bold", "yellow") if piece.get("hit") else word
            used += cells(word)
    if line.strip():
        yield line.rstrip()


def _words(text: str) -> Iterator[str]:
    """Cut a text behind its spaces."""
    start = 0
    for at, letter in enumerate(text):
        if letter.isspace():
            yield text[start:at] + " "
            start = at + 1
    if start < len(text):
        yield text[start:]


def _snippet(place: Any) -> str:
    return "".join(str(piece.get("text") or "") for piece in place.get("snippet") or ())


def _marked(place: Any, look: Look) -> str:
    return "".join(
        look.paint(shown(piece.get("text") or ""), "bold", "yellow")
        if piece.get("hit")
        else shown(piece.get("text") or "")
        for piece in place.get("snippet") or ()
    )
