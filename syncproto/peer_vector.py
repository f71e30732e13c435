"""The vector of a peer: what the peer reported of it, in parts, and what it is known to hold beyond that.

Never grows beyond what this side holds by more than a fixed number of heads, whatever a peer says.
"""

from collections.abc import Collection, Sequence

from syncproto.head_set import NO_HEADS, HeadChanges, HeadSet
from syncproto.ids import ReplicaId
from syncproto.messages import GREETING_HEADS_MAX, VECTOR_PART_HEADS
from syncproto.vector_clock import Head, VectorClock

HEADS_BEYOND_MAX = 64 * 1024


def single_counter(heads: Collection[Head]) -> int | None:
    """Return the counter of the only head of a replica, None if it has none or several."""
    return next(iter(heads)).counter if len(heads) == 1 else None


def parts_of(vector: VectorClock) -> list[VectorClock]:
    """Return the parts in which a Hello tells a vector: the first that is not full is the last.

    What exceeds GREETING_HEADS_MAX is left out: the peer then sends some commits in vain.
    """
    vector = vector[:GREETING_HEADS_MAX]
    # `+ 1`: if the last part is full, an empty one has to follow, since a full part announces another.
    starts = range(0, len(vector) + 1, VECTOR_PART_HEADS)
    return [vector[start : start + VECTOR_PART_HEADS] for start in starts]


def change_parts(changes: HeadChanges) -> list[HeadChanges]:
    """Return how a vector changed, in parts that a frame can tell each; at least one part."""
    came, gone = changes
    return [
        HeadChanges(came[start : start + VECTOR_PART_HEADS], gone[start : start + VECTOR_PART_HEADS])
        for start in range(0, max(len(came), len(gone), 1), VECTOR_PART_HEADS)
    ]


class PeerVector:
    """The heads that a peer reported, and those that it is known to hold: these, and what it sent since.

    What it costs to change them depends on the heads that change, and not on how many there are.
    """

    def __init__(self) -> None:
        self.reported = NO_HEADS
        self.known = NO_HEADS

    def report(self, heads: VectorClock, gone: VectorClock, own_count: int) -> None:
        """Apply a part of what the peer reports: heads that it has, and heads that are `gone`.

        `own_count` is the number of heads of this side. Heads beyond the room are forgotten: the peer then
        counts as holding less, receives some commits again, and skips them.
        """
        # Removed first: a head that is in both is there after it (PROTOCOL.md §11).
        left = self.reported.with_changes((), gone)
        room = max(0, own_count + HEADS_BEYOND_MAX - len(left))
        self.reported = left.with_changes(heads[:room])

    def settle(self) -> None:
        """Regard what the peer reported as what it holds: its vector, or the change of it, has come whole."""
        self.known = self.reported

    def add_sent(self, accepted: Sequence[Head], own: HeadSet) -> None:
        """Add the commits that the peer sent and that were new to this side.

        Each of these lies below one of them that is now a head of this side. If a replica has forked, heads
        that are covered by new ones stay: they remain true, and the next Ack takes them away.
        """
        of_replica: dict[ReplicaId, set[Head]] = {}
        for end in accepted:
            if end not in own:
                continue
            older = of_replica.setdefault(end.replica, set(self.known.heads_of(end.replica)))
            if len(older) > 1 or len(own.heads_of(end.replica)) != 1:
                older.add(end)
            # A later head that the peer reported meanwhile covers this one.
            elif all(earlier.counter < end.counter for earlier in older):
                of_replica[end.replica] = {end}
        self.known = self.known.with_replicas(of_replica)
