"""Values that count, and of which this store has only what a member left of them.

Never finds what compaction dropped: that is covered, and counts for nothing.
"""

from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

from store.fold.entity_state import load_state
from store.snapshot import Snapshot
from syncproto.codec import DIGEST_LEAD, Redacted
from syncproto.vector_clock import Head, VectorClock

_LEAD = f"x'{DIGEST_LEAD.hex()}'"


def heads_of_dropped_values(snapshot: Snapshot, heads_max: int, after: Head | None = None) -> VectorClock:
    """Return commits of which such a value counts: the first ones after a head, at most so many.

    Costs a pass over the entities that have such values.
    """
    heads = sorted(set(_heads_of_dropped(snapshot)))
    begin = 0 if after is None else bisect_right(heads, after)
    return tuple(heads[begin : begin + heads_max])


def _heads_of_dropped(snapshot: Snapshot) -> Iterator[Head]:
    # As the index of the migration has it, so that it is used.
    rows: Any = snapshot.db.execute(f"SELECT state FROM entity WHERE instr(state, {_LEAD}) > 0")
    for (state,) in rows:
        for versions in load_state(state).fields.values():
            for version in versions:
                if isinstance(version.value, Redacted):
                    yield version.source.head
