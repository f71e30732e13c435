"""The asks of one agent, by the references of its own program.

Never tells an agent whether there is an ask that another one made.
"""

from typing import Annotated

from msgspec import Meta, Struct

from daemon.agents.asks.ask_record import ASK, read_ask
from daemon.journal.references import entities
from store.snapshot import Snapshot
from syncproto.ids import EntityId

AgentRef = Annotated[str, Meta(min_length=1, max_length=200)]
"""An agent of another maker by its name, or any agent by its id or its task."""


class ReaderQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The agent that reads, by its name, or its task: it is shown what is its own, by a whole id.

    A program that works under the name of an agent always gives it; a person's own program leaves it out.
    """

    agent: AgentRef | None = None


def find_own_ask(snapshot: Snapshot, agent: EntityId, ref: str) -> EntityId:
    """Find an ask of an agent's own by its whole id: a part could tell of others. Raises Refused."""
    return entities.find_by_full_id(snapshot, ASK, ref, lambda ask: is_own_ask(snapshot, agent, ask.id)).id


def is_own_ask(snapshot: Snapshot, agent: EntityId, ask: EntityId) -> bool:
    """Report whether an id is that of a genuine ask of this agent."""
    stored = read_ask(snapshot, ask)
    return stored is not None and stored.agent == agent
