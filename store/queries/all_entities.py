"""All entities of a store, one after the other, for exports of the whole journal.

Never has more than one of them in memory.
"""

from collections.abc import Iterator
from typing import Any

from store.fold.entity import Entity
from store.fold.entity_state import load_state
from store.snapshot import Snapshot
from syncproto.ids import EntityId


def every_entity(snapshot: Snapshot) -> Iterator[tuple[Entity, int]]:
    """Yield every entity, visible or not, by id, each with the number of commits that touched it."""
    rows: Any = snapshot.db.execute(
        "SELECT id, visible, state, (SELECT count(*) FROM history WHERE history.entity = entity.id)"
        " FROM entity ORDER BY id"
    )
    for entity, visible, state, commits in rows:
        yield Entity(EntityId(entity), load_state(state), bool(visible)), commits
