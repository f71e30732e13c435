"""The wishes of people that no completed run of an agent has read yet: the watermark does not cover them.

Never needs a queue: on whatever device the agent runs next, the log says which wishes are open.
"""

from daemon.agents.tools.agent_record import Agent
from daemon.journal import wishes
from store.fold.entity import Entity
from store.snapshot import Snapshot
from syncproto.ids import EntityId
from syncproto.vector_clock import covers

WISHES_OPEN_MAX = 10
"""How many wishes of people may wait for one agent at once, and how many a run reads."""


def newest_wishes(snapshot: Snapshot, agent: EntityId, count: int = WISHES_OPEN_MAX) -> list[Entity]:
    """Return the newest wishes that people put to an agent, read by it or not, the oldest of them first."""
    messages = (
        snapshot.entity(name) for name in snapshot.newest_ids_pointing_at(agent, wishes.RELATION, count)
    )
    return [message for message in messages if message is not None and wishes.is_wish(message)][::-1]


def open_wishes(snapshot: Snapshot, agent: Agent) -> list[Entity]:
    """Return the wishes that no completed run has read, the oldest first; of too many, the newest."""
    return [wish for wish in newest_wishes(snapshot, agent.id) if not _was_read(snapshot, agent, wish)]


def _was_read(snapshot: Snapshot, agent: Agent, wish: Entity) -> bool:
    return wish.created is not None and covers(agent.watermark, wish.created.head, snapshot.log)
