"""One device of a fleet: a real store on a real file, a skewed clock, and a record of what it really held.

Never decides what to do, and never reads causality from the store: the record is kept beside it.
"""

import hashlib
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import apsw

from store.store import Store
from store.transaction import AcceptedPage, EntityWrite, Transaction
from syncproto.commit import AuthorKind, DecodedCommit, SignedCommit
from syncproto.ids import EntityId, ReplicaId
from syncproto.keys import Signer
from syncproto.vector_clock import Head, VectorClock
from tests.support.empty_database import lay_empty_database

START_MS = 1_750_000_000_000

HeldCommits = frozenset[Head]


class SimulatedWorld:
    """Time and randomness for a whole fleet, both from one seed."""

    def __init__(self, seed: int) -> None:
        self.now_ms = START_MS
        self._seed = seed
        self._drawn = 0

    def randomness(self, count: int) -> bytes:
        """Return the next bytes of the one stream."""
        self._drawn += 1
        return hashlib.shake_256(f"{self._seed}/{self._drawn}".encode()).digest(count)


@dataclass
class GroundTruth:
    """What really happened: each commit, and for each operation exactly which commits its author had seen.

    `forced` are commits by which a person put a proposal through over something newer, knowing it.
    """

    received: dict[Head, DecodedCommit] = field(default_factory=dict)
    past: dict[tuple[Head, EntityId], HeldCommits] = field(default_factory=dict)
    forced: set[Head] = field(default_factory=set)
    signers: dict[ReplicaId, Signer] = field(default_factory=dict)

    def parent(self, head: Head) -> Head | None:
        """Return the commit that a commit follows on its chain."""
        commit = self.received[head].commit
        if commit.counter == 1:
            return None
        return Head(head.replica, head.counter - 1, commit.previous)

    def descends(self, later: Head, earlier: Head) -> bool:
        """Return whether `later` comes after `earlier` on one chain."""
        if later.replica != earlier.replica:
            return False
        head: Head | None = self.parent(later)
        while head is not None and head.counter >= earlier.counter:
            if head == earlier:
                return True
            head = self.parent(head)
        return False


@dataclass(frozen=True)
class OpenPage:
    """A page that was opened on an entity and left open: its clock, and what had been seen by then."""

    entity: EntityId
    clock: VectorClock
    held: HeldCommits


@dataclass(frozen=True)
class FileBackup:
    """A copy of a device's file, and what it held."""

    path: Path
    held: HeldCommits


class SimulatedDevice:
    """A store with its world and the record of what it holds."""

    def __init__(
        self, name: str, folder: Path, world: SimulatedWorld, truth: GroundTruth, skew_ms: int
    ) -> None:
        self.name = name
        self.folder = folder
        self.world = world
        self.truth = truth
        self.skew_ms = skew_ms
        self.signer = Signer(hashlib.sha256(name.encode()).digest())
        self.held: HeldCommits = frozenset()
        self.view: OpenPage | None = None
        self.backup: FileBackup | None = None
        self.path = folder / f"{name}.db"
        self.store = self._opened()

    def now_ms(self) -> int:
        """Return the device's own, perhaps wrong, clock."""
        return self.world.now_ms + self.skew_ms

    def _opened(self) -> Store:
        return Store.open(
            lay_empty_database(self.path),
            signer=self.signer,
            now_ms=self.now_ms,
            randomness=self.world.randomness,
        )

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """Write; the device is as before if the block raises."""
        before = self.held
        try:
            with self.store.write() as tx:
                yield tx
        except BaseException:
            self.held = before
            raise

    def commit(
        self,
        tx: Transaction,
        writes: Sequence[EntityWrite],
        *,
        by: AuthorKind = AuthorKind.USER,
        view: OpenPage | None = None,
        forced: bool = False,
    ) -> Head:
        """Commit, and record what the author had seen: all that is held, or what an open page showed."""
        head = tx.commit(writes, by=by)
        self.truth.received[head] = tx.log.commit_at(tx.feed_end())
        self.truth.signers[head.replica] = self.signer
        for write in writes:
            displayed = view is not None and view.entity == write.entity
            self.truth.past[head, write.entity] = view.held if view and displayed else self.held
        if forced:
            self.truth.forced.add(head)
        self.held |= {head}
        return head

    def take(self, page: Sequence[SignedCommit]) -> AcceptedPage:
        """Accept a page of a peer."""
        with self.transaction() as tx:
            accepted_page = tx.accept_page(page)
            new = frozenset(accepted_page.heads)
            assert len(new) == accepted_page.new_commits
            assert not new & self.held, "a commit was taken twice"
            self.held |= new
        return accepted_page

    # -- what befalls a file ----------------------------------------------------------------------------

    def restart(self) -> None:
        """Close the store and open it again."""
        self.store.close()
        self.store = self._opened()

    def keep_backup(self) -> None:
        """Copy the file away."""
        self.store.close()
        path = self.folder / f"{self.name}.backup"
        shutil.copyfile(self.path, path)
        self.backup = FileBackup(path, self.held)
        self.store = self._opened()

    def roll_back(self, *, noticed: bool) -> bool:
        """Replace the file by the backup; if that is noticed, begin a new replica."""
        if self.backup is None:
            return False
        self.store.close()
        shutil.copyfile(self.backup.path, self.path)
        self.held = self.backup.held
        self.view = None
        if noticed:
            forget_replica(self.path)
        self.store = self._opened()
        return True

    def clone(self, name: str) -> "SimulatedDevice":
        """Return a second device from a copy of the file, with the same key and the same replica."""
        self.store.close()
        twin = object.__new__(SimulatedDevice)
        twin.__dict__.update(self.__dict__)
        twin.name, twin.backup, twin.view = name, None, None
        twin.path = self.folder / f"{name}.db"
        shutil.copyfile(self.path, twin.path)
        self.store, twin.store = self._opened(), twin._opened()
        return twin


def forget_replica(path: Path) -> None:
    """Let the store in a file that was put back begin a new replica, as `restore` does."""
    file = apsw.Connection(str(path))
    file.execute("UPDATE standing SET replica = NULL")
    file.close()
