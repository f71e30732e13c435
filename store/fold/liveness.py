"""Which operations count now: those that no item decides on, and those whose item is in effect.

Never writes, and never folds a field: the fold and whoever reads the log beside it ask here.
"""

import apsw

from store.fold import proposal_index
from store.fold.conditional import ConditionalFold
from store.fold.effects import EffectIndex
from store.fold.entity_state import EntityState, SourcedOperation
from store.fold.operations import operations_on
from store.fold.tallies import VerdictTallies
from store.fold.verdicts import DecisionStatus
from store.log.commit_log import CommitLog
from syncproto.ids import EntityId
from syncproto.vector_clock import Head


class Liveness:
    """Whether items are in effect, and operations live; it remembers what it has read for one transaction."""

    def __init__(self, db: apsw.Connection, log: CommitLog, tallies: VerdictTallies | None = None) -> None:
        """`tallies` are those of decisions that are not yet in the tables."""
        self._db = db
        self._log = log
        self._tallies = tallies
        self.effects = EffectIndex(db)
        self._creations: dict[EntityId, frozenset[Head]] = {}

    def is_confirmed(self, item: EntityId) -> bool:
        """Return whether the decisions on an item amount to a confirmation."""
        status = None if self._tallies is None else self._tallies.status(item)
        status = status or proposal_index.read_item_status(self._db, item)
        return status.status is DecisionStatus.CONFIRMED

    def is_in_effect(self, item: EntityId, entity: EntityId) -> bool:
        """Return whether an item is confirmed, and its effect on an entity counts."""
        return self.is_confirmed(item) and self.effects.counts(item, entity)

    def is_live(self, write: SourcedOperation) -> bool:
        """Return whether an operation of the log counts, as the fold of its entity decides it."""
        operation = write.operation
        effect, entity = operation.effect, operation.entity
        if effect is None or self.is_in_effect(effect, entity):
            return True
        # A creation that a person has touched belongs to that person, whatever becomes of its item.
        return operation.creates and write.head not in self._conditional_creations(entity)

    def _conditional_creations(self, entity: EntityId) -> frozenset[Head]:
        """Return the creations of an entity that its items decide on."""
        creations = self._creations.get(entity)
        if creations is None:
            creations = self._creations[entity] = self._read_creations(entity)
        return creations

    def _read_creations(self, entity: EntityId) -> frozenset[Head]:
        form = self._db.execute("SELECT form FROM conditional WHERE entity = ?", (entity,)).fetchone()
        if form is None:
            return frozenset()
        if form[0]:
            fold = ConditionalFold.load(form[0])
        else:
            # An earlier version, which kept no such forms, has folded it.
            fold = ConditionalFold(EntityState())
            for write in operations_on(self._db, entity, self._log):
                fold.apply_operation(write, self._log)
        return fold.creations()
