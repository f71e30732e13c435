"""Lists of tasks, a page at a time: a line each, cheap enough for thousands.

Never reads more of a task than its line shows.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import date
from functools import partial
from heapq import merge
from itertools import islice
from operator import itemgetter
from typing import Any

from daemon.journal.fields.colors import stored_color
from daemon.journal.fields.plain_values import PLAIN_FIELDS, plain_values
from daemon.journal.recurring.occurrences import Occurrence, shown_occurrences
from daemon.journal.recurring.series_record import TASK_SERIES, series_id_text
from daemon.journal.references import entities
from daemon.journal.references.names import is_id_text, shown_name
from daemon.journal.references.task_filters import ResolvedFilter
from daemon.journal.views.structures import BriefTask, Progress
from store.fold.entity import Entity
from store.fold.entity_state import load_state
from store.fold.list_columns import ListOrder, place_in_order
from store.fold.word_index import CATEGORY_FIELD, LABEL_FIELD_PREFIX
from store.queries import projections
from store.snapshot import Snapshot
from syncproto.ids import EntityId, id_from_text, id_to_text

PAGE_MAX = 500
LINES_MAX = 2000
"""The lines that one answer has at most: a request costs as much as a hundred of them."""
_Place = tuple[Any, ...]
_ReadState = Callable[[], bytes]


class TaskLine(BriefTask, frozen=True, kw_only=True):
    """A task as a list shows it."""

    labels: list[str]
    label_colors: dict[str, str]
    category: str | None
    checklist_progress: Progress
    removed: bool = False
    series_id: str | None = None


class ListedTask(TaskLine, frozen=True, kw_only=True):
    """The same with what agents do about it.

    `waiting` counts the proposals on it that wait for a person; `agent_id` is the task's agent, null if it
    has none.
    """

    waiting: int = 0
    agent_id: str | None = None


_LINE_FIELDS = tuple(field for field in PLAIN_FIELDS if field.name in TaskLine.__struct_fields__)


def task_lines_page(
    snapshot: Snapshot,
    *,
    closed: bool,
    removed: bool,
    after: str | None = None,
    limit: int = PAGE_MAX,
    wanted: ResolvedFilter | None = None,
    order: ListOrder = ListOrder.OLDEST,
    begun_by: str | None = None,
    today: date | None = None,
) -> list[TaskLine]:
    """List open tasks; `closed` adds the others; `removed` lists those instead.

    With `today`, the tasks of series that nobody has touched are among them.

    `after` is the id of the last one of the page before. With `begun_by`, a day, open tasks whose start lies
    behind it are left out.
    """
    rows = task_states_page(
        snapshot,
        closed=closed,
        removed=removed,
        after=after,
        limit=limit,
        wanted=wanted,
        order=order,
        begun_by=begun_by,
        today=today,
    )
    return task_lines_of(snapshot, rows, removed=removed)


def task_lines_of(snapshot: Snapshot, rows: list[tuple[EntityId, bytes]], *, removed: bool) -> list[TaskLine]:
    """Return the lines of tasks, each given with its state."""
    done_counts, total = _progress(snapshot, [task for task, _ in rows])
    task_values = [(task, projections.winning_values(state)) for task, state in rows]
    tags = _tags(snapshot, [values for _task, values in task_values])
    return [
        _line(task, values, tags, Progress(done_counts.get(task, 0), total.get(task, 0)), removed)
        for task, values in task_values
    ]


def task_states_page(
    snapshot: Snapshot,
    *,
    closed: bool,
    removed: bool,
    after: str | None,
    limit: int,
    wanted: ResolvedFilter | None,
    order: ListOrder = ListOrder.OLDEST,
    begun_by: str | None = None,
    today: date | None = None,
) -> list[tuple[EntityId, bytes]]:
    """Return the states of a page of tasks. With a filter it looks at those that an index names,
    or at as many as it takes to fill one.

    A page goes on behind the task `after` also if that has left the list meanwhile.
    """
    begin = page_start(snapshot, after)
    includes_closed = closed or removed or (wanted is not None and wanted.includes_closed)
    untouched = [] if removed or today is None else shown_occurrences(snapshot, today)
    if wanted is None and not untouched:
        return snapshot.states_in_order(
            "task",
            order,
            removed=removed,
            closed=includes_closed,
            after=begin,
            limit=limit,
            begun_by=begun_by,
        )
    rows = task_states(
        snapshot,
        closed=includes_closed,
        removed=removed,
        after=begin,
        order=order,
        begun_by=begun_by,
        untouched=untouched,
        among=None if wanted is None else wanted.candidates(snapshot, removed=removed),
    )
    if wanted is None:
        return list(islice(rows, limit))
    return list(islice((row for row in rows if wanted.matches(projections.winning_values(row[1]))), limit))


def task_states(
    snapshot: Snapshot,
    *,
    closed: bool,
    removed: bool = False,
    after: EntityId | None = None,
    order: ListOrder = ListOrder.OLDEST,
    begun_by: str | None = None,
    untouched: Sequence[Occurrence] = (),
    among: Sequence[int] | None = None,
) -> Iterator[tuple[EntityId, bytes]]:
    """Yield the states of tasks in an order, some hundred at a time; see `task_lines_page`.

    With `among`, only the tasks of these row numbers count. Those of series that nobody has touched stand
    among them at their own places.
    """
    if not untouched:
        stored = _stored_places(
            snapshot,
            closed=closed,
            removed=removed,
            after=after,
            order=order,
            begun_by=begun_by,
            among=among,
        )
        yield from ((place[-1], state) for place, state in stored)
        return
    is_down = order is ListOrder.NEWEST
    computed: list[tuple[_Place, _ReadState]]
    computed = [(occurrence.place(order), occurrence.state) for occurrence in untouched]
    placed = sorted(computed, key=itemgetter(0), reverse=is_down)
    begin: EntityId | _Place | None = after
    if after is not None:
        begin = next((place for place, _task in placed if place[-1] == after), None) or _place_of(
            snapshot, order, after
        )
        if begin is not None:
            placed = [pair for pair in placed if (pair[0] < begin if is_down else pair[0] > begin)]
    rows = _stored_places(
        snapshot, closed=closed, removed=removed, after=begin, order=order, begun_by=begun_by, among=among
    )
    kept: Iterator[tuple[_Place, _ReadState]] = ((place, partial(bytes, state)) for place, state in rows)
    for place, read_state in merge(kept, placed, reverse=is_down, key=itemgetter(0)):
        yield place[-1], read_state()


def _stored_places(
    snapshot: Snapshot,
    *,
    closed: bool,
    removed: bool,
    after: EntityId | _Place | None,
    order: ListOrder,
    begun_by: str | None,
    among: Sequence[int] | None,
) -> Iterator[tuple[_Place, bytes]]:
    while True:
        rows = snapshot.places_in_order(
            "task",
            order,
            removed=removed,
            closed=closed,
            after=after,
            limit=PAGE_MAX,
            begun_by=begun_by,
            among=among,
        )
        yield from rows
        if len(rows) < PAGE_MAX:
            return
        after = rows[-1][0][-1]


def first_in_order(rows: list[tuple[EntityId, bytes]], limit: int) -> list[tuple[EntityId, bytes]]:
    """Return the first of some tasks: what is due first, then by priority, then by age."""
    return sorted(rows, key=lambda row: place_in_order(ListOrder.DUE, row[0], load_state(row[1])))[:limit]


def _place_of(snapshot: Snapshot, order: ListOrder, task: EntityId) -> _Place | None:
    entity = snapshot.entity(task)
    return None if entity is None else place_in_order(order, task, entity.state)


def page_start(snapshot: Snapshot, after: str | None) -> EntityId | None:
    """Return the task after which a page begins. Raises Refused (not_found) if the journal lacks it."""
    return None if after is None else entities.find_by_full_id(snapshot, "task", after).id


def _tags(snapshot: Snapshot, tasks: list[dict[str, Any]]) -> dict[str, Entity]:
    """Return the labels and categories in sight that tasks with these values have, by their ids as text."""
    named = {label for values in tasks for label in _labels(values) if is_id_text(label)}
    owned = {category for values in tasks if isinstance(category := values.get(CATEGORY_FIELD), bytes)}
    tags = map(snapshot.entity, {*map(id_from_text, named), *map(EntityId, owned)})
    return {
        id_to_text(tag.id): tag
        for tag in tags
        if tag is not None and tag.visible and tag.kind in ("label", "category")
    }


def _progress(snapshot: Snapshot, tasks: list[EntityId]) -> tuple[dict[EntityId, int], dict[EntityId, int]]:
    """Count the items of tasks, archived ones aside: those ticked, and all."""
    done_counts: dict[EntityId, int] = {}
    total: dict[EntityId, int] = {}
    for task, item in projections.checklist_items_of(snapshot, tasks):
        if item.get("is_archived") is not True:
            total[task] = total.get(task, 0) + 1
            done_counts[task] = done_counts.get(task, 0) + (item.get("is_checked") is True)
    return done_counts, total


def _line(
    task: EntityId, values: dict[str, Any], tags: dict[str, Entity], progress: Progress, removed: bool
) -> TaskLine:
    labels = [tags[label_id] for label_id in _labels(values) if label_id in tags]
    category = values.get(CATEGORY_FIELD)
    category_entity = tags.get(id_to_text(category)) if isinstance(category, bytes) else None
    return TaskLine(
        id=id_to_text(task),
        **plain_values(values.get, _LINE_FIELDS),
        labels=sorted({shown_name(label) for label in labels}, key=str.casefold),
        label_colors={shown_name(label): color for label in labels if (color := stored_color(label))},
        category=None if category_entity is None else shown_name(category_entity),
        checklist_progress=progress,
        removed=removed,
        series_id=series_id_text(values.get(TASK_SERIES)),
    )


def _labels(values: dict[str, Any]) -> list[str]:
    return [
        name[len(LABEL_FIELD_PREFIX) :] for name, value in values.items() if value is True and "/" in name
    ]
