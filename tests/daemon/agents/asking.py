"""A desk at which a test makes calls as a model would, against a real store.

Never checks anything: it returns what the model would be answered.
"""

from typing import Any

from daemon.agents.proposals import Answer, Desk, Limits, Run
from daemon.agents.seeing import seen_of
from store.item import Item
from store.snapshot import Snapshot
from store.transaction import Transaction, Write
from syncproto.commit import By
from syncproto.ids import EntityId, derived_id, text
from tests.daemon.agents.fleet import Home


class At:
    """One run's desk. Each call reads the journal as it stands; `end` commits what the run leaves."""

    def __init__(
        self, home: Home, task: EntityId, run_key: str = "run", limits: Limits | None = None
    ) -> None:
        self.home = home
        self.task = task
        self.agent = derived_id("agent", text(task), time_of=task)
        run = Run(self.agent, task, run_key, home.now_ms())
        self.desk = home.read(lambda snapshot: Desk(run, seen_of(snapshot, task), limits or Limits()))

    def take(self, name: str, arguments: Any) -> Answer:
        return self.home.read(lambda snapshot: self.desk.take(name, arguments, snapshot))

    def ask(self, name: str, arguments: Any) -> str:
        return self.take(name, arguments).text

    def proposed(self) -> list[dict[str, Any]]:
        """Return the items that the run would propose, as its change sets keep them."""
        sets = self.desk.change_sets()
        return [item for one in sets for item in one.fields["items"]]  # type: ignore[union-attr, misc]

    def args(self) -> list[dict[str, Any]]:
        """Return the arguments of what the run would propose."""
        return [item["args"] for item in self.proposed()]

    def end(self) -> list[Item]:
        """Commit as the run's end would; return the items that were proposed."""

        def use(tx: Transaction) -> list[Item]:
            writes = self.desk.writes(tx)
            if writes:
                tx.commit(writes, by=By.AGENT, agent=self.agent)
            return self._items(tx, writes)

        return self.home.write(use)

    @staticmethod
    def _items(snapshot: Snapshot, writes: list[Write]) -> list[Item]:
        sets = [one.entity for one in writes if one.kind == "change_set"]
        return [item for one in sets for item in snapshot.items_of_set(one)]
