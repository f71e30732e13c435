"""The history of decisions: how people have decided on proposals and asks, newest first, and what is new.

Never divides a commit between two pages: a page contains all decisions of each of its commits.
"""

from typing import Any, NamedTuple

from store.fold.proposal_index import ASK
from store.snapshot import Snapshot
from syncproto.ids import EntityId


class DecisionEntry(NamedTuple):
    """A decision on an item, and the feed position at which it came here."""

    seq: int
    item: EntityId
    decision: EntityId


_OF_ALL = (
    "opinion WHERE (EXISTS (SELECT 1 FROM proposal WHERE proposal.item = opinion.item)"
    f" OR EXISTS (SELECT 1 FROM entity WHERE entity.id = opinion.item AND kind = '{ASK}'))"
)
# CROSS JOIN fixes the order: the items of a task are few, whatever the planner assumes of their number.
_OF_TASK = (
    "(SELECT DISTINCT opinion.item, opinion.seq, decision FROM proposal"
    " CROSS JOIN opinion ON opinion.item = proposal.item WHERE proposal.task = ?3) WHERE TRUE"
)


def decisions_before(
    snapshot: Snapshot, *, task: EntityId | None, before: int | None, limit: int
) -> list[DecisionEntry]:
    """Return about `limit` decisions before a feed position, newest first: on the items of a task, or on all.

    All are those on items and asks.

    A commit is never divided: the `seq` of the last decision is the `before` of the next page.
    """
    source = f"FROM {_OF_ALL if task is None else _OF_TASK} AND seq < ?1"
    values = (snapshot.feed_end() + 1 if before is None else before, limit, *([] if task is None else [task]))
    rows: Any = snapshot.db.execute(
        f"SELECT seq, item, decision {source}"
        f" AND seq >= (SELECT min(seq) FROM (SELECT seq {source} ORDER BY seq DESC LIMIT ?2))"
        " ORDER BY seq DESC, item, decision",
        values,
    )
    return [DecisionEntry(*row) for row in rows]


def decisions_after(snapshot: Snapshot, after: int, limit: int) -> list[DecisionEntry]:
    """Return about `limit` decisions after a feed position, oldest first; no commit is divided."""
    rows: Any = snapshot.db.execute(
        "SELECT seq, item, decision FROM opinion WHERE seq > ?1 AND seq <="
        " (SELECT max(seq) FROM (SELECT seq FROM opinion WHERE seq > ?1 ORDER BY seq LIMIT ?2))"
        " ORDER BY seq, item, decision",
        (after, limit),
    )
    return [DecisionEntry(*row) for row in rows]


def newest_decisions(snapshot: Snapshot, limit: int) -> list[DecisionEntry]:
    """Return the last `limit` decisions on items and asks, the newest first."""
    rows: Any = snapshot.db.execute(
        "SELECT seq, item, decision FROM opinion ORDER BY seq DESC, item, decision LIMIT ?", (limit,)
    )
    return [DecisionEntry(*row) for row in rows]


def decision_ids_of_task(snapshot: Snapshot, task: EntityId) -> set[EntityId]:
    """Return all decisions on the items of a task, those too that do not count."""
    rows: Any = snapshot.db.execute(
        "SELECT decision FROM proposal CROSS JOIN opinion ON opinion.item = proposal.item"
        " WHERE proposal.task = ?",
        (task,),
    )
    return {decision for (decision,) in rows}
