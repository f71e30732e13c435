"""Lists of tasks, a page at a time: a line each, cheap enough for thousands.

Never reads more of a task than its line shows.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any

from daemon.journal.fields.colors import stored_color
from daemon.journal.fields.plain_values import PLAIN_FIELDS, plain_values
from daemon.journal.references import entities
from daemon.journal.references.names import is_id_text, shown_name
from daemon.journal.references.task_filters import ResolvedFilter
from daemon.journal.views.structures import BriefTask, Progress
from store.fold.entity import Entity
from store.fold.list_columns import ListOrder
from store.fold.word_index import CATEGORY_FIELD, LABEL_FIELD_PREFIX
from store.queries import projections
from store.snapshot import Snapshot
from syncproto.ids import EntityId, id_from_text, id_to_text

PAGE_MAX = 500
LINES_MAX = 2000
"""The lines that one answer has at most: a request costs as much as a hundred of them."""


class TaskLine(BriefTask, frozen=True, kw_only=True):
    """A task as a list shows it."""

    labels: list[str]
    label_colors: dict[str, str]
    category: str | None
    checklist_progress: Progress
    removed: bool = False


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
) -> list[TaskLine]:
    """List open tasks; `closed` adds the others; `removed` lists those instead.

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
) -> list[tuple[EntityId, bytes]]:
    """Return the states of a page of tasks. With a filter it looks at as many as it takes to fill one.

    A page goes on behind the task `after` also if that has left the list meanwhile.
    """
    begin = page_start(snapshot, after)
    includes_closed = closed or removed or (wanted is not None and wanted.includes_closed)
    if wanted is None:
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
        snapshot, closed=includes_closed, removed=removed, after=begin, order=order, begun_by=begun_by
    )
    return list(islice((row for row in rows if wanted.matches(projections.winning_values(row[1]))), limit))


def task_states(
    snapshot: Snapshot,
    *,
    closed: bool,
    removed: bool = False,
    after: EntityId | None = None,
    order: ListOrder = ListOrder.OLDEST,
    begun_by: str | None = None,
) -> Iterator[tuple[EntityId, bytes]]:
    """Yield the states of tasks in an order, some hundred at a time; see `task_lines_page`."""
    while True:
        rows = snapshot.states_in_order(
            "task",
            order,
            removed=removed,
            closed=closed,
            after=after,
            limit=PAGE_MAX,
            begun_by=begun_by,
        )
        yield from rows
        if len(rows) < PAGE_MAX:
            return
        after = rows[-1][0]


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
    )


def _labels(values: dict[str, Any]) -> list[str]:
    return [
        name[len(LABEL_FIELD_PREFIX) :] for name, value in values.items() if value is True and "/" in name
    ]
