"""Change items by the start of their id, as people write it.

Never reads the items themselves.
"""

from store.snapshot import Snapshot
from syncproto.ids import EntityId, text


def items_with_prefix(snapshot: Snapshot, prefix: str, limit: int) -> list[EntityId]:
    """Return ids of change items whose text form begins with `prefix`, at most `limit`."""
    found: list[EntityId] = []
    for (item,) in snapshot.db.execute("SELECT DISTINCT item FROM proposal"):
        identifier = EntityId(bytes(item))
        if text(identifier).startswith(prefix):
            found.append(identifier)
            if len(found) >= limit:
                break
    return found
