"""Tasks by status: how many of each, and a line for the first of them.

Never reads more of a task than its line shows, but looks at every task that is in sight.
"""

from msgspec import Struct

from daemon.journal.fields.validation import CLOSED, STATUSES
from daemon.journal.views.lookup import clock_json
from daemon.journal.views.structures import ClockJson
from daemon.journal.views.task_lines import TaskLine, task_lines_of, task_states
from store.queries import projections
from store.snapshot import Snapshot
from syncproto.ids import EntityId


class BoardTask(Struct, frozen=True):
    """A task on the board. A change of its status gives `vector_clock` back as `base`."""

    line: TaskLine
    vector_clock: ClockJson


class BoardColumn(Struct, frozen=True):
    """The tasks of one status: how many there are, and the first of them; those that are due first lead."""

    status: str
    count: int
    tasks: list[BoardTask]


def read_board(snapshot: Snapshot, *, closed: bool, shown_max: int) -> list[BoardColumn]:
    """Return a column per status, in the order of work; `closed` adds the statuses of finished tasks."""
    statuses = [status for status in STATUSES if closed or status not in CLOSED]
    by_status: dict[str, list[tuple[str, int, EntityId, bytes]]] = {status: [] for status in statuses}
    for place, (task, state) in enumerate(task_states(snapshot, closed=closed)):
        values = projections.winning_values(state)
        status, due = values.get("status"), values.get("due")
        column = by_status.get(status) if isinstance(status, str) else None
        if column is not None:
            # A task without a due date comes after all that have one.
            column.append((due if isinstance(due, str) and due else "~", place, task, state))
    return [_column(snapshot, status, column, shown_max) for status, column in by_status.items()]


def _column(
    snapshot: Snapshot, status: str, column: list[tuple[str, int, EntityId, bytes]], shown_max: int
) -> BoardColumn:
    first = sorted(column)[:shown_max]
    lines = task_lines_of(snapshot, [(task, state) for _due, _place, task, state in first], removed=False)
    entities = [snapshot.entity(task) for _due, _place, task, _state in first]
    tasks = [
        BoardTask(line, clock_json(entity.clock))
        for line, entity in zip(lines, entities, strict=True)
        if entity is not None
    ]
    return BoardColumn(status, len(column), tasks)
