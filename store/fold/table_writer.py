"""Folding commits into the entity tables as they come, and putting into effect what verdicts decide.

Never appends to the log or checks a signature: the caller has appended the commit before.
"""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import apsw

from store.fold import founding, proposal_index, word_index
from store.fold.conditional import ConditionalFold, fold_history
from store.fold.entity_state import (
    EntityState,
    SourcedOperation,
    apply_operation,
    dump_state,
    load_state,
    with_provenance,
)
from store.fold.item_name import Requirement, requirement_of_ask
from store.fold.list_columns import ListColumns, columns_of, columns_of_lone_creation
from store.fold.liveness import Liveness
from store.fold.lone_creation import LoneCreation, is_lone_creation
from store.fold.operations import operation_at, operations_on
from store.fold.presence import PresenceIndex
from store.fold.proposal_index import ParsedDecision
from store.fold.relations import relations_of
from store.fold.tallies import VerdictTallies
from store.fold.verdicts import UNDECIDED
from store.log.commit_log import CommitLog
from syncproto.assertion import passkey_in
from syncproto.codec import Redacted, Value
from syncproto.commit import AuthorKind, DecodedCommit, Operation, is_long
from syncproto.ids import EntityId
from syncproto.keys import device_id_of_key
from syncproto.vector_clock import Head

HASH_MODULUS = 1 << 256

_COLUMNS = (*ListColumns._fields, "changed", "state")
_INSERT = f"INSERT INTO entity (no, id, {', '.join(_COLUMNS)}) VALUES (?, ?{', ?' * len(_COLUMNS)})"
_UPDATE = f"UPDATE entity SET {' = ?, '.join(_COLUMNS)} = ? WHERE no = ?"
_ROWS = "SELECT entity.id, no, entity.state, form FROM entity LEFT JOIN conditional ON entity = entity.id"
_DECIDING = frozenset(
    {proposal_index.CHANGE_SET, proposal_index.DECISION, proposal_index.ASK, proposal_index.PASSKEY}
)


def entity_hash(entity: EntityId, state: bytes) -> int:
    """Return the number that one entity adds to the state hash."""
    return int.from_bytes(hashlib.sha256(entity + state).digest(), "big")


class _OpenRow:
    """A row while commits are applied to it, with what the database contains of it.

    If verdicts decide on it, it has a conditional fold, which alone the commits are applied to; while the row
    is `stale`, it does not show what that comes to.
    """

    __slots__ = (
        "changed", "conditional", "had_conditional", "no", "old_kind", "old_relations", "old_state",
        "old_words", "row", "stale",
    )  # fmt: skip

    def __init__(self, entity: EntityId, no: int, old_state: bytes | None) -> None:
        self.conditional: ConditionalFold | None = None
        self.had_conditional = False
        self.stale = False
        self.row = EntityState() if old_state is None else load_state(old_state)
        self.no = no
        self.old_state = old_state
        self.old_kind = self.row.kind
        self.old_relations = set() if old_state is None else relations_of(self.row)
        self.old_words = None if old_state is None else word_index.words_of_entity(entity, self.row)
        self.changed = 0

    def fill(self, head: Head, values: Mapping[str, Value]) -> bool:
        """Spell values of a commit in another way; return whether the row may change."""
        if self.conditional is None:
            return self.row.fields.fill(head, values)
        self.stale = self.conditional.fill(head, values) or self.stale
        return self.stale


