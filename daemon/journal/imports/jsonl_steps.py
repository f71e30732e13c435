"""The writes that make an entity of a JSON Lines file, in an order that folds to what it was.

Never lets one version cover another that stood beside it.
"""

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple

from daemon.journal.imports.jsonl_entity import Told, Whole, bytes_of, items_of
from daemon.journal.was import TOUCH, Seen, Was, origin_of
from store.fold import DELETED
from store.proposals import CHANGE_SET, DECISION
from store.snapshot import Snapshot
from store.whole import is_confirmed
from syncproto import codec
from syncproto.codec import Value
from syncproto.commit import By
from syncproto.ids import EntityId

# The store reads these from the operation that makes them: each must be in one, whole.
_IMMUTABLE = frozenset({CHANGE_SET, DECISION})
_STEP_BYTES = 192 * 1024
_STEP_ITEMS = 16 * 1024

_Write = tuple[By, Was]


class Base(Enum):
    """What a write has seen of its entity: all of it as its phase begins, its creation alone, or nothing."""

    PHASE = 0
    BORN = 1
    NOTHING = 2


class Step(NamedTuple):
    """One operation; those of one phase do not see each other. `told` has each field once."""

    phase: int
    base: Base
    by: By
    effect: EntityId | None
    was: Was | None
    told: tuple[Told, ...]

    @property
    def fields(self) -> dict[str, Value]:
        """Return the fields that it writes."""
        return {one.field: one.value for one in self.told}


def origin(step: Step, seen: Seen | None) -> dict[str, Value]:
    """Return the origin of a step's write; a touch has nothing to tell of."""
    return TOUCH if step.was is None else origin_of(step.was, seen)


def making(snapshot: Snapshot, whole: Whole) -> list[Step]:
    """Return the steps that make an entity."""
    effects = Effects(snapshot, whole)
    steps = _twins(whole, effects) or list(_values(whole, effects))
    if whole.touched:
        steps.append(Step(4, Base.PHASE, By.USER, None, None, ()))
    return steps + list(each(5, [whole.tombs], effects, _tomb_base(whole)))


def _values(whole: Whole, effects: "Effects") -> Iterator[Step]:
    """Yield the creation, what lies beneath, and what is in effect."""
    fields = {name: found for name, found in whole.current.items() if name != DELETED}
    plain = [found[0] for found in fields.values() if len(found) == 1]
    at_birth, *rest = list(_fitting(one for one in plain if _is_at_birth(one, whole))) or [[]]
    yield _step(0, Base.NOTHING, whole.born, at_birth, effects.of_creation())
    yield from grouped(1, (one for found in whole.imported.values() for one in found), effects)
    yield from each(2, whole.beneath.values(), effects)
    later = [one for part in rest for one in part] + [one for one in plain if not _is_at_birth(one, whole)]
    yield from grouped(3, later, effects)
    yield from each(3, (found for found in fields.values() if len(found) > 1), effects)


def _is_at_birth(told: Told, whole: Whole) -> bool:
    beneath = told.field in whole.beneath or told.field in whole.imported
    return (told.was, told.by) == (whole.born.was, whole.born.by) and not beneath


def _tomb_base(whole: Whole) -> Base:
    if not whole.outlived:
        return Base.PHASE
    # It stays in sight by what a person wrote beside the deletion: perhaps nothing but the creation.
    is_persons = whole.born.by is By.USER and whole.born.was.effect is None
    return Base.NOTHING if is_persons else Base.BORN


def _twins(whole: Whole, effects: "Effects") -> list[Step]:
    """Return a creation for each time that a proposal or decision was made, empty where that was once."""
    everything = [one for name, found in whole.current.items() if name != DELETED for one in found]
    found = list(_by_write(everything)) if whole.kind in _IMMUTABLE else []
    makers = {one[0].by for one in found}
    names = {frozenset(one.field for one in told) for told in found}
    is_first = [told[0].was == whole.born.was for told in found]
    if len(found) < 2 or len(names) != 1 or makers != {whole.born.by} or not any(is_first):
        return []
    found.sort(key=lambda told: (told[0].was != whole.born.was, told[0].was.ms, told[0].was.n))
    return [_step(0, Base.NOTHING, told[0], told, effects.of_creation()) for told in found]


# -- what steps are made of ----------------------------------------------------------------------------


class Effects:
    """Which confirmation a write is the effect of, in this journal."""

    def __init__(self, snapshot: Snapshot, whole: Whole) -> None:
        self._snapshot = snapshot
        self._born = whole.born

    def of_creation(self) -> EntityId | None:
        """Return that of the creation, also of one that only a person's touch keeps."""
        item = self._born.was.effect
        return None if item is None or is_confirmed(self._snapshot, item) is None else item

    def of(self, told: Told) -> EntityId | None:
        """Return that of another write; where nobody has decided on the proposal, it stands by itself."""
        item = told.was.effect
        if item is None:
            return None
        confirmed = is_confirmed(self._snapshot, item)
        if confirmed is None or (not confirmed and told.was == self._born.was):
            return None
        return item


def grouped(phase: int, told: Iterable[Told], effects: Effects) -> Iterator[Step]:
    """Yield a step for each write, with all that it gave."""
    for written in _by_write(told):
        for part in _fitting(written):
            yield _step(phase, Base.PHASE, part[0], part, effects.of(part[0]))


def each(phase: int, told: Iterable[list[Told]], effects: Effects, base: Base = Base.PHASE) -> Iterator[Step]:
    """Yield a step for each value, the last one for the best: of equals, the later is shown."""
    for versions in told:
        for one in reversed(versions):
            yield _step(phase, base, one, [one], effects.of(one))


def _step(phase: int, base: Base, first: Told, told: Iterable[Told], effect: EntityId | None) -> Step:
    return Step(phase, base, first.by, effect, first.was, tuple(told))


def _by_write(told: Iterable[Told]) -> Iterator[list[Told]]:
    """Yield what each write gave, in the order in which the writes first come."""
    found: dict[tuple[_Write, bytes], list[Told]] = {}
    for one in told:
        # An origin is a map, which is no key.
        write = (one.by, one.was._replace(origin=None)), codec.encode(one.was.origin)
        found.setdefault(write, []).append(one)
    yield from found.values()


def _fitting(told: Iterable[Told]) -> Iterator[list[Told]]:
    """Yield parts that each fit a commit."""
    part: list[Told] = []
    size = items = 0
    for one in told:
        added, more = bytes_of(one), items_of(one.value)
        if part and (size + added > _STEP_BYTES or items + more > _STEP_ITEMS):
            yield part
            part, size, items = [], 0, 0
        part.append(one)
        size, items = size + added, items + more
    if part:
        yield part
