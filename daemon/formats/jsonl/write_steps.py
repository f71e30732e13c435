"""The writes that make an entity of a JSON Lines file, in an order that folds to what it was.

Never lets one version cover another that stood beside it.
"""

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple

from daemon.formats.jsonl.entity_record import EntityRecord, RecordedValue, commit_bytes_of, commit_items_of
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
from syncproto import codec
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId

# The store reads these from the operation that makes them: each must be in one, whole.
_IMMUTABLE = frozenset({CHANGE_SET, DECISION})
_STEP_BYTES = 192 * 1024
_STEP_ITEMS = 16 * 1024

_Write = tuple[AuthorKind, OriginalWrite]


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

    @property
    def fields(self) -> dict[str, Value]:
        """Return the fields that it writes."""
        return {recorded_value.field: recorded_value.value for recorded_value in self.values}


def step_origin(step: WriteStep, known_counters: KnownCounters | None) -> dict[str, Value]:
    """Return the origin of a step's write; a touch has none."""
    return TOUCH_ORIGIN if step.original is None else encode_origin(step.original, known_counters)


def creation_steps(snapshot: Snapshot, entity_record: EntityRecord) -> list[WriteStep]:
    """Return the steps that make an entity."""
    effects = ConfirmationEffects(snapshot, entity_record)
    steps = _twin_steps(entity_record, effects) or list(_values(entity_record, effects))
    if entity_record.touched:
        steps.append(WriteStep(4, BaseScope.PHASE, AuthorKind.USER, None, None, ()))
    return steps + list(steps_per_value(5, [entity_record.tombstones], effects, _tomb_base(entity_record)))


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
            for recorded_values in entity_record.imported.values()
            for recorded_value in recorded_values
        ),
        effects,
    )
    yield from steps_per_value(2, entity_record.beneath.values(), effects)
    later = [recorded_value for part in rest for recorded_value in part] + [
        recorded_value for recorded_value in plain if not _is_at_birth(recorded_value, entity_record)
    ]
    yield from steps_per_write(3, later, effects)
    yield from steps_per_value(3, (field for field in fields.values() if len(field) > 1), effects)


def _is_at_birth(recorded_value: RecordedValue, entity_record: EntityRecord) -> bool:
    beneath = recorded_value.field in entity_record.beneath or recorded_value.field in entity_record.imported
    return (recorded_value.original, recorded_value.by) == (
        entity_record.creation.original,
        entity_record.creation.by,
    ) and not beneath


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
    makers = {group[0].by for group in value_groups}
    names = {frozenset(recorded_value.field for recorded_value in group) for group in value_groups}
    is_first = [group[0].original == entity_record.creation.original for group in value_groups]
    if len(value_groups) < 2 or len(names) != 1 or makers != {entity_record.creation.by} or not any(is_first):
        return []
    value_groups.sort(
        key=lambda recorded_values: (
            recorded_values[0].original != entity_record.creation.original,
            recorded_values[0].original.ms,
            recorded_values[0].original.n,
        )
    )
    return [_step(0, BaseScope.NOTHING, group[0], group, effects.of_creation()) for group in value_groups]


# -- what steps are made of ----------------------------------------------------------------------------


class ConfirmationEffects:
    """Which confirmation a write is the effect of, in this journal."""

    def __init__(self, snapshot: Snapshot, entity_record: EntityRecord) -> None:
        self._snapshot = snapshot
        self._born = entity_record.creation

    def of_creation(self) -> EntityId | None:
        """Return that of the creation, also of one that only a person's touch keeps."""
        item = self._born.original.effect
        return None if item is None or is_item_confirmed(self._snapshot, item) is None else item

    def of_write(self, recorded_value: RecordedValue) -> EntityId | None:
        """Return that of another write; if nobody has decided on the proposal, it is independent."""
        item = recorded_value.original.effect
        if item is None:
            return None
        confirmed = is_item_confirmed(self._snapshot, item)
        if confirmed is None or (not confirmed and recorded_value.original == self._born.original):
            return None
        return item


def steps_per_write(
    phase: int, recorded_values: Iterable[RecordedValue], effects: ConfirmationEffects
) -> Iterator[WriteStep]:
    """Yield a step for each write, with all that it gave."""
    for group in _by_write(recorded_values):
        for part in _fitting_parts(group):
            yield _step(phase, BaseScope.PHASE, part[0], part, effects.of_write(part[0]))


def steps_per_value(
    phase: int,
    value_groups: Iterable[list[RecordedValue]],
    effects: ConfirmationEffects,
    base: BaseScope = BaseScope.PHASE,
) -> Iterator[WriteStep]:
    """Yield a step for each value, the last one for the best: of equals, the later is shown."""
    for versions in value_groups:
        for version in reversed(versions):
            yield _step(phase, base, version, [version], effects.of_write(version))


def _step(
    phase: int,
    base: BaseScope,
    first: RecordedValue,
    recorded_values: Iterable[RecordedValue],
    effect: EntityId | None,
) -> WriteStep:
    return WriteStep(phase, base, first.by, effect, first.original, tuple(recorded_values))


def _by_write(recorded_values: Iterable[RecordedValue]) -> Iterator[list[RecordedValue]]:
    """Yield what each write gave, in the order in which the writes first come."""
    values_by_write: dict[tuple[_Write, bytes], list[RecordedValue]] = {}
    for recorded_value in recorded_values:
        # An origin is a map, which is no key.
        write = (
            (recorded_value.by, recorded_value.original._replace(origin=None)),
            codec.encode(recorded_value.original.origin),
        )
        values_by_write.setdefault(write, []).append(recorded_value)
    yield from values_by_write.values()


def _fitting_parts(recorded_values: Iterable[RecordedValue]) -> Iterator[list[RecordedValue]]:
    """Yield parts that each fit a commit."""
    part: list[RecordedValue] = []
    size = items = 0
    for recorded_value in recorded_values:
        added, more = commit_bytes_of(recorded_value), commit_items_of(recorded_value.value)
        if part and (size + added > _STEP_BYTES or items + more > _STEP_ITEMS):
            yield part
            part, size, items = [], 0, 0
        part.append(recorded_value)
        size, items = size + added, items + more
    if part:
        yield part
