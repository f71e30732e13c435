"""Lists of tasks, a page at a time: a line each, cheap enough for thousands.

Never reads more of a task than its line shows.
"""

from typing import Any

from msgspec import Struct

from daemon.journal import refs
from daemon.journal.colors import color_kept
from daemon.journal.filters import Wanted
from daemon.journal.values import PRIORITY_DEFAULT
from daemon.journal.views import Progress
from store import glance
from store.entity import Entity
from store.search import CATEGORY, LABELS
from store.snapshot import Snapshot
from syncproto.ids import EntityId, text

PAGE_MAX = 500


class TaskLine(Struct, frozen=True):
    """A task as a list shows it."""

    id: str
    title: str
    status: str
    priority: str
    due: str | None
    estimate_minutes: int | None
    labels: list[str]
    label_colors: dict[str, str]
    category: str | None
    checklist_progress: Progress
    removed: bool = False


def lines(
    snapshot: Snapshot,
    *,
    closed: bool,
    removed: bool,
    after: str | None = None,
    limit: int = PAGE_MAX,
    wanted: Wanted | None = None,
) -> list[TaskLine]:
    """List open tasks in order of their making; `closed` adds the others; `removed` lists those instead.

    `after` is the id of the last one of the page before.
    """
    rows = page(snapshot, closed=closed, removed=removed, after=after, limit=limit, wanted=wanted)
    done, total = _progress(snapshot, [task for task, _ in rows])
    tags = _tags(snapshot)
    made = ((task, glance.values(state)) for task, state in rows)
    return [
        _line(task, values, tags, Progress(done.get(task, 0), total.get(task, 0)), removed)
        for task, values in made
    ]


def page(
    snapshot: Snapshot, *, closed: bool, removed: bool, after: str | None, limit: int, wanted: Wanted | None
) -> list[tuple[EntityId, bytes]]:
    """Return the states of a page of tasks. With a filter it looks at as many as it takes to fill one."""
    begin = place(snapshot, after)
    every = closed or removed or (wanted is not None and wanted.closed)
    if wanted is None:
        return snapshot.in_order("task", removed=removed, closed=every, after=begin, limit=limit)
    found: list[tuple[EntityId, bytes]] = []
    while True:
        rows = snapshot.in_order("task", removed=removed, closed=every, after=begin, limit=PAGE_MAX)
        found += [row for row in rows if wanted.takes(glance.values(row[1]))]
        if len(rows) < PAGE_MAX or len(found) >= limit:
            return found[:limit]
        begin = rows[-1][0]


def place(snapshot: Snapshot, after: str | None) -> EntityId | None:
    """Return the task after which a page begins. Raises Refused (not_found) where it is not held."""
    return None if after is None else refs.full(snapshot, "task", after).id


def _tags(snapshot: Snapshot) -> dict[str, Entity]:
    """Return the labels and categories in sight, by their ids as text."""
    return {text(one.id): one for one in (*snapshot.entities("label"), *snapshot.entities("category"))}


def _progress(snapshot: Snapshot, tasks: list[EntityId]) -> tuple[dict[EntityId, int], dict[EntityId, int]]:
    """Count the items of tasks, archived ones aside: those ticked, and all."""
    done: dict[EntityId, int] = {}
    total: dict[EntityId, int] = {}
    for task, item in glance.checklist_items(snapshot, tasks):
        if item.get("is_archived") is not True:
            total[task] = total.get(task, 0) + 1
            done[task] = done.get(task, 0) + (item.get("is_checked") is True)
    return done, total


def _line(
    task: EntityId, values: dict[str, Any], tags: dict[str, Entity], progress: Progress, removed: bool
) -> TaskLine:
    estimate = values.get("estimate_minutes")
    labels = [tags[one] for one in _labels(values) if one in tags]
    category = values.get(CATEGORY)
    kept = tags.get(text(category)) if isinstance(category, bytes) else None
    return TaskLine(
        text(task),
        _text(values, "title") or "",
        _text(values, "status") or "OPEN",
        _text(values, "priority") or PRIORITY_DEFAULT,
        _text(values, "due"),
        estimate if type(estimate) is int else None,
        sorted({one.text("name") for one in labels}, key=str.casefold),
        {one.text("name"): color for one in labels if (color := color_kept(one))},
        None if kept is None else kept.text("name"),
        progress,
        removed,
    )


def _labels(values: dict[str, Any]) -> list[str]:
    return [name[len(LABELS) :] for name, value in values.items() if value is True and "/" in name]


def _text(values: dict[str, Any], field: str) -> str | None:
    value = values.get(field)
    return value if isinstance(value, str) and value else None
