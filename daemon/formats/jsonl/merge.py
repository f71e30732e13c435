"""What a JSON Lines file knows of an entity that the journal has too, and the writes that bring it in.

Never writes what the journal knows already, and never covers what a person wrote that the file does not know.
"""

from collections.abc import Collection, Iterable

from daemon.formats.jsonl.entity_record import EntityRecord, RecordedValue
from daemon.formats.jsonl.known_counters import known_counters
from daemon.formats.jsonl.write_steps import (
    BaseScope,
    ConfirmationEffects,
    Confirmations,
    WriteStep,
    steps_per_value,
    steps_per_write,
)
from daemon.journal.fields.imported_provenance import KnownCounters, original_write
from store.fold.entity import Entity
from store.fold.entity_state import DELETED, SourcedOperation
from store.fold.field_versions import RANK_USER, Provenance, Version
from syncproto import codec
from syncproto.codec import Value
from syncproto.vector_clock import Head

_Spoken = tuple[str, Head, bytes]
"""A field, the commit that first gave it a value, and that value as it is kept: 1, 1.0 and true are three."""


class EntityMerge:
    """An entity of the journal, paired with the file's record of it."""

    def __init__(self, entity: Entity, entity_record: EntityRecord, confirmations: Confirmations) -> None:
        self._confirmations = confirmations
        self.entity = entity
        self._whole = entity_record
        recorded_values = [version for versions in entity_record.current.values() for version in versions]
        standing = {
            _key_of_version(name, version.source, version.value)
            for name in entity_record.current
            for version in entity.versions(name)
        }
        self._lacking = [
            recorded_value
            for recorded_value in recorded_values
            if _key_of_recorded(recorded_value) not in standing
        ]
        self._seen: KnownCounters = {}

    def read_history(self, history: Iterable[SourcedOperation]) -> None:
        """Take out of what is lacking what the history of the entity has; without need, do not read it."""
        operations = list(history)
        self._seen = known_counters(self.entity, [operation.source for operation in operations])
        past = _PastValues(operations, {value.field for value in self._lacking})
        self._lacking = [
            recorded_value
            for recorded_value in self._lacking
            if not (_covers(self._seen, recorded_value.write.original.head) and past.contain(recorded_value))
        ]

    @property
    def is_known(self) -> bool:
        """Report whether the journal knows everything in the file's record."""
        return not self._lacking

    @property
    def is_removed_here(self) -> bool:
        """Say whether it was removed here, unknown to the file."""
        tombs = [version for version in self.entity.versions(DELETED) if version.value is True]
        return not self.entity.visible and any(not self._file_knows(tomb.source) for tomb in tombs)

    def steps(self) -> list[WriteStep]:
        """Return the steps that bring in what the file knows beyond the journal."""
        effects = ConfirmationEffects(self._confirmations, self._whole)
        lacking: dict[str, list[RecordedValue]] = {}
        for recorded_value in self._lacking:
            lacking.setdefault(recorded_value.field, []).append(recorded_value)
        tombs = lacking.pop(DELETED, [])
        steps: list[WriteStep] = []
        plain: dict[BaseScope, list[RecordedValue]] = {}
        for name, recorded_values in lacking.items():
            base = self._base(self.entity.versions(name), name)
            if len(recorded_values) == 1:
                plain.setdefault(base, []).extend(recorded_values)
            else:
                steps += steps_per_value(3, [recorded_values], effects, base)
        for base, recorded_values in plain.items():
            steps += steps_per_write(3, recorded_values, effects, base)
        return steps + list(steps_per_value(5, [tombs], effects, self._tomb_base()))

    def _file_knows(self, source: Provenance) -> bool:
        return _covers(self._whole.seen, _first_head(source))

    def _base(self, versions: list[Version], name: str) -> BaseScope:
        """Return a base that covers no word of a person's unknown to the file, nor what it has beside."""
        beside = {_key_of_recorded(recorded_value) for recorded_value in self._whole.current[name]}
        provenances = [
            version.source
            for version in versions
            if _key_of_version(name, version.source, version.value) in beside
            or (version.source.rank == RANK_USER and not self._file_knows(version.source))
        ]
        return self._scope_beside(provenances) if provenances else BaseScope.PHASE

    def _tomb_base(self) -> BaseScope:
        unknown = any(counter > self._whole.seen.get(replica, -1) for replica, counter in self._seen.items())
        born = self.entity.created
        is_persons = born is not None and born.rank == RANK_USER
        return self._scope_beside([born] if born and is_persons else []) if unknown else BaseScope.PHASE

    def _scope_beside(self, provenances: Iterable[Provenance]) -> BaseScope:
        born = self.entity.created
        is_born = born is None or any(provenance.head == born.head for provenance in provenances)
        return BaseScope.NOTHING if is_born else BaseScope.BORN


class _PastValues:
    """What each write on an entity gave to some fields, as its history has it."""

    def __init__(self, history: Iterable[SourcedOperation], fields: Collection[str]) -> None:
        self._said: set[_Spoken] = set()
        self._writes: set[tuple[str, Head]] = set()
        for sourced_operation in history:
            for name, value in sourced_operation.operation.fields.items():
                if name in fields:
                    self._said.add(_key_of_version(name, sourced_operation.source, value))
                    self._writes.add((name, _first_head(sourced_operation.source)))

    def contain(self, recorded_value: RecordedValue) -> bool:
        """Report whether the journal has had this value of this write, if it still knows that write."""
        # A value that somebody edited in the file itself still names the same write.
        is_known = (recorded_value.field, recorded_value.write.original.head) in self._writes
        return not is_known or _key_of_recorded(recorded_value) in self._said


def _key_of_version(field: str, source: Provenance, value: Value) -> _Spoken:
    return field, _first_head(source), codec.encode(value)


def _key_of_recorded(recorded_value: RecordedValue) -> _Spoken:
    return recorded_value.field, recorded_value.write.original.head, codec.encode(recorded_value.value)


def _first_head(source: Provenance) -> Head:
    """Return the commit in which a write was first made."""
    original = original_write(source)
    return source.head if original is None else original.head


def _covers(known_counters: KnownCounters, head: Head) -> bool:
    return known_counters.get(head.replica, -1) >= head.counter
