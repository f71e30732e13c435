"""The fold: from an entity's operations to its fields, by causality first, then rank, then time.

Never reads the database: callers hand over operations in feed order and say which effects are confirmed.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import msgspec

from syncproto import codec
from syncproto.codec import Value
from syncproto.commit import By, Operation, Received
from syncproto.heads import EMPTY, Chains, Clock, Head, add, covers, within
from syncproto.ids import EntityId

DELETED = "deleted"

RANK_USER, RANK_EDITED, RANK_CONFIRMED, RANK_IMMEDIATE = 3, 2, 1, 0


class Source(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The provenance that the versions of one operation share.

    `base` is kept for tombstones alone: what was in sight when it was deleted decides what stays hidden.
    """

    head: Head
    ms: int
    n: int
    by: By
    effect: EntityId | None
    origin: dict[str, Any] | None
    base: Clock | None

    @property
    def rank(self) -> int:
        """Return how much the write weighs against concurrent ones."""
        if self.effect is None:
            return RANK_USER if self.by is By.USER else RANK_IMMEDIATE
        return RANK_EDITED if self.by is By.USER else RANK_CONFIRMED

    @property
    def order(self) -> tuple[int, int, int, Head]:
        """Return the key by which the winner among concurrent versions is the highest."""
        return (self.rank, self.ms, self.n, self.head)


class Version(NamedTuple):
    """One operation's value for one field."""

    source: Source
    value: Value


class Written(NamedTuple):
    """An operation with what its commit says of it."""

    source: Source
    operation: Operation

    @property
    def head(self) -> Head:
        """Return the commit that the operation is in."""
        return self.source.head


class Row:
    """The fold of one entity: for each field its maximal versions, best first.

    `clock` counts dead operations too; `person` covers what people wrote, deletions aside; `creations` counts
    live creating operations; `dead` says that some creating operation is not live; `born` is the live
    creating operation of the highest rank, the earliest of several; `kind` is what that one says, empty
    without one.
    """

    __slots__ = ("born", "clock", "creations", "dead", "fields", "kind", "person")

    def __init__(self) -> None:
        self.kind = ""
        self.clock: Clock = EMPTY
        self.person: Clock = EMPTY
        self.creations = 0
        self.dead = False
        self.born: Source | None = None
        self.fields: dict[str, list[Version]] = {}

    @property
    def exists(self) -> bool:
        """Say whether a creating operation is live."""
        return self.creations > 0

    def value(self, field: str) -> Value:
        """Return the winning value of a field, None where it has none."""
        versions = self.fields.get(field)
        return versions[0].value if versions else None


def written(received: Received, operation: Operation) -> Written:
    """Join an operation with its commit's provenance."""
    stamp = received.commit.stamp
    base = operation.base if operation.deletes else None
    source = Source(received.head, stamp.ms, stamp.n, operation.by, operation.effect, operation.origin, base)
    return Written(source, operation)


def is_person(operation: Operation) -> bool:
    """Say whether a person made this write directly, not by confirming."""
    return operation.by is By.USER and operation.effect is None


def apply(row: Row, write: Written, live: bool, chains: Chains) -> bool:
    """Apply the next operation, in an order that keeps causes first, to an entity's row.

    Returns whether the row must be folded again from its history instead, because the operation may change
    which of the earlier ones are live: a person's write where a creation is dead.
    """
    if row.dead and write.operation.base and is_person(write.operation):
        return True
    _land(row, write, live, chains)
    return False


def _land(row: Row, write: Written, live: bool, chains: Chains) -> None:
    """Enter an operation of which it is known whether it is live."""
    head, operation = write.source.head, write.operation
    row.clock = add(row.clock, head, chains)
    if is_person(operation) and not operation.deletes:
        row.person = add(row.person, head, chains)
    if not live:
        row.dead = row.dead or operation.creates
        return
    if operation.creates:
        row.creations += 1
        if row.born is None or _claim(write.source) < _claim(row.born):
            row.born, row.kind = write.source, operation.kind
    if not row.fields:
        row.fields = {field: [Version(write.source, value)] for field, value in operation.fields.items()}
        return
    for field, value in operation.fields.items():
        row.fields[field] = _with_version(row.fields.get(field), write, value, chains)


def _with_version(
    versions: list[Version] | None, write: Written, value: Value, chains: Chains
) -> list[Version]:
    """Return the maximal versions of a field after one more, best first."""
    new = Version(write.source, value)
    if not versions:
        return [new]
    base = write.operation.base
    kept = [version for version in versions if not covers(base, version.source.head, chains)]
    kept.append(new)
    if len(kept) > 1:
        kept.sort(key=lambda version: version.source.order, reverse=True)
    return kept


def _claim(source: Source) -> tuple[int, int, int, Head]:
    """Return the key that is least for the creation that says what an entity is: a person's, the oldest."""
    return (-source.rank, source.ms, source.n, source.head)


def fold(history: Iterable[Written], confirmed: Callable[[EntityId], bool], chains: Chains) -> Row:
    """Fold an entity from its whole history, given in an order that keeps causes first.

    Live are the operations without effect, those whose item is confirmed, and of the others the creating
    ones that a person's operation rests on: what a person has touched is theirs.
    """
    writes = list(history)
    persons = [write.operation.base for write in writes if is_person(write.operation)]
    row = Row()
    for write in writes:
        effect = write.operation.effect
        live = effect is None or confirmed(effect)
        if not live and write.operation.creates:
            live = any(covers(base, write.head, chains) for base in persons)
        _land(row, write, live, chains)
    return row


def visible(row: Row, chains: Chains) -> bool:
    """Say whether an entity is in sight.

    It is out of sight only if every operation that a person made on it, deletions aside, is in the base of a
    maximal tombstone.
    """
    if not row.exists:
        return False
    versions = row.fields.get(DELETED)
    if not versions:
        return True
    tombs = [version.source.base or EMPTY for version in versions if version.value is True]
    return not tombs or not within(row.person, tombs, chains)


_State = tuple[str, Clock, Clock, int, bool, int, list[Source], dict[str, list[Any]]]
_decoder = msgspec.msgpack.Decoder(_State, ext_hook=codec.read_extension)


def dump(row: Row) -> bytes:
    """Write a row as canonical bytes: equal rows give equal bytes, on every device."""
    born = row.born
    if born is not None and all(len(kept) == 1 and kept[0].source is born for kept in row.fields.values()):
        # Nearly every entity of an import and of a new device: one operation has made it.
        alone = {name: [0, kept[0].value] for name, kept in row.fields.items()}
        return codec.encode((row.kind, row.clock, row.person, row.creations, row.dead, 0, [born], alone))
    sources = {version.source.head: version.source for kept in row.fields.values() for version in kept}
    if born is not None:
        sources[born.head] = born
    ordered = [sources[head] for head in sorted(sources)]
    index = {source.head: place for place, source in enumerate(ordered)}
    fields = {
        name: [part for version in kept for part in (index[version.source.head], version.value)]
        for name, kept in row.fields.items()
    }
    at = -1 if born is None else index[born.head]
    return codec.encode((row.kind, row.clock, row.person, row.creations, row.dead, at, ordered, fields))


def load(state: bytes) -> Row:
    """Read what `dump` wrote."""
    row = Row()
    row.kind, row.clock, row.person, row.creations, row.dead, born, sources, fields = _decoder.decode(state)
    row.born = None if born < 0 else sources[born]
    for name, parts in fields.items():
        row.fields[name] = [Version(sources[parts[at]], parts[at + 1]) for at in range(0, len(parts), 2)]
    return row
