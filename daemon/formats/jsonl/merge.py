"""What a JSON Lines file knows of an entity that the journal has too, and the writes that bring it in.

Never writes what the journal knows already, and never covers what a person wrote that the file does not know.
"""

from collections.abc import Iterable

from daemon.formats.jsonl.entity_record import EntityRecord, RecordedValue
from daemon.formats.jsonl.known_counters import known_counters_here
from daemon.formats.jsonl.write_steps import BaseScope, ConfirmationEffects, WriteStep, steps_per_value
from daemon.journal.fields.imported_provenance import KnownCounters, original_write
from store.fold.entity import Entity
from store.fold.entity_state import DELETED
from store.fold.field_versions import RANK_USER, Provenance, Version
from store.queries.field_changes import operations_touching
from store.snapshot import Snapshot
from syncproto import codec
from syncproto.codec import Value
from syncproto.vector_clock import Head


class EntityMerge:
    """An entity of the journal, paired with the file's record of it."""

    def __init__(self, snapshot: Snapshot, entity: Entity, entity_record: EntityRecord) -> None:
        self._snapshot = snapshot
        self._held = entity
        self._whole = entity_record
        recorded_values = [version for versions in entity_record.current.values() for version in versions]
        self._lacking = [
            recorded_value for recorded_value in recorded_values if not self._stands(recorded_value)
        ]
        self._seen: KnownCounters = {}
        if self._lacking:
            self._seen = known_counters_here(snapshot, entity)
            self._lacking = [
                recorded_value for recorded_value in self._lacking if not self._is_past(recorded_value)
            ]

    @property
    def is_known(self) -> bool:
        """Report whether the journal knows everything in the file's record."""
        return not self._lacking

    @property
    def is_removed_here(self) -> bool:
        """Say whether it was removed here, unknown to the file."""
        tombs = [version for version in self._held.versions(DELETED) if version.value is True]
        return not self._held.visible and any(not self._file_knows(tomb.source) for tomb in tombs)

    def steps(self) -> list[WriteStep]:
        """Return the steps that bring in what the file knows beyond the journal."""
        effects = ConfirmationEffects(self._snapshot, self._whole)
        lacking: dict[str, list[RecordedValue]] = {}
        for recorded_value in self._lacking:
            lacking.setdefault(recorded_value.field, []).append(recorded_value)
        tombs = lacking.pop(DELETED, [])
        steps: list[WriteStep] = []
        for name, recorded_values in lacking.items():
            steps += steps_per_value(
                3, [recorded_values], effects, self._base(self._held.versions(name), name)
            )
        return steps + list(steps_per_value(5, [tombs], effects, self._tomb_base()))

    def _stands(self, recorded_value: RecordedValue) -> bool:
        versions = self._held.versions(recorded_value.field)
        return any(
            _first_head(version.source) == recorded_value.original.head
            and _same(version.value, recorded_value.value)
            for version in versions
        )

    def _is_past(self, recorded_value: RecordedValue) -> bool:
        """Say whether the journal has had this value of this write, and something newer since."""
        if not _covers(self._seen, recorded_value.original.head):
            return False
        values = [
            sourced_operation.operation.fields[recorded_value.field]
            for sourced_operation in operations_touching(self._snapshot, self._held.id)
            if recorded_value.field in sourced_operation.operation.fields
            and _first_head(sourced_operation.source) == recorded_value.original.head
        ]
        # A value that somebody edited in the file itself still names the same write.
        return not values or any(_same(value, recorded_value.value) for value in values)

    def _file_knows(self, source: Provenance) -> bool:
        return _covers(self._whole.seen, _first_head(source))

    def _base(self, versions: list[Version], name: str) -> BaseScope:
        """Return a base that covers no word of a person's unknown to the file, nor what it has beside."""
        beside = [
            (recorded_value.original.head, recorded_value.value)
            for recorded_value in self._whole.current[name]
        ]
        provenances = [
            version.source
            for version in versions
            if any(
                _first_head(version.source) == head and _same(version.value, value) for head, value in beside
            )
            or (version.source.rank == RANK_USER and not self._file_knows(version.source))
        ]
        return self._scope_beside(provenances) if provenances else BaseScope.PHASE

    def _tomb_base(self) -> BaseScope:
        unknown = any(counter > self._whole.seen.get(replica, -1) for replica, counter in self._seen.items())
        born = self._held.created
        is_persons = born is not None and born.rank == RANK_USER
        return self._scope_beside([born] if born and is_persons else []) if unknown else BaseScope.PHASE

    def _scope_beside(self, provenances: Iterable[Provenance]) -> BaseScope:
        born = self._held.created
        is_born = born is None or any(provenance.head == born.head for provenance in provenances)
        return BaseScope.NOTHING if is_born else BaseScope.BORN


def _first_head(source: Provenance) -> Head:
    """Return the commit in which a write was first made."""
    original = original_write(source)
    return source.head if original is None else original.head


def _covers(known_counters: KnownCounters, head: Head) -> bool:
    return known_counters.get(head.replica, -1) >= head.counter


def _same(value: Value, other: Value) -> bool:
    """Compare values as they are kept: 1, 1.0 and true are three."""
    return codec.encode(value) == codec.encode(other)
