"""The fold of an entity on which verdicts decide: what is certain, and beside it what items put into effect.

Never reads the database: callers pass operations in feed order, and which items are in effect.

An operation without an effect is live for good, so what it covers is gone for good. What is left of the
others is kept, and put on what is certain whenever a verdict turns: the history need not be read again.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from store.fold.entity_state import (
    EntityState,
    SourcedOperation,
    apply_operation,
    count_creation,
    cover_operation,
    dump_state,
    is_direct_user_write,
    load_state,
)
from store.fold.field_versions import FieldVersions, LateWrite, Provenance
from syncproto import codec
from syncproto.codec import Value
from syncproto.ids import EntityId, ReplicaId
from syncproto.vector_clock import Chains, Head, VectorClock, covers

InEffect = Callable[[EntityId], bool]


class ConditionalOperation(msgspec.Struct, array_like=True, gc=False):
    """An operation that counts while its item is in effect.

    `others` are the fields in which something certain covers its value, and it may still cover other values.
    """

    source: Provenance
    kind: str
    base: VectorClock
    others: list[str]

    @property
    def item(self) -> EntityId:
        """Return the item that decides whether it counts."""
        assert self.source.effect is not None
        return self.source.effect

    @property
    def creates(self) -> bool:
        """Return whether it creates its entity."""
        return not self.base


_Form = tuple[bytes, bool, list[ConditionalOperation], dict[str, list[Any]]]
_decoder = msgspec.msgpack.Decoder(_Form, ext_hook=codec.decode_extension)


class ConditionalFold:
    """What is certain of an entity, and the operations whose items decide.

    `certain` is the fold of what is live whatever is decided; its clocks cover all operations, and whether
    its creation founds the entity is known.
    """

    def __init__(self, certain: EntityState) -> None:
        self.certain = certain
        self._changed = False
        self._keep([], FieldVersions())

    def _keep(self, operations: list[ConditionalOperation], versions: FieldVersions) -> None:
        """Keep these operations; their places are those of the sources of the versions."""
        self._operations, self._versions = operations, versions
        self._creating: dict[ReplicaId, list[int]] = {}
        self._touched: set[int] = set()
        for place in range(len(operations)):
            self._note_creation(place)

    @property
    def is_certain(self) -> bool:
        """Return whether no verdict can change the entity; call it after `row`."""
        return not self._operations

    def creations(self) -> frozenset[Head]:
        """Return the commits of the creations that their items decide on."""
        return frozenset(self._head_at(place) for places in self._creating.values() for place in places)

    # -- operations as they come ------------------------------------------------------------------------

    def apply_operation(self, write: SourcedOperation, chains: Chains) -> None:
        """Apply the next operation; causes must come before what rests on them."""
        operation = write.operation
        self._changed = True
        if operation.effect is not None:
            cover_operation(self.certain, write, chains)
            place = self._versions.add(write.source, operation.fields)
            self._operations.append(ConditionalOperation(write.source, operation.kind, operation.base, []))
            self._note_creation(place)
            return
        apply_operation(self.certain, write, chains)
        for field, place in self._versions.cover(operation.base, operation.fields, chains):
            self._operations[place].others.append(field)
        if is_direct_user_write(operation):
            for head in operation.base:
                self._touch_creations(head, chains)

    def fill(self, head: Head, values: Mapping[str, Value]) -> bool:
        """Spell values of a commit in another way; return whether any was spelled otherwise."""
        filled = self.certain.fields.fill(head, values)
        return self._versions.fill(head, values) or filled

    def _note_creation(self, place: int) -> None:
        operation = self._operations[place]
        if operation.creates:
            self._creating.setdefault(operation.source.head.replica, []).append(place)

    def _touch_creations(self, end: Head, chains: Chains) -> None:
        """Make the creations certain that a person's write has seen: they belong to that person."""
        places = self._creating.get(end.replica)
        if not places:
            return
        # In the order of the chain: only the first of them can be before its end.
        cut = bisect_right(places, end.counter, key=self._counter_at)
        touched = places[:cut]
        if chains.is_forked(end.replica):
            touched = [place for place in touched if covers((end,), self._head_at(place), chains)]
        self._touched.update(touched)
        if len(touched) == cut:
            del places[:cut]

    def _head_at(self, place: int) -> Head:
        return self._operations[place].source.head

    def _counter_at(self, place: int) -> int:
        return self._head_at(place).counter

    # -- what they come to ------------------------------------------------------------------------------

    def row(self, in_effect: InEffect, chains: Chains) -> EntityState:
        """Return the fold of the entity with what is in effect now."""
        self._settle(chains)
        row = self.certain.copy()
        live_items = {item for item in {operation.item for operation in self._operations} if in_effect(item)}
        live = [place for place, operation in enumerate(self._operations) if operation.item in live_items]
        self._put_on(row, live, chains)
        row.dead = any(
            operation.creates and operation.item not in live_items for operation in self._operations
        )
        return row

    def _settle(self, chains: Chains) -> None:
        """Put on the certain row what has become certain, and drop what can change nothing any more."""
        if not self._changed:
            return
        self._changed = False
        self._put_on(self.certain, sorted(self._touched), chains)
        for operation in self._operations:
            operation.others = sorted(
                field
                for field in operation.others
                if self.certain.fields.has_covered(field, operation.base, chains)
                or self._versions.has_covered(field, operation.base, chains)
            )
        standing = set(self._versions.places())
        left = [
            place
            for place, operation in enumerate(self._operations)
            if place not in self._touched and (place in standing or operation.others or operation.creates)
        ]
        left.sort(key=self._head_at)
        self._keep([self._operations[place] for place in left], self._versions.part(left))

    def _put_on(self, row: EntityState, places: list[int], chains: Chains) -> None:
        """Put operations on a row that has everything certain."""
        if not places:
            return
        values = self._versions.values_by_place(places)
        writes = []
        for place in places:
            operation = self._operations[place]
            writes.append(LateWrite(operation.source, operation.base, values[place], operation.others))
            if operation.creates:
                count_creation(row, operation.source, operation.kind, founded=False)
        row.fields.merge(writes, chains)

    # -- the form in which it is kept ---------------------------------------------------------------------

    def dump(self) -> bytes:
        """Return it as canonical bytes; call it after `row`."""
        founded = self.certain.founded is True
        return codec.encode((dump_state(self.certain), founded, self._operations, self._versions.flat()))

    @classmethod
    def load(cls, form: bytes) -> "ConditionalFold":
        """Return the fold of bytes that `dump` returned."""
        certain, founded, operations, flat = _decoder.decode(form)
        fold = cls(load_state(certain))
        fold.certain.founded = founded
        fold._keep(operations, FieldVersions((operation.source for operation in operations), flat))
        return fold


def fold_history(history: Iterable[SourcedOperation], in_effect: InEffect, chains: Chains) -> EntityState:
    """Fold an entity from its whole history, in which causes come before what rests on them.

    An operation is live if it has no effect item or if that item is in effect. A creation is also live if an
    operation of a person rests on it: what a person has touched belongs to that person.
    """
    fold = ConditionalFold(EntityState())
    for write in history:
        fold.apply_operation(write, chains)
    return fold.row(in_effect, chains)
