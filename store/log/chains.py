"""The chains of commits: which replicas and branches the log holds, and which branch left which.

Never looks a commit up: the log knows which commit is on which branch.
"""

import apsw

from syncproto.commit import DecodedCommit
from syncproto.ids import ReplicaId
from syncproto.vector_clock import Head, VectorClock


class Branch:
    """One chain of a replica, from counter `first` to `tip`; what comes before `first` is on the parent."""

    __slots__ = ("first", "no", "parent", "tip", "tip_hash")

    def __init__(self, no: int, parent: int | None, first: int, tip: int, tip_hash: bytes) -> None:
        self.no = no
        self.parent = parent
        self.first = first
        self.tip = tip
        self.tip_hash = tip_hash


class ReplicaChains:
    """The branches of one replica, with its local number and the public key that it is bound to."""

    __slots__ = ("branches", "key", "no")

    def __init__(self, no: int, key: bytes) -> None:
        self.no = no
        self.key = key
        self.branches: dict[int, Branch] = {}


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
        for no, *row in self._db.execute("SELECT replica, no, parent, first, tip, tip_hash FROM branch"):
            branch = Branch(*row)
            self.replicas[self.replica_ids[no]].branches[branch.no] = branch

    # -- questions ------------------------------------------------------------------------------------

    def forked_replicas(self) -> list[ReplicaId]:
        """Return the replicas of which one counter was written twice."""
        return sorted(
            replica for replica, replica_chains in self.replicas.items() if len(replica_chains.branches) > 1
        )

    def branch_at(self, replica: ReplicaId, branch: int, counter: int) -> int:
        """Return the branch on which the chain of `branch` has this counter: itself, or one that it left."""
        branches = self.replicas[replica].branches
        while branches[branch].first > counter:
            parent = branches[branch].parent
            assert parent is not None, "a branch without a parent begins at counter 1"
            branch = parent
        return branch

    def own_tip(self, replica: ReplicaId) -> Branch | None:
        """Return the chain that a replica of this device continues, None if it has no commit."""
        replica_chains = self.replicas.get(replica)
        return None if replica_chains is None else replica_chains.branches[0]

    def public_key_of(self, replica: ReplicaId) -> bytes:
        """Return the public key that a known replica is bound to."""
        return self.replicas[replica].key

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
        self, replica_chains: ReplicaChains, branch_no: int, parent: int | None, first: DecodedCommit
    ) -> None:
        """Begin a branch with its first commit; `parent` is the branch of the commit that this follows."""
        counter = first.commit.counter
        replica_chains.branches[branch_no] = Branch(branch_no, parent, counter, counter, first.hash)
        self._db.execute(
            "INSERT INTO branch VALUES (?, ?, ?, ?, ?, ?)",
            (replica_chains.no, branch_no, parent, counter, counter, first.hash),
        )

    def move_tip(self, replica_chains: ReplicaChains, branch: Branch, received: DecodedCommit) -> None:
        """Extend a branch by a commit; `write_tips` writes it."""
        branch.tip, branch.tip_hash = received.commit.counter, received.hash
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
