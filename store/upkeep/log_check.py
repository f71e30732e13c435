"""The check of the log, as if a stranger had sent it: bytes, hashes, chains, signatures, causes.

Never trusts a column that repeats a part of a commit. A signature that was checked once is checked again.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import apsw

from store.sentence import Sentence, sentence
from syncproto import commit as commits
from syncproto.commit import DecodedCommit, SignedCommit
from syncproto.errors import RemoteProtocolError
from syncproto.ids import ReplicaId, id_to_text
from syncproto.keys import SIGNATURE_BYTES
from syncproto.vector_clock import Head

BranchKey = tuple[int, int]
"""The number of a replica and of one of its branches."""

_KNOWN_HEADS_MAX = 100_000


class LogFault(NamedTuple):
    """Something wrong with the log; if it `prevents_fold`, the tables cannot be compared with the log."""

    what: Sentence
    where: Sentence
    prevents_fold: bool = True


class _Row(NamedTuple):
    """A row of the feed."""

    seq: int
    replica: int
    counter: int
    branch: int
    hash: bytes
    body: bytes
    signature: bytes | None

    @property
    def where(self) -> Sentence:
        return sentence("log-commit", "commit {seq} of the log", seq=self.seq)


class _Last(NamedTuple):
    """The last commit of a branch so far; its hash is None if it could not be read."""

    seq: int
    counter: int
    hash: bytes | None
    signed: bool


class LogCheck:
    """One pass over the log in the order of the feed; `use` receives each commit that can be read."""

    def __init__(self, db: apsw.Connection, use: Callable[[DecodedCommit, int], None]) -> None:
        self._db = db
        self._use = use
        rows: Any = db.execute("SELECT no, id, key FROM replica")
        self._replicas: dict[int, tuple[ReplicaId, bytes]] = {no: (name, key) for no, name, key in rows}
        self._numbers = {name: no for no, (name, _) in self._replicas.items()}
        branches: Any = db.execute("SELECT replica, no, parent, first, tip, tip_hash FROM branch")
        self._branches: dict[BranchKey, tuple[Any, ...]] = {
            (replica_id, no): tuple(row) for replica_id, no, *row in branches
        }
        self._last: dict[BranchKey, _Last] = {}
        self._heads: set[Head] = set()
        self._roots: dict[BranchKey, BranchKey] = {}
        self._root_keys: dict[BranchKey, bytes] = {}
        self.commits = 0
        self.signatures = 0

    def find_faults(self, report: Callable[[int], None]) -> Iterator[LogFault]:
        """Yield what is wrong, in the order of the feed; `report` is called with each position."""
        expected = 1
        rows: Any = self._db.execute(
            "SELECT seq, replica, counter, branch, hash, body, signature FROM feed ORDER BY seq"
        )
        for row in map(_Row._make, rows):
            if row.seq != expected:
                yield LogFault(
                    sentence("log-commits-missing", "commits are missing"),
                    sentence(
                        "log-between",
                        "between {first} and {last} of the log",
                        first=expected - 1,
                        last=row.seq,
                    ),
                )
            expected = row.seq + 1
            yield from self._row(row)
            self.commits += 1
            report(row.seq)
        yield from self._misnumbered_chains()
        yield from self._ends()

    def _row(self, row: _Row) -> Iterator[LogFault]:
        branch = (row.replica, row.branch)
        if row.replica not in self._replicas or branch not in self._branches:
            unknown = sentence("log-unknown-branch", "the commit is of a replica or branch that is not known")
            yield LogFault(unknown, row.where)
            return
        received = None
        try:
            # The signature is checked apart: the commit can be read, and folded, without it.
            received = commits.decode_commit(SignedCommit(row.body, b""))
        except RemoteProtocolError as fault:
            unreadable = sentence("log-unreadable", "the commit cannot be read: {reason}", reason=str(fault))
            yield LogFault(unreadable, row.where)
        if received is not None:
            yield from self._commit(row, received)
            self._use(received, row.seq)
        signed = row.signature is not None
        self._last[branch] = _Last(row.seq, row.counter, received and received.hash, signed)

    def _commit(self, row: _Row, received: DecodedCommit) -> Iterator[LogFault]:
        name, key = self._replicas[row.replica]
        commit = received.commit
        if received.head != Head(name, row.counter, row.hash):
            other = sentence("log-other-bytes", "the bytes do not match their hash")
            yield LogFault(other, row.where)
        if row.branch == 0 and commit.key is not None and commit.key != key:
            other = sentence("log-other-key", "the replica is bound to another key than the one stored")
            yield LogFault(other, row.where)
        self._note_root(row, commit.key)
        yield from self._chain(row, received)
        if row.signature is not None:
            self.signatures += 1
            if not _holds(received, row.signature, self._key_of_chain(row, key)):
                invalid = sentence("log-signature-invalid", "the signature stored with it is not valid")
                yield LogFault(invalid, row.where, prevents_fold=False)
        yield from self._bases(row, received)

    def _note_root(self, row: _Row, key: bytes | None) -> None:
        """Note on which branch a chain begins, and with which key if that is not branch 0."""
        branch = (row.replica, row.branch)
        if branch not in self._roots:
            parent = self._branches[branch][0]
            self._roots[branch] = branch if parent is None else self._roots.get((row.replica, parent), branch)
            if key is not None and row.branch > 0:
                self._root_keys[branch] = key

    def _key_of_chain(self, row: _Row, key: bytes) -> bytes:
        """Return the key that must sign a commit; `key` is that of branch 0."""
        return self._root_keys.get(self._roots[row.replica, row.branch], key)

    def _chain(self, row: _Row, received: DecodedCommit) -> Iterator[LogFault]:
        branch = (row.replica, row.branch)
        last = self._last.get(branch)
        parent, first, _, _ = self._branches[branch]
        if last is None:
            if row.counter != first:
                begins = sentence(
                    "log-branch-begins",
                    "the branch begins with number {counter}, not {expected}",
                    counter=row.counter,
                    expected=first,
                )
                yield LogFault(begins, row.where)
            if row.counter > 1 and not self._follows(row, parent, received.commit.previous):
                yield LogFault(
                    sentence("log-parent-missing", "the commit that it follows is missing"), row.where
                )
        elif row.counter != last.counter + 1:
            numbers = sentence(
                "log-counter-gap",
                "the commit has number {counter}; the one before it, {before}",
                counter=row.counter,
                before=last.counter,
            )
            yield LogFault(numbers, row.where)
        # None: that commit could not be read, which was reported already.
        elif last.hash is not None and received.commit.previous != last.hash:
            follows = sentence(
                "log-not-following",
                "the commit does not follow commit {seq}, the one before it",
                seq=last.seq,
            )
            yield LogFault(follows, row.where)

    def _follows(self, row: _Row, parent: int | None, previous: bytes) -> bool:
        """Return whether the log holds the commit after which a branch begins."""
        rows: Any = self._db.execute(
            "SELECT body FROM feed WHERE replica = ? AND branch = ? AND counter = ? AND hash = ?",
            (row.replica, parent, row.counter - 1, previous),
        )
        return any(_hash(body) == previous for (body,) in rows)

    def _bases(self, row: _Row, received: DecodedCommit) -> Iterator[LogFault]:
        """Yield which causes of a commit do not come before it."""
        missing = {
            head
            for operation in received.commit.operations
            for head in operation.base
            if not self._is_before(head, row)
        }
        for head in sorted(missing):
            rests = sentence(
                "log-cause-missing",
                (
                    "the commit depends on commit {counter} of replica {replica}, which is not before it "
                    "in the log"
                ),
                counter=head.counter,
                replica=id_to_text(head.replica)[:8],
            )
            yield LogFault(rests, row.where)

    def _is_before(self, head: Head, row: _Row) -> bool:
        if head in self._heads:
            return True
        earlier = self._db.execute(
            "SELECT 1 FROM feed WHERE replica = ? AND counter = ? AND hash = ? AND seq < ?",
            (self._numbers.get(head.replica), head.counter, head.hash, row.seq),
        ).fetchone()
        if earlier is None:
            return False
        # The heads that were found save a look-up each; a log of any size must not fill the memory.
        if len(self._heads) >= _KNOWN_HEADS_MAX:
            self._heads.clear()
        self._heads.add(head)
        return True

    def _misnumbered_chains(self) -> Iterator[LogFault]:
        """Yield the replicas whose chains do not have the numbers from 0 on, without a gap."""
        numbers: dict[int, list[int]] = {number: [] for number in self._replicas}
        for replica, branch in sorted(self._branches):
            numbers[replica].append(branch)
        for number, branches in numbers.items():
            if branches != list(range(max(1, len(branches)))):
                name = id_to_text(self._replicas[number][0])[:8]
                yield LogFault(
                    sentence("log-chains-misnumbered", "its chains are not numbered from 0 on without a gap"),
                    sentence("log-replica", "replica {replica}", replica=name),
                )

    def _ends(self) -> Iterator[LogFault]:
        """Yield the branches that end in another commit than their row says, or without a signature."""
        for branch, (_, _, tip, tip_hash) in sorted(self._branches.items()):
            name = id_to_text(self._replicas[branch[0]][0])[:8]
            where = sentence(
                "log-branch", "replica {replica}, branch {branch}", replica=name, branch=branch[1]
            )
            last = self._last.get(branch)
            if last is None:
                nowhere = sentence(
                    "log-chain-ends-nowhere",
                    "the chain is empty, and should end at number {expected}: commits are missing",
                    expected=tip,
                )
                yield LogFault(nowhere, where)
            elif last.counter != tip:
                ends = sentence(
                    "log-chain-ends-at",
                    "the chain ends at number {counter}, not at number {expected}: commits are missing",
                    counter=last.counter,
                    expected=tip,
                )
                yield LogFault(ends, where)
            elif last.hash not in (None, tip_hash):
                yield LogFault(
                    sentence(
                        "log-chain-ends-otherwise", "the chain ends in another commit than the one stored"
                    ),
                    where,
                )
            # The tables are right all the same, but no page could end here, and no peer would get the
            # commits.
            elif not last.signed:
                unsigned = sentence("log-end-unsigned", "no signature covers the end of the chain")
                yield LogFault(unsigned, where, prevents_fold=False)


def _holds(received: DecodedCommit, signature: bytes, key: bytes) -> bool:
    if len(signature) != SIGNATURE_BYTES:
        return False
    signed = received._replace(signed=SignedCommit(received.signed.body, signature))
    return commits.signature_holds(signed, key)


def _hash(body: bytes) -> bytes | None:
    try:
        return commits.decode_commit(SignedCommit(body, b"")).hash
    except RemoteProtocolError:
        return None


def feed_end(db: apsw.Connection) -> int:
    """Return the position of the newest commit, 0 in an empty log."""
    row: Any = db.execute("SELECT coalesce(max(seq), 0) FROM feed").fetchone()
    return int(row[0])