class TableWriter:
    """The rows that one transaction touches; `flush` writes them."""

    def __init__(self, db: apsw.Connection, log: CommitLog) -> None:
        self._db = db
        self._log = log
        self._open_rows: dict[EntityId, _OpenRow] = {}
        self._alone: dict[EntityId, LoneCreation] = {}
        self._touched: list[tuple[EntityId, int]] = []
        self._tallies = VerdictTallies(db)
        self._liveness = Liveness(db, log, self._tallies)
        self._presence = PresenceIndex(db)
        self._lost: list[tuple[EntityId, str, EntityId]] = []
        self._gained: list[tuple[EntityId, str, EntityId]] = []
        self._last_no: int | None = None
        self._added: list[tuple[DecodedCommit, int]] = []
        self._new: set[EntityId] = set()

    def add_commit(self, received: DecodedCommit, seq: int) -> None:
        """Add a commit that was just appended at feed position `seq`; it is folded with its page."""
        self._added.append((received, seq))

    def show_spelling(self, received: DecodedCommit) -> None:
        """Show the long values of a held commit, or what is left of them, as this spelling has them.

        Nothing is folded for it: what a value is decides neither what it covers nor where it stands.
        """
        self._catch_up()
        for operation in received.commit.operations:
            values = {
                name: value
                for name, value in operation.fields.items()
                if type(value) is Redacted or is_long(value)
            }
            if values and (opened := self._open_row(operation.entity)).fill(received.head, values):
                opened.changed = self._log.feed_end()

    def _catch_up(self) -> None:
        """Apply the commits that were added, after reading all rows that they touch with one query."""
        added, self._added = self._added, []
        if len(added) > 1:
            self._open_all(
                {operation.entity for received, _ in added for operation in received.commit.operations}
            )
        for received, seq in added:
            self._apply(received, seq)

    def _apply(self, received: DecodedCommit, seq: int) -> None:
        operations = received.commit.operations
        # Verdicts first: a confirmation is in one commit with its effect, which has to be live then.
        if not _DECIDING.isdisjoint([operation.kind for operation in operations]):
            for entity in self._verdicts(received, seq):
                self._turn(entity)
        for operation in operations:
            entity = operation.entity
            self._touched.append((entity, seq))
            if entity in self._new and is_lone_creation(operation):
                self._new.discard(entity)
                self._alone[entity] = LoneCreation(received, operation, seq, self._next_no())
            else:
                self._land(with_provenance(received, operation), seq)

    def _land(self, write: SourcedOperation, seq: int) -> None:
        """Apply an operation to the row of its entity."""
        operation = write.operation
        entity, effect = operation.entity, operation.effect
        if effect is not None:
            left_out = self._liveness.effects.record(effect, entity)
            # This entity took a place among those that count, so the operations on the other one are no
            # longer live.
            if left_out is not None and self._liveness.is_confirmed(effect):
                self._turn(left_out)
        opened = self._open_row(entity)
        opened.changed = seq
        if opened.conditional is None and (operation.creates or effect is not None):
            self._find_founding(entity, opened.row)
        if opened.conditional is None and effect is not None:
            opened.conditional = ConditionalFold(opened.row)
        if opened.conditional is None:
            apply_operation(opened.row, write, self._log)
        else:
            opened.conditional.apply_operation(write, self._log)
            opened.stale = True

    def _find_founding(self, entity: EntityId, row: EntityState) -> None:
        """Find out whether the creation of a row founds the entity, which its state does not tell."""
        if row.founded is None:
            assert row.born is not None
            seq = self._log.position_of(row.born.head)
            row.founded = founding.founds(operation_at(seq, entity, self._log).operation)

    def _turn(self, entity: EntityId) -> None:
        """Let an entity show what a verdict has changed."""
        opened = self._open_row(entity)
        if opened.conditional is not None:
            opened.stale, opened.changed = True, self._log.feed_end()

    def _index_history(self) -> None:
        """Write which entities the commits so far have touched, a page at a time."""
        self._db.executemany("INSERT INTO history VALUES (?, ?)", self._touched)
        self._touched.clear()

    def _verdicts(self, received: DecodedCommit, seq: int) -> set[EntityId]:
        """Index proposals and decisions; return the entities whose live operations changed by them."""
        turned: set[EntityId] = set()
        for operation in received.commit.operations:
            match operation.kind:
                case proposal_index.CHANGE_SET:
                    for item, name in proposal_index.record_change_set(self._db, operation, seq):
                        turned |= self._require(item, name.requirement)
                case proposal_index.ASK if operation.creates:
                    turned |= self._require(
                        operation.entity, requirement_of_ask(operation.fields, operation.entity)
                    )
                case proposal_index.PASSKEY if operation.creates:
                    turned |= self._add_passkey(operation)
                case proposal_index.DECISION:
                    decision = proposal_index.parse_decision(operation)
                    if decision is not None:
                        turned |= self._decide(decision, received.head, seq)
        return turned

    def _decide(self, decision: ParsedDecision, head: Head, seq: int) -> set[EntityId]:
        """Count a decision; return the entities on which its item came into effect, or ceased to be in it."""
        item, name, effects = decision.item, decision.name, self._liveness.effects
        turned = self._require(item, None if name is None else name.requirement)
        before = set(effects.counting_entities(item))
        if name is not None and name.entity is not None:
            effects.record_name(item, name.entity)
        after = set(effects.counting_entities(item))
        decision = self._judge(decision, head)
        if decision.opinion.counts and self._tallies.add_opinion(item, decision.opinion):
            turned |= before | after
        elif self._liveness.is_confirmed(item):
            turned |= before ^ after
        proposal_index.record_decision(self._db, decision, seq)
        return turned

    def _judge(self, decision: ParsedDecision, head: Head) -> ParsedDecision:
        """Return a decision with whether it counts; `head` is its commit."""
        requirement = self._presence.requirement(decision.item)
        if requirement is None:
            return decision
        signer = device_id_of_key(self._log.key_of_commit(head))
        counts = self._presence.fulfils(decision, signer, requirement)
        return decision._replace(opinion=decision.opinion._replace(counts=counts))

    def _require(self, item: EntityId, requirement: Requirement | None) -> set[EntityId]:
        """Record what verdicts on an item need, and count anew those that came before.

        Returns the entities on which the item ceased to be in effect.
        """
        if requirement is None or not self._presence.record_requirement(item, requirement):
            return set()
        positions = proposal_index.positions_of_decisions(self._db, item)
        if not positions:
            return set()
        counting = []
        for seq, identifier in positions:
            decision = self._decision_at(seq, identifier)
            if decision.opinion.counts:
                counting.append(decision.opinion)
            else:
                proposal_index.write_counts(self._db, decision, seq)
        turned = self._tallies.count_anew(item, counting)
        return set(self._liveness.effects.counting_entities(item)) if turned else set()

    def _add_passkey(self, operation: Operation) -> set[EntityId]:
        """Record a passkey, and count the decisions that have named it already."""
        passkey = passkey_in(operation.fields)
        if passkey is None or passkey.id != operation.entity or operation.by is not AuthorKind.USER:
            return set()
        turned: set[EntityId] = set()
        for seq, identifier in self._presence.record_passkey(passkey):
            decision = self._decision_at(seq, identifier)
            if not decision.opinion.counts or proposal_index.counts_already(self._db, decision, seq):
                continue
            if self._tallies.add_opinion(decision.item, decision.opinion):
                turned.update(self._liveness.effects.counting_entities(decision.item))
            proposal_index.write_counts(self._db, decision, seq)
        return turned

    def _decision_at(self, seq: int, identifier: EntityId) -> ParsedDecision:
        """Return a decision of the log, with whether it counts now."""
        write = operation_at(seq, identifier, self._log)
        decision = proposal_index.parse_decision(write.operation)
        assert decision is not None, "only decisions are indexed"
        return self._judge(decision, write.head)

    def _settle(self) -> None:
        """Write the status of the decided items."""
        for item, status in self._tallies.write():
            until_ms = self._last_expiry(item) if status is None else proposal_index.NEVER_EXPIRES_MS
            proposal_index.write_item_status(self._db, item, status or UNDECIDED, until_ms)

    def _last_expiry(self, item: EntityId) -> int:
        """Return until when an item may wait, as its proposals say it: no decision on it counts any more."""
        return max(
            (
                proposal_index.expiry_in(operation_at(seq, change_set, self._log).operation)
                for seq, change_set in proposal_index.positions_of_proposals(self._db, item)
            ),
            default=0,
        )

    def _fold_from(self, opened: _OpenRow, history: Iterable[SourcedOperation]) -> None:
        """Fold an entity from its whole history, of which nothing has been applied."""
        opened.row = EntityState()
        opened.conditional, opened.stale = ConditionalFold(opened.row), True
        for write in history:
            opened.conditional.apply_operation(write, self._log)

    def _refresh(self, entity: EntityId, opened: _OpenRow) -> None:
        """Let a row show what its conditional fold comes to."""
        opened.stale = False
        if opened.conditional is not None:
            opened.row = opened.conditional.row(
                lambda item: self._liveness.is_in_effect(item, entity), self._log
            )

    def _open_row(self, entity: EntityId) -> _OpenRow:
        opened = self._open_rows.get(entity)
        if opened is None:
            # With a second operation, the entity is folded like any other (docs/decisions/0045).
            alone = self._alone.pop(entity, None)
            opened = self._open_rows[entity] = (
                self._read_row(entity) if alone is None else self._with_others(alone)
            )
        return opened

    def _read_row(self, entity: EntityId) -> _OpenRow:
        """Return the row of an entity, an empty one if the entity is unknown."""
        row: Any = None
        if entity in self._new:
            self._new.discard(entity)
        else:
            row = self._db.execute(f"{_ROWS} WHERE entity.id = ?", (entity,)).fetchone()
        if row is None:
            return _OpenRow(entity, self._next_no(), None)
        return self._open_stored(*row)

    def _open_stored(self, entity: EntityId, no: int, state: bytes, form: bytes | None) -> _OpenRow:
        """Open a row that the database has, with the form of its conditional fold if there is one."""
        opened = _OpenRow(entity, no, state)
        opened.had_conditional = form is not None
        if form:
            opened.conditional = ConditionalFold.load(form)
        elif form is not None:
            # An earlier version, which kept no such forms, has folded it.
            self._fold_from(opened, operations_on(self._db, entity, self._log))
        return opened

    def _with_others(self, alone: LoneCreation) -> _OpenRow:
        """Return the row of an entity that only its creation had written so far."""
        opened = _OpenRow(alone.operation.entity, alone.no, None)
        opened.changed = alone.changed
        apply_operation(opened.row, alone.with_provenance, self._log)
        return opened

    def _open_all(self, entities: set[EntityId]) -> None:
        """Open the rows that the database has; the other entities are new."""
        rows: Any = self._db.execute(
            f"{_ROWS} WHERE entity.id IN carray(?)", (apsw.carray(tuple(entities)),)
        ).fetchall()
        for row in rows:
            if row[0] not in self._open_rows:
                self._open_rows[row[0]] = self._open_stored(*row)
        self._new |= entities - self._open_rows.keys() - self._alone.keys()

    def _next_no(self) -> int:
        if self._last_no is None:
            row: Any = self._db.execute("SELECT coalesce(max(no), 0) FROM entity").fetchone()
            self._last_no = row[0]
        self._last_no += 1
        return self._last_no

    def state_of(self, entity: EntityId) -> EntityState:
        """Return the current fold of an entity, an empty one if the entity is unknown."""
        self._catch_up()
        opened = self._open_row(entity)
        if opened.stale:
            self._refresh(entity, opened)
        return opened.row

    def refold_entity(self, entity: EntityId) -> EntityState:
        """Fold an entity again, from its whole history."""
        history = operations_on(self._db, entity, self._log)
        return fold_history(history, lambda item: self._liveness.is_in_effect(item, entity), self._log)

    def flush(self) -> tuple[int, int]:
        """Write the rows that were touched; return the growth of state sum and entity count."""
        self._catch_up()
        self._index_history()
        self._settle()
        fresh: list[tuple[object, ...]] = []
        words = word_index.IndexChanges()
        grown = self._flush_alone(fresh, words) + self._flush_open_rows(fresh, words)
        # In the order of their numbers, so that each B-tree grows at its end.
        fresh.sort()
        self._db.executemany(_INSERT, fresh)
        self._index_relations()
        words.write_index(self._db)
        self._open_rows.clear()
        self._alone.clear()
        self._new.clear()
        self._liveness.effects.forget()
        return grown % HASH_MODULUS, len(fresh)

    def _flush_alone(self, fresh: list[tuple[object, ...]], words: word_index.IndexChanges) -> int:
        """Add the rows that one operation made to `fresh`; return the growth of the state sum."""
        grown = 0
        for entity, alone in self._alone.items():
            state = alone.dump_state()
            grown += entity_hash(entity, state)
            fresh.append((alone.no, entity, *columns_of_lone_creation(alone), alone.changed, state))
            self._gained += [(target, name, entity) for target, name in relations_of(alone)]
            words.note_entity(alone.no, None, word_index.words_of_entity(entity, alone))
        return grown

    def _flush_open_rows(self, fresh: list[tuple[object, ...]], words: word_index.IndexChanges) -> int:
        """Update the other rows, and add the new ones to `fresh`; return the growth of the state sum."""
        grown = 0
        old: list[tuple[object, ...]] = []
        former: list[tuple[int, EntityId]] = []
        for entity, opened in self._open_rows.items():
            if not opened.changed:
                continue
            if opened.stale:
                self._refresh(entity, opened)
            self._keep_conditional(entity, opened)
            state = dump_state(opened.row)
            columns = (*columns_of(opened.row, self._log), opened.changed, state)
            self._relate(entity, opened)
            words.note_entity(opened.no, opened.old_words, word_index.words_of_entity(entity, opened.row))
            grown += entity_hash(entity, state)
            if opened.old_state is None:
                fresh.append((opened.no, entity, *columns))
            else:
                grown -= entity_hash(entity, opened.old_state)
                old.append((*columns, opened.no))
                if opened.old_kind == founding.DEVICE != opened.row.kind:
                    former.append((opened.changed, entity))
        self._db.executemany(_UPDATE, old)
        self._db.executemany("INSERT OR IGNORE INTO former_entry VALUES (?, ?)", former)
        return grown

    def _keep_conditional(self, entity: EntityId, opened: _OpenRow) -> None:
        """Write the conditional fold of a row, if it still has one."""
        if opened.conditional is not None and not opened.conditional.is_certain:
            form = opened.conditional.dump()
            self._db.execute("INSERT OR REPLACE INTO conditional VALUES (?, ?)", (entity, form))
        elif opened.had_conditional:
            self._db.execute("DELETE FROM conditional WHERE entity = ?", (entity,))

    def _relate(self, entity: EntityId, opened: _OpenRow) -> None:
        """Record the relations that an entity has lost and gained."""
        now = relations_of(opened.row)
        if now != opened.old_relations:
            self._lost += [(target, name, entity) for target, name in opened.old_relations - now]
            self._gained += [(target, name, entity) for target, name in now - opened.old_relations]

    def _index_relations(self) -> None:
        """Write the relations that were lost and gained, a page at a time."""
        self._db.executemany("DELETE FROM relation WHERE target = ? AND name = ? AND owner = ?", self._lost)
        self._db.executemany("INSERT INTO relation VALUES (?, ?, ?)", self._gained)
        self._lost.clear()
        self._gained.clear()
