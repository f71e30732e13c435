"""The vector of a peer: what the peer reported of it, in parts, and what it is known to hold beyond that.

Never grows beyond what this side holds by more than a fixed number of heads, whatever a peer says.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from syncproto.ids import ReplicaId
from syncproto.messages import GREETING_HEADS_MAX, VECTOR_PART_HEADS
from syncproto.vector_clock import Head, VectorClock

HEADS_BEYOND_MAX = 64 * 1024


def single_counters(vector: Iterable[Head]) -> dict[ReplicaId, int]:
    """Return the last counter of each replica that has a single head in a vector."""
    heads = list(vector)
    counts = Counter(head.replica for head in heads)
    return {head.replica: head.counter for head in heads if counts[head.replica] == 1}


def parts_of(vector: VectorClock) -> list[VectorClock]:
    """Return the parts in which a Hello tells a vector: the first that is not full is the last.

    What exceeds GREETING_HEADS_MAX is left out: the peer then sends some commits in vain.
    """
    vector = vector[:GREETING_HEADS_MAX]
    # `+ 1`: if the last part is full, an empty one has to follow, since a full part announces another.
    starts = range(0, len(vector) + 1, VECTOR_PART_HEADS)
    return [vector[start : start + VECTOR_PART_HEADS] for start in starts]


def changes(before: set[Head], after: set[Head]) -> list[tuple[VectorClock, VectorClock]]:
    """Return how a vector changed, in parts of heads that came and heads that left; at least one part."""
    came, left = tuple(sorted(after - before)), tuple(sorted(before - after))
    return [
        (came[start : start + VECTOR_PART_HEADS], left[start : start + VECTOR_PART_HEADS])
        for start in range(0, max(len(came), len(left), 1), VECTOR_PART_HEADS)
    ]


class PeerVector:
    """The heads that a peer reported, and those that it is known to hold: these, and what it sent since."""

    def __init__(self) -> None:
        self.reported: set[Head] = set()
        self._known: set[Head] = set()
        self._sorted: VectorClock | None = ()

    @property
    def clock(self) -> VectorClock:
        """Return the commits that the peer is known to hold."""
        if self._sorted is None:
            self._sorted = tuple(sorted(self._known))
        return self._sorted

    @property
    def heads(self) -> set[Head]:
        """Return the same, as a set that must not be changed."""
        return self._known

    def report(self, heads: VectorClock, gone: VectorClock, own_count: int) -> None:
        """Apply a part of what the peer reports: heads that it has, and heads that are `gone`.

        `own_count` is the number of heads of this side. Heads beyond the room are forgotten: the peer then
        counts as holding less, receives some commits again, and skips them.
        """
        # Removed first: a head that is in both is there after it (PROTOCOL.md §11).
        self.reported.difference_update(gone)
        room = max(0, own_count + HEADS_BEYOND_MAX - len(self.reported))
        self.reported.update(heads[:room])

    def settle(self) -> None:
        """Regard what the peer reported as what it holds: its vector, or the change of it, has come whole."""
        self._known = set(self.reported)
        self._sorted = None

    def add_sent(self, accepted: Sequence[Head], own: VectorClock) -> None:
        """Add the commits that the peer sent and that were new to this side.

        Each of these lies below one of them that is now a head of this side. If a replica has forked, heads
        that are covered by new ones stay: they remain true, and the next Ack takes them away.
        """
        ends = set(accepted).intersection(own)
        if not ends:
            return
        chains = single_counters(own)
        of_replica: dict[ReplicaId, list[Head]] = {end.replica: [] for end in ends}
        for head in self._known:
            if head.replica in of_replica:
                of_replica[head.replica].append(head)
        for end in ends:
            older = of_replica[end.replica]
            if len(older) > 1 or end.replica not in chains:
                older.append(end)
                self._known.add(end)
            # A later head that the peer reported meanwhile covers this one.
            elif not older or older[0].counter < end.counter:
                self._known.difference_update(older)
                self._known.add(end)
                of_replica[end.replica] = [end]
        self._sorted = None
