"""Stores to test: on real files, with a clock and randomness that a test can foresee.

Never stands in for a part of the store.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from store.fold.entity_state import dump_state
from store.fold.table_writer import HASH_MODULUS, TableWriter, entity_hash
from store.log.commit_log import CommitLog
from store.snapshot import Snapshot
from store.store import Store
from store.transaction import EntityWrite
from syncproto import codec
from syncproto import commit as commits
from syncproto.commit import Author, AuthorKind, Commit, DecodedCommit, Operation, SignedCommit
from syncproto.hlc import Stamp
from syncproto.ids import EntityId, ReplicaId, replica_id
from syncproto.keys import Signer
from syncproto.vector_clock import EMPTY_CLOCK, Head, VectorClock
from tests.support.empty_database import lay_empty_database
from tests.vectors import wire

NOW_MS = 1_750_000_000_000
NONCE = bytes(range(32))


def signer_of(name: str) -> Signer:
    """Return the key of the device with this name."""
    return Signer(hashlib.sha256(name.encode()).digest())


def replica_of(name: str) -> ReplicaId:
    """Return the replica that `sealed` and `forged` commits of the device with this name begin."""
    return replica_id(NOW_MS, signer_of(name).public_key, NONCE)


def entity_id(number: int) -> EntityId:
    """Return an id that is in order of its number."""
    return EntityId(number.to_bytes(6, "big") + b"\x70\0\x80\0" + number.to_bytes(6, "big"))


class StoreBench:
    """Opens stores in a folder and closes them in the end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.now_ms = NOW_MS
        self._drawn = 0
        self._open: list[Store] = []

    def randomness(self, count: int) -> bytes:
        """Return bytes that were not drawn before."""
        self._drawn += 1
        return hashlib.shake_256(self._drawn.to_bytes(8, "big")).digest(count)

    def store(self, name: str, path: Path | None = None, machine: bytes | None = None) -> Store:
        """Open the store of a device; with a lease beside it if a machine is named."""
        own_path = self.folder / f"{name}.db"
        # A file without its lease would be taken for a copy; and a test that names a path means that path.
        is_plain = path is None and machine is None
        opened = Store.open(
            lay_empty_database(own_path) if is_plain else path or own_path,
            signer=signer_of(name),
            now_ms=lambda: self.now_ms,
            randomness=self.randomness,
            machine=machine,
        )
        self._open.append(opened)
        return opened

    def close(self) -> None:
        """Close what is open."""
        for store in self._open:
            store.close()


def write(store: Store, entity: EntityId, base: VectorClock | None = None, **fields: Any) -> Head:
    """Write on a task as a person, in a transaction of its own."""
    with store.write() as tx:
        return tx.commit([EntityWrite(entity, "task", fields, base=base)])


def write_entities(store: Store, count: int) -> list[Head]:
    """Write so many commits on one task, each in a transaction of its own."""
    return [write(store, entity_id(1), title=f"t{number}") for number in range(count)]


def feed(store: Store) -> list[SignedCommit]:
    """Return the whole feed."""
    with store.read() as snapshot:
        return [entry.signed for entry in snapshot.log.feed_commits(0, 1 << 30)]


def unsigned(signed: SignedCommit) -> SignedCommit:
    """Return a commit without its signature."""
    return SignedCommit(signed.body, b"")


def standing(snapshot: Snapshot) -> tuple[Any, ...]:
    """Return what must not change if a page is refused."""
    return (snapshot.vector(), snapshot.state_hash(), snapshot.counts(), snapshot.replica)


def log_and_state(store: Store) -> tuple[Any, ...]:
    """Return the standing of a store."""
    with store.read() as snapshot:
        return standing(snapshot)


def sealed(
    signer: Signer,
    replica: ReplicaId,
    counter: int,
    previous: DecodedCommit | None,
    operations: Sequence[Operation],
    *,
    key: bytes | None = None,
) -> DecodedCommit:
    """Make a commit outside any store, signed by whoever likes."""
    first = signer.public_key if key is None else key
    commit = commits.encode_commit(
        Commit(
            format=commits.COMMIT_FORMAT,
            replica=replica,
            counter=counter,
            previous=NONCE if previous is None else previous.hash,
            stamp=Stamp(NOW_MS, counter),
            author=Author(AuthorKind.USER),
            key=first if counter == 1 else None,
            operations=list(operations),
        )
    )
    return commit._replace(signed=SignedCommit(commit.signed.body, commits.sign_commit(commit, signer)))


def first_commits(count: int, entity: EntityId | None = None, first: int = 0) -> list[DecodedCommit]:
    """Return the first commits of so many replicas, each on an entity of its own or all on one."""
    signer = signer_of("many")
    firsts: list[DecodedCommit] = []
    for number in range(first, first + count):
        nonce = number.to_bytes(32, "big")
        commit = commits.encode_commit(
            Commit(
                format=commits.COMMIT_FORMAT,
                replica=replica_id(NOW_MS, signer.public_key, nonce),
                counter=1,
                previous=nonce,
                stamp=Stamp(NOW_MS, number),
                author=Author(AuthorKind.USER),
                key=signer.public_key,
                operations=[operation(entity or entity_id(number), title="x")],
            )
        )
        firsts.append(
            commit._replace(signed=SignedCommit(commit.signed.body, commits.sign_commit(commit, signer)))
        )
    return firsts


def forged(signer: Signer, replica: ReplicaId, operations: Sequence[Operation]) -> DecodedCommit:
    """Make a first commit under whatever replica id, with the key and signature of whoever likes."""
    author, stamp = Author(AuthorKind.USER), Stamp(NOW_MS, 1)
    commit = Commit(
        commits.COMMIT_FORMAT, replica, 1, NONCE, stamp, author, signer.public_key, list(operations)
    )
    body = codec.encode(commit)
    digest = wire.hash_of(body)
    new_commit = DecodedCommit(commit, Head(replica, 1, digest), SignedCommit(body, b""))
    return new_commit._replace(signed=SignedCommit(body, commits.sign_commit(new_commit, signer)))


def operation(
    entity: EntityId,
    base: VectorClock = EMPTY_CLOCK,
    kind: str = "task",
    effect: EntityId | None = None,
    by: AuthorKind = AuthorKind.USER,
    **fields: Any,
) -> Operation:
    """Make an operation."""
    return Operation(entity, kind, base, fields, effect, by, None)


def exchange(store: Store, other: Store, page_bytes: int = 1 << 20) -> None:
    """Bring what `store` holds and `other` lacks to `other`, page by page."""
    with other.read() as snapshot:
        vector = snapshot.vector()
    after = 0
    while True:
        with store.read() as snapshot:
            page = snapshot.page_lacking(vector, after, page_bytes)
        if not page.commits:
            return
        with other.write() as tx:
            tx.accept_page(page.commits)
        after = page.end


def assert_store_is_whole(snapshot: Snapshot) -> None:
    """Assert that the state hash, the counts and every row are what the log folds to."""
    folding, total = TableWriter(snapshot.db, snapshot.log), 0
    entities = [entity for (entity,) in snapshot.db.execute("SELECT id FROM entity")]
    for entity in entities:
        found_entity = snapshot.entity(entity)
        assert found_entity is not None
        assert dump_state(folding.refold_entity(entity)) == dump_state(found_entity.state)
        total += entity_hash(entity, dump_state(found_entity.state))
    assert total % HASH_MODULUS == int.from_bytes(snapshot.state_hash(), "big")
    assert snapshot.counts() == (len(entities), snapshot.feed_end())
    assert sum(head.counter for head in CommitLog(snapshot.db).chains.heads().clock) == snapshot.feed_end()
