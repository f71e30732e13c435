"""Which entities the confirmation of an item writes: at most some dozen count, on all devices the same.

Never decides whether an item is confirmed.
"""

from bisect import insort
from typing import Any, Final

import apsw

from syncproto.ids import EntityId

EFFECTS_MAX: Final = 24
"""The entities that count for one item. Each tool writes one; what is beyond is no tool's."""


def has_place(db: apsw.Connection, item: EntityId, entity: EntityId) -> bool:
    """Return whether an entity counts for an item, or would count if an operation named the item for it."""
    row: Any = db.execute(
        "SELECT count(*) FROM (SELECT 1 FROM effect WHERE item = ? AND entity < ? LIMIT ?)",
        (item, entity, EFFECTS_MAX),
    ).fetchone()
    return bool(row[0] < EFFECTS_MAX)


class EffectIndex:
    """The entities that operations name an item for; those with the least ids count.

    It remembers what it has read, so that it belongs to one transaction.
    """

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._counting: dict[EntityId, list[EntityId]] = {}

    def counting_entities(self, item: EntityId) -> list[EntityId]:
        """Return the entities that count for an item, by id."""
        counting = self._counting.get(item)
        if counting is None:
            rows: Any = self._db.execute(
                "SELECT entity FROM effect WHERE item = ? ORDER BY entity LIMIT ?", (item, EFFECTS_MAX)
            )
            counting = self._counting[item] = [entity for (entity,) in rows]
        return counting

    def counts(self, item: EntityId, entity: EntityId) -> bool:
        """Return whether an entity is among those that count for an item."""
        return entity in self.counting_entities(item)

    def record(self, item: EntityId, entity: EntityId) -> EntityId | None:
        """Record that an operation names an item; return the entity that counts no more, if there is one."""
        counting = self.counting_entities(item)
        if entity in counting:
            return None
        self._db.execute("INSERT OR IGNORE INTO effect VALUES (?, ?)", (item, entity))
        # By id and not by arrival, which differs from device to device (docs/decisions/0053).
        if len(counting) == EFFECTS_MAX and entity > counting[-1]:
            return None
        insort(counting, entity)
        return counting.pop() if len(counting) > EFFECTS_MAX else None

    def forget(self) -> None:
        """Forget what was read, at the end of a transaction."""
        self._counting.clear()
