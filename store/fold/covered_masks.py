"""Which of many commits each of several bases covers, as bits: late writes are put on an entity with them.

Never looks at a version: only at heads.
"""

from bisect import bisect_left

from syncproto.ids import ReplicaId
from syncproto.vector_clock import Chains, Head, Reach, VectorClock


class CoveredMasks:
    """Which sources each of several bases covers: a bit for each source, in the order of their heads.

    With them, each field costs what it has, however many heads the bases have together.
    """

    def __init__(self, by_head: list[int], masks: list[int]) -> None:
        self._bit_of = {place: bit for bit, place in enumerate(by_head)}
        self._bytes = (len(by_head) + 7) // 8
        self._masks = masks

    def covered_places(self, places: list[int], numbers: list[int]) -> list[int]:
        """Return those of some places that any of the bases with these numbers covers."""
        together = 0
        for number in numbers:
            together |= self._masks[number]
        if not together:
            return []
        bits = together.to_bytes(self._bytes, "little")
        return [place for place in places if bits[self._bit_of[place] >> 3] >> (self._bit_of[place] & 7) & 1]


def mask_of(base: VectorClock, heads: list[Head], chains: Chains) -> int:
    """Return a bit for each of the sorted `heads`, set if `base` covers it."""
    mask = 0
    forked: dict[ReplicaId, tuple[int, int]] = {}
    for end in base:
        begin = bisect_left(heads, Head(end.replica, 0, b""))
        beyond = bisect_left(heads, Head(end.replica, end.counter + 1, b""), begin)
        if not chains.is_forked(end.replica):
            mask |= (1 << beyond) - (1 << begin)
        else:
            # The heads of a replica stand in the order of their counters: the last one reaches farthest.
            forked[end.replica] = begin, beyond
    reach = Reach(base, chains)
    for begin, beyond in forked.values():
        mask |= sum(1 << bit for bit in range(begin, beyond) if reach.covers(heads[bit]))
    return mask
