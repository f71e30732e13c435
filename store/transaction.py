"""Writing: one transaction makes commits of this device, or accepts a page of a peer.

Never informs anyone: what it wrote is durable only when the store has committed it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

import apsw

from store.fold.entity_state import EntityState
from store.fold.table_writer import HASH_MODULUS, TableWriter
from store.log.branches import Branch
from store.log.commit_log import CommitLog
from store.log.reader_memory import ReaderMemory
from store.snapshot import Snapshot
from syncproto import commit as commits
from syncproto import hlc
from syncproto.codec import Value
from syncproto.commit import (
    BASE_HEADS_MAX,
    Author,
    AuthorKind,
    Commit,
    DecodedCommit,
    Operation,
    SignedCommit,
)
from syncproto.errors import CommitsMissing, LocalProtocolError, RemoteProtocolError
from syncproto.hlc import Stamp
from syncproto.ids import EntityId, ReplicaId, replica_id, uuid7
from syncproto.keys import Signer
from syncproto.messages import STATE_HASH_BYTES
from syncproto.vector_clock import EMPTY_CLOCK, Head, VectorClock

RANDOM_BYTES = 10
UNWRITTEN_BYTES_MAX = 16 * 1024 * 1024
"""What the commits of a transaction may take in memory before it folds and writes them."""
UNSIGNED_BYTES_MAX = 32 * 1024  # a run is sent whole, on the slowest line too: it must stay short


@dataclass(frozen=True, slots=True)
class EntityWrite:
    """One operation to make: `base` defaults to the current clock of the entity, `by` to the author."""

    entity: EntityId
    kind: str
    fields: dict[str, Value]
    base: VectorClock | None = None
    effect: EntityId | None = None
    by: AuthorKind | None = None
    origin: dict[str, Any] | None = None


class CommitSpan(NamedTuple):
    """Some commits of one chain: those from the counter `first` on up to `last`."""

    first: int
    last: Head


class AcceptedPage(NamedTuple):
    """The result of a page: how many commits were new, their heads, and whether a replica turned out forked.

    With `own_replica_ahead`, the page contained commits of this store's own replica that the store lacked.
    `known` are the commits that the store held already. Of those that are `regained` too, other peers may
    lack what the page brought: values that were dropped here, or that the commit is overlong. Of those that
    the store knew as `overlong`, the page brought values although they count no more.
    """

    new_commits: int
    heads: tuple[Head, ...]
    forked: bool
    own_replica_ahead: bool = False
    known: tuple[Head, ...] = ()
    regained: tuple[Head, ...] = ()
    overlong: tuple[Head, ...] = ()


class _Brought(Enum):
    """What another spelling of a held commit brought."""

    NOTHING = "nothing"
    VALUES = "values"
    TOO_MANY = "values of a commit that is overlong"


class StoreEnvironment(NamedTuple):
    """What a store needs from outside: a key, a clock (Unix time in milliseconds) and randomness."""

    signer: Signer
    now_ms: Callable[[], int]
    randomness: Callable[[int], bytes]


def _bounded_base(base: VectorClock, state: EntityState, fields: Mapping[str, Value]) -> VectorClock:
    """Return as much of a clock as an operation may name; first what covers the best versions of its fields.

    Only an entity that somebody wrote as more than a thousand replicas has a longer clock. What is left out
    stays a concurrent version, and the next write covers more of them.
    """
    versions = [version for field in fields for version in state.fields.get(field, ())]
    wanted = dict.fromkeys(version.source.head.replica for version in versions[:BASE_HEADS_MAX])
    first = [head for head in base if head.replica in wanted]
    others = [head for head in base if head.replica not in wanted]
    return tuple(sorted([*first, *others][:BASE_HEADS_MAX]))


class Transaction(Snapshot):
    """A snapshot that also writes; it lives inside one SQLite transaction."""

    def __init__(
        self,
        db: apsw.Connection,
        log: CommitLog,
        world: StoreEnvironment,
        readers: ReaderMemory | None = None,
    ) -> None:
        super().__init__(db, readers=readers, clock=world.now_ms)
        self.__dict__["log"] = log
        self._world = world
        self._folding = TableWriter(db, log)
        self._unwritten = False
        self._unwritten_bytes = 0
        self._drawn: set[EntityId] = set()
        self._writes_as = self.replica
        self._last = super()._last_stamp()
        self._unsigned: tuple[DecodedCommit, int] | None = None
        self._unsigned_bytes = 0
        self.committed = 0
        self.written: CommitSpan | None = None
        """The first and the last commit that a person made in this transaction, None if there is none."""
        self.own_replica_ahead = False

    def remember(self, kind: str, value: object) -> None:
        """Remember nothing: what a transaction has read can still be taken back."""

    @property
    def db(self) -> apsw.Connection:
        """Return the connection, after writing to it all that this transaction did so far.

        A transaction folds and writes only when somebody reads, or at its end: a thousand commits at once.
        """
        if self._unwritten:
            self._write_out()
        return self._db

    def now_ms(self) -> int:
        """Return the time by the clock of the device, Unix time in milliseconds."""
        return self._world.now_ms()

    def new_id(self) -> EntityId:
        """Return a new id, of which this transaction then knows that nobody has written it."""
        drawn = uuid7(self._world.now_ms(), self._world.randomness(RANDOM_BYTES))
        self._drawn.add(drawn)
        return drawn

    # -- own commits ----------------------------------------------------------------------------------

    def commit(
        self,
        writes: Sequence[EntityWrite],
        *,
        by: AuthorKind = AuthorKind.USER,
        agent: EntityId | None = None,
    ) -> Head:
        """Make one commit of at least one write, at most one per entity, and fold it; return its head.

        Raises CommitTooLarge if its bytes exceed the limit. Raises LocalProtocolError if the log lacks a base
        that a write names, such as that of a web page opened before a backup was restored. The commit is
        durable, and others may learn of it, only once the transaction has ended.
        """
        assert writes
        replica, tip, previous = self._own_chain()
        stamp = hlc.tick(self._last, self._world.now_ms())
        commit = Commit(
            format=commits.COMMIT_FORMAT,
            replica=replica,
            counter=1 if tip is None else tip.tip + 1,
            previous=previous,
            stamp=stamp,
            author=Author(by, agent),
            key=self._world.signer.public_key if tip is None else None,
            operations=[self._operation(write, by) for write in writes],
        )
        received = commits.encode_commit(commit)
        seq = self.log.append(received, 0)
        self._writes_as = replica
        self._sign_later(received, seq)
        self._folding.add_commit(received, seq)
        self._drawn.difference_update(write.entity for write in writes)
        if by is AuthorKind.USER:
            first = commit.counter if self.written is None else self.written.first
            self.written = CommitSpan(first, received.head)
        self._settle(stamp)
        self._unwritten_bytes += len(received.signed.body)
        if self._unwritten_bytes > UNWRITTEN_BYTES_MAX:
            self._write_out()
        return received.head

    def _last_stamp(self) -> Stamp:
        return self._last

    def _sign_later(self, received: DecodedCommit, seq: int) -> None:
        """Leave a commit to the signature at the end of its run, which vouches for it."""
        size = len(received.signed.body)
        replica_changed = (
            self._unsigned is not None and self._unsigned[0].head.replica != received.head.replica
        )
        if replica_changed or self._unsigned_bytes + size > UNSIGNED_BYTES_MAX:
            self._sign_run()
        self._unsigned = (received, seq)
        self._unsigned_bytes += size

    def _sign_run(self) -> None:
        if self._unsigned is not None:
            received, seq = self._unsigned
            self.log.store_signature(seq, commits.sign_commit(received, self._world.signer))
        self._unsigned, self._unsigned_bytes = None, 0

    def finish(self) -> None:
        """Sign the last commit and write what is unwritten; the store calls it before the end."""
        self._sign_run()
        if self._unwritten:
            self._write_out()
        self.log.flush()

    def clock_of(self, entity: EntityId) -> VectorClock:
        """Return what a write that has seen the entity names as its base; empty if it is unknown."""
        if entity in self._drawn:
            return EMPTY_CLOCK
        return self._folding.state_of(entity).clock

    def _operation(self, write: EntityWrite, by: AuthorKind) -> Operation:
        base = self.clock_of(write.entity) if write.base is None else write.base
        if len(base) > BASE_HEADS_MAX:
            base = _bounded_base(base, self._folding.state_of(write.entity), write.fields)
        # A base that was given is looked up, and the entity is not folded for it: many writes on one entity
        # could each fold it from its whole history.
        if write.base is not None and not all(self.log.has_commit(head) for head in base):
            raise LocalProtocolError("a write that rests on a commit not held: no peer would take it")
        author = by if write.by is None else write.by
        return Operation(write.entity, write.kind, base, write.fields, write.effect, author, write.origin)

    def _own_chain(self) -> tuple[ReplicaId, Branch | None, bytes]:
        """Return the replica to write under, its tip, and what the next commit names as `previous`.

        If there is no replica to continue, these are a new replica, None, and the nonce from which its id is
        derived. They are stored with the commit alone.
        """
        replica = self._writes_as
        tip = None if replica is None else self.log.chains.own_tip(replica)
        if replica is not None and tip is not None:
            return replica, tip, tip.tip_hash
        nonce = self._world.randomness(commits.NONCE_BYTES)
        return replica_id(self._world.now_ms(), self._world.signer.public_key, nonce), None, nonce

    def _settle(self, stamp: Stamp) -> None:
        """Record that rows have changed, and so the row with their sum; `_write_out` writes them."""
        self._last = stamp
        self._unwritten = True
        self.committed += 1

    def _write_out(self) -> None:
        self._unwritten, self._unwritten_bytes = False, 0
        self.log.flush_commits()
        grown, added = self._folding.flush()
        total = (int.from_bytes(self.state_hash(), "big") + grown) % HASH_MODULUS
        self._db.execute(
            "UPDATE standing SET replica = ?, state_sum = ?, entities = entities + ?, stamp_ms = ?,"
            " stamp_n = ?",
            (self._writes_as, total.to_bytes(STATE_HASH_BYTES, "big"), added, *self._last),
        )

    # -- a peer's commits -----------------------------------------------------------------------------

    def accept_page(self, page: Sequence[SignedCommit]) -> AcceptedPage:
        """Decode a page of commits and accept it: see `accept_decoded_page`."""
        return self.accept_decoded_page(commits.decode_page(page))

    def accept_decoded_page(self, page: Sequence[DecodedCommit]) -> AcceptedPage:
        """Accept a page of decoded commits, all or nothing; commits that the log has are skipped.

        Raises CommitsMissing if a commit follows or rests on one that the log lacks, RemoteProtocolError if
        its run does not end in a valid signature. The caller must then roll the transaction back.
        """
        ends: dict[tuple[ReplicaId, int], tuple[DecodedCommit, int]] = {}
        new: list[DecodedCommit] = []
        spellings: dict[Head, set[_Brought]] = {}
        forked, now_ms = False, self._world.now_ms()
        for received in page:
            branch = self.log.find_branch(received)
            if branch is None:
                spellings.setdefault(received.head, set()).add(self._take_dropped_values(received))
                continue
            self._require_bases(received)
            replica = received.commit.replica
            forked = forked or (branch > 0 and not self.log.is_forked(replica))
            seq = self.log.append(received, branch)
            ends[replica, branch] = (received, seq)
            self._folding.add_commit(received, seq)
            new.append(received)
        self._check_signatures(ends)
        if any(replica == self._writes_as for replica, _ in ends):
            # A peer has later commits of this replica: this store is a copy, or was restored.
            self._writes_as = None
            self.own_replica_ahead = True
        if new:
            self._settle(hlc.follow(self._last, (received.commit.stamp for received in new), now_ms))
        heads = tuple(received.head for received in new)
        regained = tuple(head for head, brought in spellings.items() if _Brought.VALUES in brought)
        overlong = tuple(head for head, brought in spellings.items() if _Brought.TOO_MANY in brought)
        return AcceptedPage(
            len(new), heads, forked, self.own_replica_ahead, tuple(spellings), regained, overlong
        )

    def _take_dropped_values(self, received: DecodedCommit) -> _Brought:
        """Take values of a held commit that only this spelling has; return what it brought.

        If the commit exceeds its limits with them, none of its long values counts from then on: so all stores
        come to the same, in whatever order its spellings come.
        """
        seq = self.log.dropped_spelling(received.head)
        if seq is None:
            return _Brought.NOTHING
        stored = self.log.commit_at(seq)
        body = commits.restore_values(stored.commit, received.commit)
        if body is None:
            return _Brought.NOTHING
        if self.log.is_overlong(seq):
            return _Brought.TOO_MANY
        if commits.exceeds_limits(body):
            self.log.mark_overlong(seq, (stored.signed.body, received.signed.body))
            body = commits.without_long_values(received.commit)
        self.log.replace_body(seq, body)
        self._folding.show_spelling(commits.decode_commit(SignedCommit(body, b"")))
        self._settle(self._last)
        return _Brought.VALUES

    def _require_bases(self, received: DecodedCommit) -> None:
        for operation in received.commit.operations:
            for head in operation.base:
                if head.replica == received.commit.replica and head.counter >= received.commit.counter:
                    raise RemoteProtocolError("an operation that rests on its own future")
                if not self.log.has_commit(head):
                    raise CommitsMissing("an operation that rests on a commit not held")

    def _check_signatures(self, ends: dict[tuple[ReplicaId, int], tuple[DecodedCommit, int]]) -> None:
        """Check and store the signature at the end of every run: it vouches for the chain below it."""
        for (replica, branch), (received, seq) in ends.items():
            if not commits.signature_holds(received, self.log.key_of_chain(replica, branch)):
                raise RemoteProtocolError(
                    f"commit {received.commit.counter} is not signed by its replica's device"
                )
            self.log.store_signature(seq, received.signed.signature)

    # -- bookkeeping ----------------------------------------------------------------------------------

    def set_vault(self, vault: bytes) -> None:
        """Store the id of the vault that this store belongs to."""
        self.db.execute("UPDATE standing SET vault = ?", (vault,))

    def set_watermark(self, consumer: str, seq: int) -> None:
        """Store the feed position up to which a consumer has read."""
        self.db.execute(
            "INSERT INTO watermark VALUES (?, ?) ON CONFLICT (consumer) DO UPDATE SET seq = excluded.seq",
            (consumer, seq),
        )
