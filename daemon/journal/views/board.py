"""Tasks by status: how many of each, and a line for the first of them.

Never reads a task that it does not show: what it only counts, an index counts.
"""

from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from msgspec import Struct

from daemon.journal.fields.validation import CLOSED, STATUSES
from daemon.journal.recurring.occurrences import Occurrence, due_within, first_states, shown_occurrences
from daemon.journal.views.line_bounds import fitting_lines, short_texts
from daemon.journal.views.lookup import clock_json
from daemon.journal.views.structures import ClockJson
from daemon.journal.views.task_lines import TaskLine, first_in_order, task_lines_of
from store.fold.entity_state import load_state
from store.queries.task_ranges import TaskRange, count_beginning_after, count_tasks, first_task_states
from store.snapshot import Snapshot
from syncproto.ids import EntityId


class BoardTask(Struct, frozen=True):
    """A task on the board. A change of its status gives `vector_clock` back as `base`."""

    line: TaskLine
    vector_clock: ClockJson


class BoardColumn(Struct, frozen=True):
    """The tasks of one status: how many there are, and the first of them, by their day, priority and age."""

    status: str
    count: int
    tasks: list[BoardTask]


class Board(NamedTuple):
    """The columns in the order of work. `begin_later` counts the tasks that are left out for their start."""

    columns: list[BoardColumn]
    begin_later: int = 0


def read_board(
    snapshot: Snapshot,
    *,
    closed: bool,
    shown_max: int,
    begun_by: str | None = None,
    today: date | None = None,
) -> Board:
    """Return a column per status; `closed` adds the statuses of finished tasks.

    With `begun_by`, a day, open tasks whose start lies behind it are left out. With `today`, the tasks
    of series that nobody has touched are shown too. Of lines that are too long for one answer it shows the
    first.
    """
    untouched = [] if today is None else shown_occurrences(snapshot, today)
    columns = [
        (status, *_column(snapshot, wanted, untouched, shown_max))
        for status in STATUSES
        if closed or status not in CLOSED
        for wanted in (TaskRange(status=status, begun_by=None if status in CLOSED else begun_by),)
    ]
    states = [state for _status, _count, of_status in columns for state in of_status]
    # What belongs to the lines is read at once.
    lines = iter(task_lines_of(snapshot, states, removed=False))
    later_count = 0 if begun_by is None else count_beginning_after(snapshot, begun_by)
    shown_columns = [
        BoardColumn(
            status,
            count,
            fitting_lines([_board_task(next(lines), state) for _task, state in of_status], len(columns)),
        )
        for status, count, of_status in columns
    ]
    return Board(shown_columns, later_count)


def _column(
    snapshot: Snapshot, wanted: TaskRange, untouched: Sequence[Occurrence], shown_max: int
) -> tuple[int, list[tuple[EntityId, bytes]]]:
    """Return how many tasks a column has, and the states of the first ones."""
    states = first_task_states(snapshot, wanted, shown_max)
    own = due_within(untouched, wanted.due_from, wanted.due_before) if wanted.has_plain() else ()
    if own:
        states = first_in_order([*states, *first_states(own, shown_max)], shown_max)
    return count_tasks(snapshot, wanted) + len(own), states


def _board_task(line: TaskLine, state: bytes) -> BoardTask:
    return BoardTask(TaskLine(**short_texts(line)), clock_json(load_state(state).clock))
