"""Draws a table as lines: columns as wide as they need, one of them giving way to the width.

Never escapes: cells come escaped, with their style beside them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from daemon.cli.text import cells, cut, padded
from daemon.cli.words import _

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from daemon.cli.look import Look

_GAP = "  "


class Cell(NamedTuple):
    """One escaped text and how to colour it."""

    text: str
    styles: tuple[str, ...] = ()


class Column(NamedTuple):
    """A heading; `width_max` bounds the column, and `gives` lets it shrink to fit the terminal."""

    heading: str
    width_max: int = 1000
    gives: bool = False


def table(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], look: Look) -> Iterator[str]:
    """Draw rows under headings; a column that is empty in every row is left out."""
    kept = [at for at in range(len(columns)) if any(row[at].text for row in rows)]
    if not kept:
        return
    widths = _widths([columns[at] for at in kept], [[row[at] for at in kept] for row in rows], look)
    headings = [Cell(_(columns[at].heading), ("dim",)) for at in kept]
    for row in (headings, *([row[at] for at in kept] for row in rows)):
        yield _line(row, widths, look)


def _widths(columns: Sequence[Column], rows: Sequence[Sequence[Cell]], look: Look) -> list[int]:
    needs = [
        min(max(cells(_(column.heading)), *(cells(row[at].text) for row in rows)), column.width_max)
        for at, column in enumerate(columns)
    ]
    over = sum(needs) + len(_GAP) * (len(needs) - 1) - look.width
    for at, column in enumerate(columns):
        if column.gives and over > 0:
            needs[at] = max(needs[at] - over, cells(_(column.heading)))
    return needs


def _line(row: Sequence[Cell], widths: Sequence[int], look: Look) -> str:
    texts = [cut(cell.text, width) for cell, width in zip(row, widths, strict=True)]
    # The last column is not filled up: trailing spaces wrap on a narrow terminal.
    filled = [padded(text, width) for text, width in zip(texts[:-1], widths, strict=False)]
    return _GAP.join(
        look.paint(text, *cell.styles) for text, cell in zip([*filled, texts[-1]], row, strict=True)
    ).rstrip()
