"""A few devices with real stores for the agents' tests, and the smallest way to bring a proposal into one.

Never decides anything: what devices do is written in each test.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from daemon.agents.proposals import Desk, Limits, Run
from daemon.agents.seeing import seen_of
from store.entity import Entity
from store.item import Item
from store.snapshot import Snapshot
from store.store import Store
from store.transaction import Transaction, Write
from syncproto.codec import Value
from syncproto.commit import By
from syncproto.ids import EntityId, derived_id, text
from syncproto.keys import Signer

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

    def opened(self) -> Store:
        return Store.open(self.path, signer=self.signer, now_ms=self.now_ms, randomness=self.fleet.randomness)

    def now_ms(self) -> int:
        return self.fleet.now_ms + self.skew_ms

    def write(self, use: Callable[[Transaction], T]) -> T:
        with self.store.write() as tx:
            return use(tx)

    def read(self, use: Callable[[Snapshot], T]) -> T:
        with self.store.read() as snapshot:
            return use(snapshot)

    # -- the journal, written plainly -----------------------------------------------------------------

    def new(self, kind: str, touching: EntityId | None = None, **fields: Value) -> EntityId:
        def use(tx: Transaction) -> EntityId:
            identifier = tx.new_id()
            writes = [Write(identifier, kind, fields)]
            tx.commit(writes if touching is None else [*writes, Write(touching, "task", {})])
            return identifier

        return self.write(use)

    def set(self, entity: EntityId, **fields: Value) -> None:
        def use(tx: Transaction) -> None:
            held = tx.entity(entity)
            assert held is not None
            tx.commit([Write(entity, held.kind, fields)])

        self.write(use)

    def entity(self, entity: EntityId) -> Entity:
        found = self.read(lambda snapshot: snapshot.entity(entity))
        assert found is not None
        return found

    def value(self, entity: EntityId, field: str) -> Value:
        return self.entity(entity).value(field)

    def item(self, item: EntityId) -> Item:
        found = self.read(lambda snapshot: snapshot.item(item))
        assert found is not None
        return found

    def titles(self, task: EntityId) -> list[str]:
        """Return the titles of the checklist items in sight of a task."""

        def use(snapshot: Snapshot) -> list[str]:
            lists = snapshot.referring(task, "task_checklist")
            found = [one for checklist in lists for one in snapshot.referring(checklist, "checklist_item")]
            held = [snapshot.entity(one) for one in found]
            return [one.text("title") for one in held if one is not None]

        return self.read(use)

    # -- an agent's proposals, as a run would leave them ----------------------------------------------

    def propose(self, task: EntityId, run_key: str, *calls: tuple[str, dict[str, Any]]) -> list[EntityId]:
        """Make the calls as one run and commit what was queued; return the items, in order."""
        agent = derived_id("agent", text(task), time_of=task)

        def use(tx: Transaction) -> list[EntityId]:
            desk = self.desk(tx, task, agent, run_key)
            for name, arguments in calls:
                desk.take(name, arguments, tx)
            writes = desk.writes(tx)
            if not writes:
                return []
            tx.commit(writes, by=By.AGENT, agent=agent)
            sets = [one for one in writes if one.kind == "change_set"]
            return [item.id for one in sets for item in tx.items_of_set(one.entity)]

        return self.write(use)

    def desk(self, snapshot: Snapshot, task: EntityId, agent: EntityId, run_key: str) -> Desk:
        return Desk(Run(agent, task, run_key, self.now_ms()), seen_of(snapshot, task), Limits())

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
        made = Home(self, name, skew_ms)
        self.homes.append(made)
        return made

    def pull(self, taker: Home, giver: Home) -> None:
        """Bring all that one device has to another, as a link would."""
        vector = taker.read(lambda snapshot: snapshot.vector())
        page = giver.read(lambda snapshot: snapshot.page(vector, 0, PAGE_BYTES))
        taker.write(lambda tx: tx.take(page.commits))

    def sync(self) -> None:
        """Let every device have everything, then hold them to the law: same commits, same state."""
        for _ in self.homes:
            for taker in self.homes:
                for giver in self.homes:
                    if taker is not giver:
                        self.pull(taker, giver)
        hashes = {home.read(lambda snapshot: snapshot.state_hash()) for home in self.homes}
        assert len(hashes) == 1

    def close(self) -> None:
        for home in self.homes:
            home.store.close()
