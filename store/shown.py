"""Clocks as they are shown (replica to counter), and back to the heads that they stand for.

Never guesses: where a replica has forked and the counter alone does not say which branch was seen, it answers
None.
"""

from collections.abc import Mapping

from store.snapshot import Snapshot
from syncproto.heads import Clock, Head
from syncproto.ids import ReplicaId


def counters(clock: Clock) -> dict[ReplicaId, int]:
    """Return what is shown of a clock: for each replica, the counter of its last commit."""
    shown: dict[ReplicaId, int] = {}
    for head in clock:
        shown[head.replica] = max(head.counter, shown.get(head.replica, 0))
    return shown


def stamp_ms(snapshot: Snapshot, head: Head) -> int:
    """Return when a commit that is held says that it was made, Unix time in milliseconds."""
    rows: list[tuple[int]] = snapshot.db.execute(
        "SELECT seq FROM feed JOIN replica ON replica.no = feed.replica"
        " WHERE replica.id = ? AND counter = ? AND hash8 = ?",
        head,
    ).fetchall()  # type: ignore[assignment]
    return snapshot.log.at(rows[0][0]).commit.stamp.ms


def clock_shown(snapshot: Snapshot, current: Clock, shown: Mapping[ReplicaId, int]) -> Clock | None:
    """Return the clock of which `shown` was shown; None where no such commits are held.

    `current` is the entity's clock now, which is the answer wherever nothing has happened since.
    """
    if counters(current) == shown:
        return current
    heads = []
    for replica, counter in sorted(shown.items()):
        rows: list[tuple[bytes]] = snapshot.db.execute(
            "SELECT hash8 FROM feed JOIN replica ON replica.no = feed.replica"
            " WHERE replica.id = ? AND counter = ?",
            (replica, counter),
        ).fetchall()  # type: ignore[assignment]
        if len(rows) != 1:
            return None
        heads.append(Head(replica, counter, rows[0][0]))
    return tuple(heads)
