"""The chains of commits: which replicas and branches the log holds, and which branch left which.

Never looks a commit up: the log knows which commit is on which branch.
"""

from collections.abc import Sequence
from typing import Any

import apsw

from store.log.branches import Branch, ReplicaChains
from syncproto.commit import DecodedCommit
from syncproto.head_set import HeadSet
from syncproto.ids import ReplicaId
from syncproto.vector_clock import Head


class _ReplicasAsNeeded(dict[ReplicaId, ReplicaChains]):
    """The replicas of a log; each is read when it is first asked for, and all when all are asked for."""

    def __init__(self, index: "ChainIndex") -> None:
        super().__init__()
        self._index = index

    def __missing__(self, replica: ReplicaId) -> ReplicaChains:
        if not self._index.read_replica(replica):
            raise KeyError(replica)
        return self[replica]

    def get(self, replica: ReplicaId, default: Any = None) -> Any:
        """Return a replica, `default` if the log has no commit of it."""
        return self[replica] if replica in self or self._index.read_replica(replica) else default

    def values(self) -> Any:
        """Return all replicas."""
        self._index.reload()
        return super().values()

    def items(self) -> Any:
        """Return all replicas with their ids."""
        self._index.reload()
        return super().items()


class _IdsAsNeeded(dict[int, ReplicaId]):
    """The ids of replicas by their local numbers; each is read when it is first asked for."""

    def __init__(self, connection: apsw.Connection) -> None:
        super().__init__()
        self._db = connection

    def __missing__(self, no: int) -> ReplicaId:
        row: Any = self._db.execute("SELECT id FROM replica WHERE no = ?", (no,)).fetchone()
        return self.setdefault(no, row[0])


class ChainIndex:
    """The replicas and branches of a log, in memory: call `reload` after a rollback.

    A log that is written has all of them. One that is only read, `as_needed`, reads those that are asked for.
    """

    def __init__(self, connection: apsw.Connection, *, as_needed: bool) -> None:
        self._db = connection
        self.replicas: dict[ReplicaId, ReplicaChains] = _ReplicasAsNeeded(self) if as_needed else {}
        self.replica_ids: dict[int, ReplicaId] = _IdsAsNeeded(connection) if as_needed else {}
        self._moved: set[tuple[int, int]] = set()
        self._heads: HeadSet | None = None
        self._changed: set[ReplicaId] = set()
        """The replicas that `_heads` does not show as they are now."""

    def reload(self) -> None:
        """Read all replicas and branches from the database."""
        self.replicas.clear()
        self.replica_ids.clear()
        self._moved.clear()
        self._changed.clear()
        self._heads = None
        for no, replica, key in self._db.execute("SELECT no, id, key FROM replica"):
            self.replicas[replica] = ReplicaChains(no, key)
            self.replica_ids[no] = replica
        # In the order of their numbers: a branch leaves one that was met before it.
        for no, *branch in self._db.execute(
            "SELECT replica, no, parent, first, tip, tip_hash FROM branch ORDER BY replica, no"
        ):
            _add_read_branch(self.replicas[self.replica_ids[no]], branch)

    def read_replica(self, replica: ReplicaId) -> bool:
        """Read one replica and its branches from the database; return whether the log has it."""
        row: Any = self._db.execute("SELECT no, key FROM replica WHERE id = ?", (replica,)).fetchone()
        if row is None:
            return False
        no, key = row
        self.replicas[replica], self.replica_ids[no] = ReplicaChains(no, key), replica
        for branch in self._db.execute(
            "SELECT no, parent, first, tip, tip_hash FROM branch WHERE replica = ? ORDER BY no", (no,)
        ):
            _add_read_branch(self.replicas[replica], branch)
        return True

    # -- questions ------------------------------------------------------------------------------------

    def forked_replicas(self) -> list[ReplicaId]:
        """Return the replicas of which one counter was written twice."""
        return sorted(
            replica for replica, replica_chains in self.replicas.items() if replica_chains.is_forked
        )

    def own_tip(self, replica: ReplicaId) -> Branch | None:
        """Return the chain that a replica of this device continues, None if it has no commit."""
        replica_chains = self.replicas.get(replica)
        return None if replica_chains is None else replica_chains.branches[0]

    def heads(self) -> HeadSet:
        """Return the heads of all commits that the log holds. Costs what changed since it was asked last."""
        # No tip lies on the chain of another: a commit that follows a tip extends the branch of that tip.
        if self._heads is None:
            # What a transaction has not written yet is among the changes.
            rows: Any = self._db.execute(
                "SELECT id, tip, tip_hash FROM branch JOIN replica ON replica.no = branch.replica"
            )
            self._heads = HeadSet(Head(*row) for row in rows)
        if self._changed:
            self._heads = self._heads.with_replicas(
                {
                    replica: [
                        Head(replica, branch.tip, branch.tip_hash)
                        for branch in self.replicas[replica].branches.values()
                    ]
                    for replica in self._changed
                }
            )
            self._changed.clear()
        return self._heads

    def use_heads(self, heads: HeadSet) -> None:
        """Take what `heads` returned for the same commits before."""
        self._heads = heads

    # -- changes --------------------------------------------------------------------------------------

    def add_replica(self, first: DecodedCommit) -> ReplicaChains:
        """Begin a replica, by its first commit, which contains its key; it has no branch yet."""
        key = first.commit.key
        assert key is not None
        self._db.execute("INSERT INTO replica (id, key) VALUES (?, ?)", (first.commit.replica, key))
        replica_chains = ReplicaChains(self._db.last_insert_rowid(), key)
        self.replicas[first.commit.replica] = replica_chains
        self.replica_ids[replica_chains.no] = first.commit.replica
        return replica_chains

    def begin_branch(
        self, replica_chains: ReplicaChains, branch_no: int, parent: Branch | None, first: DecodedCommit
    ) -> None:
        """Begin a branch with its first commit; `parent` is the branch of the commit that this follows."""
        counter = first.commit.counter
        replica_chains.add_branch(Branch(branch_no, parent, counter, counter, first.hash))
        self._changed.add(first.commit.replica)
        self._db.execute(
            "INSERT INTO branch VALUES (?, ?, ?, ?, ?, ?)",
            (
                replica_chains.no,
                branch_no,
                None if parent is None else parent.no,
                counter,
                counter,
                first.hash,
            ),
        )

    def move_tip(self, replica_chains: ReplicaChains, branch: Branch, received: DecodedCommit) -> None:
        """Extend a branch by a commit; `write_tips` writes it."""
        replica_chains.move_tip(branch, received.commit.counter, received.hash)
        self._moved.add((replica_chains.no, branch.no))
        self._changed.add(received.commit.replica)

    def write_tips(self) -> None:
        """Write the tips that moved, each once, however many commits moved it."""
        self._db.executemany(
            "UPDATE branch SET tip = ?, tip_hash = ? WHERE replica = ? AND no = ?",
            [
                (moved.tip, moved.tip_hash, no, branch)
                for no, branch in self._moved
                for moved in [self.replicas[self.replica_ids[no]].branches[branch]]
            ],
        )
        self._moved.clear()


def _add_read_branch(replica_chains: ReplicaChains, row: Sequence[Any]) -> None:
    no, parent, *ends = row
    # In a damaged file a parent may be missing; `placet doctor` reports that.
    replica_chains.add_branch(Branch(no, replica_chains.branches.get(parent), *ends))
