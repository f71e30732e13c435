"""Folding commits into the entity tables as they land, and again where a verdict changes what is live.

Never appends to the log or checks a signature: the caller has placed the commit before it comes here.
"""

import hashlib
from typing import Any

import apsw

from store import proposals, search
from store.alone import Alone, stands_alone
from store.fold import Row, Written, apply, dump, fold, load, written
from store.listed import listed, listed_alone
from store.log import Log
from store.operations import operations_on
from store.proposals import Decided
from store.relations import relations_of
from store.verdicts import Status, Tally
from syncproto.commit import Operation, Received
from syncproto.ids import EntityId

HASH_MODULUS = 1 << 256

_DECIDING = frozenset({proposals.CHANGE_SET, proposals.DECISION})


def entity_hash(entity: EntityId, state: bytes) -> int:
    """Return what one entity adds to the state hash."""
    return int.from_bytes(hashlib.sha256(entity + state).digest(), "big")


class _Held:
    """A row while commits are applied to it, with what the database holds of it."""

    __slots__ = ("changed", "no", "old_relations", "old_state", "old_words", "row")

    def __init__(self, entity: EntityId, no: int, old_state: bytes | None) -> None:
        self.row = Row() if old_state is None else load(old_state)
        self.no = no
        self.old_state = old_state
        self.old_relations = set() if old_state is None else relations_of(self.row)
        self.old_words = None if old_state is None else search.document(entity, self.row)
        self.changed = 0


