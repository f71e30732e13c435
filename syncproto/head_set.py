"""A set of heads that never changes: another that differs in few heads shares all the rest with it.

Never goes through all its heads for a change, nor for a comparison with a set that shares most of them.
"""

from collections.abc import Iterable, Iterator, Mapping
from operator import is_not
from typing import NamedTuple

from syncproto.ids import ReplicaId
from syncproto.vector_clock import Head, VectorClock

BUCKETS = 256
ONE_BUCKET_REPLICAS_MAX = 64
"""As many replicas are copied as fast as the list of all buckets is."""

_Bucket = dict[ReplicaId, frozenset[Head]]


class HeadChanges(NamedTuple):
    """What changed from one set of heads to another: the heads that came, and those that are gone."""

    came: VectorClock
    gone: VectorClock


class HeadSet:
    """The heads of a vector by replica, in buckets.

    A change copies the bucket of each replica that changes, and shares the other buckets. A comparison of
    two sets looks only into the buckets that they do not share. Buckets that turn out to be equal are shared
    from then on: sets that began apart, such as those of two devices, are gone through once.
    """

    # `buckets` and `count` are for sets among themselves.
    __slots__ = ("_sorted", "buckets", "count")

    def __init__(self, heads: Iterable[Head] = ()) -> None:
        by_replica: dict[ReplicaId, list[Head]] = {}
        for head in heads:
            by_replica.setdefault(head.replica, []).append(head)
        bucket = {replica: frozenset(own) for replica, own in by_replica.items()}
        self.count = sum(map(len, bucket.values()))
        self.buckets: list[_Bucket] = [bucket]
        self._sorted: VectorClock | None = None
        if len(bucket) > ONE_BUCKET_REPLICAS_MAX:
            self._spread()

    def _spread(self) -> None:
        """Distribute the replicas over many buckets."""
        before = self.buckets
        if len(before) > 1:
            # Another thread did.
            return
        buckets: list[_Bucket] = [{} for _ in range(BUCKETS)]
        for replica, own in before[0].items():
            # Nobody else can choose ids that are in one bucket: Python hashes bytes with a key of its own.
            buckets[hash(replica) % BUCKETS][replica] = own
        self.buckets = buckets

    def spread_like(self, other: "HeadSet") -> None:
        """Use as many buckets as another set does. What the set contains stays the same."""
        if len(self.buckets) < len(other.buckets):
            self._spread()

    # -- questions ------------------------------------------------------------------------------------

    def __len__(self) -> int:
        """Return the number of heads."""
        return self.count

    def __iter__(self) -> Iterator[Head]:
        """Yield all heads, in no order."""
        for bucket in self.buckets:
            for own in bucket.values():
                yield from own

    def __contains__(self, head: Head) -> bool:
        return head in self.heads_of(head.replica)

    def __eq__(self, other: object) -> bool:
        """Compare by content; sets that share most buckets are compared by the others only."""
        if not isinstance(other, HeadSet):
            return NotImplemented
        return self.count == other.count and not self._differing_buckets(other)

    def __hash__(self) -> int:
        return hash((self.count, self.clock))

    def __repr__(self) -> str:
        return f"HeadSet({self.clock!r})"

    @property
    def clock(self) -> VectorClock:
        """Return the heads in the order of a vector clock. Costs a sort when it is first asked for."""
        if self._sorted is None:
            self._sorted = tuple(sorted(self))
        return self._sorted

    def heads_of(self, replica: ReplicaId) -> frozenset[Head]:
        """Return the heads of one replica."""
        return self._bucket_of(replica).get(replica, frozenset())

    def _bucket_of(self, replica: ReplicaId) -> _Bucket:
        # Read once: another thread may spread the replicas of this set.
        buckets = self.buckets
        return buckets[hash(replica) % len(buckets)]

    # -- two sets -------------------------------------------------------------------------------------

    def _differing_buckets(self, other: "HeadSet") -> list[tuple[_Bucket, _Bucket]]:
        """Return the pairs of buckets that differ; those that are equal are shared from now on."""
        self.spread_like(other)
        other.spread_like(self)
        own, others = self.buckets, other.buckets
        differing: list[tuple[_Bucket, _Bucket]] = []
        for place, is_other in enumerate(map(is_not, own, others)):
            if not is_other:
                continue
            if own[place] == others[place]:
                own[place] = others[place]
            else:
                differing.append((own[place], others[place]))
        return differing

    def differing_replicas(self, other: "HeadSet") -> list[ReplicaId]:
        """Return the replicas of which the two sets have different heads, in order."""
        return sorted(
            replica
            for own, others in self._differing_buckets(other)
            for replica in own.keys() | others.keys()
            if own.get(replica) != others.get(replica)
        )

    def changes_since(self, before: "HeadSet") -> HeadChanges:
        """Return the heads that only this set has, and those that only the earlier one has, in order."""
        came: list[Head] = []
        gone: list[Head] = []
        for replica in self.differing_replicas(before):
            now, then = self.heads_of(replica), before.heads_of(replica)
            came += sorted(now - then)
            gone += sorted(then - now)
        return HeadChanges(tuple(came), tuple(gone))

    # -- changes --------------------------------------------------------------------------------------

    def with_changes(self, came: Iterable[Head], gone: Iterable[Head] = ()) -> "HeadSet":
        """Return the set without the heads that are gone, and then with those that came."""
        heads: dict[ReplicaId, set[Head]] = {}
        for head in gone:
            self._set_of(heads, head.replica).discard(head)
        for head in came:
            self._set_of(heads, head.replica).add(head)
        return self.with_replicas(heads)

    def _set_of(self, heads: dict[ReplicaId, set[Head]], replica: ReplicaId) -> set[Head]:
        if replica not in heads:
            heads[replica] = set(self.heads_of(replica))
        return heads[replica]

    def with_replicas(self, heads: Mapping[ReplicaId, Iterable[Head]]) -> "HeadSet":
        """Return the set in which these replicas have these heads, and all others those that they had."""
        if not heads:
            return self
        result = HeadSet()
        # One read: see `_bucket_of`.
        before = self.buckets
        buckets, count, copied = list(before), self.count, set[int]()
        for replica, now in heads.items():
            place = hash(replica) % len(buckets)
            if place not in copied:
                buckets[place] = dict(buckets[place])
                copied.add(place)
            own, then = frozenset(now), buckets[place].pop(replica, frozenset())
            if own:
                buckets[place][replica] = own
            count += len(own) - len(then)
        result.buckets, result.count = buckets, count
        if len(buckets) == 1 and len(buckets[0]) > ONE_BUCKET_REPLICAS_MAX:
            result._spread()
        return result


NO_HEADS = HeadSet()
