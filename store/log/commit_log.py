"""The commit log: the feed of all commits in the order in which they came here, and what a peer lacks of it.

Never looks inside an operation; the fold does.
"""

import heapq
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import apsw

from store.file.errors import unreadable_commit
from store.log.branches import Branch, BranchPlace, ReplicaChains
from store.log.chains import ChainIndex
from store.log.coverage import Coverage
from syncproto import commit as commits
from syncproto.codec import DIGEST_LEAD
from syncproto.commit import DecodedCommit, SignedCommit
from syncproto.errors import CommitsMissing, RemoteProtocolError
from syncproto.head_set import HeadSet
from syncproto.ids import ReplicaId
from syncproto.vector_clock import Head, VectorClock

STREAMS_MAX = 64
FEED_ROWS_MAX = -1  # no limit, for SQLite


class UnwrittenCommit(NamedTuple):
    """A commit that was appended and is not yet written to the database."""

    seq: int
    branch: int
    body: bytes


class FeedCommit(NamedTuple):
    """A commit with its position in the feed, and the branch of its replica that it is on."""

    seq: int
    head: Head
    branch: int
    signed: SignedCommit


class CommitLog:
    """The log on one connection, and the `Chains` by which the clocks of a store are compared.

    It keeps the chains in memory: call `undo` after a rollback. A log that is `only_read` belongs to one
    transaction, and reads the chains that it is asked for.
    """

    def __init__(self, connection: apsw.Connection, *, only_read: bool = False) -> None:
        self._db = connection
        self.chains = ChainIndex(connection, as_needed=only_read)
        self._replicas = self.chains.replicas
        self._unwritten: dict[tuple[int, int, bytes], UnwrittenCommit] = {}
        self._signatures: dict[int, bytes] = {}
        self._seq = 0
        self._durable_seq = 0
        if not only_read:
            self.chains.reload()
        self._read_end()

    def undo(self) -> None:
        """Forget what was appended since the last `note_durable`: the transaction was rolled back."""
        if self._seq == self._durable_seq:
            # Nothing was appended: the chains are what they were, however many there are.
            return
        self.reload()

    def note_durable(self) -> None:
        """Note that all that was appended is durable."""
        self._durable_seq = self._seq

    def reload(self) -> None:
        """Read the chains from the database, and forget what was not written."""
        self.chains.reload()
        self._unwritten.clear()
        self._signatures.clear()
        self._read_end()

    def _read_end(self) -> None:
        (self._seq,) = self._db.execute("SELECT coalesce(max(seq), 0) FROM feed").fetchone()  # type: ignore[misc]
        self._durable_seq = self._seq

    # -- chains ---------------------------------------------------------------------------------------

    def is_forked(self, replica: ReplicaId) -> bool:
        """Return whether one counter of this replica was written twice."""
        # Asked for each operation that is folded: looked up here, without a call more.
        replica_chains = self._replicas.get(replica)
        return replica_chains is not None and replica_chains.is_forked

    def on_chain(self, commit: Head, end: Head) -> bool:
        """Return whether `commit` lies on the chain that ends in `end`; False if either is unknown."""
        commit_branch, end_branch = self._branch_of(commit), self._branch_of(end)
        if commit_branch is None or end_branch is None or commit.counter > end.counter:
            return False
        return end_branch.branch_at(commit.counter) is commit_branch

    def place_of(self, head: Head) -> BranchPlace | None:
        """Return where a commit is among the branches of its replica, None if the log does not hold it."""
        branch = self._branch_of(head)
        return None if branch is None else BranchPlace(branch, head.counter)

    def _branch_of(self, head: Head) -> Branch | None:
        """Return the branch that a commit is on, None if the log does not hold the commit."""
        replica_chains = self._replicas.get(head.replica)
        if replica_chains is None:
            return None
        # The usual commit is the last of its branch, and needs no look-up in the database.
        ended = replica_chains.branch_ending_in(head.counter, head.hash)
        if ended is not None:
            return ended
        unwritten = self._unwritten.get((replica_chains.no, head.counter, head.hash))
        if unwritten is not None:
            return replica_chains.branches[unwritten.branch]
        row: Any = self._db.execute(
            "SELECT branch FROM feed WHERE replica = ? AND counter = ? AND hash = ?",
            (replica_chains.no, head.counter, head.hash),
        ).fetchone()
        return None if row is None else replica_chains.branches[row[0]]

    def has_commit(self, head: Head) -> bool:
        """Return whether this very commit is in the log."""
        return self._branch_of(head) is not None

    def first_commit(self, replica: ReplicaId) -> DecodedCommit:
        """Return the first commit of a known replica. If it was forked at once, the one that came first."""
        self.flush_commits()
        row: Any = self._db.execute(
            "SELECT min(seq) FROM feed WHERE replica = ? AND counter = 1", (self._replicas[replica].no,)
        ).fetchone()
        return self.commit_at(row[0])

    def key_of_chain(self, replica: ReplicaId, branch_no: int) -> bytes:
        """Return the public key that must sign the commits of a branch: that of the first on its chain."""
        replica_chains = self._replicas[replica]
        return self._root_key(replica_chains, replica_chains.branches[branch_no].branch_at(1))

    def key_of_commit(self, head: Head) -> bytes:
        """Return the public key that has signed a commit of the log: that of the first on its chain."""
        branch = self._branch_of(head)
        assert branch is not None, "the log holds the commit"
        return self._root_key(self._replicas[head.replica], branch.branch_at(1))

    def owner_key(self, replica: ReplicaId) -> bytes:
        """Return the public key of the device that writes as a known replica, the same in every log.

        Only whoever searches for it has several keys for one replica id; then it is the least of them.
        """
        replica_chains = self._replicas[replica]
        return min(self._root_key(replica_chains, root) for root in replica_chains.roots)

    def _root_key(self, replica_chains: ReplicaChains, root: Branch) -> bytes:
        if root.no not in replica_chains.root_keys:
            row: Any = self._db.execute(
                "SELECT seq FROM feed WHERE replica = ? AND counter = 1 AND branch = ?",
                (replica_chains.no, root.no),
            ).fetchone()
            key = self.commit_at(row[0]).commit.key
            assert key is not None, "a first commit has a key"
            replica_chains.root_keys[root.no] = key
        return replica_chains.root_keys[root.no]

    # -- appending ------------------------------------------------------------------------------------

    def find_branch(self, received: DecodedCommit) -> int | None:
        """Return the branch that a new commit extends or begins, None if the log has the commit already.

        Raises CommitsMissing if the log lacks the commit that it follows.
        """
        commit = received.commit
        replica_chains = self._replicas.get(commit.replica)
        if replica_chains is None:
            if commit.counter != 1:
                raise CommitsMissing(f"commit {commit.counter} of an unknown replica")
            return 0
        # The usual case, which needs no look-up in the database: the commit follows a tip.
        followed = replica_chains.branch_ending_in(commit.counter - 1, commit.previous)
        if followed is not None:
            return followed.no
        if self._branch_of(received.head) is not None:
            return None
        if commit.counter > 1 and self._parent_branch(received) is None:
            raise CommitsMissing(f"commit {commit.counter} before the one that it follows")
        # Another commit follows the same one: the replica has forked, and the log keeps both
        # (docs/decisions/0003).
        return replica_chains.next_no

    def _parent_branch(self, received: DecodedCommit) -> Branch | None:
        """Return the branch of the commit that a forking commit follows, None if the log lacks that one."""
        commit = received.commit
        return self._branch_of(Head(commit.replica, commit.counter - 1, commit.previous))

    def append(self, received: DecodedCommit, branch_no: int) -> int:
        """Append a commit to the branch that `find_branch` returned; return its feed position.

        The signature is stored apart, by `store_signature`.
        """
        commit = received.commit
        replica_chains = self._replicas.get(commit.replica) or self.chains.add_replica(received)
        branch = replica_chains.branches.get(branch_no)
        if branch is not None:
            self.chains.move_tip(replica_chains, branch, received)
        else:
            parent = self._parent_branch(received) if commit.counter > 1 else None
            self.chains.begin_branch(replica_chains, branch_no, parent, received)
            if commit.key is not None:
                replica_chains.root_keys[branch_no] = commit.key
        self._seq += 1
        key = (replica_chains.no, commit.counter, received.head.hash)
        self._unwritten[key] = UnwrittenCommit(self._seq, branch_no, received.signed.body)
        return self._seq

    def flush_commits(self) -> None:
        """Write the commits that were appended, so that queries on the feed find them."""
        if self._unwritten:
            self._db.executemany(
                "INSERT INTO feed VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    (row.seq, no, counter, row.branch, digest, row.body, self._signatures.get(row.seq))
                    for (no, counter, digest), row in self._unwritten.items()
                ],
            )
            self._unwritten.clear()
            self._signatures.clear()

    def flush(self) -> None:
        """Write commits and the tips that moved; a transaction calls it once, after its last commit."""
        self.flush_commits()
        self.chains.write_tips()

    def store_signature(self, seq: int, signature: bytes) -> None:
        """Store a signature that was checked."""
        # Unwritten commits have the highest positions: the first of them tells where they begin.
        if self._unwritten and seq >= next(iter(self._unwritten.values())).seq:
            self._signatures[seq] = signature
            return
        self._db.execute("UPDATE feed SET signature = ? WHERE seq = ?", (signature, seq))

    def dropped_spelling(self, head: Head) -> int | None:
        """Return the feed position of a commit of which a value may have been dropped, None if none was."""
        self.flush_commits()
        row = self._db.execute(
            # These bytes may also be inside a text or bytes; then the caller finds nothing to restore.
            "SELECT seq FROM feed WHERE replica = ? AND counter = ? AND hash = ? AND instr(body, ?)",
            (self._replicas[head.replica].no, head.counter, head.hash, DIGEST_LEAD),
        ).fetchone()
        return None if row is None else int(row[0])

    def is_overlong(self, seq: int) -> bool:
        """Return whether the values of a commit are known to exceed its limits together."""
        return self._db.execute("SELECT 1 FROM overlong WHERE seq = ?", (seq,)).fetchone() is not None

    def mark_overlong(self, seq: int, spellings: Iterable[bytes]) -> None:
        """Store the spellings of a commit, each within its limits, that exceed them together."""
        self._db.executemany("INSERT INTO overlong VALUES (?, ?)", [(seq, body) for body in spellings])

    def replace_body(self, seq: int, body: bytes) -> None:
        """Replace a commit by the same commit with fewer or more of its long values."""
        assert commits.decode_commit(SignedCommit(body, b"")).hash == self.commit_at(seq).hash
        self._db.execute("UPDATE feed SET body = ? WHERE seq = ?", (body, seq))

    # -- reading --------------------------------------------------------------------------------------

    def feed_end(self) -> int:
        """Return the feed position of the newest commit, 0 in an empty log."""
        return self._seq

    def coverage(self, vector: Iterable[Head]) -> Coverage:
        """Return which commits of the log a peer with this vector has.

        A head beyond all that this store has of a replica counts as proof of all before it; if that proves
        wrong, the session goes through the feed again (PROTOCOL.md §11). A head that is unknown here,
        although this store has that counter, shows a fork that this store has not met. It proves nothing.
        """
        coverage = Coverage()
        for head in vector:
            replica_chains = self._replicas.get(head.replica)
            if replica_chains is None:
                continue
            branch = self._branch_of(head)
            if branch is not None:
                coverage.add(replica_chains, branch, head.counter)
            elif not replica_chains.is_forked and head.counter > replica_chains.branches[0].tip:
                coverage.guess(replica_chains, head.counter)
        return coverage

    def commits_lacking(self, peer: Iterable[Head], after: int) -> Iterator[FeedCommit]:
        """Yield, in feed order, the commits beyond a feed position that a peer with these heads lacks.

        If `peer` is a HeadSet that shares most heads with this log, it costs a look-up per branch of the
        replicas that differ and then what is lacking, whatever the size of the log. If commits of many
        replicas are lacking, the feed beyond the position is read once instead.
        """
        lacking, coverage = self._replicas_lacking(peer)
        if len(lacking) > STREAMS_MAX:
            return self._lacking_in_feed({replica_chains.no for replica_chains in lacking}, coverage, after)
        streams = [self._commits_lacking_of(replica_chains, coverage, after) for replica_chains in lacking]
        # In the order of the feed: a peer refuses a commit that comes before its causes (law 1).
        return heapq.merge(*streams, key=lambda commit: commit.seq)

    def _replicas_lacking(self, peer: Iterable[Head]) -> tuple[list[ReplicaChains], Coverage]:
        """Return the replicas of which a peer lacks commits, and what it has of those that differ."""
        peer_heads = peer if isinstance(peer, HeadSet) else HeadSet(peer)
        differing = self.chains.heads().differing_replicas(peer_heads)
        coverage = self.coverage(head for replica in differing for head in peer_heads.heads_of(replica))
        candidates = [self._replicas.get(replica) for replica in differing]
        lacking = [
            replica_chains
            for replica_chains in candidates
            if replica_chains is not None and coverage.count_lacking(replica_chains)
        ]
        return lacking, coverage

    def _lacking_in_feed(self, lacking: set[int], coverage: Coverage, after: int) -> Iterator[FeedCommit]:
        """Yield what is not covered beyond a feed position, by reading the whole feed beyond it."""
        for entry in self.feed_commits(after, FEED_ROWS_MAX):
            no = self._replicas[entry.head.replica].no
            if no in lacking and not coverage.covers(no, entry.branch, entry.head.counter):
                yield entry

    def _commits_lacking_of(
        self, replica_chains: ReplicaChains, coverage: Coverage, after: int
    ) -> Iterator[FeedCommit]:
        """Yield what is not covered of a replica beyond a feed position, in feed order."""
        self.flush_commits()
        # Both orders are that of the feed. By counter, an index has it, but a fork has one counter twice.
        order = "seq" if replica_chains.is_forked else "counter"
        rows = self._db.execute(
            "SELECT seq, counter, hash, branch, body, signature FROM feed"
            f" WHERE replica = ? AND counter >= ? AND seq > ? ORDER BY {order}",
            (replica_chains.no, coverage.first_lacking(replica_chains), after),
        )
        replica = self.chains.replica_ids[replica_chains.no]
        for seq, counter, digest, branch, body, signature in rows:
            if not coverage.covers(replica_chains.no, branch, counter):
                yield FeedCommit(
                    seq, Head(replica, counter, digest), branch, SignedCommit(body, signature or b"")
                )

    def count_missing_here(self, vector: VectorClock) -> int:
        """Return how many commits of this vector the log lacks, as far as its counters tell."""
        missing = 0
        highest: dict[ReplicaId, int] = {}
        for head in vector:
            tip = highest.get(head.replica)
            if tip is None:
                replica_chains = self._replicas.get(head.replica)
                tips = () if replica_chains is None else replica_chains.branches.values()
                tip = highest[head.replica] = max((branch.tip for branch in tips), default=0)
            missing += max(0, head.counter - tip)
        return missing

    def count_unknown_to_peer(self, vector: VectorClock, heads: Iterable[Head]) -> int:
        """Return how many of these commits of the log a peer with this vector is not known to have."""
        coverage, unknown = self.coverage(vector), 0
        for head in heads:
            branch = self._branch_of(head)
            assert branch is not None, "a commit that the log does not hold"
            unknown += not coverage.covers(self._replicas[head.replica].no, branch.no, head.counter)
        return unknown

    def count_behind(self, vector: Iterable[Head]) -> int:
        """Return how many commits a peer with this vector is known to lack."""
        lacking, coverage = self._replicas_lacking(vector)
        return sum(coverage.count_lacking(replica_chains) for replica_chains in lacking)

    def feed_commits(self, after: int, limit: int) -> Iterator[FeedCommit]:
        """Yield commits of the feed after a position, in order."""
        self.flush_commits()
        rows = self._db.execute(
            "SELECT seq, replica, counter, hash, branch, body, signature FROM feed"
            " WHERE seq > ? ORDER BY seq LIMIT ?",
            (after, limit),
        )
        for seq, replica_no, counter, digest, branch, body, signature in rows:
            head = Head(self.chains.replica_ids[replica_no], counter, digest)
            yield FeedCommit(seq, head, branch, SignedCommit(body, signature or b""))

    def entries_at(self, positions: Iterable[int]) -> Iterator[FeedCommit]:
        """Yield the commits at these feed positions, each with one look-up when it is asked for."""
        for seq in positions:
            yield from self.feed_commits(seq - 1, 1)

    def commit_sizes(self, after: int, limit: int) -> list[int]:
        """Return the size in bytes of each commit of the feed after a position, without reading any."""
        self.flush_commits()
        rows = self._db.execute(
            "SELECT length(body) FROM feed WHERE seq > ? ORDER BY seq LIMIT ?", (after, limit)
        )
        return [size for (size,) in rows]

    def position_of(self, head: Head) -> int:
        """Return the feed position of a commit that the log has."""
        self.flush_commits()
        row: Any = self._db.execute(
            "SELECT seq FROM feed WHERE replica = ? AND counter = ? AND hash = ?",
            (self._replicas[head.replica].no, head.counter, head.hash),
        ).fetchone()
        assert row is not None
        return int(row[0])

    def spellings(self, head: Head) -> list[SignedCommit]:
        """Return this very commit as the log has it, none if it has not.

        If the commit is overlong, the spellings that show it come after that.
        """
        self.flush_commits()
        replica_chains = self._replicas.get(head.replica)
        row: Any = (
            replica_chains
            and self._db.execute(
                "SELECT seq, body, signature FROM feed WHERE replica = ? AND counter = ? AND hash = ?",
                (replica_chains.no, head.counter, head.hash),
            ).fetchone()
        )
        if not row:
            return []
        seq, first, signature = row
        others: Any = self._db.execute("SELECT body FROM overlong WHERE seq = ? ORDER BY rowid", (seq,))
        return [SignedCommit(body, signature or b"") for body in (first, *(body for (body,) in others))]

    def head_at(self, seq: int) -> Head:
        """Return the head of the commit at a feed position."""
        self.flush_commits()
        row: Any = self._db.execute(
            "SELECT replica, counter, hash FROM feed WHERE seq = ?", (seq,)
        ).fetchone()
        assert row is not None
        return Head(self.chains.replica_ids[row[0]], row[1], row[2])

    def body_at(self, seq: int) -> tuple[Head, bytes]:
        """Return the head and the bytes of the commit at a feed position."""
        self.flush_commits()
        row: Any = self._db.execute(
            "SELECT replica, counter, hash, body FROM feed WHERE seq = ?", (seq,)
        ).fetchone()
        assert row is not None
        return Head(self.chains.replica_ids[row[0]], row[1], row[2]), row[3]

    def commit_at(self, seq: int) -> DecodedCommit:
        """Return the commit at a feed position. Raises DamagedDatabase if its bytes cannot be read."""
        self.flush_commits()
        row = self._db.execute("SELECT body, signature FROM feed WHERE seq = ?", (seq,)).fetchone()
        assert row is not None
        return _decode_at(seq, SignedCommit(row[0], row[1] or b""))

    def decode_entry(self, entry: FeedCommit) -> DecodedCommit:
        """Decode a commit that `feed_commits` returned. Raises DamagedDatabase as `commit_at` does."""
        return _decode_at(entry.seq, entry.signed)


def _decode_at(seq: int, signed: SignedCommit) -> DecodedCommit:
    try:
        return commits.decode_commit(signed)
    except RemoteProtocolError as fault:
        raise unreadable_commit(seq, fault) from fault
