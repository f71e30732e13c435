"""Who wrote what of a task, beside its page: agents' and imported values always, all of them where asked for.

Never repeats what the page itself says: items and notes carry their own authors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from daemon.cli.terminal.painted import STATUS_STYLES
from daemon.words.dates import relative_time
from daemon.words.terminal_text import escape, wrap_lines
from daemon.words.translation import _
from daemon.words.values import (
    author_words,
    field_words,
    in_quotation_marks,
    status_word,
    value_words,
    with_colon,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from daemon.cli.terminal.display import Display
    from daemon.shapes.answers import TaskJson

_WIDTH_MAX: Final = 88
# What only programs read, or what the page says in another way.
_SILENT: Final = ("position", "checklist_id", "task_id", "deleted", "happened_at", "source")


def origin_rows(task: TaskJson) -> Iterator[tuple[object, ...]]:
    """Give the plain columns: entity, field, author, time, device, proposal, imported from."""
    document: Any = task
    below = [item for checklist in document.get("checklists") or () for item in checklist.get("items") or ()]
    for entity in [document, *below, *(document.get("entries") or ())]:
        for field, origin in (entity.get("provenance") or {}).items():
            get = origin.get
            where = get("device_name"), get("item_id"), get("imported_from")
            yield (entity.get("id"), field, get("by"), get("at"), *where)


def foreign_lines(task: TaskJson, display: Display) -> Iterator[str]:
    """Draw which of a task's own values are an agent's or were imported; not what follows from a series."""
    document: Any = task
    for field, origin in (document.get("provenance") or {}).items():
        is_foreign = origin.get("by") not in ("user", "system") or origin.get("is_put_back")
        if is_foreign and field not in _SILENT:
            by = _("{field} by {who}").format(field=_field(field), who=origin_words(origin, display))
            yield display.paint(by, "dim")


def origin_lines(task: TaskJson, display: Display) -> Iterator[str]:
    """Draw who wrote each value of a task and of what belongs to it, and the statuses that it has had."""
    document: Any = task
    width = min(display.width, _WIDTH_MAX)
    yield from (
        "",
        display.paint(_("Who wrote what"), "bold"),
        *_fields(document.get("provenance") or {}, display),
    )
    below = [item for checklist in document.get("checklists") or () for item in checklist.get("items") or ()]
    for item in [*below, *(document.get("entries") or ())]:
        yield from (f"  {line}" for line in wrap_lines(_quoted_name(item), width - 2)[:1])
        yield from (f"  {line}" for line in _fields(item.get("provenance") or {}, display))
    if steps := document.get("status_history"):
        yield from ("", display.paint(_("Statuses"), "bold"))
        for step in steps:
            status = str(step.get("status") or "")
            text = display.paint(status_word(status), *STATUS_STYLES.get(status, ()))
            text = f"{with_colon(text)}{escape(step['reason'])}" if step.get("reason") else text
            yield f"  {text}  {display.paint(origin_words(step.get('origin') or {}, display), 'dim')}"


def unknown_lines(task: TaskJson, display: Display) -> Iterator[str]:
    """Draw the values that a newer version wrote, which this one does not know."""
    document: Any = task
    for field, value in (document.get("unknown") or {}).items():
        words = f"{with_colon(escape(field))}{value_words(value, field)}  {_('(of a newer version)')}"
        yield display.paint(words, "dim")


def origin_words(origin: Mapping[str, Any], display: Display) -> str:
    """Say who, where, when, and where it came from: "you on phone, 5 min ago, imported from todotxt"."""
    who = author_words(origin.get("by"), origin.get("device_name"), origin.get("as_proposed"))
    words = [who, relative_time(origin.get("at"), display.now_s)]
    if origin.get("answer"):
        words[0] = author_words("user", origin.get("device_name"))
        answer, question = (in_quotation_marks(str(origin.get(key))) for key in ("answer", "question"))
        words.append(_("by the answer {answer} to {question}").format(answer=answer, question=question))
    if origin.get("is_put_back"):
        words.append(_("put back by an undo"))
    if origin.get("imported_from"):
        words.append(_("imported from {format}").format(format=escape(origin["imported_from"])))
    return ", ".join(filter(None, words))


def _fields(origins: Mapping[str, Any], display: Display) -> Iterator[str]:
    for field, origin in origins.items():
        if field not in _SILENT:
            yield f"  {_field(field)}  {display.paint(origin_words(origin, display), 'dim')}"


def _field(field: str) -> str:
    name, slash, member = field.partition("/")
    return f"{field_words(name.removesuffix('_ids'))} {escape(member)}" if slash else field_words(field)


def _quoted_name(entity: Mapping[str, Any]) -> str:
    return in_quotation_marks(str(entity.get("title") or entity.get("text") or "").strip())
