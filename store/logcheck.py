"""The log read again, as if a stranger had sent it: bytes, hashes, chains, signatures, causes.

Never trusts a column that repeats what a commit says, nor a signature because it was checked once.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import apsw

from syncproto import commit as commits
from syncproto.commit import Received, SignedCommit
from syncproto.faults import RemoteProtocolError
from syncproto.heads import HASH8_BYTES, Head
from syncproto.ids import ReplicaId, text
from syncproto.keys import SIGNATURE_BYTES

Branch = tuple[int, int]
"""The number of a replica and of one of its branches."""

_KNOWN_HEADS_MAX = 100_000


class Fault(NamedTuple):
    """Something wrong with the log; `bars` says that what follows from the log cannot be told either."""

    what: str
    where: str
    bars: bool = True


class _Row(NamedTuple):
    """A row of the feed."""

    seq: int
    replica: int
    counter: int
    branch: int
    hash8: bytes
    body: bytes
    signature: bytes | None

    @property
    def where(self) -> str:
        return f"commit {self.seq} of the log"


class _Last(NamedTuple):
    """The commit that a branch has come to; its hash where it could be read."""

    seq: int
    counter: int
    hash: bytes | None
    signed: bool


class LogCheck:
    """One pass over the log in the order of the feed; `take` gets each commit that can be read."""

    def __init__(self, db: apsw.Connection, take: Callable[[Received, int], None]) -> None:
        self._db = db
        self._take = take
        rows: Any = db.execute("SELECT no, id, key FROM replica")
        self._replicas: dict[int, tuple[ReplicaId, bytes]] = {no: (name, key) for no, name, key in rows}
        self._numbers = {name: no for no, (name, _) in self._replicas.items()}
        branches: Any = db.execute("SELECT replica, no, parent, first, tip, tip_hash FROM branch")
        self._branches: dict[Branch, tuple[Any, ...]] = {(one, no): tuple(row) for one, no, *row in branches}
        self._last: dict[Branch, _Last] = {}
        self._heads: set[Head] = set()
        self.commits = 0
        self.signatures = 0

    def faults(self, told: Callable[[int], None]) -> Iterator[Fault]:
        """Yield what is wrong, in the order of the feed; `told` hears each position."""
        expected = 1
        rows: Any = self._db.execute(
            "SELECT seq, replica, counter, branch, hash8, body, signature FROM feed ORDER BY seq"
        )
        for row in map(_Row._make, rows):
            if row.seq != expected:
                yield Fault("commits are missing", f"between {expected - 1} and {row.seq} of the log")
            expected = row.seq + 1
            yield from self._row(row)
            self.commits += 1
            told(row.seq)
        yield from self._ends()

    def _row(self, row: _Row) -> Iterator[Fault]:
        branch = (row.replica, row.branch)
        if row.replica not in self._replicas or branch not in self._branches:
            yield Fault("the commit is of a replica or branch that is not known", row.where)
            return
        received = None
        try:
            received = commits.read(SignedCommit(row.body, b""))
        except RemoteProtocolError as fault:
            yield Fault(f"the commit cannot be read: {fault}", row.where)
        if received is not None:
            yield from self._commit(row, received)
            self._take(received, row.seq)
        signed = row.signature is not None
        self._last[branch] = _Last(row.seq, row.counter, received and received.hash, signed)

    def _commit(self, row: _Row, received: Received) -> Iterator[Fault]:
        name, key = self._replicas[row.replica]
        commit = received.commit
        if received.head != Head(name, row.counter, row.hash8):
            yield Fault("the bytes are not those that the hash was taken of", row.where)
        if commit.key is not None and commit.key != key:
            yield Fault("the replica is bound to another key than is noted", row.where)
        yield from self._chain(row, received)
        if row.signature is not None:
            self.signatures += 1
            if not _holds(received, row.signature, key):
                yield Fault("the signature kept with it does not hold", row.where, bars=False)
        yield from self._bases(row, received)

    def _chain(self, row: _Row, received: Received) -> Iterator[Fault]:
        branch = (row.replica, row.branch)
        last = self._last.get(branch)
        parent, first, _, _ = self._branches[branch]
        if last is None:
            if row.counter != first:
                yield Fault(f"the branch begins with number {row.counter}, not {first}", row.where)
            if row.counter > 1 and not self._follows(row, parent, received.commit.previous):
                yield Fault("the commit that it follows is not held", row.where)
        elif row.counter != last.counter + 1:
            yield Fault(f"the commit has number {row.counter}; the one before it, {last.counter}", row.where)
        elif last.hash is not None and received.commit.previous != last.hash:
            yield Fault(f"the commit does not follow commit {last.seq}, the one before it", row.where)

    def _follows(self, row: _Row, parent: int | None, previous: bytes) -> bool:
        """Say whether the commit that a branch begins after is held."""
        found: Any = self._db.execute(
            "SELECT body FROM feed WHERE replica = ? AND branch = ? AND counter = ? AND hash8 = ?",
            (row.replica, parent, row.counter - 1, previous[:HASH8_BYTES]),
        )
        return any(_hash(body) == previous for (body,) in found)

    def _bases(self, row: _Row, received: Received) -> Iterator[Fault]:
        """Say which causes are not held before a commit."""
        missing = {
            head for one in received.commit.operations for head in one.base if not self._is_before(head, row)
        }
        for head in sorted(missing):
            cause = f"commit {head.counter} of replica {text(head.replica)[:8]}"
            yield Fault(f"the commit rests on {cause}, which does not come before it", row.where)

    def _is_before(self, head: Head, row: _Row) -> bool:
        if head in self._heads:
            return True
        found = self._db.execute(
            "SELECT 1 FROM feed WHERE replica = ? AND counter = ? AND hash8 = ? AND seq < ?",
            (self._numbers.get(head.replica), head.counter, head.hash8, row.seq),
        ).fetchone()
        if found is None:
            return False
        if len(self._heads) >= _KNOWN_HEADS_MAX:
            self._heads.clear()
        self._heads.add(head)
        return True

    def _ends(self) -> Iterator[Fault]:
        """Say where a branch does not end as is noted, or without a signature that vouches for it."""
        for branch, (_, _, tip, tip_hash) in sorted(self._branches.items()):
            name = text(self._replicas[branch[0]][0])[:8]
            where = f"replica {name}, branch {branch[1]}"
            last = self._last.get(branch)
            if last is None or last.counter != tip:
                ends = "nowhere" if last is None else f"at number {last.counter}"
                yield Fault(f"the chain ends {ends}, not at number {tip}: commits are missing", where)
            elif last.hash not in (None, tip_hash):
                yield Fault("the chain ends in another commit than is noted", where)
            elif not last.signed:
                yield Fault("no signature vouches for the end of the chain", where, bars=False)


def _holds(received: Received, signature: bytes, key: bytes) -> bool:
    if len(signature) != SIGNATURE_BYTES:
        return False
    signed = received._replace(signed=SignedCommit(received.signed.body, signature))
    return commits.signature_holds(signed, key)


def _hash(body: bytes) -> bytes | None:
    try:
        return commits.read(SignedCommit(body, b"")).hash
    except RemoteProtocolError:
        return None
