"""What was removed, and what is in sight again.

Never leaves out who removed it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from daemon.words import terms
from daemon.words.dates import relative_time
from daemon.words.short_ids import short_ids_of
from daemon.words.terminal_text import display_width, escape, pad_right, truncate
from daemon.words.translation import _
from daemon.words.values import author_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from daemon.cli.terminal.display import Display
    from daemon.shapes.undo import BroughtBackJson, RemovedThingJson

_TITLE_WIDTH_MIN: Final = 16
_ROW_KEYS: Final = ("id", "kind", "title", "at", "by", "device", "task_id", "change")


def removed_rows(listed: Iterable[RemovedThingJson]) -> Iterator[Sequence[object]]:
    """Give the plain columns, those that `placet removed --help` names."""
    for removed in listed:
        yield tuple(removed.get(key) for key in _ROW_KEYS)


def removed_lines(listed: Sequence[RemovedThingJson], display: Display) -> Iterator[str]:
    """Draw a line for each: its id, what it is, of which task, and who removed it when."""
    ids = short_ids_of(listed, "id")
    kinds = [terms.kind_name(removed.get("kind")) for removed in listed]
    wide = max(map(display_width, kinds), default=0)
    for removed, kind in zip(listed, kinds, strict=True):
        short = display.paint(escape(ids.get(removed.get("id", ""), "")), "cyan")
        who = author_words(removed.get("by"), removed.get("device_name") or removed.get("device"), None)
        when = escape(relative_time(removed.get("at"), display.now_s))
        behind = display.paint(f"{when} · {who}", "dim")
        room = display.width - wide - display_width(when) - display_width(who) - 16
        title = truncate(_title(removed), max(room, _TITLE_WIDTH_MIN))
        yield f"{short}  {pad_right(kind, wide)}  {title}  {behind}"


def _title(removed: RemovedThingJson) -> str:
    title, task = escape(removed.get("title") or ""), escape(removed.get("task_title") or "")
    if not task or task == title:
        return title
    of_task = _("of “{task}”").format(task=task)
    return f"{title} {of_task}" if title else of_task


def brought_back_rows(listed: Iterable[BroughtBackJson]) -> Iterator[Sequence[object]]:
    """Give the plain columns: id, kind, title."""
    for thing in listed:
        yield (thing.get("id"), thing.get("kind"), thing.get("title"))


def brought_back_lines(listed: Sequence[BroughtBackJson], display: Display) -> Iterator[str]:
    """Draw what is in sight again."""
    ids = short_ids_of(listed, "id")
    for thing in listed:
        short = display.paint(escape(ids.get(thing.get("id", ""), "")), "cyan")
        kind = terms.kind_name(thing.get("kind"))
        yield f"{_('Restored')} {kind} {short}  {escape(thing.get('title') or '')}".rstrip()
