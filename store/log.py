"""The commit log: chains, branches and the feed, and what a version vector covers.

Never looks inside an operation; the fold does.
"""

import heapq
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import apsw

from store.faults import DamagedDatabase
from syncproto import commit as commits
from syncproto.commit import HASH_BYTES, Received, SignedCommit
from syncproto.faults import RemoteProtocolError
from syncproto.heads import HASH8_BYTES, Clock, Head, covers
from syncproto.ids import ReplicaId

# Below what a clock may hold, so that this device can still begin replicas of its own.
CHAINS_MAX = commits.BASE_HEADS_MAX - 24


class Branch:
    """One chain of a replica: from `first` (before it the parent's) to `tip`."""

    __slots__ = ("first", "no", "parent", "tip", "tip_hash")

    def __init__(self, no: int, parent: int | None, first: int, tip: int, tip_hash: bytes) -> None:
        self.no = no
        self.parent = parent
        self.first = first
        self.tip = tip
        self.tip_hash = tip_hash


class Replica:
    """A replica as this store knows it."""

    __slots__ = ("branches", "key", "no")

    def __init__(self, no: int, key: bytes) -> None:
        self.no = no
        self.key = key
        self.branches: dict[int, Branch] = {}


class FeedRow(NamedTuple):
    """A commit that is appended and not yet written."""

    seq: int
    branch: int
    body: bytes


class FeedCommit(NamedTuple):
    """A commit with its place in the feed, and the branch of its replica that it is on."""

    seq: int
    head: Head
    branch: int
    signed: SignedCommit


