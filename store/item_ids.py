"""Change items by the start of their id, as people write it.

Never reads the items themselves.
"""

from store.snapshot import Snapshot
from syncproto.ids import EntityId, text

RANDOM_DIGITS = 14
"""So many digits of an id's text form are its random part, by which the index is ordered."""


def items_with_prefix(snapshot: Snapshot, prefix: str, limit: int) -> list[EntityId]:
    """Return ids of change items whose text form begins with `prefix`, at most `limit`."""
    start = prefix[:RANDOM_DIGITS]
    try:
        bounds = [bytes.fromhex(start.ljust(RANDOM_DIGITS, filling)) for filling in "0f"]
    except ValueError:
        return []
    rows = snapshot.db.execute(
        "SELECT DISTINCT item FROM proposal WHERE substr(item, 10) BETWEEN ? AND ?", bounds
    )
    found = (EntityId(bytes(item)) for (item,) in rows)
    return [item for item in found if text(item).startswith(prefix)][:limit]
