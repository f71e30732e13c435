"""The writes that make an entity of a JSON Lines file, in an order that folds to what it was.

Never lets one version cover another that stood beside it.
"""

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple

from daemon.formats.jsonl.entity_record import EntityRecord, RecordedValue, RecordedWrite
from daemon.journal.fields.imported_provenance import (
    TOUCH_ORIGIN,
    KnownCounters,
    OriginalWrite,
    encode_origin,
)
from store.fold.entity_state import DELETED
from store.fold.proposal_index import CHANGE_SET, DECISION
from store.queries.items import is_item_confirmed
from store.snapshot import Snapshot
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId

# The store reads these from the operation that makes them: each must be in one, whole.
_IMMUTABLE = frozenset({CHANGE_SET, DECISION})
_STEP_BYTES = 192 * 1024
_STEP_ITEMS = 16 * 1024


class BaseScope(Enum):
    """What a write has seen of its entity: all of it as its phase begins, its creation alone, or nothing."""

    PHASE = 0
    BORN = 1
    NOTHING = 2


class WriteStep(NamedTuple):
    """One operation; those of one phase do not see each other. `values` has each field once."""

    phase: int
    base: BaseScope
    by: AuthorKind
    effect: EntityId | None
    original: OriginalWrite | None
    values: tuple[RecordedValue, ...]

    origin_bytes: int = 0

    @property
    def fields(self) -> dict[str, Value]:
        """Return the fields that it writes."""
        return {recorded_value.field: recorded_value.value for recorded_value in self.values}

    @property
    def size(self) -> int:
        """Return the bytes that its values and origin take in a commit."""
        return self.origin_bytes + sum(recorded_value.size for recorded_value in self.values)


class Confirmations:
    """Which change items are confirmed, each looked up once."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._answers: dict[EntityId, bool | None] = {}

    def is_confirmed(self, item: EntityId) -> bool | None:
        """Return whether an item is confirmed, None if nobody has decided on it."""
        if item not in self._answers:
            self._answers[item] = is_item_confirmed(self._snapshot, item)
        return self._answers[item]


def step_origin(step: WriteStep, known_counters: KnownCounters | None) -> dict[str, Value]:
    """Return the origin of a step's write; a touch has none."""
    return TOUCH_ORIGIN if step.original is None else encode_origin(step.original, known_counters)


def creation_steps(confirmations: Confirmations, entity_record: EntityRecord) -> list[WriteStep]:
    """Return the steps that make an entity."""
    effects = ConfirmationEffects(confirmations, entity_record)
    steps = _twin_steps(entity_record, effects) or list(_values(entity_record, effects))
    if entity_record.touched:
        steps.append(WriteStep(4, BaseScope.PHASE, AuthorKind.USER, None, None, ()))
    if _is_deleted_beneath(entity_record):
        steps += steps_per_value(5, [entity_record.beneath[DELETED]], effects)
    return steps + list(steps_per_value(6, [entity_record.tombstones], effects, _tomb_base(entity_record)))


def _is_deleted_beneath(entity_record: EntityRecord) -> bool:
    """Return whether the entity would be out of sight if confirmations were undone.

    Such a deletion is written after the words of persons, which it had seen: one beside it would keep the
    entity in sight.
    """
    deletions = entity_record.beneath.get(DELETED, ())
    is_outlived = entity_record.outlived or entity_record.outlived_beneath
    return not is_outlived and any(deletion.value is True for deletion in deletions)


def _values(entity_record: EntityRecord, effects: "ConfirmationEffects") -> Iterator[WriteStep]:
    """Yield the creation, what lies beneath, and what is in effect."""
    fields = {
        name: recorded_values for name, recorded_values in entity_record.current.items() if name != DELETED
    }
    plain = [field[0] for field in fields.values() if len(field) == 1]
    at_birth, *rest = list(
        _fitting_parts(
            recorded_value for recorded_value in plain if _is_at_birth(recorded_value, entity_record)
        )
    ) or [[]]
    yield _step(0, BaseScope.NOTHING, entity_record.creation, at_birth, effects.of_creation())
    yield from steps_per_write(
        1,
        (
            recorded_value
            for name, recorded_values in entity_record.imported.items()
            # Written after the creation, it would hide what outlived it. Exports of earlier versions have it.
            if not (entity_record.outlived and name == DELETED)
            for recorded_value in recorded_values
        ),
        effects,
    )
    # A restore beneath a deletion that the entity outlived would stand beside it: that has seen no person.
    is_deleted_later = _is_deleted_beneath(entity_record) or entity_record.outlived
    yield from steps_per_value(
        2,
        (
            recorded_values
            for name, recorded_values in entity_record.beneath.items()
            if not (is_deleted_later and name == DELETED)
        ),
        effects,
    )
    later = [recorded_value for part in rest for recorded_value in part] + [
        recorded_value for recorded_value in plain if not _is_at_birth(recorded_value, entity_record)
    ]
    yield from steps_per_write(3, later, effects)
    yield from steps_per_value(3, (field for field in fields.values() if len(field) > 1), effects)


