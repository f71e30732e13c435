"""Vector clocks: which commits an author had seen, as the ends of the chains that contain them.

Never guesses about a forked replica: the store knows which of its commits lie on which chain.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from typing import NamedTuple, Protocol

from syncproto.chain_forest import ChainForest, ChainPlace
from syncproto.ids import ReplicaId

COMMIT_HASH_BYTES = 32


class Head(NamedTuple):
    """The end of a chain of commits: replica, counter, and the hash of that commit (32 bytes)."""

    replica: ReplicaId
    counter: int
    hash: bytes


VectorClock = tuple[Head, ...]
"""Heads in the order of (replica, counter, hash). A replica has several heads only if it forked."""

EMPTY_CLOCK: VectorClock = ()

FEW_HEADS = 8  # as many are compared one by one faster than they are searched
_SCANS_MAX = 2  # for as many questions, heads of a fork are compared faster than they are put in an order


class Chains(Protocol):
    """Which replicas have forked, and which commits lie on which of their chains."""

    def is_forked(self, replica: ReplicaId) -> bool:
        """Return whether one counter of this replica was written twice."""

    def on_chain(self, commit: Head, end: Head) -> bool:
        """Return whether `commit` lies on the chain that ends in `end`; False if either is unknown."""

    def place_of(self, head: Head) -> ChainPlace | None:
        """Return where a commit of a forked replica is among its chains, None if it is unknown."""
        ...


class NoForks:
    """The usual case: every replica is one chain, so that counters alone can be compared."""

    def is_forked(self, replica: ReplicaId) -> bool:
        """Return False."""
        del replica
        return False

    def on_chain(self, commit: Head, end: Head) -> bool:
        """Compare counters."""
        return commit.counter <= end.counter

    def place_of(self, head: Head) -> ChainPlace | None:
        """Return None: nobody asks where a commit is on the one chain of its replica."""
        del head
        return None


def covers(clock: VectorClock, commit: Head, chains: Chains) -> bool:
    """Return whether `commit` is among the commits that `clock` stands for."""
    for head in _heads_of(clock, commit.replica):
        if head.replica != commit.replica or head.counter < commit.counter:
            continue
        # On one chain counters decide alone; only for a fork, which is rare, the log is searched.
        if not chains.is_forked(commit.replica) or chains.on_chain(commit, head):
            return True
    return False


def _heads_of(clock: VectorClock, replica: ReplicaId) -> VectorClock:
    """Return the heads of a replica, and perhaps others if the clock is short."""
    if len(clock) <= FEW_HEADS:
        return clock
    begin = bisect_left(clock, replica, key=_replica_of)
    return clock[begin : bisect_right(clock, replica, begin, key=_replica_of)]


def _replica_of(head: Head) -> ReplicaId:
    return head.replica


def with_commit(clock: VectorClock, commit: Head, chains: Chains) -> VectorClock:
    """Return the clock that also covers `commit`, and so its whole chain."""
    if not clock:
        return (commit,)
    # The usual case of an entity that one device writes: nothing has to be sorted or compared.
    if len(clock) == 1 and clock[0].replica == commit.replica and not chains.is_forked(commit.replica):
        return clock if clock[0].counter >= commit.counter else (commit,)
    if covers(clock, commit, chains):
        return clock
    chain: VectorClock = (commit,)
    begin = bisect_left(clock, commit.replica, key=_replica_of)
    end = bisect_right(clock, commit.replica, begin, key=_replica_of)
    own = [head for head in clock[begin:end] if not covers(chain, head, chains)]
    return (*clock[:begin], *sorted([*own, commit]), *clock[end:])


class Reach:
    """What one clock covers, for many questions: each costs a search, however many heads the clock has."""

    def __init__(self, clock: VectorClock, chains: Chains) -> None:
        self.clock = clock
        self._chains = chains
        self._forests: dict[ReplicaId, ChainForest[Head]] = {}

    def covers(self, commit: Head) -> bool:
        """Return whether a commit is covered."""
        own, chains = _heads_of(self.clock, commit.replica), self._chains
        if len(own) <= FEW_HEADS:
            return covers(own, commit, chains)
        if not chains.is_forked(commit.replica):
            return own[-1].counter >= commit.counter
        forest = self._forests.get(commit.replica)
        if forest is None:
            forest = self._forests[commit.replica] = ChainForest(_with_places(own, chains))
        place = chains.place_of(commit)
        return place is not None and forest.covers(place)


def _with_places(heads: Iterable[Head], chains: Chains) -> Iterator[tuple[ChainPlace, Head]]:
    """Yield the heads that are known with their places."""
    return ((place, head) for head in heads if (place := chains.place_of(head)) is not None)


class GrowingClock:
    """A clock to which commits are added; each costs a look-up, however many heads the clock has."""

    __slots__ = ("_clock", "_forests", "_heads", "_scans")

    def __init__(self, clock: VectorClock = EMPTY_CLOCK) -> None:
        self._clock: VectorClock | None = clock
        self._heads: dict[ReplicaId, VectorClock] | None = None
        self._forests: dict[ReplicaId, ChainForest[Head]] = {}
        """The heads of replicas that forked, which are then not among the other ones, unless unknown."""
        self._scans: dict[ReplicaId, int] = {}

    @property
    def clock(self) -> VectorClock:
        """Return the clock that covers all that was added."""
        if self._clock is None:
            assert self._heads is not None
            self._clock = tuple(
                sorted(chain(*self._heads.values(), chain.from_iterable(self._forests.values())))
            )
        return self._clock

    def add(self, commit: Head, chains: Chains) -> None:
        """Cover a commit, and so its whole chain."""
        if self._heads is None:
            assert self._clock is not None
            if len(self._clock) <= FEW_HEADS:
                self._clock = with_commit(self._clock, commit, chains)
                return
            self._heads = _by_replica(self._clock)
        own = self._heads.get(commit.replica, EMPTY_CLOCK)
        forest = self._forest_of(commit.replica, own, chains)
        place = None if forest is None else chains.place_of(commit)
        if forest is not None and place is not None:
            if not forest.covers(place):
                for head in forest.chain_to(place):
                    forest.remove(head)
                forest.add(place, commit)
                self._clock = None
            return
        grown = with_commit(own, commit, chains)
        if grown is not own:
            self._heads[commit.replica] = grown
            self._clock = None

    def covers(self, commit: Head, chains: Chains) -> bool:
        """Return whether a commit is covered."""
        if self._heads is None:
            assert self._clock is not None
            return covers(self._clock, commit, chains)
        own = self._heads.get(commit.replica, EMPTY_CLOCK)
        forest = self._forest_of(commit.replica, own, chains)
        if forest is None:
            return covers(own, commit, chains)
        place = chains.place_of(commit)
        return place is not None and forest.covers(place)

    def _forest_of(self, replica: ReplicaId, own: VectorClock, chains: Chains) -> ChainForest[Head] | None:
        """Return the heads of a forked replica in their order, None while that is not worth its cost."""
        forest = self._forests.get(replica)
        if forest is not None or len(own) <= FEW_HEADS or not chains.is_forked(replica):
            return forest
        self._scans[replica] = self._scans.get(replica, 0) + 1
        if self._scans[replica] <= _SCANS_MAX:
            return None
        assert self._heads is not None
        forest = self._forests[replica] = ChainForest(_with_places(own, chains))
        placed_heads = set(forest)
        self._heads[replica] = tuple(head for head in own if head not in placed_heads)
        return forest


def _by_replica(clock: VectorClock) -> dict[ReplicaId, VectorClock]:
    return {replica: tuple(heads) for replica, heads in groupby(clock, key=_replica_of)}


def merge_clocks(clock: VectorClock, other: VectorClock, chains: Chains) -> VectorClock:
    """Return the clock that covers what either of two covers."""
    if len(other) <= FEW_HEADS:
        for head in other:
            clock = with_commit(clock, head, chains)
        return clock
    grown = GrowingClock(clock)
    for head in other:
        grown.add(head, chains)
    return grown.clock


def is_covered_by_any(clock: VectorClock, bounds: Iterable[VectorClock], chains: Chains) -> bool:
    """Return whether each head of `clock` is covered by one of `bounds`."""
    together = GrowingClock()
    for bound in bounds:
        for head in bound:
            together.add(head, chains)
    return all(together.covers(head, chains) for head in clock)