class Log:
    """The log on one connection. It caches what it knows of replicas: `reload` after a rollback."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection
        self._replicas: dict[ReplicaId, Replica] = {}
        self._names: dict[int, ReplicaId] = {}
        self._moved: set[tuple[int, int]] = set()
        self._unwritten: dict[tuple[int, int, bytes], FeedRow] = {}
        self._signatures: dict[int, bytes] = {}
        self._seq = 0
        self.reload()

    def reload(self) -> None:
        """Read the replicas and branches from the database."""
        self._replicas.clear()
        self._names.clear()
        self._moved.clear()
        self._unwritten.clear()
        self._signatures.clear()
        for no, name, key in self._db.execute("SELECT no, id, key FROM replica"):
            self._replicas[name] = Replica(no, key)
            self._names[no] = name
        for no, *row in self._db.execute("SELECT replica, no, parent, first, tip, tip_hash FROM branch"):
            branch = Branch(*row)
            self._replicas[self._names[no]].branches[branch.no] = branch
        (self._seq,) = self._db.execute("SELECT coalesce(max(seq), 0) FROM feed").fetchone()  # type: ignore[misc]

    # -- chains ---------------------------------------------------------------------------------------

    def forked(self, replica: ReplicaId) -> bool:
        """Say whether one counter of this replica was written twice."""
        known = self._replicas.get(replica)
        return known is not None and len(known.branches) > 1

    def forks(self) -> list[ReplicaId]:
        """Return the replicas of which one counter was written twice."""
        return sorted(name for name in self._replicas if self.forked(name))

    def on_chain(self, commit: Head, end: Head) -> bool:
        """Say whether `commit` lies on the chain that ends in `end`; False where either is unknown."""
        below, at = self._branch_of(commit), self._branch_of(end)
        if below is None or at is None or commit.counter > end.counter:
            return False
        branches = self._replicas[commit.replica].branches
        while branches[at].first > commit.counter:
            parent = branches[at].parent
            assert parent is not None, "a branch without a parent begins at counter 1"
            at = parent
        return at == below

    def _branch_of(self, head: Head) -> int | None:
        """Return the branch that holds a commit, None where the commit is not held."""
        known = self._replicas.get(head.replica)
        if known is None:
            return None
        unwritten = self._unwritten.get((known.no, head.counter, head.hash8))
        if unwritten is not None:
            return unwritten.branch
        row = self._db.execute(
            "SELECT branch FROM feed WHERE replica = ? AND counter = ? AND hash8 = ?",
            (known.no, head.counter, head.hash8),
        ).fetchone()
        return None if row is None else int(row[0])

    def holds(self, head: Head) -> bool:
        """Say whether this very commit is in the log."""
        return self._branch_of(head) is not None

    def tip(self, replica: ReplicaId) -> Branch | None:
        """Return the chain that a replica of this device's own goes on from."""
        known = self._replicas.get(replica)
        return None if known is None else known.branches[0]

    def key(self, replica: ReplicaId) -> bytes:
        """Return the public key that a held replica is bound to."""
        return self._replicas[replica].key

    def vector(self) -> Clock:
        """Return the heads of all that is held."""
        # No tip lies on another's chain: a commit that follows a tip goes on with its branch.
        return tuple(
            sorted(
                commits.head_of(name, branch.tip, branch.tip_hash)
                for name, replica in self._replicas.items()
                for branch in replica.branches.values()
            )
        )

    # -- appending ------------------------------------------------------------------------------------

    def place(self, received: Received) -> int | None:
        """Return the branch that a new commit extends or begins, None where it is held already.

        Raises RemoteProtocolError where the commit before it on its chain is not held, or where it claims
        another device's replica.
        """
        commit = received.commit
        known = self._replicas.get(commit.replica)
        if known is None:
            if commit.counter != 1:
                raise RemoteProtocolError(f"commit {commit.counter} of an unknown replica")
            self._require_room()
            return 0
        if commit.key is not None and commit.key != known.key:
            raise RemoteProtocolError("a replica that is bound to another device's key")
        for branch in known.branches.values():
            if branch.tip == commit.counter - 1 and branch.tip_hash == commit.previous:
                return branch.no
        if self._is_held(known, received):
            return None
        if commit.counter > 1 and self._parent_branch(known, received) is None:
            raise RemoteProtocolError(f"commit {commit.counter} before the one that it follows")
        self._require_room()
        return max(known.branches) + 1

    def _require_room(self) -> None:
        """Refuse a chain more than a vector can tell of: no peer would read such a vector."""
        if sum(len(known.branches) for known in self._replicas.values()) >= CHAINS_MAX:
            raise RemoteProtocolError(f"more than {CHAINS_MAX} replicas and branches")

    def _is_held(self, known: Replica, received: Received) -> bool:
        self.write_out()
        row = self._db.execute(
            "SELECT body FROM feed WHERE replica = ? AND counter = ? AND hash8 = ?",
            (known.no, received.head.counter, received.head.hash8),
        ).fetchone()
        if row is not None and row[0] != received.signed.body and _hash(row[0]) != received.hash:
            raise RemoteProtocolError("two commits that share a short hash")
        return row is not None

    def _parent_branch(self, known: Replica, received: Received) -> int | None:
        """Find the branch of the commit that a forking one follows."""
        commit = received.commit
        self.write_out()
        rows = self._db.execute(
            "SELECT branch, body FROM feed WHERE replica = ? AND counter = ? AND hash8 = ?",
            (known.no, commit.counter - 1, commit.previous[:HASH8_BYTES]),
        )
        for branch, body in rows:
            if _hash(body) == commit.previous:
                return int(branch)
        return None

    def append(self, received: Received, branch_no: int) -> int:
        """Write a commit that `place` found a branch for; its signature is kept apart. Returns its seq."""
        commit = received.commit
        known = self._replicas.get(commit.replica) or self._new_replica(received)
        assert len(received.hash) == HASH_BYTES
        self._extend(known, received, branch_no)
        self._seq += 1
        place = (known.no, commit.counter, received.head.hash8)
        self._unwritten[place] = FeedRow(self._seq, branch_no, received.signed.body)
        return self._seq

    def write_out(self) -> None:
        """Write the commits that were appended: whoever reads the feed sees them."""
        if self._unwritten:
            self._db.executemany(
                "INSERT INTO feed VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    (row.seq, no, counter, row.branch, hash8, row.body, self._signatures.get(row.seq))
                    for (no, counter, hash8), row in self._unwritten.items()
                ],
            )
            self._unwritten.clear()
            self._signatures.clear()

    def settle(self) -> None:
        """Write commits and the tips that moved; a transaction calls it once, after its last commit."""
        self.write_out()
        self._db.executemany(
            "UPDATE branch SET tip = ?, tip_hash = ? WHERE replica = ? AND no = ?",
            [
                (moved.tip, moved.tip_hash, no, branch)
                for no, branch in self._moved
                for moved in [self._replicas[self._names[no]].branches[branch]]
            ],
        )
        self._moved.clear()

    def keep_signature(self, seq: int, signature: bytes) -> None:
        """Keep a signature that has been checked."""
        if self._unwritten and seq >= next(iter(self._unwritten.values())).seq:
            self._signatures[seq] = signature
            return
        self._db.execute("UPDATE feed SET signature = ? WHERE seq = ?", (signature, seq))

    def shorten(self, seq: int, body: bytes) -> None:
        """Put what is left of a commit in its place: the same commit, without some of its long values."""
        assert commits.read(SignedCommit(body, b"")).hash == self.at(seq).hash
        self._db.execute("UPDATE feed SET body = ? WHERE seq = ?", (body, seq))

    def _new_replica(self, received: Received) -> Replica:
        key = received.commit.key
        assert key is not None
        self._db.execute("INSERT INTO replica (id, key) VALUES (?, ?)", (received.commit.replica, key))
        known = Replica(self._db.last_insert_rowid(), key)
        self._replicas[received.commit.replica] = known
        self._names[known.no] = received.commit.replica
        return known

    def _extend(self, known: Replica, received: Received, branch_no: int) -> None:
        counter = received.commit.counter
        old = known.branches.get(branch_no)
        if old is not None:
            old.tip, old.tip_hash = counter, received.hash
            self._moved.add((known.no, branch_no))
            return
        parent = self._parent_branch(known, received) if counter > 1 else None
        known.branches[branch_no] = Branch(branch_no, parent, counter, counter, received.hash)
        self._db.execute(
            "INSERT INTO branch VALUES (?, ?, ?, ?, ?, ?)",
            (known.no, branch_no, parent, counter, counter, received.hash),
        )

    # -- reading --------------------------------------------------------------------------------------

    def end(self) -> int:
        """Return the seq of the newest commit, 0 in an empty log."""
        return self._seq

    def floors(self, vector: Clock) -> dict[ReplicaId, int]:
        """Return, for each unforked replica held, the counter up to which a peer with this vector has it.

        A head of the peer's that is unknown here, yet not beyond what is held, shows a fork that this store
        has not met: then nothing of that replica is taken for known, and the peer skips what it has.
        """
        floors = {name: 0 for name, known in self._replicas.items() if len(known.branches) == 1}
        for head in vector:
            if head.replica not in floors:
                continue
            tip = self._replicas[head.replica].branches[0].tip
            if head.counter > tip or self.holds(head):
                floors[head.replica] = max(floors[head.replica], min(head.counter, tip))
        return floors

    def lacking(self, vector: Clock, after: int) -> Iterator[FeedCommit]:
        """Yield, in feed order, the commits beyond a feed position that a peer with this vector lacks.

        Costs a look-up a replica and then what is lacking, whatever the size of the log.
        """
        floors = self.floors(vector)
        streams = [
            self._beyond(name, floors.get(name, 0), vector, after)
            for name, known in self._replicas.items()
            if floors.get(name) != known.branches[0].tip
        ]
        return heapq.merge(*streams, key=lambda commit: commit.seq)

    def _beyond(self, name: ReplicaId, floor: int, vector: Clock, after: int) -> Iterator[FeedCommit]:
        forked = self.forked(name)
        self.write_out()
        rows = self._db.execute(
            "SELECT seq, counter, hash8, branch, body, signature FROM feed"
            " WHERE replica = ? AND counter > ? AND seq > ? ORDER BY " + ("seq" if forked else "counter"),
            (self._replicas[name].no, floor, after),
        )
        for seq, counter, hash8, branch, body, signature in rows:
            head = Head(name, counter, hash8)
            if not (forked and covers(vector, head, self)):
                yield FeedCommit(seq, head, branch, SignedCommit(body, signature or b""))

    def missing(self, vector: Clock) -> int:
        """Return how many commits of this vector are not held, as far as its counters tell."""
        lacking = 0
        for head in vector:
            known = self._replicas.get(head.replica)
            tips = [0] if known is None else [branch.tip for branch in known.branches.values()]
            if head.counter > max(tips):
                lacking += head.counter - max(tips)
        return lacking

    def lacked(self, vector: Clock, heads: Iterable[Head]) -> int:
        """Return how many of these held commits a peer with this vector is not known to have."""
        floors = self.floors(vector)
        return sum(
            head.counter > floors[head.replica] if head.replica in floors else not covers(vector, head, self)
            for head in heads
        )

    def lag(self, vector: Clock) -> int:
        """Return how many commits a peer with this vector is known to lack."""
        floors = self.floors(vector)
        lag = 0
        for name, known in self._replicas.items():
            if name in floors:
                lag += known.branches[0].tip - floors[name]
            else:
                lag += sum(1 for _ in self._beyond(name, 0, vector, 0))
        return lag

    def commits(self, after: int, limit: int) -> Iterator[FeedCommit]:
        """Yield commits of the feed after a position, in order."""
        self.write_out()
        rows = self._db.execute(
            "SELECT seq, replica, counter, hash8, branch, body, signature FROM feed"
            " WHERE seq > ? ORDER BY seq LIMIT ?",
            (after, limit),
        )
        for seq, replica, counter, hash8, branch, body, signature in rows:
            head = Head(self._names[replica], counter, hash8)
            yield FeedCommit(seq, head, branch, SignedCommit(body, signature or b""))

    def sizes(self, after: int, limit: int) -> list[int]:
        """Return how many bytes each commit of the feed after a position has; reads none of them."""
        self.write_out()
        rows = self._db.execute(
            "SELECT length(body) FROM feed WHERE seq > ? ORDER BY seq LIMIT ?", (after, limit)
        )
        return [size for (size,) in rows]

    def head_at(self, seq: int) -> Head:
        """Return which commit stands at a feed position."""
        self.write_out()
        row: Any = self._db.execute(
            "SELECT replica, counter, hash8 FROM feed WHERE seq = ?", (seq,)
        ).fetchone()
        assert row is not None
        return Head(self._names[row[0]], row[1], row[2])

    def body_at(self, seq: int) -> tuple[Head, bytes]:
        """Read one commit of the feed as its bytes, with the head that it is."""
        self.write_out()
        row: Any = self._db.execute(
            "SELECT replica, counter, hash8, body FROM feed WHERE seq = ?", (seq,)
        ).fetchone()
        assert row is not None
        return Head(self._names[row[0]], row[1], row[2]), row[3]

    def at(self, seq: int) -> Received:
        """Read one commit of the feed. Raises DamagedDatabase where its bytes are no longer a commit."""
        self.write_out()
        row = self._db.execute("SELECT body, signature FROM feed WHERE seq = ?", (seq,)).fetchone()
        assert row is not None
        return _read(seq, SignedCommit(row[0], row[1] or b""))

    def readable(self, held: FeedCommit) -> Received:
        """Read a commit that `commits` gave. Raises DamagedDatabase as `at` does."""
        return _read(held.seq, held.signed)


def _read(seq: int, signed: SignedCommit) -> Received:
    try:
        return commits.read(signed)
    except RemoteProtocolError as fault:
        raise DamagedDatabase(f"commit {seq} of the log cannot be read: {fault}") from fault


def _hash(body: bytes) -> bytes:
    """Return the hash of a commit that is held; none where its bytes are damaged, which `verify` tells."""
    try:
        return commits.read(SignedCommit(body, b"")).hash
    except RemoteProtocolError:
        return b""
