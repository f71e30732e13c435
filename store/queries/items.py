"""Change items: by the start of their id, as people write it, and whether one is confirmed.

Never reads what an item proposes.
"""

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
