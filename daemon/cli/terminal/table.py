"""Draws a table as lines; columns marked `shrinks` become narrower until the table fits.

Never escapes: the caller passes escaped cells, with their styles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from daemon.words.terminal_text import display_width, pad_right, truncate
from daemon.words.translation import _

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from daemon.cli.terminal.display import Display

_GAP = "  "


class Cell(NamedTuple):
    """One escaped text and how to colour it."""

    text: str
    styles: tuple[str, ...] = ()


class Column(NamedTuple):
    """A heading; `width_max` bounds the column, and `shrinks` lets it shrink to fit the terminal."""

    heading: str
    width_max: int = 1000
    shrinks: bool = False


def table_lines(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], display: Display) -> Iterator[str]:
    """Draw rows under headings; a column that is empty in every row is left out."""
    headings = [Cell(_(column.heading), ("dim",)) for column in columns]
    filled = _filled_columns(rows)
    if filled:
        yield from _align_rows(columns, [headings, *rows], filled, display)


def row_lines(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], display: Display) -> Iterator[str]:
    """Draw rows without headings, a line each; a column that is empty in every row is left out."""
    return _align_rows(columns, rows, _filled_columns(rows), display)


def _filled_columns(rows: Sequence[Sequence[Cell]]) -> list[int]:
    count = len(rows[0]) if rows else 0
    return [index for index in range(count) if any(row[index].text for row in rows)]


def _align_rows(
    columns: Sequence[Column], rows: Sequence[Sequence[Cell]], indices: Sequence[int], display: Display
) -> Iterator[str]:
    drawn = [[row[index] for index in indices] for row in rows]
    widths = _widths([columns[index] for index in indices], drawn, display)
    return (_line(row, widths, display) for row in drawn)


def _widths(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], display: Display) -> list[int]:
    needs = [
        min(max(display_width(row[index].text) for row in rows), column.width_max)
        for index, column in enumerate(columns)
    ]
    over = sum(needs) + len(_GAP) * (len(needs) - 1) - display.width
    for index, column in enumerate(columns):
        if column.shrinks and over > 0:
            needs[index] = max(needs[index] - over, display_width(_(column.heading)))
    return needs


def _line(row: Sequence[Cell], widths: Sequence[int], display: Display) -> str:
    texts = [truncate(cell.text, width) for cell, width in zip(row, widths, strict=True)]
    # The last column is not padded: trailing spaces would wrap on a narrow terminal.
    filled = [pad_right(text, width) for text, width in zip(texts[:-1], widths, strict=False)]
    return _GAP.join(
        display.paint(text, *cell.styles) for text, cell in zip([*filled, texts[-1]], row, strict=True)
    ).rstrip()
