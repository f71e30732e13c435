"""Lists of tasks in an order that a person chooses, a page at a time.

Never reads more of a task than its order needs. Only an order by titles looks at every task in sight.
"""

from collections.abc import Iterable, Mapping
from datetime import date
from enum import StrEnum
from typing import Any, Final

from daemon.journal.fields.validation import PRIORITY_DEFAULT
from daemon.journal.recurring.occurrences import shown_occurrences
from daemon.journal.references.task_filters import ResolvedFilter
from daemon.journal.views.task_lines import page_start, task_states, task_states_page
from daemon.text_comparison import comparison_key
from store.fold.list_columns import ListOrder
from store.queries import projections
from store.queries.task_ranges import count_beginning_after, states_beginning_after
from store.snapshot import Snapshot
from syncproto.ids import EntityId

TaskState = tuple[EntityId, bytes]
_Place = tuple[str, str, float]
_WITHOUT_DAY: Final = "~"
"""A text after that of any day."""


class TaskOrder(StrEnum):
    """What comes first: the oldest task, the newest, what is due, what is important, or by title."""

    MADE = ""
    NEWEST = "newest"
    DUE = "due"
    PRIORITY = "priority"
    TITLE = "title"


_STORED: Final = {
    TaskOrder.MADE: ListOrder.OLDEST,
    TaskOrder.NEWEST: ListOrder.NEWEST,
    TaskOrder.DUE: ListOrder.DUE,
    TaskOrder.PRIORITY: ListOrder.PRIORITY,
}


def sorted_states(
    snapshot: Snapshot,
    order: TaskOrder,
    *,
    closed: bool,
    after: str | None,
    limit: int,
    wanted: ResolvedFilter | None,
    begun_by: str | None = None,
    today: date | None = None,
) -> list[TaskState]:
    """Return the states of a page of tasks in an order; see `task_states_page`."""
    if stored := _STORED.get(order):
        return task_states_page(
            snapshot,
            closed=closed,
            removed=False,
            after=after,
            limit=limit,
            wanted=wanted,
            order=stored,
            begun_by=begun_by,
            today=today,
        )
    begin = page_start(snapshot, after)
    includes_closed = closed or (wanted is not None and wanted.includes_closed)
    places: dict[EntityId, _Place] = {}
    kept: list[TaskState] = []
    states = task_states(
        snapshot,
        closed=includes_closed,
        begun_by=begun_by,
        untouched=() if today is None else shown_occurrences(snapshot, today),
    )
    for number, (task, state) in enumerate(states):
        values = projections.winning_values(state)
        places[task] = _place(order, values, number)
        if wanted is None or wanted.matches(values):
            kept.append((task, state))
    kept.sort(key=lambda row: places[row[0]])
    if begin is not None:
        shown = places.get(begin) or _place_of_lost(snapshot, order, begin, len(places), includes_closed)
        kept = [row for row in kept if places[row[0]] > shown]
    return kept[:limit]


def count_later(snapshot: Snapshot, day: str, wanted: ResolvedFilter | None) -> int:
    """Count the open tasks whose start lies behind a day, of those that a filter asks for."""
    if wanted is None:
        return count_beginning_after(snapshot, day)
    states = states_beginning_after(snapshot, day)
    return sum(wanted.matches(projections.winning_values(state)) for state in states)


def sort_states(states: Iterable[TaskState], order: TaskOrder) -> list[TaskState]:
    """Sort states that are given in the order of their making, or in another that decides among equals."""
    return [
        row
        for _place_of_row, row in sorted(
            (_place(order, projections.winning_values(row[1]), number), row)
            for number, row in enumerate(states)
        )
    ]


def _place(order: TaskOrder, values: Mapping[str, Any], number: float) -> _Place:
    """Return the key to sort by: what the order asks for, then what is due first, then what is oldest."""
    due = _text(values, "due") or _WITHOUT_DAY
    hour = _text(values, "due_time")
    due = hour if hour.startswith(f"{due}T") else due
    match order:
        case TaskOrder.NEWEST:
            return ("", "", -number)
        case TaskOrder.DUE:
            return (due, _text(values, "priority") or PRIORITY_DEFAULT, number)
        case TaskOrder.PRIORITY:
            return (_text(values, "priority") or PRIORITY_DEFAULT, due, number)
        case TaskOrder.TITLE:
            return (comparison_key(_text(values, "title")), "", number)
    return ("", "", number)


def _place_of_lost(
    snapshot: Snapshot, order: TaskOrder, task: EntityId, count: int, includes_closed: bool
) -> _Place:
    """Return the place of a task that is not in the list any more: between those made before and after it."""
    entity = snapshot.entity(task)
    assert entity is not None
    values = {"title": entity.value("title")}
    later = sum(1 for _row in task_states(snapshot, closed=includes_closed, after=task))
    return _place(order, values, count - later - 0.5)


def _text(values: Mapping[str, Any], field: str) -> str:
    value = values.get(field)
    return value if isinstance(value, str) else ""
