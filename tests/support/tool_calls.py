"""A call handler at which a test makes calls as a model would, against a real store.

Never checks anything: it returns the answer to the model.
"""

from typing import Any

from daemon.agents.proposing.baseline import baseline_of
from daemon.agents.proposing.call_handler import ToolCallHandler
from daemon.agents.proposing.change_set_builder import ProposalLimits
from daemon.agents.proposing.run_identity import RunIdentity
from daemon.agents.proposing.tool_answers import ToolAnswer
from store.fold.item import Item
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, derived_id, id_to_text
from tests.support.fleet import Home


class At:
    """One run's desk. Each call reads the journal as it stands; `end` commits what the run leaves."""

    def __init__(
        self, home: Home, task: EntityId, run_key: str = "run", limits: ProposalLimits | None = None
    ) -> None:
        self.home = home
        self.task = task
        self.agent = derived_id("agent", id_to_text(task), time_of=task)
        run = RunIdentity(self.agent, task, run_key, home.now_ms())
        self.desk = home.read(
            lambda snapshot: ToolCallHandler(run, baseline_of(snapshot, task), limits or ProposalLimits())
        )

    def take(self, name: str, arguments: Any) -> ToolAnswer:
        return self.home.read(lambda snapshot: self.desk.answer_call(name, arguments, snapshot))

    def ask(self, name: str, arguments: Any) -> str:
        return self.take(name, arguments).text

    def proposed(self) -> list[dict[str, Any]]:
        """Return the items that the run would propose, as its change sets keep them."""
        sets = self.desk.change_sets()
        return [item for entity_write in sets for item in entity_write.fields["items"]]  # type: ignore[union-attr, misc]

    def args(self) -> list[dict[str, Any]]:
        """Return the arguments of what the run would propose."""
        return [item["args"] for item in self.proposed()]

    def end(self) -> list[Item]:
        """Commit as the run's end would; return the items that were proposed."""

        def use(tx: Transaction) -> list[Item]:
            writes = self.desk.run_end_writes(tx)
            if writes:
                tx.commit(writes, by=AuthorKind.AGENT, agent=self.agent)
            return self._items(tx, writes)

        return self.home.write(use)

    @staticmethod
    def _items(snapshot: Snapshot, writes: list[EntityWrite]) -> list[Item]:
        sets = [write.entity for write in writes if write.kind == "change_set"]
        return [item for identifier in sets for item in snapshot.items_of_set(identifier)]
