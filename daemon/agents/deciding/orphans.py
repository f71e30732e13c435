"""Items that an agent proposed and nobody decided, taken back once the agent is destroyed.

Never takes back an item that a person deferred: it is the person's to keep.
"""

from daemon.agents.deciding.decision_commit import person_decision_write
from daemon.agents.proposing.authenticity import authentic_item
from daemon.agents.tools.agent_record import DESTROYED, Agent, AnyAgent, load_any_agent
from store.fold.item import Item
from store.fold.verdicts import DecisionStatus, Verdict
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId

VIA_AGENT = "agent"
RETRACTED_PER_COMMIT = 300  # one commit must not grow beyond its limit; the next check retracts the rest


def retract_orphaned_items(tx: Transaction, agent: EntityId) -> None:
    """Retract what a destroyed agent proposed on a device that did not know yet that it was destroyed."""
    destroyed = load_any_agent(tx, agent)
    if destroyed is None or destroyed.lifecycle != DESTROYED:
        return
    items = undecided_items_of(tx, destroyed, tx.now_ms())[:RETRACTED_PER_COMMIT]
    if items:
        tx.commit([orphan_retraction_write(tx, item) for item in items], by=AuthorKind.AGENT, agent=agent)


def undecided_items_of(snapshot: Snapshot, agent: AnyAgent, now_ms: int) -> list[Item]:
    """Return the items that an agent alone proposed and nobody decided.

    A deferred item is the person's to keep, and one that another agent proposes as well is that agent's.
    """
    waiting = snapshot.open_items(now_ms, agent.task if isinstance(agent, Agent) else None)
    return [
        item
        for item in waiting
        if item.status is DecisionStatus.PENDING and is_proposed_by(snapshot, item, agent.id)
    ]


def is_proposed_by(snapshot: Snapshot, item: Item, agent: EntityId) -> bool:
    """Report whether all authentic proposals of an item are of one agent; without any, if one names it."""
    authentic = authentic_item(snapshot, item)
    proposals = item.occurrences if authentic is None else authentic.item.occurrences
    of_agent = [proposal.agent == agent for proposal in proposals]
    return any(of_agent) if authentic is None else all(of_agent)


def orphan_retraction_write(tx: Transaction, item: Item) -> EntityWrite:
    """Return the retraction of an item.

    After a person's verdict only people's decisions count. So an item that a person reopened is retracted in
    the person's name, and any other in the agent's.
    """
    write = person_decision_write(tx, item, Verdict.RETRACTED, reason=None, via=VIA_AGENT)
    touched = any(decision.by is AuthorKind.USER for decision in item.decisions)
    return EntityWrite(
        write.entity, write.kind, write.fields, by=AuthorKind.USER if touched else AuthorKind.AGENT
    )
