"""Values that count, and of which this store has only what a member left of them.

Never finds what compaction dropped: that is covered, and counts for nothing.
"""

from collections.abc import Iterator
from typing import Any

from store.fold.entity_state import load_state
from store.snapshot import Snapshot
from syncproto.codec import DIGEST_LEAD, Redacted
from syncproto.vector_clock import Head, VectorClock


def heads_of_dropped_values(snapshot: Snapshot, heads_max: int) -> VectorClock:
    """Return at most so many commits of which such a value counts. Costs a pass over all entities."""
    heads: set[Head] = set()
    for head in _heads_of_dropped(snapshot):
        heads.add(head)
        if len(heads) == heads_max:
            break
    return tuple(sorted(heads))


def _heads_of_dropped(snapshot: Snapshot) -> Iterator[Head]:
    rows: Any = snapshot.db.execute("SELECT state FROM entity WHERE instr(state, ?)", (DIGEST_LEAD,))
    for (state,) in rows:
        for versions in load_state(state).fields.values():
            for version in versions:
                if isinstance(version.value, Redacted):
                    yield version.source.head
