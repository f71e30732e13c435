"""Clocks as they are shown (replica to counter), and back to the heads that they stand for.

Never guesses: if a replica has forked and a counter does not identify a branch, the answer is None.
"""

from collections.abc import Mapping

from store.snapshot import Snapshot
from syncproto.ids import ReplicaId
from syncproto.vector_clock import Head, VectorClock


def counters_of(clock: VectorClock) -> dict[ReplicaId, int]:
    """Return the form in which a clock is shown: for each replica, the counter of its last commit."""
    counters: dict[ReplicaId, int] = {}
    for head in clock:
        counters[head.replica] = max(head.counter, counters.get(head.replica, 0))
    return counters


def commit_stamp_ms(snapshot: Snapshot, head: Head) -> int:
    """Return the time in the stamp of a commit of the log, Unix time in milliseconds."""
    rows: list[tuple[int]] = snapshot.db.execute(
        "SELECT seq FROM feed JOIN replica ON replica.no = feed.replica"
        " WHERE replica.id = ? AND counter = ? AND hash = ?",
        head,
    ).fetchall()  # type: ignore[assignment]
    return snapshot.log.commit_at(rows[0][0]).commit.stamp.ms


def clock_from_counters(
    snapshot: Snapshot, current: VectorClock, counters: Mapping[ReplicaId, int]
) -> VectorClock | None:
    """Return the clock of which `counters` is the shown form; None if the log has no such commits.

    `current` is the present clock of the entity, which is the answer if nothing has happened since.
    """
    if counters_of(current) == counters:
        return current
    heads = []
    for replica, counter in sorted(counters.items()):
        rows: list[tuple[bytes]] = snapshot.db.execute(
            "SELECT hash FROM feed JOIN replica ON replica.no = feed.replica"
            " WHERE replica.id = ? AND counter = ?",
            (replica, counter),
        ).fetchall()  # type: ignore[assignment]
        if len(rows) != 1:
            return None
        heads.append(Head(replica, counter, rows[0][0]))
    return tuple(heads)
