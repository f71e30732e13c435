"""The decisions that were ever made, newest first: the history of what people made of proposals.

Never leaves a commit half told: a page ends where one does.
"""

from typing import Any, NamedTuple

from store.snapshot import Snapshot
from syncproto.ids import EntityId


class Made(NamedTuple):
    """A decision on an item, and the feed position at which it came here."""

    seq: int
    item: EntityId
    decision: EntityId


_OF_ALL = "opinion WHERE EXISTS (SELECT 1 FROM proposal WHERE proposal.item = opinion.item)"
# The task's own are few beside all: they are looked up by it, whatever the planner knows of their number.
_OF_TASK = (
    "(SELECT DISTINCT opinion.item, opinion.seq, decision FROM proposal"
    " CROSS JOIN opinion ON opinion.item = proposal.item WHERE proposal.task = ?3) WHERE TRUE"
)


def decisions_before(
    snapshot: Snapshot, *, task: EntityId | None, before: int | None, limit: int
) -> list[Made]:
    """Return about `limit` decisions on a task's items, or on all, that came before a feed position.

    Newest first. A commit is never cut, so that the last one's `seq` is where to go on.
    """
    those = f"FROM {_OF_ALL if task is None else _OF_TASK} AND seq < ?1"
    values = (snapshot.feed_end() + 1 if before is None else before, limit, *([] if task is None else [task]))
    rows: Any = snapshot.db.execute(
        f"SELECT seq, item, decision {those}"
        f" AND seq >= (SELECT min(seq) FROM (SELECT seq {those} ORDER BY seq DESC LIMIT ?2))"
        " ORDER BY seq DESC, item, decision",
        values,
    )
    return [Made(*row) for row in rows]