class Folding:
    """The rows that one transaction touches; `flush` writes them."""

    def __init__(self, db: apsw.Connection, log: Log) -> None:
        self._db = db
        self._log = log
        self._held: dict[EntityId, _Held] = {}
        self._alone: dict[EntityId, Alone] = {}
        self._touched: list[tuple[EntityId, int]] = []
        self._tallies: dict[EntityId, Tally] = {}
        self._refold: set[EntityId] = set()
        self._lost: list[tuple[EntityId, str, EntityId]] = []
        self._gained: list[tuple[EntityId, str, EntityId]] = []
        self._last_no: int | None = None
        self._taken: list[tuple[Received, int]] = []
        self._new: set[EntityId] = set()

    def take(self, received: Received, seq: int) -> None:
        """Note a commit that has just been appended at feed position `seq`; it is folded with its page."""
        self._taken.append((received, seq))

    def _catch_up(self) -> None:
        """Apply the commits that were taken, after reading the rows that they touch at once."""
        taken, self._taken = self._taken, []
        if len(taken) > 1:
            self._hold_all({one.entity for received, _ in taken for one in received.commit.operations})
        for received, seq in taken:
            self._apply(received, seq)

    def _apply(self, received: Received, seq: int) -> None:
        operations = received.commit.operations
        if not _DECIDING.isdisjoint([operation.kind for operation in operations]):
            self._refold |= self._verdicts(operations, seq)
        for operation in operations:
            entity = operation.entity
            self._touched.append((entity, seq))
            if entity in self._new and stands_alone(operation):
                self._new.discard(entity)
                self._alone[entity] = Alone(received, operation, seq, self._next_no())
            else:
                self._land(written(received, operation), seq)

    def _land(self, write: Written, seq: int) -> None:
        """Apply an operation to the row of its entity."""
        entity, effect = write.operation.entity, write.operation.effect
        if effect is not None:
            self._db.execute("INSERT OR IGNORE INTO effect VALUES (?, ?)", (effect, entity))
        held = self._hold(entity)
        held.changed = seq
        if entity in self._refold:
            return
        if apply(held.row, write, effect is None or self._confirmed(effect), self._log):
            self._refold.add(entity)

    def _index_history(self) -> None:
        """Write which entities the commits so far have touched, a page at once."""
        self._db.executemany("INSERT INTO history VALUES (?, ?)", self._touched)
        self._touched.clear()

    def _verdicts(self, operations: list[Operation], seq: int) -> set[EntityId]:
        """Index proposals and decisions; return the entities whose live operations changed by them."""
        turned = []
        for operation in operations:
            if operation.kind == proposals.CHANGE_SET:
                proposals.record_change_set(self._db, operation, seq)
            elif operation.kind == proposals.DECISION:
                decision = proposals.decided(operation)
                if decision is not None and self._decide(decision, seq):
                    turned.append(decision.item)
        return proposals.entities_of(self._db, turned)

    def _decide(self, decision: Decided, seq: int) -> bool:
        """Count a decision; return whether it changed whether its item is confirmed."""
        tally = self._tallies.get(decision.item)
        if tally is None:
            tally = self._tallies[decision.item] = Tally(proposals.opinions(self._db, decision.item))
        before = tally.standing.status
        tally.add(decision.opinion)
        proposals.record_decision(self._db, decision, seq)
        return (before is Status.CONFIRMED) != (tally.standing.status is Status.CONFIRMED)

    def _confirmed(self, item: EntityId) -> bool:
        tally = self._tallies.get(item)
        standing = proposals.standing(self._db, item) if tally is None else tally.standing
        return standing.status is Status.CONFIRMED

    def _settle(self) -> None:
        """Write what decisions amount to, and fold again, once each, what they changed."""
        for item, tally in self._tallies.items():
            proposals.settle(self._db, item, tally.standing)
        for entity in self._refold:
            held = self._hold(entity)
            held.row, held.changed = self.refolded(entity), self._log.end()
        self._tallies.clear()
        self._refold.clear()

    def _hold(self, entity: EntityId) -> _Held:
        held = self._held.get(entity)
        if held is None:
            alone = self._alone.pop(entity, None)
            held = self._held[entity] = self._read(entity) if alone is None else self._with_others(alone)
        return held

    def _read(self, entity: EntityId) -> _Held:
        """Read a row; it is empty where nothing is known of the entity."""
        row: Any = None
        if entity in self._new:
            self._new.discard(entity)
        else:
            row = self._db.execute("SELECT no, state FROM entity WHERE id = ?", (entity,)).fetchone()
        no, state = row or (self._next_no(), None)
        return _Held(entity, no, state)

    def _with_others(self, alone: Alone) -> _Held:
        """Return the row of an entity that stood alone so far."""
        held = _Held(alone.operation.entity, alone.no, None)
        held.changed = alone.changed
        apply(held.row, alone.write, live=True, chains=self._log)
        return held

    def _hold_all(self, entities: set[EntityId]) -> None:
        """Hold those that the database has; the others are new."""
        rows: Any = self._db.execute(
            "SELECT id, no, state FROM entity WHERE id IN carray(?)", (apsw.carray(tuple(entities)),)
        )
        for entity, no, state in rows:
            if entity not in self._held:
                self._held[entity] = _Held(entity, no, state)
        self._new |= entities - self._held.keys() - self._alone.keys()

    def _next_no(self) -> int:
        if self._last_no is None:
            row: Any = self._db.execute("SELECT coalesce(max(no), 0) FROM entity").fetchone()
            self._last_no = row[0]
        self._last_no += 1
        return self._last_no

    def row(self, entity: EntityId) -> Row:
        """Return the current fold of an entity, empty where nothing is known of it."""
        self._catch_up()
        if entity in self._refold:
            # What has come since did not land in the row: a base taken from it would not cover that.
            self._index_history()
            self._settle()
        return self._hold(entity).row

    def refolded(self, entity: EntityId) -> Row:
        """Fold an entity anew from its whole history."""
        return fold(operations_on(self._db, entity, self._log), self._confirmed, self._log)

    def flush(self) -> tuple[int, int]:
        """Write the rows that were touched; return what the state sum and the number of entities grew by."""
        self._catch_up()
        self._index_history()
        self._settle()
        fresh: list[tuple[object, ...]] = []
        words = search.Changes()
        grown = self._flush_alone(fresh, words) + self._flush_held(fresh, words)
        # Numbers were given in the order of the feed: a tree grows at its end.
        fresh.sort()
        self._db.executemany("INSERT INTO entity VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", fresh)
        self._index_relations()
        words.write(self._db)
        self._held.clear()
        self._alone.clear()
        self._new.clear()
        return grown % HASH_MODULUS, len(fresh)

    def _flush_alone(self, fresh: list[tuple[object, ...]], words: search.Changes) -> int:
        """Note the rows that one operation has made; return what the state sum grows by."""
        grown = 0
        for entity, alone in self._alone.items():
            state = alone.dump()
            grown += entity_hash(entity, state)
            fresh.append((alone.no, entity, *listed_alone(alone), alone.changed, state))
            self._gained += [(target, name, entity) for target, name in relations_of(alone)]
            words.note(alone.no, None, search.document(entity, alone))
        return grown

    def _flush_held(self, fresh: list[tuple[object, ...]], words: search.Changes) -> int:
        """Write the other rows, and note those that are new; return what the state sum grows by."""
        grown = 0
        old: list[tuple[object, ...]] = []
        for entity, held in self._held.items():
            if not held.changed:
                continue
            state = dump(held.row)
            columns = (*listed(held.row, self._log), held.changed, state)
            self._relate(entity, held)
            words.note(held.no, held.old_words, search.document(entity, held.row))
            grown += entity_hash(entity, state)
            if held.old_state is None:
                fresh.append((held.no, entity, *columns))
            else:
                grown -= entity_hash(entity, held.old_state)
                old.append((*columns, held.no))
        self._db.executemany(
            "UPDATE entity SET kind = ?, visible = ?, closed = ?, disputed = ?, made_ms = ?, made_n = ?,"
            " changed = ?, state = ? WHERE no = ?",
            old,
        )
        return grown

    def _relate(self, entity: EntityId, held: _Held) -> None:
        """Note which relations an entity has lost and gained."""
        now = relations_of(held.row)
        if now != held.old_relations:
            self._lost += [(target, name, entity) for target, name in held.old_relations - now]
            self._gained += [(target, name, entity) for target, name in now - held.old_relations]

    def _index_relations(self) -> None:
        """Write the relations that were lost and gained, a page at once."""
        self._db.executemany("DELETE FROM relation WHERE target = ? AND name = ? AND owner = ?", self._lost)
        self._db.executemany("INSERT INTO relation VALUES (?, ?, ?)", self._gained)
        self._lost.clear()
        self._gained.clear()
