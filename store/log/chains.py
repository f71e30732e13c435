"""The chains of commits: which replicas and branches the log holds, and which branch left which.

Never looks a commit up: the log knows which commit is on which branch.
"""

import apsw

from store.log.branches import Branch, ReplicaChains
from syncproto.commit import DecodedCommit
from syncproto.ids import ReplicaId
from syncproto.vector_clock import Head, VectorClock


class ChainIndex:
    """All replicas and branches of a log, in memory: call `reload` after a rollback."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection
        self.replicas: dict[ReplicaId, ReplicaChains] = {}
        self.replica_ids: dict[int, ReplicaId] = {}
        self._moved: set[tuple[int, int]] = set()

    def reload(self) -> None:
        """Read the replicas and branches from the database."""
        self.replicas.clear()
        self.replica_ids.clear()
        self._moved.clear()
        for no, replica, key in self._db.execute("SELECT no, id, key FROM replica"):
            self.replicas[replica] = ReplicaChains(no, key)
            self.replica_ids[no] = replica
        # In the order of their numbers: a branch leaves one that was met before it.
        for no, branch, parent, *ends in self._db.execute(
            "SELECT replica, no, parent, first, tip, tip_hash FROM branch ORDER BY replica, no"
        ):
            replica_chains = self.replicas[self.replica_ids[no]]
            # In a damaged file a parent may be missing; `placet doctor` reports that.
            known_parent = replica_chains.branches.get(parent)
            replica_chains.add_branch(Branch(branch, known_parent, *ends))

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

    def vector(self) -> VectorClock:
        """Return the heads of all commits that the log holds."""
        # No tip lies on the chain of another: a commit that follows a tip extends the branch of that tip.
        return tuple(
            sorted(
                Head(replica, branch.tip, branch.tip_hash)
                for replica, replica_chains in self.replicas.items()
                for branch in replica_chains.branches.values()
            )
        )

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