def _is_at_birth(recorded_value: RecordedValue, entity_record: EntityRecord) -> bool:
    beneath = recorded_value.field in entity_record.beneath or recorded_value.field in entity_record.imported
    return recorded_value.write is entity_record.creation and not beneath


def _tomb_base(entity_record: EntityRecord) -> BaseScope:
    if not entity_record.outlived:
        return BaseScope.PHASE
    # It stays in sight by what a person wrote beside the deletion: perhaps nothing but the creation.
    is_persons = (
        entity_record.creation.by is AuthorKind.USER and entity_record.creation.original.effect is None
    )
    return BaseScope.NOTHING if is_persons else BaseScope.BORN


def _twin_steps(entity_record: EntityRecord, effects: "ConfirmationEffects") -> list[WriteStep]:
    """Return one creation per time that a proposal or decision was made, empty if it was made once."""
    everything = [
        recorded_value
        for name, recorded_values in entity_record.current.items()
        if name != DELETED
        for recorded_value in recorded_values
    ]
    value_groups = list(_by_write(everything)) if entity_record.kind in _IMMUTABLE else []
    makers = {group[0].write.by for group in value_groups}
    names = {frozenset(recorded_value.field for recorded_value in group) for group in value_groups}
    is_first = [group[0].write is entity_record.creation for group in value_groups]
    if len(value_groups) < 2 or len(names) != 1 or makers != {entity_record.creation.by} or not any(is_first):
        return []
    value_groups.sort(
        key=lambda recorded_values: (
            recorded_values[0].write is not entity_record.creation,
            recorded_values[0].write.original.ms,
            recorded_values[0].write.original.n,
        )
    )
    return [
        _step(0, BaseScope.NOTHING, group[0].write, group, effects.of_creation()) for group in value_groups
    ]


# -- what steps are made of ----------------------------------------------------------------------------


class ConfirmationEffects:
    """Which confirmation a write is the effect of, in this journal."""

    def __init__(self, confirmations: Confirmations, entity_record: EntityRecord) -> None:
        self._confirmations = confirmations
        self._born = entity_record.creation

    def of_creation(self) -> EntityId | None:
        """Return that of the creation, also of one that only a person's touch keeps."""
        item = self._born.original.effect
        return None if item is None or self._confirmations.is_confirmed(item) is None else item

    def of_write(self, write: RecordedWrite) -> EntityId | None:
        """Return that of another write; if nobody has decided on the proposal, it is independent."""
        item = write.original.effect
        if item is None:
            return None
        confirmed = self._confirmations.is_confirmed(item)
        if confirmed is None or (not confirmed and write.original is self._born.original):
            return None
        return item


def steps_per_write(
    phase: int,
    recorded_values: Iterable[RecordedValue],
    effects: ConfirmationEffects,
    base: BaseScope = BaseScope.PHASE,
) -> Iterator[WriteStep]:
    """Yield a step for each write, with all that it gave."""
    for group in _by_write(recorded_values):
        for part in _fitting_parts(group):
            yield _step(phase, base, part[0].write, part, effects.of_write(part[0].write))


def steps_per_value(
    phase: int,
    value_groups: Iterable[list[RecordedValue]],
    effects: ConfirmationEffects,
    base: BaseScope = BaseScope.PHASE,
) -> Iterator[WriteStep]:
    """Yield a step for each value, the last one for the best: of equals, the later is shown."""
    for versions in value_groups:
        for version in reversed(versions):
            yield _step(phase, base, version.write, [version], effects.of_write(version.write))


def _step(
    phase: int,
    base: BaseScope,
    write: RecordedWrite,
    recorded_values: Iterable[RecordedValue],
    effect: EntityId | None,
) -> WriteStep:
    return WriteStep(phase, base, write.by, effect, write.original, tuple(recorded_values), write.size)


def _by_write(recorded_values: Iterable[RecordedValue]) -> Iterator[list[RecordedValue]]:
    """Yield what each write gave, in the order in which the writes first come."""
    # A record has each write once. To compare two would compare their origins, which may be long.
    values_by_write: dict[int, list[RecordedValue]] = {}
    for recorded_value in recorded_values:
        values_by_write.setdefault(id(recorded_value.write), []).append(recorded_value)
    yield from values_by_write.values()


def _fitting_parts(recorded_values: Iterable[RecordedValue]) -> Iterator[list[RecordedValue]]:
    """Yield parts of the values of one write that each fit a commit."""
    part: list[RecordedValue] = []
    size = items = 0
    for recorded_value in recorded_values:
        added, more = recorded_value.size, recorded_value.items
        if part and (size + added > _STEP_BYTES or items + more > _STEP_ITEMS):
            yield part
            part = []
        if not part:
            size, items = recorded_value.write.size, 0
        part.append(recorded_value)
        size, items = size + added, items + more
    if part:
        yield part
