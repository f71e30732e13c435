"""The history: who changed what, when, on which device, from what to what, and why.

Never shortens a value so far that a change of it could not be told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from daemon.cli.short import shorts
from daemon.cli.text import padded, shown, wrapped
from daemon.cli.views.values import author_words, before_after, field_words, value_words
from daemon.cli.when import ago

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from daemon.cli.client import Event
    from daemon.cli.look import Look
    from daemon.cli.shapes import Change

_WHEN_WIDTH: Final = 11
_WIDTH_MAX: Final = 100
_ROW_KEYS: Final = ("seq", "at", "by", "device", "kind", "entity", "field", "before", "after", "why")


def change_rows(changes: Iterable[Change]) -> Iterator[Sequence[object]]:
    """Give the plain columns: position, time, author, device, kind, entity, field, before, after, why."""
    for change in changes:
        yield tuple(change.get(key) for key in _ROW_KEYS)


def change_list(changes: Sequence[Change], look: Look) -> Iterator[str]:
    """Draw the changes: a line for what a commit touched, and one for each field of it."""
    ids = shorts(changes, "entity")
    above: Change = {}
    for change in changes:
        if any(change.get(key) != above.get(key) for key in ("seq", "entity")):
            yield _heading(change, ids, look)
        yield from _fields(change, look)
        above = change


def _heading(change: Change, ids: dict[str, str], look: Look) -> str:
    when = look.paint(padded(shown(ago(change.get("at"), look.now_s)), _WHEN_WIDTH), "dim")
    who = author_words(change.get("by"), change.get("device_name") or change.get("device"))
    short = look.paint(shown(ids.get(change.get("entity", ""), "")), "cyan")
    kind = shown(change.get("kind") or "").replace("_", " ")
    return f"{when}  {who}: {kind} {short}  {shown(change.get('title') or '')}".rstrip()


def _fields(change: Change, look: Look) -> Iterator[str]:
    margin = " " * (_WHEN_WIDTH + 2)
    if change.get("field"):
        yield margin + _what(change, look)
    if change.get("why"):
        width = min(look.width, _WIDTH_MAX) - len(margin)
        yield from (margin + look.paint(line, "dim") for line in wrapped(f"why: {change['why']}", width))


def _what(change: Change, look: Look) -> str:
    field, before, after = change.get("field", ""), change.get("before"), change.get("after")
    name = field_words(field)
    if before is None:
        return f"{name}: {look.paint(value_words(after, field), 'green')}"
    return f"{name}: {before_after(before, after, field, look)}"


def event_lines(event: Event, told: Any, look: Look) -> Iterator[str]:
    """Draw one event of the stream: a commit by what it changed, anything else as it is."""
    changes = told.get("changes") if isinstance(told, dict) else None
    if isinstance(changes, list) and changes:
        yield from change_list(changes, look)
        return
    what = value_words(told) if isinstance(told, dict | list) else shown(told)
    yield f"{look.paint(shown(event.id), 'dim')}  {shown(event.name)}  {what}"
