"""Change items: by the start of their id, as people write it, their tasks, and whether one is confirmed.

Never reads what an item proposes.
"""

from collections.abc import Collection
from typing import Any

import apsw

from store.fold import proposal_index
from store.fold.verdicts import DecisionStatus
from store.snapshot import Snapshot
from syncproto.ids import EntityId, id_to_text

RANDOM_DIGITS = 14
"""The digits of an id's text form that are its random part, by which the index is ordered."""


def items_with_prefix(snapshot: Snapshot, prefix: str, limit: int) -> list[EntityId]:
    """Return at most `limit` ids of change items whose text form begins with `prefix`."""
    start = prefix[:RANDOM_DIGITS]
    try:
        bounds = [bytes.fromhex(start.ljust(RANDOM_DIGITS, filling)) for filling in "0f"]
    except ValueError:
        return []
    rows = snapshot.db.execute(
        "SELECT DISTINCT item FROM proposal WHERE substr(item, 10) BETWEEN ? AND ?", bounds
    )
    candidates = (EntityId(bytes(item)) for (item,) in rows)
    return [item for item in candidates if id_to_text(item).startswith(prefix)][:limit]


def is_item_confirmed(snapshot: Snapshot, item: EntityId) -> bool | None:
    """Return whether a change item is confirmed, None if nobody has decided on it."""
    if not any(opinion.counts for opinion in proposal_index.opinions_on(snapshot.db, item)):
        return None
    return proposal_index.read_item_status(snapshot.db, item).status is DecisionStatus.CONFIRMED


def tasks_of_items(snapshot: Snapshot, items: Collection[EntityId]) -> set[EntityId]:
    """Return the tasks that any of these items was proposed on."""
    return _ids(snapshot, "SELECT task FROM proposal WHERE item IN carray(?)", items)


def tasks_of_sets(snapshot: Snapshot, change_sets: Collection[EntityId]) -> set[EntityId]:
    """Return the tasks that any of these change sets is about."""
    return _ids(snapshot, "SELECT task FROM proposal WHERE change_set IN carray(?)", change_sets)


def effects_of_items(snapshot: Snapshot, items: Collection[EntityId]) -> set[EntityId]:
    """Return the entities that confirmations of these items wrote."""
    return _ids(snapshot, "SELECT entity FROM effect WHERE item IN carray(?)", items)


def tasks_of_items_ending(snapshot: Snapshot, after_ms: int, until_ms: int) -> set[EntityId]:
    """Return the tasks of the open items whose time ends in the span (after, until]."""
    rows: Any = snapshot.db.execute(
        "SELECT DISTINCT task FROM item CROSS JOIN proposal ON item = id"
        " WHERE (disputed OR status IN ('pending', 'deferred')) AND until_ms > ? AND until_ms <= ?",
        (after_ms, until_ms),
    )
    return {task for (task,) in rows}


def tasks_of_agent_proposals(snapshot: Snapshot, agent: EntityId) -> set[EntityId]:
    """Return the tasks that an agent has proposed anything on. Costs a look-up per proposal."""
    return _ids(
        snapshot,
        "SELECT task FROM relation CROSS JOIN proposal ON change_set = owner"
        " WHERE name = 'agent_change_set' AND target IN carray(?)",
        [agent],
    )


def _ids(snapshot: Snapshot, query: str, named: Collection[EntityId]) -> set[EntityId]:
    if not named:
        return set()
    rows: Any = snapshot.db.execute(query, (apsw.carray(tuple(named)),))
    return {entity for (entity,) in rows}
