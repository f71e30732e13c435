"""The end of a pause that a person gave an end: written by the agent's home once the clock is there.

Never ends a pause without an end, nor that of an agent whose home is another device.
"""

from daemon.agents.tools.agent_record import ACTIVE, is_paused, load_agent
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId


def end_pause(tx: Transaction, agent: EntityId) -> None:
    """Resume an agent of this device whose pause has ended by the clock; any other stays as it is.

    The write is the system's and rests on the pause. So a person's pause that it has not seen outranks it.
    """
    known_agent = load_agent(tx, agent)
    if known_agent is None or known_agent.home != tx.device or not is_paused(known_agent):
        return
    if known_agent.paused_until_ms is None or known_agent.paused_until_ms > tx.now_ms():
        return
    fields: dict[str, Value] = {"lifecycle": ACTIVE, "lifecycle_reason": None, "paused_until": None}
    tx.commit([EntityWrite(agent, "agent", fields)], by=AuthorKind.SYSTEM)
