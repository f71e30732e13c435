"""Devices whose every commit is remembered beside the store, with what its author had really seen.

Never asks a store what was seen: bases, clocks and `seen` lists are what is being judged.
"""

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from daemon.journal.checklist_items import todos_id
from store.transaction import AcceptedPage, EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.commit import AuthorKind, SignedCommit
from syncproto.ids import EntityId, derived_id
from syncproto.vector_clock import Head
from tests.simulation.author import LABELS, TASK
from tests.simulation.device import GroundTruth, HeldCommits, forget_replica
from tests.support.fleet import Fleet, Home

NAMES = ("laptop", "phone", "desk")
LABEL_NAMES = ("errand", "urgent")
DRAWN_APART = 1_000_000
"""How far apart the randomness of a history is from that of the vault which it begins with."""

T = TypeVar("T")


class Page(NamedTuple):
    """A page left open on an entity: the clock that it shows, and what had been seen by then."""

    entity: EntityId
    clock: Mapping[str, int]
    held: HeldCommits


class Copy(NamedTuple):
    """A copy of a device's file, and its contents."""

    path: Path
    held: HeldCommits


class Witness(Home):
    """A device with a record of what it really had and did."""

    def __init__(self, fleet: Fleet, name: str, skew_ms: int, truth: GroundTruth, heads: HeldCommits) -> None:
        self.truth = truth
        self.held = heads
        self.page: Page | None = None
        self.copy: Copy | None = None
        super().__init__(fleet, name, skew_ms)

    def write(self, use: Callable[[Transaction], T], *, page: Page | None = None) -> T:
        """Write, and record what each author had seen: all that was held, or what an open page showed."""
        before = self.held
        try:
            with self.store.write() as tx:
                start = tx.feed_end()
                answer = use(tx)
                self._record(tx, start, page)
                return answer
        except BaseException:
            self.held = before
            raise

    def _record(self, tx: Transaction, start: int, page: Page | None) -> None:
        commits = self.truth.received
        for _, received in tx.read_feed(start, 1 << 30):
            if received.head not in commits:
                commits[received.head] = received
                for operation in received.commit.operations:
                    displayed = page is not None and page.entity == operation.entity
                    heads = page.held if page is not None and displayed else self.held
                    self.truth.past[received.head, operation.entity] = heads
            assert received.head not in self.held, "a commit was taken twice"
            self.held |= {received.head}

    def take(self, page: Sequence[SignedCommit]) -> AcceptedPage:
        """Take a page from a peer."""
        return self.write(lambda tx: tx.accept_page(page))

    def last(self) -> Head:
        """Return the newest commit."""
        return self.read(lambda snapshot: snapshot.log.commit_at(snapshot.feed_end()).head)

    # -- what befalls a file ----------------------------------------------------------------------------

    def restart(self) -> None:
        """Close the store and open it again."""
        self.store.close()
        self.store = self.opened()

    def keep_copy(self) -> None:
        """Copy the file away."""
        self.store.close()
        path = self.fleet.folder / f"{self.name}.copy"
        shutil.copyfile(self.path, path)
        self.copy = Copy(path, self.held)
        self.store = self.opened()

    def go_back(self) -> bool:
        """Put the copy in the file's place, as `restore` does: it goes on as a new replica."""
        if self.copy is None:
            return False
        self.store.close()
        shutil.copyfile(self.copy.path, self.path)
        self.held, self.page = self.copy.held, None
        forget_replica(self.path)
        self.store = self.opened()
        return True


class Vault(Fleet):
    """Three devices, a task with two items, and two labels: a history begins with a copy of it."""

    def __init__(self, folder: Path, skews_ms: tuple[int, ...], original: "Vault | None" = None) -> None:
        super().__init__(folder)
        self.truth = GroundTruth()
        heads: HeldCommits = frozenset()
        if original is not None:
            self.now_ms, self._drawn = original.now_ms, DRAWN_APART
            self.truth = GroundTruth(dict(original.truth.received), dict(original.truth.past))
            heads = original.witnesses[0].held
            for witness in original.witnesses:
                shutil.copyfile(witness.path, folder / witness.path.name)
        self.witnesses: list[Witness] = [
            Witness(self, name, skew, self.truth, heads) for name, skew in zip(NAMES, skews_ms, strict=True)
        ]
        self.homes = list(self.witnesses)
        if original is None:
            self._found()

    def _found(self) -> None:
        """Make what every history begins with, then close the files so that they can be copied."""
        task: dict[str, Value] = {"title": "Plan the trip", "status": "OPEN", "estimate_minutes": 60}
        todos = todos_id(TASK)
        listed: dict[str, Value] = {"task_id": TASK, "title": "Todos", "position": "V"}
        first = [EntityWrite(TASK, "task", task), EntityWrite(todos, "checklist", listed)]
        first += [
            EntityWrite(label, "label", {"name": name})
            for label, name in zip(LABELS, LABEL_NAMES, strict=True)
        ]
        for place, (title, by) in enumerate((("Passport", AuthorKind.USER), ("Tickets", AuthorKind.AGENT))):
            item: dict[str, Value] = {"checklist_id": todos, "title": title, "is_checked": False}
            identifier = derived_id("item of the vault", place, time_of=TASK)
            first.append(
                EntityWrite(identifier, "checklist_item", {**item, "position": f"V{place + 1}"}, by=by)
            )
        self.witnesses[0].write(lambda tx: tx.commit(first))
        self.sync()
        self.close()
