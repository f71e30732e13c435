"""The columns by which lists of entities are filtered and ordered; they follow from the folded state.

Never contains anything that the state does not.
"""

import re
from datetime import date
from enum import StrEnum
from typing import Any, Final, NamedTuple

import apsw

from store.fold.entity_state import DELETED, EntityState, is_visible, load_state
from store.fold.lone_creation import LoneCreation
from syncproto.codec import are_equal
from syncproto.ids import EntityId
from syncproto.vector_clock import Chains

CLOSED_STATUSES: Final = frozenset({"DONE", "REJECTED"})
"""The statuses of a task that is over."""
PRIORITY_DEFAULT: Final = "P2"
"""The priority of a task that names none."""
STATUS_DEFAULT: Final = "OPEN"
"""The status of a task that names none."""
WITHOUT_DAY: Final = "~"
"""What a task without a day is sorted by: a text after that of any day."""
_DAY_CHARS: Final = 10
_HOUR_CHARS: Final = 16
_HOUR: Final = re.compile(r"T\d\d:\d\d", re.ASCII)
_ROWS_AT_ONCE: Final = 1000
_TEXT_CHARS_MAX: Final = 32
"""How much of a text is sorted by: a member can sign one of any length."""


class ListOrder(StrEnum):
    """What comes first in a list, in the orders that cost what they show.

    `DUE` and `PRIORITY` are orders of tasks alone: of what is equal, the other decides, then the making.
    """

    OLDEST = "oldest"
    NEWEST = "newest"
    DUE = "due"
    PRIORITY = "priority"

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns to sort by; the id decides between what is equal in them."""
        match self:
            case ListOrder.DUE:
                return ("due", "priority", "made_ms", "made_n")
            case ListOrder.PRIORITY:
                return ("priority", "due", "made_ms", "made_n")
        return ("made_ms", "made_n")

    @property
    def direction(self) -> str:
        """Return the direction in SQL's words."""
        return "DESC" if self is ListOrder.NEWEST else "ASC"


class ListColumns(NamedTuple):
    """The columns of a row, named as in the table; the last four are None of what is no task."""

    kind: str
    visible: bool
    closed: bool
    disputed: bool
    made_ms: int
    made_n: int
    priority: str | None
    due: str | None
    status: str | None
    start: str | None


def columns_of(row: EntityState, chains: Chains) -> ListColumns:
    """Return the columns of a folded entity; the stamp of its creation is zeros without one."""
    made_at = (0, 0) if row.born is None else (row.born.ms, row.born.n)
    visible = is_visible(row, chains)
    disputed = visible and needs_settling(row)
    return ListColumns(row.kind, visible, _is_over(row), disputed, *made_at, *_task_columns(row))


def columns_of_lone_creation(row: LoneCreation) -> ListColumns:
    """Return the same for an entity that only its creation has written: visible, nothing to settle."""
    return ListColumns(row.kind, True, _is_over(row), False, *row.creation_stamp, *_task_columns(row))


def fill_columns(db: apsw.Connection) -> None:
    """Fill the columns of tasks in the rows of a version that did not have them, in one transaction."""
    # Each value of `visible` leads to the place of this index where the empty ones stand together, so this
    # costs nothing if there is none. Left to itself, SQLite walks all tasks.
    empty = "kind = 'task' AND visible IN (0, 1) AND status IS NULL"
    select = f"SELECT no, state FROM entity INDEXED BY task_by_status WHERE {empty} LIMIT {_ROWS_AT_ONCE}"
    has_filled = True
    with db:
        while has_filled:
            rows: Any = db.execute(select).fetchall()
            columns = [(*_task_columns(load_state(state)), no) for no, state in rows]
            db.executemany(
                "UPDATE entity SET priority = ?, due = ?, status = ?, start = ? WHERE no = ?", columns
            )
            # A damaged file may call something a task whose state says otherwise: that stays empty.
            has_filled = any(status is not None for _priority, _due, status, _start, _no in columns)


def _task_columns(
    row: EntityState | LoneCreation,
) -> tuple[str, str, str, str] | tuple[None, None, None, None]:
    """Return the priority and the day by which a task is sorted, its status, and the day it begins on."""
    if row.kind != "task":
        return None, None, None, None
    return (
        _text(row, "priority") or PRIORITY_DEFAULT,
        _due_text(row) or WITHOUT_DAY,
        _text(row, "status") or STATUS_DEFAULT,
        day_text(row.value("start")),
    )


def place_in_order(order: ListOrder, entity: EntityId, row: EntityState) -> tuple[Any, ...]:
    """Return by what a task is sorted in an order: its columns there, then its id."""
    priority, due, _status, _start = _task_columns(row)
    made_ms, made_n = (0, 0) if row.born is None else (row.born.ms, row.born.n)
    columns = {"priority": priority, "due": due, "made_ms": made_ms, "made_n": made_n}
    return *(columns[column] for column in order.columns), entity


def day_text(value: object) -> str:
    """Return a value if it is a day, YYYY-MM-DD; "" for anything else."""
    if not isinstance(value, str) or len(value) != _DAY_CHARS or value[4] != "-" or value[7] != "-":
        return ""
    try:
        date.fromisoformat(value)
    except ValueError:
        return ""
    return value


def _due_text(row: EntityState | LoneCreation) -> str:
    """Return the day on which a task is due, with the hour if it has one on that day: T14:00 behind it."""
    day, hour = day_text(row.value("due")), row.value("due_time")
    if not day or not isinstance(hour, str) or not hour.startswith(f"{day}T"):
        return day
    return hour[:_HOUR_CHARS] if _HOUR.fullmatch(hour[_DAY_CHARS:_HOUR_CHARS]) else day


def _text(row: EntityState | LoneCreation, field: str) -> str:
    value = row.value(field)
    return value[:_TEXT_CHARS_MAX] if isinstance(value, str) else ""


def _is_over(row: EntityState | LoneCreation) -> bool:
    """Return whether a task is closed, or a time record has ended."""
    if row.kind == "task":
        status = row.value("status")
        # Fields have no types: a list that a peer wrote cannot be looked up in a set.
        return isinstance(status, str) and status in CLOSED_STATUSES
    ended = row.value("ended_at") if row.kind == "time_record" else None
    return isinstance(ended, str) and ended != ""


def needs_settling(row: EntityState) -> bool:
    """Return whether a visible entity has something to settle: a field of several values, or a deletion."""
    tombs = row.fields.get(DELETED)
    if tombs is not None and any(version.value is True for version in tombs):
        return True
    for _, values in row.fields.competing_values(row.kind):
        best = values[0][1]
        if not all(are_equal(value, best) for _, value in values):
            return True
    return False
