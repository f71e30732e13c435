"""Writing: one transaction makes commits of this device's own, or takes a page from a peer.

Never tells anyone: what it did is durable only when the store has committed it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import apsw

from store.folding import HASH_MODULUS, Folding
from store.log import Branch, Log
from store.snapshot import Snapshot
from syncproto import commit as commits
from syncproto import hlc
from syncproto.codec import Value
from syncproto.commit import Author, By, Commit, Operation, Received, SignedCommit
from syncproto.faults import LocalProtocolError, RemoteProtocolError
from syncproto.heads import Clock, Head
from syncproto.hlc import Stamp
from syncproto.ids import EntityId, ReplicaId, replica_id, uuid7
from syncproto.keys import Signer

RANDOM_BYTES = 10
HASH_BYTES = 32
UNSIGNED_BYTES_MAX = 32 * 1024  # a run without signature is sent whole, on the narrowest line too


@dataclass(frozen=True, slots=True)
class Write:
    """One operation to make: `base` and `by` default to the store's clock of the entity and the author."""

    entity: EntityId
    kind: str
    fields: dict[str, Value]
    base: Clock | None = None
    effect: EntityId | None = None
    by: By | None = None
    origin: dict[str, Any] | None = None


class Taken(NamedTuple):
    """What a page brought: how many commits were new, their heads, and whether a replica was seen to fork.

    `overtaken`: it brought commits of the replica that this store wrote as, of which it did not know.
    """

    new: int
    heads: tuple[Head, ...]
    forked: bool
    overtaken: bool = False


class World(NamedTuple):
    """What a store is given of the world: a key, a clock (Unix time in milliseconds) and randomness."""

    signer: Signer
    now_ms: Callable[[], int]
    randomness: Callable[[int], bytes]


