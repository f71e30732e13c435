"""The fold: from the operations on an entity to its fields, by causality first, then rank, then time.

Never reads the database: callers pass operations in feed order, and which effects are confirmed.
"""

from bisect import insort
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import msgspec

from store.fold.founding import founds, may_be_founded
from syncproto import codec
from syncproto.codec import Value
from syncproto.commit import AuthorKind, DecodedCommit, Operation
from syncproto.ids import EntityId
from syncproto.vector_clock import (
    EMPTY_CLOCK,
    Chains,
    Head,
    VectorClock,
    covers,
    is_covered_by_any,
    merge_clocks,
    with_commit,
)

DELETED = "deleted"

CHAIN_VERSIONS_MAX = 4
"""The versions of one field and one rank that stand of one chain: a chain has seen its own past."""

RANK_USER, RANK_EDITED, RANK_CONFIRMED, RANK_IMMEDIATE = 3, 2, 1, 0


class Provenance(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The provenance that all versions of one operation share.

    Only tombstones have a `base`: what the deletion had seen decides what it hides.
    """

    head: Head
    ms: int
    n: int
    by: AuthorKind
    effect: EntityId | None
    origin: dict[str, Any] | None
    base: VectorClock | None

    @property
    def rank(self) -> int:
        """Return the rank of the write among concurrent ones."""
        if self.effect is None:
            return RANK_USER if self.by is AuthorKind.USER else RANK_IMMEDIATE
        return RANK_EDITED if self.by is AuthorKind.USER else RANK_CONFIRMED

    @property
    def order(self) -> tuple[int, int, int, Head]:
        """Return the sort key that is highest for the winner among concurrent versions."""
        return (self.rank, self.ms, self.n, self.head)


class Version(NamedTuple):
    """The value that one operation gives one field."""

    source: Provenance
    value: Value


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
    `founded` is known while a history is folded; it is not kept.
    """

    __slots__ = ("born", "clock", "creations", "dead", "fields", "founded", "kind", "person")

    def __init__(self) -> None:
        self.kind = ""
        self.clock: VectorClock = EMPTY_CLOCK
        self.person: VectorClock = EMPTY_CLOCK
        self.creations = 0
        self.dead = False
        self.born: Provenance | None = None
        self.founded = False
        self.fields: dict[str, list[Version]] = {}

    @property
    def exists(self) -> bool:
        """Return whether a creating operation is live."""
        return self.creations > 0

    def value(self, field: str) -> Value:
        """Return the winning value of a field, None if it has no version."""
        versions = self.fields.get(field)
        return versions[0].value if versions else None


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


def apply_operation(row: EntityState, write: SourcedOperation, live: bool, chains: Chains) -> bool:
    """Apply the next operation to the row of its entity; causes must come before what rests on them.

    Returns whether the row must be folded again from its history instead. That is so for the write of a
    person if a creation is dead: it may bring earlier operations back to life. It is also so for one more
    creation of what can be founded: the row does not say whether it was.
    """
    operation = write.operation
    if row.dead and operation.base and is_direct_user_write(operation):
        return True
    if operation.creates and row.exists and (may_be_founded(operation.kind) or may_be_founded(row.kind)):
        return True
    _land(row, write, live, chains)
    return False


def _land(row: EntityState, write: SourcedOperation, live: bool, chains: Chains) -> None:
    """Enter an operation, whether or not it is `live`."""
    head, operation = write.source.head, write.operation
    # Also if it is dead: it may come to life, and a write that has seen it must then cover it.
    row.clock = with_commit(row.clock, head, chains)
    # A tombstone is not in its own base: if it counted here, it would keep in sight what it deletes.
    if is_direct_user_write(operation) and not operation.deletes:
        row.person = with_commit(row.person, head, chains)
    if not live:
        row.dead = row.dead or operation.creates
        return
    if operation.creates:
        row.creations += 1
        founded = founds(operation)
        if row.born is None or _claim(founded, write.source) < _claim(row.founded, row.born):
            row.born, row.kind, row.founded = write.source, operation.kind, founded
    if not row.fields:
        row.fields = {field: [Version(write.source, value)] for field, value in operation.fields.items()}
        return
    for field, value in operation.fields.items():
        row.fields[field] = _with_version(row.fields.get(field), write, value, chains)


def _with_version(
    versions: list[Version] | None, write: SourcedOperation, value: Value, chains: Chains
) -> list[Version]:
    """Return the maximal versions of a field after one more, best first."""
    new = Version(write.source, value)
    if not versions:
        return [new]
    base = write.operation.base
    replicas = {head.replica for head in base}
    maximal = [
        version
        for version in versions
        if version.source.head.replica not in replicas or not covers(base, version.source.head, chains)
    ]
    if not maximal:
        return [new]
    overtaken = _overtaken(maximal, write.source, chains)
    if overtaken:
        maximal = [version for version in maximal if version.source.head not in overtaken]
    maximal.reverse()  # `insort` needs ascending order
    insort(maximal, new, key=_order)
    maximal.reverse()
    return maximal


def _order(version: Version) -> tuple[int, int, int, Head]:
    return version.source.order


def _overtaken(maximal: list[Version], new: Provenance, chains: Chains) -> set[Head]:
    """Return the versions after which the chain that ends in `new` has now written often enough.

    The count is exact although covered versions are not among `maximal`: whatever covers a version covers
    all that its chain wrote before, so the maximal versions of a chain are its newest.
    """
    end = new.head
    own = [version.source for version in maximal if version.source.head.replica == end.replica]
    if len(own) < CHAIN_VERSIONS_MAX:
        return set()
    if chains.is_forked(end.replica):
        # A chain has seen its own past only: what the other chain of a fork wrote is news to it.
        own = [source for source in own if covers((end,), source.head, chains)]
    own.sort(key=_counter, reverse=True)
    overtaken: set[Head] = set()
    ranks = [new.rank]
    for source in own:
        rank = source.rank
        # Not by writes of a lower rank: what agents write pushes out no value of a person.
        if sum(later >= rank for later in ranks) >= CHAIN_VERSIONS_MAX:
            overtaken.add(source.head)
        ranks.append(rank)
    return overtaken


def _counter(source: Provenance) -> int:
    return source.head.counter


def _claim(founded: bool, source: Provenance) -> tuple[bool, int, int, int, Head]:
    """Return the sort key that is lowest for the creation that counts: founding, highest rank, oldest."""
    return (not founded, -source.rank, source.ms, source.n, source.head)


def fold_history(
    history: Iterable[SourcedOperation], confirmed: Callable[[EntityId], bool], chains: Chains
) -> EntityState:
    """Fold an entity from its whole history, in which causes come before what rests on them.

    An operation is live if it has no effect item or if that item is confirmed. A creation is also live if
    an operation of a person rests on it: what a person has touched belongs to that person.
    """
    # Read twice: a person's later write decides whether an earlier creation is live.
    writes = list(history)
    touched = EMPTY_CLOCK
    for write in writes:
        if is_direct_user_write(write.operation):
            touched = merge_clocks(touched, write.operation.base, chains)
    row = EntityState()
    for write in writes:
        effect = write.operation.effect
        live = effect is None or confirmed(effect)
        if not live and write.operation.creates:
            live = covers(touched, write.head, chains)
        _land(row, write, live, chains)
    return row


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
    born = row.born
    if born is not None and all(len(field) == 1 and field[0].source is born for field in row.fields.values()):
        # One operation made the entity: so it is for nearly all of an import, and on a new device.
        lone_fields = {name: [0, field[0].value] for name, field in row.fields.items()}
        return codec.encode(
            (row.kind, row.clock, row.person, row.creations, row.dead, 0, [born], lone_fields)
        )
    sources = {version.source.head: version.source for field in row.fields.values() for version in field}
    if born is not None:
        sources[born.head] = born
    ordered = [sources[head] for head in sorted(sources)]
    index = {source.head: place for place, source in enumerate(ordered)}
    fields = {
        name: [part for version in field for part in (index[version.source.head], version.value)]
        for name, field in row.fields.items()
    }
    born_index = -1 if born is None else index[born.head]
    return codec.encode(
        (row.kind, row.clock, row.person, row.creations, row.dead, born_index, ordered, fields)
    )


def load_state(state: bytes) -> EntityState:
    """Return the row of bytes that `dump_state` returned."""
    row = EntityState()
    row.kind, row.clock, row.person, row.creations, row.dead, born, sources, fields = _decoder.decode(state)
    row.born = None if born < 0 else sources[born]
    for name, parts in fields.items():
        row.fields[name] = [
            Version(sources[parts[index]], parts[index + 1]) for index in range(0, len(parts), 2)
        ]
    return row
