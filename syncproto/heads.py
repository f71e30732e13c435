"""Clocks: which commits an author had seen, as the ends of the chains that hold them.

Never guesses about a forked replica: there the store is asked which commits lie on which chain.
"""

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from syncproto.ids import ReplicaId

HASH8_BYTES = 8


class Head(NamedTuple):
    """The end of a chain of commits: replica, counter, and the first 8 bytes of that commit's hash."""

    replica: ReplicaId
    counter: int
    hash8: bytes


Clock = tuple[Head, ...]
"""Heads in order of (replica, counter, hash8). A replica has several entries only where it forked."""

EMPTY: Clock = ()


class Chains(Protocol):
    """What is known of forked replicas."""

    def forked(self, replica: ReplicaId) -> bool:
        """Say whether one counter of this replica was written twice."""

    def on_chain(self, commit: Head, end: Head) -> bool:
        """Say whether `commit` lies on the chain that ends in `end`; False where either is unknown."""


class NoForks:
    """The usual case: every replica is one chain, so counters alone compare."""

    def forked(self, replica: ReplicaId) -> bool:
        """Say no."""
        del replica
        return False

    def on_chain(self, commit: Head, end: Head) -> bool:
        """Compare counters."""
        return commit.counter <= end.counter


def covers(clock: Clock, commit: Head, chains: Chains) -> bool:
    """Say whether the commits that `clock` stands for include `commit`."""
    for head in clock:
        if head.replica != commit.replica or head.counter < commit.counter:
            continue
        if not chains.forked(commit.replica) or chains.on_chain(commit, head):
            return True
    return False


def add(clock: Clock, commit: Head, chains: Chains) -> Clock:
    """Return the clock with `commit` (and so its whole chain) in it."""
    if not clock:
        return (commit,)
    if len(clock) == 1 and clock[0].replica == commit.replica and not chains.forked(commit.replica):
        return clock if clock[0].counter >= commit.counter else (commit,)
    if covers(clock, commit, chains):
        return clock
    alone: Clock = (commit,)
    return tuple(sorted([head for head in clock if not covers(alone, head, chains)] + [commit]))


def union(one: Clock, other: Clock, chains: Chains) -> Clock:
    """Return the clock that covers what either covers."""
    for head in other:
        one = add(one, head, chains)
    return one


def within(clock: Clock, bounds: Iterable[Clock], chains: Chains) -> bool:
    """Say whether every head of `clock` is covered by one of `bounds`."""
    held = tuple(bounds)
    return all(any(covers(bound, head, chains) for bound in held) for head in clock)
