"""The fold: from the operations on an entity to its fields, by causality first, then rank, then time.

Never reads the database: callers pass operations in feed order, and which effects are confirmed.
"""

from typing import Any, NamedTuple

import msgspec

from store.fold.field_versions import FieldVersions, Provenance
from store.fold.founding import founds, may_be_founded
from syncproto import codec
from syncproto.codec import Value
from syncproto.commit import AuthorKind, DecodedCommit, Operation
from syncproto.vector_clock import (
    EMPTY_CLOCK,
    Chains,
    GrowingClock,
    Head,
    VectorClock,
    is_covered_by_any,
)

DELETED = "deleted"


class SourcedOperation(NamedTuple):
    """An operation with the provenance from its commit."""

    source: Provenance
    operation: Operation

    @property
    def head(self) -> Head:
        """Return the commit that contains the operation."""
        return self.source.head


class EntityState:
    """The fold of one entity: for each field its maximal versions, best first.

    `clock` covers dead operations too. `person` covers what people wrote, without deletions. `creations`
    counts live creating operations; `dead` is set if some creating operation is not live. `born` is the live
    creating operation of the highest rank, the earliest of several, and `kind` is its kind, empty without
    one. If some creation founds the entity (`store/fold/founding.py`), only such creations count for `born`.
    `founded` says whether `born` is such a creation; None if that is not known, since rows do not keep it.
    """

    __slots__ = ("_clock", "_person", "born", "creations", "dead", "fields", "founded", "kind")

    def __init__(
        self,
        clock: VectorClock = EMPTY_CLOCK,
        person: VectorClock = EMPTY_CLOCK,
        fields: FieldVersions | None = None,
    ) -> None:
        self.kind = ""
        self._clock = GrowingClock(clock)
        self._person = GrowingClock(person)
        self.creations = 0
        self.dead = False
        self.born: Provenance | None = None
        self.founded: bool | None = False
        self.fields = FieldVersions() if fields is None else fields

    @property
    def clock(self) -> VectorClock:
        """Return what covers all operations on the entity, dead ones too."""
        return self._clock.clock

    @property
    def person(self) -> VectorClock:
        """Return what covers the writes of people that are no deletions."""
        return self._person.clock

    @property
    def exists(self) -> bool:
        """Return whether a creating operation is live."""
        return self.creations > 0

    def value(self, field: str) -> Value:
        """Return the winning value of a field, None if it has no version."""
        return self.fields.value(field)

    def copy(self) -> "EntityState":
        """Return a copy into which other versions can be merged."""
        row = EntityState(self.clock, self.person, self.fields.copy())
        row.kind, row.creations, row.dead = self.kind, self.creations, self.dead
        row.born, row.founded = self.born, self.founded
        return row

    def cover(self, head: Head, chains: Chains, *, by_person: bool) -> None:
        """Count a commit that wrote the entity, `by_person` if it has a write of a person on it."""
        self._clock.add(head, chains)
        if by_person:
            self._person.add(head, chains)


def with_provenance(received: DecodedCommit, operation: Operation) -> SourcedOperation:
    """Return an operation with the provenance from its commit."""
    stamp = received.commit.stamp
    base = operation.base if operation.deletes else None
    source = Provenance(
        received.head, stamp.ms, stamp.n, operation.by, operation.effect, operation.origin, base
    )
    return SourcedOperation(source, operation)


def is_direct_user_write(operation: Operation) -> bool:
    """Return whether a person made this write directly, and not by a confirmation."""
    return operation.by is AuthorKind.USER and operation.effect is None


def cover_operation(row: EntityState, write: SourcedOperation, chains: Chains) -> None:
    """Count an operation in the clocks of its row, whether or not it is live."""
    operation = write.operation
    # A dead one may come to life, and a write that has seen it must then cover it. A tombstone is not in its
    # own base: if it counted as a person's write, it would keep in sight what it deletes.
    by_person = is_direct_user_write(operation) and not operation.deletes
    row.cover(write.source.head, chains, by_person=by_person)


def apply_operation(row: EntityState, write: SourcedOperation, chains: Chains) -> None:
    """Apply the next live operation to the row of its entity; causes must come before what rests on them.

    If it is one more creation, `founded` of the row must be known.
    """
    cover_operation(row, write, chains)
    operation = write.operation
    if operation.creates:
        count_creation(row, write.source, operation.kind, founded=founds(operation))
    row.fields.enter(write.source, operation.base, operation.fields, chains)


def count_creation(row: EntityState, source: Provenance, kind: str, *, founded: bool) -> None:
    """Count a live creation, and let it decide the kind of the entity if it comes before the others."""
    row.creations += 1
    assert row.born is None or row.founded is not None
    if row.born is None or _claim(founded, source) < _claim(row.founded is True, row.born):
        row.born, row.kind, row.founded = source, kind, founded


def _claim(founded: bool, source: Provenance) -> tuple[bool, int, int, int, Head]:
    """Return the sort key that is lowest for the creation that counts: founding, highest rank, oldest."""
    return (not founded, -source.rank, source.ms, source.n, source.head)


def is_visible(row: EntityState, chains: Chains) -> bool:
    """Return whether an entity is visible.

    A deletion hides it only if it had seen every write of a person on it: each of them, other deletions
    aside, must be in the base of a maximal tombstone.
    """
    if not row.exists:
        return False
    versions = row.fields.get(DELETED)
    if not versions:
        return True
    tombs = [version.source.base or EMPTY_CLOCK for version in versions if version.value is True]
    return not tombs or not is_covered_by_any(row.person, tombs, chains)


_State = tuple[str, VectorClock, VectorClock, int, bool, int, list[Provenance], dict[str, list[Any]]]
_decoder = msgspec.msgpack.Decoder(_State, ext_hook=codec.decode_extension)


def dump_state(row: EntityState) -> bytes:
    """Return a row as canonical bytes: equal rows give equal bytes, on every device."""
    born, sources, fields = row.fields.canonical_form(row.born)
    return codec.encode((row.kind, row.clock, row.person, row.creations, row.dead, born, sources, fields))


def load_state(state: bytes) -> EntityState:
    """Return the row of bytes that `dump_state` returned."""
    kind, clock, person, creations, dead, born, sources, fields = _decoder.decode(state)
    row = EntityState(clock, person, FieldVersions(sources, fields))
    row.kind, row.creations, row.dead = kind, creations, dead
    if born >= 0:
        row.born = sources[born]
        row.founded = None if may_be_founded(kind) else False
    return row
