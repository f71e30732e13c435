"""The agent that each new task gets by itself, if the settings say so.

Never gives one to an imported task, or to a task of another device: that device has settings of its own.
"""

from dataclasses import dataclass

from daemon.agents.person import lifecycle
from daemon.journal.references.names import category_id_of
from store.transaction import Transaction
from syncproto.ids import EntityId, id_to_text


@dataclass(frozen=True, slots=True)
class DefaultAgent:
    """What agents new tasks get. `categories` are names, without regard to case; none means all tasks."""

    model: str
    mode: str
    categories: frozenset[str] = frozenset()

    def create(self, tx: Transaction, task: EntityId) -> None:
        """Give a new task its agent, in the transaction that makes the task.

        Its id follows from the task: whoever else gives the task an agent makes the same one.
        """
        if self.categories and not self._is_meant(tx, task):
            return
        lifecycle.create_agent(tx, id_to_text(task), self.model, self.mode)

    def _is_meant(self, tx: Transaction, task: EntityId) -> bool:
        entity = tx.entity(task)
        category_id = None if entity is None else category_id_of(entity)
        category = None if category_id is None else tx.entity(category_id)
        return category is not None and category.text("name").casefold() in self.categories
