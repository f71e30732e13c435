"""All entities of a store, one after the other, for what leaves it whole.

Never holds more than one of them.
"""

from collections.abc import Iterator
from typing import Any

from store import proposals
from store.entity import Entity
from store.fold import load
from store.snapshot import Snapshot
from store.verdicts import Status
from syncproto.ids import EntityId


def whole(snapshot: Snapshot) -> Iterator[tuple[Entity, int]]:
    """Yield every entity, in or out of sight, by id, each with how many commits touched it."""
    rows: Any = snapshot.db.execute(
        "SELECT id, visible, state, (SELECT count(*) FROM history WHERE history.entity = entity.id)"
        " FROM entity ORDER BY id"
    )
    for name, visible, state, touched in rows:
        yield Entity(EntityId(name), load(state), bool(visible)), touched


def is_confirmed(snapshot: Snapshot, item: EntityId) -> bool | None:
    """Say whether a change item stands confirmed, None where nobody has decided on it."""
    decided = proposals.opinions(snapshot.db, item)
    return proposals.standing(snapshot.db, item).status is Status.CONFIRMED if decided else None
