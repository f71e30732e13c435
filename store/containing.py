"""Entities whose state holds some letters: a cheap way to leave most of them unread.

Never the last word: the letters may stand in any field, or in a value that has been overwritten beside it.
"""

from store.snapshot import Snapshot
from syncproto.ids import EntityId


def entities_containing(snapshot: Snapshot, kind: str, letters: str) -> list[EntityId]:
    """Return the entities of a kind, out of sight too, that hold these ASCII letters in any case, by id."""
    needle = letters.lower().encode("ascii")
    rows = snapshot.db.execute("SELECT id, state FROM entity WHERE kind = ? ORDER BY id", (kind,))
    return [EntityId(identifier) for identifier, state in rows if needle in state.lower()]
