"""An agent takes back its own proposals, while nobody has said anything to them.

Never touches a person's verdict, and never another agent's proposals.
"""

from daemon.agents.effects import args_hash
from daemon.agents.genuine import genuine
from store.item import Item
from store.transaction import Transaction, Write
from store.verdicts import Status, Verdict
from syncproto.codec import Value
from syncproto.commit import By
from syncproto.ids import EntityId


def refusal(item: Item | None, agent: EntityId, now_ms: int) -> str | None:
    """Say why an item is not an agent's to take back; None where it is."""
    if item is None or any(one.agent != agent for one in item.occurrences):
        return "is no proposal of yours"
    if any(decision.by is not By.AGENT for decision in item.decisions):
        return "was decided by the user"
    if item.status is Status.RETRACTED:
        return "is retracted already"
    return "has expired" if item.expires_ms <= now_ms else None


def retraction(tx: Transaction, item: Item, reason: str) -> Write:
    """Return the agent's decision to take an item back, which has seen every decision known here."""
    fields: dict[str, Value] = {
        "item_id": item.id,
        "verdict": Verdict.RETRACTED.value,
        "device": tx.device,
        "seen": [decision.id for decision in item.decisions],
        "reason": reason,
        "via": "agent",
    }
    found = genuine(tx, item)
    if found is not None:
        fields["args_hash"] = args_hash(found.item.tool, found.args)
    return Write(tx.new_id(), "decision", fields, by=By.AGENT)
