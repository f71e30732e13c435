"""Forked replicas as a plain dictionary: what heads.py asks its store for.

Never knows branches, as the real log does: it walks from commit to commit.
"""

from collections.abc import Iterable

from syncproto.heads import Clock, Head
from syncproto.ids import ReplicaId


class ModelChains:
    """Commits by the one that each follows."""

    def __init__(self, before: dict[Head, Head | None]) -> None:
        self.before = before

    def forked(self, replica: ReplicaId) -> bool:
        """Say whether one counter was written twice."""
        counters = [head.counter for head in self.before if head.replica == replica]
        return len(set(counters)) != len(counters)

    def on_chain(self, commit: Head, end: Head) -> bool:
        """Walk back from `end`."""
        return commit in self.past(end)

    def past(self, end: Head) -> set[Head]:
        """Return the chain that ends in `end`, none of it where that is unknown."""
        found: set[Head] = set()
        at: Head | None = end
        while at is not None and at in self.before:
            found.add(at)
            at = self.before[at]
        return found

    def covered(self, clock: Iterable[Head]) -> set[Head]:
        """Return the commits that a clock stands for."""
        return set().union(*(self.past(head) for head in clock))

    def maximal(self, commits: Iterable[Head]) -> Clock:
        """Return the heads of some commits: those that no other of them follows."""
        held = set(commits)
        return tuple(sorted(one for one in held if not any(one in self.past(end) for end in held - {one})))
