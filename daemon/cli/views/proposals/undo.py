"""What an undo did: what was put back, what was left and why.

Never says that something was undone that was left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from daemon.cli.views.journal.history import change_list
from daemon.cli.views.proposals.pending import result_lines
from daemon.words import terms
from daemon.words.sentences import answer_words
from daemon.words.terminal_text import escape
from daemon.words.translation import _, ngettext
from daemon.words.values import field_words, with_colon

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from daemon.cli.terminal.display import Display
    from daemon.shapes.undo import LeftChangeJson, UndoResultJson, UndoViewJson


_THING_KEYS: Final = ("kind", "entity", "title", "field")


def view_lines(view: UndoViewJson, display: Display) -> Iterator[str]:
    """Draw the change that would be undone."""
    changes = view.get("changes") or []
    yield from change_list(changes, display)
    more = int(view.get("count") or 0) - len(changes)
    if more > 0:
        yield ngettext("and {count} more value", "and {count} more values", more).format(count=more)


def undo_lines(undone: UndoResultJson, display: Display) -> Iterator[str]:
    """Draw what an undo did."""
    verdicts = undone.get("verdicts") or ()
    if verdicts:
        yield from result_lines(list(verdicts), display)
    if undone.get("already"):
        yield _("{change} was undone already.").format(change=escape(undone.get("change") or ""))
    yield from change_list(undone.get("written") or [], display)
    for left in undone.get("left") or ():
        yield f"{display.paint(with_colon(_('left')), 'yellow')}{_left_words(left)}"


def _left_words(left: LeftChangeJson) -> str:
    kind, title, field = left.get("kind"), escape(left.get("title") or ""), left.get("field") or ""
    what = f"{terms.kind_name(kind)} “{title}”" if title else terms.kind_name(kind)
    named = what if field == "deleted" else f"{what}, {field_words(field)}"
    return f"{with_colon(named)}{answer_words(left, 'why')}"


def undo_rows(undone: UndoResultJson) -> Iterator[Sequence[object]]:
    """Give the plain columns: undone or left, kind, entity, title, field, before, after, why."""
    for change in undone.get("written") or ():
        yield ("undone", *(change.get(key) for key in (*_THING_KEYS, "before", "after")), None)
    for left in undone.get("left") or ():
        yield ("left", *(left.get(key) for key in _THING_KEYS), None, None, left.get("why"))
    for verdict in undone.get("verdicts") or ():
        yield (
            verdict.get("result"),
            "proposal",
            verdict.get("item_id"),
            None,
            "status",
            None,
            verdict.get("status"),
            verdict.get("message"),
        )
