"""A few devices with real stores for the agents' tests, and the shortest way to a proposal.

Never decides anything: each test says what its devices do.
"""

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from daemon.agents.proposing.baseline import baseline_of
from daemon.agents.proposing.call_handler import ToolCallHandler
from daemon.agents.proposing.change_set_builder import ProposalLimits
from daemon.agents.proposing.run_identity import RunIdentity
from store.fold import founding
from store.fold.entity import Entity
from store.fold.item import Item
from store.local.change_parts import note_written
from store.snapshot import Snapshot
from store.store import Store
from store.threads import StoreThreads
from store.transaction import CommitSpan, EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, derived_id, id_to_text
from syncproto.keys import Signer
from tests.support.empty_database import lay_empty_database

START_MS = 1_774_000_000_000
DAY_MS = 86_400_000
PAGE_BYTES = 1 << 20

T = TypeVar("T")


class Home:
    """A device with its store. `skew_ms` is how wrong its clock is."""

    def __init__(self, fleet: "Fleet", name: str, skew_ms: int = 0) -> None:
        self.fleet = fleet
        self.name = name
        self.skew_ms = skew_ms
        self.signer = Signer(hashlib.sha256(name.encode()).digest())
        self.path = fleet.folder / f"{name}.db"
        self.store = self.opened()
        self._threads: list[StoreThreads] = []

    def opened(self) -> Store:
        return Store.open(
            lay_empty_database(self.path),
            signer=self.signer,
            now_ms=self.now_ms,
            randomness=self.fleet.randomness,
        )

    def threads(self) -> StoreThreads:
        """Return the store as a daemon uses it; its threads end before the store is closed."""
        threads = StoreThreads(self.store)
        self._threads.append(threads)
        return threads

    def close(self) -> None:
        # A writer still writes the log back after its last write was reported.
        for threads in self._threads:
            threads.end_threads()
        self.store.close()

    def now_ms(self) -> int:
        return self.fleet.now_ms + self.skew_ms

    def write(self, use: Callable[[Transaction], T]) -> T:
        return self.press([use])[0]

    def press(self, uses: Iterable[Callable[[Transaction], T]]) -> list[T]:
        """Write in as many transactions, as one request would."""
        results, written = list[T](), list[CommitSpan]()
        for use in uses:
            with self.store.write() as tx:
                results.append(use(tx))
                note_written(tx, written)
            written += filter(None, [tx.written])
        return results

    def read(self, use: Callable[[Snapshot], T]) -> T:
        with self.store.read() as snapshot:
            return use(snapshot)

    # -- the journal, written plainly -----------------------------------------------------------------

    def new(self, kind: str, touching: EntityId | None = None, **fields: Value) -> EntityId:
        def use(tx: Transaction) -> EntityId:
            identifier = tx.new_id()
            writes = [EntityWrite(identifier, kind, fields)]
            tx.commit(writes if touching is None else [*writes, EntityWrite(touching, "task", {})])
            return identifier

        return self.write(use)

    def enter_device(self, name: str) -> None:
        """Write the entry of this device in the roster, under the id that follows from its key."""
        entry = founding.roster_entity_id(self.signer.device)
        fields: dict[str, Value] = {"name": name, "public_key": self.signer.public_key}
        self.write(lambda tx: tx.commit([EntityWrite(entry, founding.DEVICE, fields)]))

    def set(self, entity: EntityId, **fields: Value) -> None:
        def use(tx: Transaction) -> None:
            stored_entity = tx.entity(entity)
            assert stored_entity is not None
            tx.commit([EntityWrite(entity, stored_entity.kind, fields)])

        self.write(use)

    def entity(self, entity: EntityId) -> Entity:
        found_entity = self.read(lambda snapshot: snapshot.entity(entity))
        assert found_entity is not None
        return found_entity

    def value(self, entity: EntityId, field: str) -> Value:
        return self.entity(entity).value(field)

    def item(self, item: EntityId) -> Item:
        found_item = self.read(lambda snapshot: snapshot.item(item))
        assert found_item is not None
        return found_item

    def titles(self, task: EntityId) -> list[str]:
        """Return the titles of the checklist items in sight of a task."""

        def use(snapshot: Snapshot) -> list[str]:
            lists = snapshot.ids_pointing_at(task, "task_checklist")
            identifiers = [
                identifier
                for checklist in lists
                for identifier in snapshot.ids_pointing_at(checklist, "checklist_item")
            ]
            entities = [snapshot.entity(identifier) for identifier in identifiers]
            return [entity.text("title") for entity in entities if entity is not None]

        return self.read(use)

    # -- an agent's proposals, as a run would leave them ----------------------------------------------

    def propose(self, task: EntityId, run_key: str, *calls: tuple[str, dict[str, Any]]) -> list[EntityId]:
        """Make the calls as one run and commit what was queued; return the items, in order."""
        agent = derived_id("agent", id_to_text(task), time_of=task)

        def use(tx: Transaction) -> list[EntityId]:
            desk = self.desk(tx, task, agent, run_key)
            for name, arguments in calls:
                desk.answer_call(name, arguments, tx)
            writes = desk.run_end_writes(tx)
            if not writes:
                return []
            tx.commit(writes, by=AuthorKind.AGENT, agent=agent)
            sets = [write for write in writes if write.kind == "change_set"]
            return [item.id for entity_write in sets for item in tx.items_of_set(entity_write.entity)]

        return self.write(use)

    def desk(self, snapshot: Snapshot, task: EntityId, agent: EntityId, run_key: str) -> ToolCallHandler:
        return ToolCallHandler(
            RunIdentity(agent, task, run_key, self.now_ms()), baseline_of(snapshot, task), ProposalLimits()
        )

    def estimate(self, task: EntityId, minutes: int, run_key: str = "run") -> EntityId:
        """Propose an estimate; return the item."""
        (item,) = self.propose(task, run_key, ("update_task_estimate", {"minutes": minutes}))
        return item

    def add(self, task: EntityId, title: str, run_key: str = "run") -> EntityId:
        """Propose a checklist item; return the change item."""
        (item,) = self.propose(task, run_key, ("add_checklist_item", {"title": title}))
        return item


class Fleet:
    """Devices of one vault, with one clock and one source of randomness."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.now_ms = START_MS
        self._drawn = 0
        self.homes: list[Home] = []

    def randomness(self, count: int) -> bytes:
        self._drawn += 1
        return hashlib.shake_256(str(self._drawn).encode()).digest(count)

    def home(self, name: str, skew_ms: int = 0) -> Home:
        home = Home(self, name, skew_ms)
        self.homes.append(home)
        return home

    def pull(self, taker: Home, giver: Home) -> None:
        """Pull all that one device has to another, as a link would."""
        vector = taker.read(lambda snapshot: snapshot.vector())
        page = giver.read(lambda snapshot: snapshot.page_lacking(vector, 0, PAGE_BYTES))
        taker.write(lambda tx: tx.accept_page(page.commits))

    def sync(self) -> None:
        """Let every device have everything, then check the law: same commits, same state."""
        for _ in self.homes:
            for taker in self.homes:
                for giver in self.homes:
                    if taker is not giver:
                        self.pull(taker, giver)
        hashes = {home.read(lambda snapshot: snapshot.state_hash()) for home in self.homes}
        assert len(hashes) == 1

    def close(self) -> None:
        for home in self.homes:
            home.close()
