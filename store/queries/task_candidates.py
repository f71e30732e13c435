"""Which tasks a condition can fit, by an index: their row numbers, so that a rare one costs what it fits.

Never reads a task, and never more places of an index than it is allowed.
"""

import json
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from store.fold.word_index import label_word
from store.snapshot import Snapshot
from syncproto.ids import EntityId

RowNumbers = list[int]


class ColumnCondition(NamedTuple):
    """A condition on a column: one of some values, or from a text on and before another."""

    column: str
    values: Collection[str] = ()
    between: tuple[str, str] | None = None


STATUS, PRIORITY, DUE = "status", "priority", "due"
_INDEX_OF = {STATUS: "task_by_status", PRIORITY: "task_by_priority", DUE: "task_by_due"}


def rows_fitting(
    snapshot: Snapshot, condition: ColumnCondition, *, removed: bool, limit: int
) -> RowNumbers | None:
    """Return the row numbers of at most `limit` tasks in sight, or removed, that fulfil a condition.

    None if there are more.
    """
    column, values, between = condition
    if between is None:
        fits, parameters = f"{column} IN (SELECT value FROM json_each(?))", [json.dumps(sorted(values))]
    else:
        fits, parameters = f"{column} >= ? AND {column} < ?", [*between]
    # Left to itself, SQLite takes an index that makes it read each task.
    closed = "" if column == STATUS else " AND closed IN (0, 1)"
    return _at_most(
        snapshot,
        f"SELECT no FROM entity INDEXED BY {_INDEX_OF[column]}"
        f" WHERE kind = 'task' AND visible = {int(not removed)}{closed} AND {fits}",
        parameters,
        limit,
    )


def rows_tagged(snapshot: Snapshot, tags: Iterable[EntityId], *, limit: int) -> RowNumbers | None:
    """Return the row numbers of tasks that may have one of these labels or categories; see `rows_fitting`."""
    words = " OR ".join(f'"{label_word(tag)}"' for tag in tags)
    return _at_most(snapshot, "SELECT rowid FROM search WHERE search MATCH ?", [f"tags : ({words})"], limit)


def _at_most(snapshot: Snapshot, select: str, parameters: list[str], limit: int) -> RowNumbers | None:
    rows: Any = snapshot.db.execute(f"{select} LIMIT ?", (*parameters, limit + 1)).fetchall()
    return None if len(rows) > limit else [number for (number,) in rows]
