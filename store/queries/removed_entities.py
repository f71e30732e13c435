"""What is out of sight, the last changed first.

Never goes through what is in sight: a page costs what was put out of sight since its last row, of any kind.
"""

from collections.abc import Collection, Iterator
from typing import Any

import apsw

from store.fold.entity import Entity
from store.fold.entity_state import DELETED, load_state
from store.snapshot import Snapshot
from syncproto.ids import EntityId


def removed_entities(
    snapshot: Snapshot, kinds: Collection[str], after: EntityId | None = None
) -> Iterator[tuple[int, Entity]]:
    """Yield what was removed of these kinds, with the position of its last change; the last changed first.

    `after` is the last one of the page before. What only counted while a verdict did was not removed.
    """
    place: Any = None
    if after is not None:
        place = snapshot.db.execute("SELECT changed, id FROM entity WHERE id = ?", (after,)).fetchone()
    rows: Any = snapshot.db.execute(
        "SELECT changed, id, state FROM entity WHERE visible = 0 AND kind IN carray(?)"
        + ("" if place is None else " AND (changed, id) < (?, ?)")
        + " ORDER BY changed DESC, id DESC",
        (apsw.carray(tuple(kinds)), *(place or ())),
    )
    for changed, identifier, state in rows:
        entity = Entity(identifier, load_state(state), visible=False)
        if entity.value(DELETED) is True:
            yield changed, entity
