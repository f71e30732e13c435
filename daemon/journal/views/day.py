"""A day: what is overdue, what is due on it and in the week behind it, and what is in progress without a day.

Never reads more tasks than it shows: what it only counts, an index counts.
"""

from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct, structs

from daemon.journal.recurring.occurrences import due_within, first_states, shown_occurrences
from daemon.journal.views.line_bounds import fitting_lines, short_texts
from daemon.journal.views.task_lines import TaskLine, first_in_order, task_lines_of
from daemon.task_fields import IN_PROGRESS
from store.queries.task_ranges import TaskRange, count_beginning_after, count_tasks, first_task_states
from store.snapshot import Snapshot

DAYS_AHEAD: Final = 7

GroupName = Literal["overdue", "today", "tomorrow", "day", "in_progress"]


class DayLine(TaskLine, frozen=True, kw_only=True):
    """A task as a day shows it. `waiting` counts the proposals on it that wait for a person."""

    waiting: int = 0


class DayGroup(Struct, frozen=True):
    """Tasks of a day: how many there are, and the first of them, by their day, priority and age.

    `overdue` is what was due before the day, `today` and `tomorrow` what is due on it and the next, `day`
    what is due on one of the days behind them, and `in_progress` what is so and due on no day. `day` is null
    for the first and the last.
    """

    name: GroupName
    day: Annotated[str | None, Meta(description="YYYY-MM-DD.")]
    count: int
    tasks: list[DayLine]


class Day(Struct, frozen=True):
    """What a day shows of the open tasks; each of them is in one group at most, and a group may be empty.

    A task whose start lies behind the day is in no group, unless it is asked for. `begin_later` counts those
    that are left out, whenever they are due.
    """

    day: Annotated[str, Meta(description="YYYY-MM-DD.")]
    groups: list[DayGroup]
    begin_later: int
    today: Annotated[str | None, Meta(description="The day that it is here, YYYY-MM-DD.")] = None


def read_day(
    snapshot: Snapshot,
    day: date,
    *,
    limit: int,
    waiting: Mapping[str, int],
    later: bool = False,
    today: date | None = None,
) -> Day:
    """Return what a day shows, `limit` tasks of each group at most; `later` adds those that begin later.

    `waiting` counts the waiting proposals by the ids of their tasks. Of lines that are too long for one
    answer it shows the first. With `today`, the tasks of series that nobody has touched are shown too.
    """
    shown_day = day.isoformat()
    groups = []
    untouched = [] if today is None else shown_occurrences(snapshot, today)
    for name, group_day, wanted in _ranges(day, None if later else shown_day):
        count = count_tasks(snapshot, wanted)
        states = first_task_states(snapshot, wanted, limit) if count else []
        own = due_within(untouched, wanted.due_from, wanted.due_before) if wanted.has_plain() else ()
        if own:
            count += len(own)
            states = first_in_order([*states, *first_states(own, limit)], limit)
        groups.append((DayGroup(name, group_day, count, []), states))
    # What belongs to the lines is read at once.
    lines = iter(
        task_lines_of(snapshot, [state for _group, states in groups for state in states], removed=False)
    )
    return Day(
        shown_day,
        [
            structs.replace(
                group,
                tasks=fitting_lines([_day_line(next(lines), waiting) for _state in states], len(groups)),
            )
            for group, states in groups
        ],
        0 if later else count_beginning_after(snapshot, shown_day),
        None if today is None else today.isoformat(),
    )


def _ranges(day: date, begun_by: str | None) -> Iterator[tuple[GroupName, str | None, TaskRange]]:
    """Yield the groups of a day, each with its own day and its tasks."""
    begun = TaskRange(begun_by=begun_by)
    yield "overdue", None, begun._replace(due_before=day.isoformat())
    # The calendar ends, and a day that is asked for may be its last.
    for ahead in range(min(DAYS_AHEAD, (date.max - day).days) + 1):
        own = (day + timedelta(ahead)).isoformat()
        name: GroupName = "today" if ahead == 0 else "tomorrow" if ahead == 1 else "day"
        yield name, own, begun._replace(due_from=own, due_before=f"{own}~")
    yield "in_progress", None, begun._replace(status=IN_PROGRESS).without_day()


def _day_line(line: TaskLine, waiting: Mapping[str, int]) -> DayLine:
    return DayLine(**short_texts(line), waiting=waiting.get(line.id, 0))
