"""Ranges of tasks by the day on which they are due, or by their status: how many, and the first of each.

Never reads a task to count it, and never one that it does not return.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from store.fold.list_columns import STATUS_DEFAULT, WITHOUT_DAY
from store.snapshot import Snapshot
from syncproto.ids import EntityId

_BEHIND_ALL = "\x7f"
"""A text behind that of any day, and behind `WITHOUT_DAY`."""
_BEGINNING_LATER = (
    "FROM entity INDEXED BY task_by_start"
    " WHERE kind = 'task' AND visible = 1 AND closed = 0 AND start > '' AND start > ?"
)


class TaskRange(NamedTuple):
    """Which visible tasks: those of a status, or open ones of any; due from one day on, before another.

    With `begun_by`, a day, an open task whose start lies behind it is left out. Days are YYYY-MM-DD.
    """

    status: str | None = None
    due_from: str = ""
    due_before: str = _BEHIND_ALL
    begun_by: str | None = None

    def without_day(self) -> "TaskRange":
        """Return those of the range that are due on no day."""
        return self._replace(due_from=WITHOUT_DAY, due_before=_BEHIND_ALL)

    def has_plain(self) -> bool:
        """Report whether a task without a status and a start is in the range, if its day is."""
        return self.status in (None, STATUS_DEFAULT)


def count_tasks(snapshot: Snapshot, wanted: TaskRange) -> int:
    """Count the tasks of a range in the index alone."""
    rows, values = _rows(wanted)
    counted: Any = snapshot.db.execute(f"SELECT count(*) {rows}", values).fetchone()
    return int(counted[0])


def first_task_states(snapshot: Snapshot, wanted: TaskRange, limit: int) -> list[tuple[EntityId, bytes]]:
    """Return the states of the first tasks of a range: what is due first, then by priority, then by age."""
    rows, values = _rows(wanted)
    states: Any = snapshot.db.execute(
        f"SELECT id, state {rows} ORDER BY due, priority, made_ms, made_n, id LIMIT ?", (*values, limit)
    )
    return list(states)


def _rows(wanted: TaskRange) -> tuple[str, list[str]]:
    """Return the rows of a range in SQL's words, each a place of one index, and their values."""
    status, due_from, due_before, begun_by = wanted
    conditions = ["kind = 'task'", "visible = 1", "due >= ?", "due < ?"]
    conditions.append("closed = 0" if status is None else "status = ?")
    values = [due_from, due_before, *([] if status is None else [status])]
    if begun_by is not None:
        conditions.append("start <= ?")
        values.append(begun_by)
    # The planner has no numbers to choose by, and any other index means to read each task.
    index = "task_by_due" if status is None else "task_by_status"
    return f"FROM entity INDEXED BY {index} WHERE {' AND '.join(conditions)}", values


def count_beginning_after(snapshot: Snapshot, day: str) -> int:
    """Count the visible open tasks whose start lies behind a day, in the index alone."""
    counted: Any = snapshot.db.execute(f"SELECT count(*) {_BEGINNING_LATER}", (day,)).fetchone()
    return int(counted[0])


def states_beginning_after(snapshot: Snapshot, day: str) -> Iterator[bytes]:
    """Yield the states of those, in no order."""
    rows: Any = snapshot.db.execute(f"SELECT state {_BEGINNING_LATER}", (day,))
    for (state,) in rows:
        yield state
