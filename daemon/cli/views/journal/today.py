"""A day: its groups, each with a line for each of its first tasks.

Never leaves out tasks of a group without counting them.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from daemon.cli.terminal.table import row_lines
from daemon.cli.views.journal.tasks import LINE_COLUMNS, line_cells, plain_cells
from daemon.words.dates import noon_s
from daemon.words.day_groups import group_words, is_day
from daemon.words.short_ids import short_ids_of
from daemon.words.translation import _

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from daemon.cli.terminal.display import Display
    from daemon.shapes.others import DayJson


def day_rows(day: DayJson) -> Iterator[Sequence[object]]:
    """Give the plain columns of each task that is shown; the first two are those of its group."""
    for group in day.get("groups") or ():
        for task in group.get("tasks") or ():
            yield group.get("name"), group.get("day"), *plain_cells(task), task.get("waiting")


def day_lines(day: DayJson, display: Display) -> Iterator[str]:
    """Draw each group that has tasks: its head with their count, and a line for each of the first."""
    groups = [group for group in day.get("groups") or () if group.get("count")]
    tasks = [task for group in groups for task in group.get("tasks") or ()]
    ids = short_ids_of(tasks)
    # What is tomorrow follows from the day of the daemon, in whatever zone this terminal is.
    today = str(day.get("today") or "")
    day_display = display._replace(now_s=noon_s(today)) if is_day(today) else display
    # All at once, so that what is below each other is aligned.
    lines = row_lines(LINE_COLUMNS, [line_cells(task, ids, day_display) for task in tasks], display)
    for number, group in enumerate(groups):
        count, shown_count = group.get("count") or 0, len(group.get("tasks") or ())
        words = group_words(group.get("name") or "", group.get("day"), today)
        styles = ("bold", "red") if group.get("name") == "overdue" else ("bold",)
        yield from [""] * bool(number)
        yield f"{display.paint(words, *styles)} {display.symbol('·')} {count}"
        yield from islice(lines, shown_count)
        if more := count - shown_count:
            yield display.paint(_("and {count} more").format(count=more), "dim")
