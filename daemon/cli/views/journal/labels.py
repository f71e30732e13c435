"""Labels and categories: their lists, and labels in the colours that they were given.

Never colours but on a terminal with colours, and never with a code that came from elsewhere.
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
    from daemon.shapes.answers import TaskJson
    from daemon.shapes.others import CategoryJson, LabelJson

_NAME_WIDTH_MAX: Final = 28
_LABEL_COLUMNS: Final = (
    Column(gettext_noop("ID")),
    Column(gettext_noop("LABEL"), width_max=_NAME_WIDTH_MAX),
    Column(gettext_noop("COLOR")),
    Column(gettext_noop("FOR"), width_max=24),
    Column(gettext_noop("ABOUT"), shrinks=True),
    Column(""),
)
_CATEGORY_COLUMNS: Final = (
    Column(gettext_noop("ID")),
    Column(gettext_noop("CATEGORY"), width_max=_NAME_WIDTH_MAX),
    Column(gettext_noop("COLOR")),
    Column(gettext_noop("LANGUAGE")),
    Column(gettext_noop("CORRECTIONS"), shrinks=True),
    Column(""),
)


def label_rows(labels: Iterable[LabelJson]) -> Iterator[Sequence[object]]:
    """Give the plain columns: id, name, colour, categories, description."""
    for label in labels:
        get = label.get
        yield get("id"), get("name"), get("color"), get("categories"), get("description")


def category_rows(categories: Iterable[CategoryJson]) -> Iterator[Sequence[object]]:
    """Give the plain columns: id, name, colour, language, corrections."""
    for label in categories:
        get = label.get
        yield get("id"), get("name"), get("color"), get("default_language"), get("correction_examples")


def label_list(labels: Sequence[LabelJson], display: Display) -> Iterator[str]:
    """Draw the table of labels."""
    ids = short_ids_of(labels)
    rows = [
        [
            Cell(escape(ids.get(label.get("id", ""), "")), ("cyan",)),
            Cell(escape(label.get("name") or ""), _style(label)),
            Cell(escape(label.get("color") or "")),
            Cell(escape(", ".join(label.get("categories") or ()))),
            Cell(escape(label.get("description") or ""), ("dim",)),
            _remark(label),
        ]
        for label in labels
    ]
    return table_lines(_LABEL_COLUMNS, rows, display) if rows else iter(())


def category_list(categories: Sequence[CategoryJson], display: Display) -> Iterator[str]:
    """Draw the table of categories."""
    ids = short_ids_of(categories)
    rows = [
        [
            Cell(escape(ids.get(label.get("id", ""), "")), ("cyan",)),
            Cell(escape(label.get("name") or ""), _style(label)),
            Cell(escape(label.get("color") or "")),
            Cell(escape(label.get("default_language") or "")),
            Cell(escape(", ".join(label.get("correction_examples") or ())), ("dim",)),
            _remark(label),
        ]
        for label in categories
    ]
    return table_lines(_CATEGORY_COLUMNS, rows, display) if rows else iter(())


def _style(label: LabelJson | CategoryJson) -> tuple[str, ...]:
    color = label.get("color")
    return (color,) if isinstance(color, str) else ()


def _remark(label: LabelJson | CategoryJson) -> Cell:
    if label.get("is_double"):
        return Cell(_("same name twice"), ("red",))
    return Cell(_("two words"), ("red",)) if label.get("conflicts") else Cell("")


def change_done_line(
    verb: str, listed: Sequence[LabelJson | CategoryJson], display: Display
) -> Iterator[str]:
    """Answer a change of labels or categories: what was done, the id, the name in its colour."""
    ids = short_ids_of(listed)
    sign = display.paint(display.symbol("✓"), "green")
    for label in listed:
        short = display.paint(escape(ids.get(label.get("id", ""), "")), "cyan")
        yield f"{sign} {verb} {short}  {display.paint(escape(label.get('name') or ''), *_style(label))}"


def label_words(task: TaskJson, display: Display) -> Iterator[str]:
    """Give the labels of a task, each in its colour."""
    colors = task.get("label_colors") or {}
    for label in task.get("labels") or ():
        yield display.paint(f"#{escape(label)}", colors.get(label) or "magenta")
