"""Vector clocks: which commits an author had seen, as the ends of the chains that contain them.

Never guesses about a forked replica: the store knows which of its commits lie on which chain.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import chain
from typing import NamedTuple, Protocol

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

_FEW_HEADS = 8  # as many are compared one by one faster than they are searched


class Chains(Protocol):
    """Which replicas have forked, and which commits lie on which of their chains."""

    def is_forked(self, replica: ReplicaId) -> bool:
        """Return whether one counter of this replica was written twice."""

    def on_chain(self, commit: Head, end: Head) -> bool:
        """Return whether `commit` lies on the chain that ends in `end`; False if either is unknown."""


class NoForks:
    """The usual case: every replica is one chain, so that counters alone can be compared."""

    def is_forked(self, replica: ReplicaId) -> bool:
        """Return False."""
        del replica
        return False

    def on_chain(self, commit: Head, end: Head) -> bool:
        """Compare counters."""
        return commit.counter <= end.counter


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
    if len(clock) <= _FEW_HEADS:
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


class GrowingClock:
    """A clock to which commits are added; each costs a look-up, however many heads the clock has."""

    __slots__ = ("_clock", "_heads")

    def __init__(self, clock: VectorClock = EMPTY_CLOCK) -> None:
        self._clock: VectorClock | None = clock
        self._heads: dict[ReplicaId, VectorClock] | None = None

    @property
    def clock(self) -> VectorClock:
        """Return the clock that covers all that was added."""
        if self._clock is None:
            assert self._heads is not None
            self._clock = tuple(sorted(chain.from_iterable(self._heads.values())))
        return self._clock

    def add(self, commit: Head, chains: Chains) -> None:
        """Cover a commit, and so its whole chain."""
        if self._heads is None:
            assert self._clock is not None
            if len(self._clock) <= _FEW_HEADS:
                self._clock = with_commit(self._clock, commit, chains)
                return
            self._heads = _by_replica(self._clock)
        own = self._heads.get(commit.replica, EMPTY_CLOCK)
        grown = with_commit(own, commit, chains)
        if grown is not own:
            self._heads[commit.replica] = grown
            self._clock = None

    def covers(self, commit: Head, chains: Chains) -> bool:
        """Return whether a commit is covered."""
        if self._heads is None:
            assert self._clock is not None
            return covers(self._clock, commit, chains)
        return covers(self._heads.get(commit.replica, EMPTY_CLOCK), commit, chains)


def _by_replica(clock: VectorClock) -> dict[ReplicaId, VectorClock]:
    heads: dict[ReplicaId, VectorClock] = {}
    for head in clock:
        heads[head.replica] = (*heads.get(head.replica, EMPTY_CLOCK), head)
    return heads


def merge_clocks(clock: VectorClock, other: VectorClock, chains: Chains) -> VectorClock:
    """Return the clock that covers what either of two covers."""
    if len(other) <= _FEW_HEADS:
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
