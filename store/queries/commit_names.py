"""Commits by the short names that people and programs give back: a counter, and the beginning of a hash.

Never reads the body of a commit, and never goes through the log: a look-up costs one search per replica.
"""

from collections.abc import Iterator
from typing import Any

from store.snapshot import Snapshot
from syncproto.vector_clock import COMMIT_HASH_BYTES, Head

_DIGITS = 2 * COMMIT_HASH_BYTES


def heads_named(snapshot: Snapshot, counter: int, hash_beginning: str, limit: int) -> list[Head]:
    """Return at most `limit` commits with this counter whose hash begins so, in hexadecimal digits."""
    rows: Any = snapshot.db.execute(
        "SELECT replica.id, counter, hash FROM replica CROSS JOIN feed ON feed.replica = replica.no"
        " WHERE counter = ? AND hash BETWEEN ? AND ? LIMIT ?",
        (
            counter,
            bytes.fromhex(hash_beginning.ljust(_DIGITS, "0")),
            bytes.fromhex(hash_beginning.ljust(_DIGITS, "f")),
            limit,
        ),
    )
    return [Head(*row) for row in rows]


def positions_up_to(snapshot: Snapshot, last: Head, first: int) -> Iterator[int]:
    """Yield the feed positions of the commits of one chain from `last` down to the counter `first`."""
    rows: Any = snapshot.db.execute(
        "SELECT seq, counter, hash FROM feed JOIN replica ON replica.no = feed.replica"
        " WHERE replica.id = ? AND counter BETWEEN ? AND ? ORDER BY counter DESC",
        (last.replica, first, last.counter),
    )
    is_forked = snapshot.log.is_forked(last.replica)
    for seq, counter, commit_hash in rows:
        if not is_forked or snapshot.log.on_chain(Head(last.replica, counter, commit_hash), last):
            yield int(seq)


def own_positions(snapshot: Snapshot, limit: int) -> Iterator[int]:
    """Yield the feed positions of the last commits that this store made, the newest first."""
    replica = snapshot.replica
    tip = None if replica is None else snapshot.log.chains.own_tip(replica)
    if replica is not None and tip is not None:
        last = Head(replica, tip.tip, tip.tip_hash)
        yield from positions_up_to(snapshot, last, max(1, last.counter - limit + 1))
