"""Which entities the confirmation of an item writes: those that it names, and some dozen others at most.

Never decides whether an item is confirmed.
"""

from bisect import insort
from typing import Any, Final

import apsw

from syncproto.ids import EntityId, derived_id, id_to_text

EFFECTS_MAX: Final = 24
"""The entities that count for one item although it does not name them."""


def entity_of_item(item: EntityId) -> EntityId:
    """Return the id of the entity that an item makes, if it makes one."""
    return derived_id("entity", id_to_text(item), time_of=item)


class _Entities:
    """The entities of an item: those that it names, which of them operations name it for, and others."""

    __slots__ = ("named", "others", "written")

    def __init__(self, named: set[EntityId], written: set[EntityId], others: list[EntityId]) -> None:
        self.named = named
        self.written = written
        self.others = others


class EffectIndex:
    """The entities that operations name an item for. Those that the item names count, and few others.

    It remembers what it has read, so that it belongs to one transaction.
    """

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._known: dict[EntityId, _Entities] = {}

    def counting_entities(self, item: EntityId) -> list[EntityId]:
        """Return the entities that count for an item, by id."""
        entities = self._entities(item)
        return sorted([*entities.written, *entities.others])

    def counts(self, item: EntityId, entity: EntityId) -> bool:
        """Return whether an entity is among those that count for an item."""
        entities = self._entities(item)
        return entity in entities.written or entity in entities.others

    def has_place(self, item: EntityId, entity: EntityId) -> bool:
        """Return whether an entity counts for an item, or would if an operation named the item for it."""
        entities = self._entities(item)
        others = entities.others
        return entity in entities.named or len(others) < EFFECTS_MAX or entity <= others[-1]

    def writes_what_it_names(self, item: EntityId) -> bool:
        """Return whether operations name an item for an entity that the item names."""
        return bool(self._entities(item).written)

    def record(self, item: EntityId, entity: EntityId) -> EntityId | None:
        """Record that an operation names an item; return the entity that counts no more, if there is one."""
        if self.counts(item, entity):
            return None
        entities = self._entities(item)
        self._db.execute("INSERT OR IGNORE INTO effect VALUES (?, ?)", (item, entity))
        if entity in entities.named:
            entities.written.add(entity)
            return None
        # By id and not by arrival, which differs from device to device (docs/decisions/0053).
        if len(entities.others) == EFFECTS_MAX and entity > entities.others[-1]:
            return None
        insort(entities.others, entity)
        return entities.others.pop() if len(entities.others) > EFFECTS_MAX else None

    def record_name(self, item: EntityId, entity: EntityId) -> None:
        """Record that an item was shown to name an entity."""
        if entity not in self._entities(item).named:
            self._db.execute("INSERT INTO named VALUES (?, ?)", (item, entity))
            del self._known[item]

    def forget(self) -> None:
        """Forget what was read, at the end of a transaction."""
        self._known.clear()

    def _entities(self, item: EntityId) -> _Entities:
        entities = self._known.get(item)
        if entities is None:
            entities = self._known[item] = self._read(item)
        return entities

    def _read(self, item: EntityId) -> _Entities:
        rows: Any = self._db.execute("SELECT entity FROM named WHERE item = ?", (item,))
        named = {entity_of_item(item), *(entity for (entity,) in rows)}
        rows = self._db.execute(
            "SELECT entity FROM effect WHERE item = ? AND entity IN carray(?)",
            (item, apsw.carray(tuple(named))),
        )
        written = {entity for (entity,) in rows}
        rows = self._db.execute(
            "SELECT entity FROM effect WHERE item = ? ORDER BY entity LIMIT ?",
            (item, EFFECTS_MAX + len(named)),
        )
        others = [entity for (entity,) in rows if entity not in named]
        return _Entities(named, written, others[:EFFECTS_MAX])
