"""The versions of the fields of one entity that stand, as flat lists, with the provenance that they share.

Never decides whether an operation is live: its caller enters only what is.
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from store.fold.covered_masks import CoveredMasks, mask_of
from syncproto.chain_forest import ChainForest
from syncproto.codec import Redacted, Value
from syncproto.commit import COUNTER_MAX, AuthorKind
from syncproto.ids import EntityId, ReplicaId
from syncproto.vector_clock import FEW_HEADS, Chains, Head, Reach, VectorClock, covers

CHAIN_VERSIONS_MAX = 4
"""The versions of one field and one rank that stand of one chain: a chain has seen its own past."""

KINDS_OF_SERIES = frozenset({"task", "checklist", "checklist_item"})  # written, by 0, at the first touch

RANK_USER, RANK_EDITED, RANK_CONFIRMED, RANK_IMMEDIATE = 3, 2, 1, 0

_SCANS_MAX = 2  # for as many questions, versions of a fork are compared faster than they are put in order
_FEW_PARTS = 64  # versions in so short a list are compared one by one faster than they are searched

_Order = tuple[int, int, int, Head]

FlatVersions = list[Any]
"""The versions of one field, best first: place of the source, value, place, value, and so on."""


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
    def order(self) -> _Order:
        """Return the sort key that is highest for the winner among concurrent versions."""
        return (self.rank, self.ms, self.n, self.head)


class Version(NamedTuple):
    """The value that one operation gives one field."""

    source: Provenance
    value: Value


class LateWrite(NamedTuple):
    """An operation that came into effect after others that came later in the feed.

    `values` are those of its values that no operation covers that was in effect before; `others` are the
    names of other fields that it wrote.
    """

    source: Provenance
    base: VectorClock
    values: Mapping[str, Value]
    others: Collection[str] = ()

    def fields(self) -> Iterator[str]:
        """Yield the names of all fields that it may change."""
        yield from self.values
        # What covers nothing only adds its values.
        if self.base:
            yield from self.others


class FieldVersions(Mapping[str, list[Version]]):
    """For each field its maximal versions, best first.

    A version costs two places in a list, and becomes an object only for who asks. To enter one more costs a
    search among those of its field, and a look-up for each head of its base at most.
    """

    __slots__ = ("_by_head", "_flat", "_forests", "_reach", "_replicas", "_scans", "_sources")

    def __init__(
        self, sources: Iterable[Provenance] = (), flat: dict[str, FlatVersions] | None = None
    ) -> None:
        self._sources = list(sources)
        self._flat = {} if flat is None else flat
        self._replicas: set[ReplicaId] | None = None
        self._by_head: dict[str, list[int]] = {}
        self._forests: dict[str, dict[ReplicaId, ChainForest[int]]] = {}
        self._scans = 0
        self._reach: Reach | None = None

    # -- reading --------------------------------------------------------------------------------------

    def __getitem__(self, field: str) -> list[Version]:
        """Return the versions of a field, best first."""
        versions, sources = self._flat[field], self._sources
        return [
            Version(sources[versions[index]], versions[index + 1]) for index in range(0, len(versions), 2)
        ]

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the fields that have a version."""
        return iter(self._flat)

    def __len__(self) -> int:
        """Return how many fields have a version."""
        return len(self._flat)

    def __contains__(self, field: object) -> bool:
        """Return whether a field has a version."""
        return field in self._flat

    def value(self, field: str) -> Value:
        """Return the winning value of a field, None if it has no version."""
        versions = self._flat.get(field)
        value: Value = versions[1] if versions else None
        return value

    def version(self, field: str, index: int) -> Version:
        """Return one version of a field, the best for the index 0."""
        versions = self._flat[field]
        return Version(self._sources[versions[2 * index]], versions[2 * index + 1])

    def winner(self, field: str) -> Version | None:
        """Return the winning version of a field, None if it has none."""
        return self.version(field, 0) if field in self._flat else None

    def winning_sources(self) -> Iterator[Provenance]:
        """Yield the provenance of each field's winning version."""
        for versions in self._flat.values():
            yield self._sources[versions[0]]

    def standing_sources(self) -> list[Provenance]:
        """Return the provenance of all versions, in the order of their heads."""
        return [self._sources[place] for place in self._standing_places()]

    def competing_values(self, kind: str) -> Iterator[tuple[str, list[tuple[int, Value]]]]:
        """Yield the fields of several versions, each with the places and values of these, best first.

        What followed from a series when its task was touched is nobody's word, and competes with none.
        """

        def counts(place: int) -> bool:
            return kind not in KINDS_OF_SERIES or self._sources[place].by is not AuthorKind.SYSTEM

        for field, versions in self._flat.items():
            if len(versions) > 2:
                pairs = enumerate(zip(versions[::2], versions[1::2], strict=True))
                yield field, [(no, value) for no, (place, value) in pairs if not no or counts(place)]

    def places(self) -> set[int]:
        """Return the places of the sources of all versions."""
        places: set[int] = set()
        for versions in self._flat.values():
            places.update(versions[::2])
        return places

    def values_by_place(self, places: Iterable[int]) -> dict[int, dict[str, Value]]:
        """Return the values that some sources give, by place and field."""
        values: dict[int, dict[str, Value]] = {place: {} for place in places}
        for field, versions in self._flat.items():
            for index in range(0, len(versions), 2):
                if versions[index] in values:
                    values[versions[index]][field] = versions[index + 1]
        return values

    def has_covered(self, field: str, base: VectorClock, chains: Chains) -> bool:
        """Return whether a clock covers a version of a field."""
        return field in self._flat and bool(self._covered_places(field, base, chains))

    def flat(self) -> dict[str, FlatVersions]:
        """Return the versions as they are kept."""
        return self._flat

    def _standing_places(self) -> list[int]:
        return sorted(self.places(), key=self._head_at)

    def _head_at(self, place: int) -> Head:
        return self._sources[place].head

    # -- writing --------------------------------------------------------------------------------------

    def enter(
        self, source: Provenance, base: VectorClock, values: Mapping[str, Value], chains: Chains
    ) -> None:
        """Enter the values of one operation; what it rests on must have been entered before it.

        They replace the versions that `base` covers, and those that the chain of `source` overtakes.
        """
        sources, flat = self._sources, self._flat
        place, order = len(sources), source.order
        replaces = place > 0 and self._may_replace(base, source.head.replica)
        sources.append(source)
        if self._replicas is not None:
            self._replicas.add(source.head.replica)
        for field, value in values.items():
            versions = flat.get(field)
            if versions is None:
                flat[field] = [place, value]
            elif replaces and len(versions) == 2 and self._covers(base, sources[versions[0]].head, chains):
                # The usual case: the author has seen the only version that stands.
                versions[0], versions[1] = place, value
                self._forget_order(field)
            else:
                if replaces:
                    self._drop(field, self._replaced_places(field, base, source, chains))
                    flat.setdefault(field, [])
                self._insert(field, place, value, order)
                self._note_in_forest(field, place, chains)

    def add(self, source: Provenance, values: Mapping[str, Value]) -> int:
        """Add the values of one operation beside all others, and return the place of its source."""
        place, order = len(self._sources), source.order
        self._sources.append(source)
        if self._replicas is not None:
            self._replicas.add(source.head.replica)
        for field, value in values.items():
            self._flat.setdefault(field, [])
            self._insert(field, place, value, order)
            self._forests.pop(field, None)
        return place

    def cover(self, base: VectorClock, fields: Iterable[str], chains: Chains) -> list[tuple[str, int]]:
        """Take out the versions of some fields that a clock covers; return each field with the place."""
        if not self._flat or not self._may_replace(base, None):
            return []
        covered = []
        for field in fields:
            if field in self._flat:
                places = self._covered_places(field, base, chains)
                self._drop(field, places)
                covered += [(field, place) for place in places]
        return covered

    def _may_replace(self, base: VectorClock, replica: ReplicaId | None) -> bool:
        """Return whether any version can be covered or overtaken: most blind writes end here."""
        if self._replicas is None:
            self._replicas = {source.head.replica for source in self._sources}
        return replica in self._replicas or any(head.replica in self._replicas for head in base)

    def _replaced_places(
        self, field: str, base: VectorClock, source: Provenance, chains: Chains
    ) -> list[int]:
        """Return the places of the versions that one more version replaces."""
        gone = self._covered_places(field, base, chains)
        own = self._places_before(field, source.head, chains)
        if len(own) >= CHAIN_VERSIONS_MAX:
            covered = set(gone)
            own = [place for place in own if place not in covered]
            gone += self._overtaken(own, source)
        return gone

    def _covered_places(self, field: str, base: VectorClock, chains: Chains) -> list[int]:
        """Return the places of the versions of a field that a clock covers."""
        versions, sources = self._flat[field], self._sources
        if len(versions) <= max(_FEW_PARTS, 2 * len(base)):
            return [place for place in versions[::2] if self._covers(base, sources[place].head, chains)]
        places: dict[int, None] = {}
        for head in base:
            places.update(dict.fromkeys(self._places_before(field, head, chains)))
        return list(places)

    def _covers(self, base: VectorClock, head: Head, chains: Chains) -> bool:
        """Return whether a clock covers a commit. A long one is asked again and again, for each field."""
        if len(base) <= FEW_HEADS:
            return covers(base, head, chains)
        if self._reach is None or self._reach.clock is not base:
            self._reach = Reach(base, chains)
        return self._reach.covers(head)

    def _places_before(self, field: str, end: Head, chains: Chains) -> list[int]:
        """Return the places of the versions of a field on the chain that ends in a commit."""
        if not chains.is_forked(end.replica):
            return self._places_of(field, end.replica, end.counter)
        forest = self._forest_of(field, end.replica, chains)
        place = None if forest is None else chains.place_of(end)
        if forest is not None and place is not None:
            return forest.chain_to(place)
        own = self._places_of(field, end.replica, end.counter)
        return [place for place in own if covers((end,), self._head_at(place), chains)]

    def _forest_of(self, field: str, replica: ReplicaId, chains: Chains) -> ChainForest[int] | None:
        """Return the versions of a field by a forked replica in their order, None if it is not worth it."""
        forest = self._forests.get(field, {}).get(replica)
        if forest is not None or len(self._flat[field]) <= _FEW_PARTS:
            return forest
        self._scans += 1
        if self._scans <= _SCANS_MAX:
            return None
        places = self._places_of(field, replica)
        located = [(chains.place_of(self._head_at(place)), place) for place in places]
        forest = ChainForest((where, place) for where, place in located if where is not None)
        self._forests.setdefault(field, {})[replica] = forest
        return forest

    def _note_in_forest(self, field: str, place: int, chains: Chains) -> None:
        head = self._head_at(place)
        forest = self._forests.get(field, {}).get(head.replica)
        where = None if forest is None else chains.place_of(head)
        if forest is not None and where is not None:
            forest.add(where, place)

    def _forget_order(self, field: str) -> None:
        self._by_head.pop(field, None)
        self._forests.pop(field, None)

    def _places_of(self, field: str, replica: ReplicaId, counter: int = COUNTER_MAX) -> list[int]:
        """Return the places of the versions of a field by a replica, up to a counter."""
        versions, sources = self._flat[field], self._sources
        if len(versions) <= _FEW_PARTS:
            heads = ((place, sources[place].head) for place in versions[::2])
            return [place for place, head in heads if head.replica == replica and head.counter <= counter]
        by_head = self._by_head.get(field)
        if by_head is None:
            by_head = self._by_head[field] = sorted(versions[::2], key=self._head_at)
        begin = bisect_left(by_head, Head(replica, 0, b""), key=self._head_at)
        end = bisect_left(by_head, Head(replica, counter + 1, b""), begin, key=self._head_at)
        return by_head[begin:end]

    def _overtaken(self, own: list[int], new: Provenance) -> list[int]:
        """Return the places after which the chain that ends in `new` has now written often enough.

        `own` are the versions on that chain: what the other chain of a fork wrote is news to it. The count is
        exact although covered versions are not among them: whatever covers a version covers all that its
        chain wrote before, so the maximal versions of a chain are its newest.
        """
        if len(own) < CHAIN_VERSIONS_MAX:
            return []
        overtaken: list[int] = []
        ranks = [new.rank]
        for place in sorted(own, key=lambda place: self._head_at(place).counter, reverse=True):
            rank = self._sources[place].rank
            # Not by writes of a lower rank: what agents write pushes out no value of a person.
            if sum(later >= rank for later in ranks) >= CHAIN_VERSIONS_MAX:
                overtaken.append(place)
            ranks.append(rank)
        return overtaken

    def _drop(self, field: str, places: list[int]) -> None:
        """Take versions out of a field, and the field if none is left."""
        versions = self._flat[field]
        if 2 * len(places) == len(versions):
            del self._flat[field]
            self._forget_order(field)
            return
        by_head, forests = self._by_head.get(field), self._forests.get(field, {})
        for place in places:
            index = self._index_of(versions, self._sources[place].order)
            del versions[index : index + 2]
            if by_head is not None:
                del by_head[bisect_left(by_head, self._head_at(place), key=self._head_at)]
            if (forest := forests.get(self._head_at(place).replica)) is not None:
                forest.remove(place)

    def _insert(self, field: str, place: int, value: Value, order: _Order) -> None:
        """Put a version in its order among those of its field."""
        versions = self._flat[field]
        index = self._index_of(versions, order)
        versions[index:index] = (place, value)
        by_head = self._by_head.get(field)
        if by_head is not None:
            insort(by_head, place, key=self._head_at)

    def _index_of(self, versions: FlatVersions, order: _Order) -> int:
        """Return the index in a flat list at which the version of this order is or belongs."""
        sources = self._sources
        # The usual cases: nothing stands, or the newest wins.
        if not versions or order >= sources[versions[0]].order:
            return 0
        low, high = 1, len(versions) // 2
        while low < high:
            middle = (low + high) // 2
            if sources[versions[2 * middle]].order > order:
                low = middle + 1
            else:
                high = middle
        return 2 * low

    def fill(self, head: Head, values: Mapping[str, Value]) -> bool:
        """Spell values of one commit in another way; return whether any was spelled otherwise."""
        filled = False
        for field, value in values.items():
            versions = self._flat.get(field, [])
            for index in range(0, len(versions), 2):
                is_dropped = type(versions[index + 1]) is Redacted
                if is_dropped != (type(value) is Redacted) and self._head_at(versions[index]) == head:
                    self._flat[field] = [*versions[: index + 1], value, *versions[index + 2 :]]
                    filled = True
        return filled

    # -- writing out of order -------------------------------------------------------------------------

    def copy(self) -> "FieldVersions":
        """Return a copy for `merge`; the lists of the fields that it does not touch are shared."""
        return FieldVersions(self._sources, self._flat.copy())

    def part(self, places: Sequence[int]) -> "FieldVersions":
        """Return the versions of some sources, which get their places in the order of `places`."""
        place_of = {place: index for index, place in enumerate(places)}
        flat: dict[str, FlatVersions] = {}
        for field, versions in self._flat.items():
            left: FlatVersions = []
            for index in range(0, len(versions), 2):
                if versions[index] in place_of:
                    left += (place_of[versions[index]], versions[index + 1])
            if left:
                flat[field] = left
        return FieldVersions((self._sources[place] for place in places), flat)

    def merge(self, writes: Sequence[LateWrite], chains: Chains) -> None:
        """Enter operations after others that came later in the feed."""
        first = len(self._sources)
        touched: dict[str, list[int]] = {}
        for number, write in enumerate(writes):
            for field in write.fields():
                if field not in touched:
                    touched[field] = []
                    self._flat[field] = self._flat.get(field, []).copy()
                    self._forget_order(field)
                if write.base:
                    touched[field].append(number)
            self.add(write.source, write.values)
        masks = self._covered_masks([write.base for write in writes], chains)
        for field, numbers in touched.items():
            self._drop(field, masks.covered_places(self._flat[field][::2], numbers))
        for replica, fields in _fields_by_replica(writes).items():
            for field in fields:
                self._drop(field, self._overtaken_of(field, replica, first, chains))

    def _overtaken_of(self, field: str, replica: ReplicaId, first: int, chains: Chains) -> list[int]:
        """Return the places that chains of a replica have overtaken; those from `first` on are new."""
        own = self._places_of(field, replica) if field in self._flat else []
        if len(own) <= CHAIN_VERSIONS_MAX or max(own) < first:
            return []
        ends = own
        if not chains.is_forked(replica):
            ends = [max(own, key=lambda place: self._head_at(place).counter)]
        overtaken: dict[int, None] = {}
        for end in ends:
            others = [
                place for place in self._places_before(field, self._head_at(end), chains) if place != end
            ]
            overtaken.update(dict.fromkeys(self._overtaken(others, self._sources[end])))
        return list(overtaken)

    def _covered_masks(self, bases: Sequence[VectorClock], chains: Chains) -> CoveredMasks:
        by_head = sorted(range(len(self._sources)), key=self._head_at)
        heads = [self._head_at(place) for place in by_head]
        return CoveredMasks(by_head, [mask_of(base, heads, chains) for base in bases])

    # -- the canonical form ---------------------------------------------------------------------------

    def canonical_form(
        self, born: Provenance | None
    ) -> tuple[int, list[Provenance], dict[str, FlatVersions]]:
        """Return the place of `born`, the sources in the order of their heads, and the fields.

        The sources are those of a version, and `born`; its place is -1 if there is none.
        """
        places = self._standing_places()
        ordered = [self._sources[place] for place in places]
        index_of: Callable[[int], int] = {place: index for index, place in enumerate(places)}.__getitem__
        born_index = -1
        if born is not None:
            born_index = bisect_left(ordered, born.head, key=lambda source: source.head)
            if born_index == len(ordered) or ordered[born_index].head != born.head:
                ordered.insert(born_index, born)
                places.insert(born_index, -1)
                index_of = {place: index for index, place in enumerate(places)}.__getitem__
        if places == list(range(len(places))):
            return born_index, ordered, self._flat
        fields: dict[str, FlatVersions] = {}
        for field, versions in self._flat.items():
            fields[field] = form = versions.copy()
            form[::2] = map(index_of, versions[::2])
        return born_index, ordered, fields


def _fields_by_replica(writes: Iterable[LateWrite]) -> dict[ReplicaId, set[str]]:
    fields: dict[ReplicaId, set[str]] = {}
    for write in writes:
        fields.setdefault(write.source.head.replica, set()).update(write.values)
    return fields
