"""Series: a line each, and one with all that it says.

Never computes a day: the daemon does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from daemon.cli.terminal.table import Cell, Column, table_lines
from daemon.words.dates import due_words, duration_words, full_day_words
from daemon.words.recurrence import often_words
from daemon.words.short_ids import short_ids_of
from daemon.words.terminal_text import escape
from daemon.words.translation import _, gettext_noop

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from daemon.cli.terminal.display import Display
    from daemon.shapes.others import SeriesJson

_COLUMNS: Final = (
    Column(gettext_noop("ID")),
    Column(gettext_noop("NEXT")),
    Column(gettext_noop("HOW OFTEN"), width_max=40),
    Column(gettext_noop("TITLE")),
)


def series_rows(all_series: Iterable[SeriesJson]) -> Iterator[Sequence[object]]:
    """Give the plain columns: id, rule, first day, last day, title, next days."""
    for series in all_series:
        yield (
            series.get("id"),
            series.get("rule"),
            series.get("first"),
            series.get("until"),
            series.get("title"),
            ",".join(series.get("next") or ()),
        )


def series_list(all_series: Sequence[SeriesJson], display: Display) -> Iterator[str]:
    """Draw the table of series."""
    all_series = sorted(all_series, key=_next_day)
    ids = short_ids_of(all_series)
    rows = [
        [
            Cell(escape(ids.get(series.get("id", ""), "")), ("cyan",)),
            Cell(_next_in_short(series, display), ("dim",)),
            Cell(_often_text(series)),
            Cell(escape(series.get("title") or "")),
        ]
        for series in all_series
    ]
    return table_lines(_COLUMNS, rows, display) if rows else iter(())


def series_line(verb: str, series: SeriesJson, display: Display) -> Iterator[str]:
    """Answer what was done with a series: its title, how often it comes, and its next days."""
    sign = display.paint(display.symbol("✓"), "green")
    short = display.paint(escape(short_ids_of([series]).get(series.get("id", ""), "")), "cyan")
    yield f"{sign} {verb} {short}  {escape(series.get('title') or '')}"
    yield f"  {_often_text(series)}: {_next_words(series)}"


def series_page(series: SeriesJson, display: Display) -> Iterator[str]:
    """Draw a series with all that it says."""
    yield display.paint(escape(series.get("title") or ""), "bold")
    facts = [
        (_("How often"), _often_text(series)),
        (_("Next"), _next_words(series)),
        (_("From"), full_day_words(series.get("first") or "", None).words),
        (_("Until"), full_day_words(until, None).words if (until := series.get("until")) else ""),
        (_("Priority"), escape(series.get("priority") or "")),
        (_("Length"), duration_words(minutes) if (minutes := series.get("estimate_minutes")) else ""),
        (_("Labels"), ", ".join(escape(label) for label in series.get("labels") or ())),
        (_("Category"), escape(series.get("category") or "")),
        (_("Left out"), ", ".join(full_day_words(day, None).words for day in series.get("skipped") or ())),
    ]
    for name, words in facts:
        if words:
            yield f"  {display.paint(name, 'dim')}  {words}"
    for step in series.get("steps") or ():
        yield f"  [ ] {escape(step)}"


def _often_text(series: SeriesJson) -> str:
    return often_words(series.get("rule") or "", series.get("due_time"))


def next_words(series: SeriesJson) -> str:
    """Say how often a task comes again, and when the next one is due."""
    days = series.get("next") or ()
    often = _often_text(series)
    if not days:
        return _("{often}: nothing is to come").format(often=often)
    return _("{often}: the next one is due {day}").format(
        often=often, day=full_day_words(days[0], None).words
    )


def _next_day(series: SeriesJson) -> tuple[str, str]:
    """Return by what series are sorted: by what comes next, then by title."""
    days = series.get("next")
    return days[0] if days else "~", series.get("title") or ""


def _next_in_short(series: SeriesJson, display: Display) -> str:
    days = series.get("next") or ()
    if not days:
        return _("none") if series.get("is_understood") else _("not understood")
    return due_words(days[0], display.now_s)[0]


def _next_words(series: SeriesJson) -> str:
    if not series.get("is_understood"):
        return _("a newer version made this rule; update this device to see its tasks")
    days = series.get("next") or ()
    return ", ".join(full_day_words(day, None).words for day in days) if days else _("nothing is to come")
