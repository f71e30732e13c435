"""The changes of an agent's task that the agent has not seen and did not make, read from the log each time.

Never keeps a queue: a restart finds the same triggers in the log.
"""

from dataclasses import dataclass

from daemon.agents.tools.agent_record import Agent
from store.fold.entity_state import SourcedOperation, with_provenance
from store.queries import projections
from store.queries.field_changes import first_uncovered_position, positions_touching
from store.snapshot import Snapshot
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId
from syncproto.vector_clock import Head, covers


@dataclass(frozen=True, slots=True)
class Trigger:
    """One operation that an agent has not seen and did not make."""

    head: Head
    entity: EntityId
    kind: str
    fields: frozenset[str]


def unseen_triggers(snapshot: Snapshot, agent: Agent) -> list[Trigger]:
    """Return what changed in an agent's task beyond its watermark, in no particular order.

    The agent's own writes do not count, nor do the effects of its proposals. An agent writes to its own task
    alone, so whatever an agent wrote there without an effect is its own.
    """
    first = first_uncovered_position(snapshot, agent.watermark)
    if first is None:
        return []
    identifiers = frozenset([agent.task, *projections.parts_of_task(snapshot, agent.task)])
    return [
        _trigger(write)
        for seq in positions_touching(snapshot, identifiers, first - 1)
        for write in _unseen(snapshot, agent, seq)
        if write.operation.entity in identifiers and _is_news(snapshot, agent, write)
    ]


def _unseen(snapshot: Snapshot, agent: Agent, seq: int) -> list[SourcedOperation]:
    """Return the operations of a commit; none if the agent has seen it."""
    received = snapshot.log.commit_at(seq)
    if covers(agent.watermark, received.head, snapshot.log):
        return []
    return [with_provenance(received, operation) for operation in received.commit.operations]


def _is_news(snapshot: Snapshot, agent: Agent, write: SourcedOperation) -> bool:
    if not write.operation.fields:
        # The write only moves the clock. What changed beneath the task is news by its own operation.
        return False
    effect = write.operation.effect
    if effect is None:
        return write.operation.by is AuthorKind.USER
    item = snapshot.item(effect)
    return item is None or all(occurrence.agent != agent.id for occurrence in item.occurrences)


def _trigger(write: SourcedOperation) -> Trigger:
    operation = write.operation
    return Trigger(write.head, operation.entity, operation.kind, frozenset(operation.fields))
