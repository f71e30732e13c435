"""Labels and categories: their lists, and labels in the colours that they were given.

Never colours but on a terminal with colours, and never with a code that came from elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from daemon.cli.short import shorts
from daemon.cli.table import Cell, Column, table
from daemon.cli.text import shown
from daemon.cli.words import _, later

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from daemon.cli.look import Look
    from daemon.cli.shapes import Category, Label, Task

_NAME_WIDTH_MAX: Final = 28
_LABEL_COLUMNS: Final = (
    Column(later("ID")),
    Column(later("LABEL"), width_max=_NAME_WIDTH_MAX),
    Column(later("COLOR")),
    Column(later("FOR"), width_max=24),
    Column(later("ABOUT"), gives=True),
    Column(""),
)
_CATEGORY_COLUMNS: Final = (
    Column(later("ID")),
    Column(later("CATEGORY"), width_max=_NAME_WIDTH_MAX),
    Column(later("COLOR")),
    Column(later("LANGUAGE")),
    Column(later("CORRECTIONS"), gives=True),
    Column(""),
)


def label_rows(labels: Iterable[Label]) -> Iterator[Sequence[object]]:
    """Give the plain columns: id, name, colour, categories, description."""
    for one in labels:
        get = one.get
        yield get("id"), get("name"), get("color"), get("categories"), get("description")


def category_rows(categories: Iterable[Category]) -> Iterator[Sequence[object]]:
    """Give the plain columns: id, name, colour, language, corrections."""
    for one in categories:
        get = one.get
        yield get("id"), get("name"), get("color"), get("default_language"), get("correction_examples")


def label_list(labels: Sequence[Label], look: Look) -> Iterator[str]:
    """Draw the table of labels."""
    ids = shorts(labels)
    rows = [
        [
            Cell(shown(ids.get(one.get("id", ""), "")), ("cyan",)),
            Cell(shown(one.get("name") or ""), _style(one)),
            Cell(shown(one.get("color") or "")),
            Cell(shown(", ".join(one.get("categories") or ()))),
            Cell(shown(one.get("description") or ""), ("dim",)),
            _remark(one),
        ]
        for one in labels
    ]
    return table(_LABEL_COLUMNS, rows, look) if rows else iter(())


def category_list(categories: Sequence[Category], look: Look) -> Iterator[str]:
    """Draw the table of categories."""
    ids = shorts(categories)
    rows = [
        [
            Cell(shown(ids.get(one.get("id", ""), "")), ("cyan",)),
            Cell(shown(one.get("name") or ""), _style(one)),
            Cell(shown(one.get("color") or "")),
            Cell(shown(one.get("default_language") or "")),
            Cell(shown(", ".join(one.get("correction_examples") or ())), ("dim",)),
            _remark(one),
        ]
        for one in categories
    ]
    return table(_CATEGORY_COLUMNS, rows, look) if rows else iter(())


def _style(one: Label | Category) -> tuple[str, ...]:
    color = one.get("color")
    return (color,) if isinstance(color, str) else ()


def _remark(one: Label | Category) -> Cell:
    if one.get("is_double"):
        return Cell(_("same name twice"), ("red",))
    return Cell(_("two words"), ("red",)) if one.get("conflicts") else Cell("")


def named_done(verb: str, listed: Sequence[Label | Category], look: Look) -> Iterator[str]:
    """Answer a change of labels or categories: what was done, the id, the name in its colour."""
    ids = shorts(listed)
    sign = look.paint(look.sign("✓"), "green")
    for one in listed:
        short = look.paint(shown(ids.get(one.get("id", ""), "")), "cyan")
        yield f"{sign} {verb} {short}  {look.paint(shown(one.get('name') or ''), *_style(one))}"


def label_words(task: Task, look: Look) -> Iterator[str]:
    """Give the labels of a task, each in its colour."""
    colors = task.get("label_colors") or {}
    for label in task.get("labels") or ():
        yield look.paint(f"#{shown(label)}", colors.get(label) or "magenta")
