"""Preferences: the list of lines that agents read.

Never shortens a line: a person should see all that an agent is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from daemon.cli.terminal.table import Cell, Column, table_lines
from daemon.words.short_ids import short_ids_of
from daemon.words.terminal_text import escape
from daemon.words.translation import _, gettext_noop

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from daemon.cli.terminal.display import Display
    from daemon.shapes.others import PreferenceJson

_COLUMNS: Final = (
    Column(gettext_noop("ID")),
    Column(gettext_noop("FOR"), width_max=24),
    Column(gettext_noop("ABOUT")),
)


def preference_rows(lines: Iterable[PreferenceJson]) -> Iterator[Sequence[object]]:
    """Give the plain columns: id, category, text."""
    for line in lines:
        yield line.get("id"), line.get("category"), line.get("text")


def preference_list(lines: Sequence[PreferenceJson], display: Display) -> Iterator[str]:
    """Draw the table of preferences."""
    ids = short_ids_of(lines)
    rows = [
        [
            Cell(escape(ids.get(line.get("id", ""), "")), ("cyan",)),
            Cell(escape(line.get("category") or "") or _("all tasks"), ("dim",)),
            Cell(escape(line.get("text") or "")),
        ]
        for line in lines
    ]
    return table_lines(_COLUMNS, rows, display) if rows else iter(())


def preference_lines(verb: str, lines: Sequence[PreferenceJson], display: Display) -> Iterator[str]:
    """Answer what was done with preferences, a line each."""
    ids = short_ids_of(lines)
    for line in lines:
        sign, short = display.paint(display.symbol("✓"), "green"), escape(ids.get(line.get("id", ""), ""))
        yield f"{sign} {verb} {display.paint(short, 'cyan')}  {escape(line.get('text') or '')}"