class Transaction(Snapshot):
    """A snapshot that also writes; it lives inside one SQLite transaction."""

    def __init__(self, db: apsw.Connection, log: Log, world: World) -> None:
        super().__init__(db)
        self.__dict__["log"] = log
        self._world = world
        self._folding = Folding(db, log)
        self._unwritten = False
        self._writes_as = self.replica
        self._last = self._stamp()
        self._unsigned: tuple[Received, int] | None = None
        self._unsigned_bytes = 0
        self.committed = 0
        self.overtaken = False

    @property
    def db(self) -> apsw.Connection:
        """Return the connection, on which all that this transaction did so far is to be seen.

        What it did is folded and written when somebody looks, or at its end: a thousand commits at once.
        """
        if self._unwritten:
            self._write_out()
        return self._db

    def now_ms(self) -> int:
        """Return the device's clock, Unix time in milliseconds."""
        return self._world.now_ms()

    def stamp_ms(self) -> int:
        """Return the time that the next commit is stamped with, which no clock that is set back leads."""
        return hlc.tick(self._last, self._world.now_ms()).ms

    def new_id(self) -> EntityId:
        """Make an id."""
        return uuid7(self._world.now_ms(), self._world.randomness(RANDOM_BYTES))

    # -- own commits ----------------------------------------------------------------------------------

    def commit(self, writes: Sequence[Write], *, by: By = By.USER, agent: EntityId | None = None) -> Head:
        """Make one commit of at least one write, at most one an entity, and fold it.

        Raises CommitTooLarge where its bytes exceed the limit, LocalProtocolError where a base that it names
        is not held (a page left open while the store was put back). It is durable, and may be told, only once
        the transaction has ended.
        """
        assert writes
        replica, tip, previous = self._own_chain()
        stamp = hlc.tick(self._last, self._world.now_ms())
        commit = Commit(
            format=commits.FORMAT,
            replica=replica,
            counter=1 if tip is None else tip.tip + 1,
            previous=previous,
            stamp=stamp,
            author=Author(by, agent),
            key=self._world.signer.public_key if tip is None else None,
            operations=[self._operation(write, by) for write in writes],
        )
        received = commits.seal(commit)
        seq = self.log.append(received, 0)
        self._writes_as = replica
        self._sign_later(received, seq)
        self._folding.take(received, seq)
        self._settle(stamp)
        return received.head

    def _sign_later(self, received: Received, seq: int) -> None:
        """Leave a commit to be vouched for by the signature at the end of its run."""
        size = len(received.signed.body)
        other = self._unsigned is not None and self._unsigned[0].head.replica != received.head.replica
        if other or self._unsigned_bytes + size > UNSIGNED_BYTES_MAX:
            self._sign_run()
        self._unsigned = (received, seq)
        self._unsigned_bytes += size

    def _sign_run(self) -> None:
        if self._unsigned is not None:
            received, seq = self._unsigned
            self.log.keep_signature(seq, commits.sign(received, self._world.signer))
        self._unsigned, self._unsigned_bytes = None, 0

    def finish(self) -> None:
        """Sign the last commit made and write what is unwritten; the store calls it before the end."""
        self._sign_run()
        if self._unwritten:
            self._write_out()
        self.log.settle()

    def _operation(self, write: Write, by: By) -> Operation:
        current = self._folding.row(write.entity).clock
        base = current if write.base is None else write.base
        if base != current and not all(self.log.holds(head) for head in base):
            raise LocalProtocolError("a write that rests on a commit not held: no peer would take it")
        author = by if write.by is None else write.by
        return Operation(write.entity, write.kind, base, write.fields, write.effect, author, write.origin)

    def _own_chain(self) -> tuple[ReplicaId, Branch | None, bytes]:
        """Return the replica to write as, its tip, and what the next commit names as `previous`.

        Where there is none to go on from, that is a new replica and the nonce that its id follows from; both
        last only if the commit does.
        """
        replica = self._writes_as
        tip = None if replica is None else self.log.tip(replica)
        if replica is not None and tip is not None:
            return replica, tip, tip.tip_hash
        nonce = self._world.randomness(commits.NONCE_BYTES)
        return replica_id(self._world.now_ms(), self._world.signer.public_key, nonce), None, nonce

    def _stamp(self) -> Stamp:
        row = self._db.execute("SELECT stamp_ms, stamp_n FROM standing").fetchone()
        assert row is not None
        return Stamp(*row)

    def _settle(self, stamp: Stamp) -> None:
        """Note that there is something to write: rows that were touched, and the one that sums them up."""
        self._last = stamp
        self._unwritten = True
        self.committed += 1

    def _write_out(self) -> None:
        self._unwritten = False
        self.log.write_out()
        grown, added = self._folding.flush()
        total = (int.from_bytes(self.state_hash(), "big") + grown) % HASH_MODULUS
        self._db.execute(
            "UPDATE standing SET replica = ?, state_sum = ?, entities = entities + ?, stamp_ms = ?,"
            " stamp_n = ?",
            (self._writes_as, total.to_bytes(HASH_BYTES, "big"), added, *self._last),
        )

    # -- a peer's commits -----------------------------------------------------------------------------

    def take(self, page: Sequence[SignedCommit]) -> Taken:
        """Read a page of commits and take it: see `take_read`."""
        return self.take_read(commits.read_page(page))

    def take_read(self, page: Sequence[Received]) -> Taken:
        """Take a page of commits that were read, all or nothing.

        Raises RemoteProtocolError for a commit that does not follow what is held, rests on what is not, or
        whose run does not end in a signature that holds; the caller must then roll the transaction back.
        """
        ends: dict[tuple[ReplicaId, int], tuple[Received, int]] = {}
        new: list[Received] = []
        forked, now_ms = False, self._world.now_ms()
        for received in page:
            branch = self.log.place(received)
            if branch is None:
                continue
            self._require_bases(received)
            replica = received.commit.replica
            forked = forked or (branch > 0 and not self.log.forked(replica))
            seq = self.log.append(received, branch)
            ends[replica, branch] = (received, seq)
            self._folding.take(received, seq)
            new.append(received)
        self._check_signatures(ends)
        if any(replica == self._writes_as for replica, _ in ends):
            # A peer has seen this replica's future (a clone, a rollback): go on as a new one.
            self._writes_as = None
            self.overtaken = True
        if new:
            self._settle(hlc.follow(self._last, (one.commit.stamp for one in new), now_ms))
        return Taken(len(new), tuple(one.head for one in new), forked, self.overtaken)

    def _require_bases(self, received: Received) -> None:
        for operation in received.commit.operations:
            for head in operation.base:
                if head.replica == received.commit.replica and head.counter >= received.commit.counter:
                    raise RemoteProtocolError("an operation that rests on its own future")
                if not self.log.holds(head):
                    raise RemoteProtocolError("an operation that rests on a commit not held")

    def _check_signatures(self, ends: dict[tuple[ReplicaId, int], tuple[Received, int]]) -> None:
        """Check the signature at the end of every run, which vouches for the chain below it."""
        for (replica, _), (received, seq) in ends.items():
            if not commits.signature_holds(received, self.log.key(replica)):
                raise RemoteProtocolError(
                    f"commit {received.commit.counter} is not signed by its replica's device"
                )
            self.log.keep_signature(seq, received.signed.signature)

    # -- bookkeeping ----------------------------------------------------------------------------------

    def set_vault(self, vault: bytes) -> None:
        """Say which vault this store belongs to."""
        self.db.execute("UPDATE standing SET vault = ?", (vault,))

    def set_watermark(self, consumer: str, seq: int) -> None:
        """Say how far a consumer has read the feed."""
        self.db.execute(
            "INSERT INTO watermark VALUES (?, ?) ON CONFLICT (consumer) DO UPDATE SET seq = excluded.seq",
            (consumer, seq),
        )
