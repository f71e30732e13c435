"""Forked replicas as a plain dictionary: what vector_clock.py asks its store for.

Never knows branches, as the real log does: it walks from commit to commit.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple, Self

from syncproto.ids import ReplicaId
from syncproto.vector_clock import Head, VectorClock


class PathPlace(NamedTuple):
    """The way to a commit on its chain, in any form that can be compared step by step."""

    steps: tuple[Any, ...]

    def leads_to(self, other: Self) -> bool:
        """Return whether the other way begins with this one."""
        return other.steps[: len(self.steps)] == self.steps


def _counter_of(head: Head) -> int:
    return head.counter


class ModelChains:
    """Commits by the one that each follows."""

    def __init__(self, before: dict[Head, Head | None]) -> None:
        self.before = before

    def is_forked(self, replica: ReplicaId) -> bool:
        """Return whether one counter was written twice."""
        counters = [head.counter for head in self.before if head.replica == replica]
        return len(set(counters)) != len(counters)

    def on_chain(self, commit: Head, end: Head) -> bool:
        """Walk back from `end`."""
        return commit in self.past(end)

    def place_of(self, head: Head) -> "PathPlace | None":
        """Return the way to a commit, None if it is unknown."""
        return PathPlace(tuple(sorted(self.past(head), key=_counter_of))) if head in self.before else None

    def past(self, end: Head) -> set[Head]:
        """Return the chain that ends in `end`, empty if that is unknown."""
        heads: set[Head] = set()
        head: Head | None = end
        while head is not None and head in self.before:
            heads.add(head)
            head = self.before[head]
        return heads

    def covered(self, clock: Iterable[Head]) -> set[Head]:
        """Return the commits that a clock stands for."""
        return set().union(*(self.past(head) for head in clock))

    def maximal(self, commits: Iterable[Head]) -> VectorClock:
        """Return the heads of some commits: those that no other of them follows."""
        heads = set(commits)
        return tuple(
            sorted(head for head in heads if not any(head in self.past(end) for end in heads - {head}))
        )
