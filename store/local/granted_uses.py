"""The uses of permissions that this device granted, each at most once.

Never replicated: what others write about a use grants nothing, and takes nothing away.
"""

from typing import Any, NamedTuple

from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto.ids import EntityId, ReplicaId


class GrantedUse(NamedTuple):
    """A use: the execution that it was granted to, the hash of its arguments, and when, in milliseconds."""

    execution: str
    args_hash: bytes
    granted_ms: int


def granted_use(snapshot: Snapshot, ask: EntityId) -> GrantedUse | None:
    """Return the use of an ask that this store granted, as what it writes as now; None without one."""
    row: Any = snapshot.db.execute(
        "SELECT execution, args_hash, granted_ms FROM granted_use WHERE ask = ? AND replica = ?",
        (ask, snapshot.replica),
    ).fetchone()
    return None if row is None else GrantedUse(*row)


def granted_uses(snapshot: Snapshot) -> list[tuple[EntityId, ReplicaId]]:
    """Return the asks whose uses this store granted, each with the replica that it wrote as."""
    rows: Any = snapshot.db.execute("SELECT ask, replica FROM granted_use ORDER BY ask, replica")
    return [(EntityId(ask), ReplicaId(replica)) for ask, replica in rows]


def record_granted_use(tx: Transaction, ask: EntityId, use: GrantedUse) -> None:
    """Record the use of an ask. There must be none: a second one violates the key."""
    tx.db.execute("INSERT INTO granted_use VALUES (?, ?, ?, ?, ?)", (ask, tx.replica, *use))
