"""What was found: each task with the places in it, and the words that matched.

Never shows more of a place than its snippet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from daemon.cli.terminal.painted import STATUS_STYLES
from daemon.words.short_ids import short_ids_of
from daemon.words.terminal_text import display_width, escape
from daemon.words.translation import _, gettext_noop
from daemon.words.values import field_words, status_word, with_colon

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from daemon.cli.terminal.display import Display

_INDENT: Final = "      "
_PLACES: Final = {
    "checklist": gettext_noop("checklist"),
    "checklist_item": gettext_noop("item"),
    "entry": gettext_noop("note"),
    "time_record": gettext_noop("time"),
    "label": gettext_noop("label"),
    "category": gettext_noop("category"),
    "reason": gettext_noop("reason"),
}


def match_rows(matches: Any) -> Iterator[Sequence[object]]:
    """Give the plain columns: task, title, kind, field, id, text; a row for each place."""
    for task in matches.get("tasks") or ():
        for place in task.get("places") or ():
            yield (
                task.get("id"),
                task.get("title"),
                place.get("kind"),
                place.get("field"),
                place.get("id"),
                _snippet(place),
            )


def match_list(matches: Any, display: Display) -> Iterator[str]:
    """Draw a line for each task, and below it the places other than its title."""
    tasks = matches.get("tasks") or ()
    ids = short_ids_of(tasks)
    for task in tasks:
        short = escape(ids.get(task.get("id", ""), ""))
        yield f"{display.paint(short, 'cyan')}  {_title(task, display)}{_status_suffix(task, display)}"
        for place in task.get("places") or ():
            if not _is_title(place):
                yield from _place(place, display)


def _is_title(place: Any) -> bool:
    return bool(place.get("kind") == "task" and place.get("field") == "title")


def _title(task: Any, display: Display) -> str:
    """Mark the words in the title if the snippet contains all of it."""
    title = str(task.get("title") or "")
    for place in task.get("places") or ():
        if _is_title(place) and _snippet(place) == title:
            return _painted_snippet(place, display)
    return escape(title)


def _status_suffix(task: Any, display: Display) -> str:
    status = str(task.get("status") or "")
    if task.get("removed"):
        return "  " + display.paint(status_word("removed"), "red")
    if status in ("", "OPEN"):
        return ""
    return "  " + display.paint(status_word(status), *STATUS_STYLES.get(status, ()))


def _place(place: Any, display: Display) -> Iterator[str]:
    kind = str(place.get("kind") or "")
    word = str(place.get("field") or "") if kind == "task" else kind
    place_words = with_colon(_(_PLACES[word]) if word in _PLACES else field_words(word))
    room = display.width - len(_INDENT) - display_width(place_words)
    text = _painted_snippet(place, display) if display_width(escape(_snippet(place))) <= room else None
    if text is not None:
        yield f"{_INDENT}{display.paint(place_words, 'dim')}{text}"
        return
    yield f"{_INDENT}{display.paint(place_words.rstrip(), 'dim')}"
    yield from (
        f"{_INDENT}  {line}" for line in _wrap_snippet(place, display.width - len(_INDENT) - 2, display)
    )


def _wrap_snippet(place: Any, width: int, display: Display) -> Iterator[str]:
    """Break a snippet into lines between words, marked ones painted after they were measured."""
    line, used = "", 0
    for piece in place.get("snippet") or ():
        for part in _words(str(piece.get("text") or "")):
            word = escape(part)
            if used and used + display_width(word.rstrip()) > width:
                yield line.rstrip()
                line, used = "", 0
            line += display.paint(word, "bold", "yellow") if piece.get("hit") else word
            used += display_width(word)
    if line.strip():
        yield line.rstrip()


def _words(text: str) -> Iterator[str]:
    """Cut a text behind its spaces."""
    start = 0
    for index, letter in enumerate(text):
        if letter.isspace():
            yield text[start:index] + " "
            start = index + 1
    if start < len(text):
        yield text[start:]


def _snippet(place: Any) -> str:
    return "".join(str(piece.get("text") or "") for piece in place.get("snippet") or ())


def _painted_snippet(place: Any, display: Display) -> str:
    return "".join(
        display.paint(escape(piece.get("text") or ""), "bold", "yellow")
        if piece.get("hit")
        else escape(piece.get("text") or "")
        for piece in place.get("snippet") or ()
    )
