"""Whether the next run of an agent reads all notes of its task anew, or only those since its last run.

Never needs a queue: the write that asks for it counts until the watermark covers it.
"""

from typing import Final

from daemon.agents.tools.agent_record import Agent
from daemon.agents.tools.policy import permitting_versions
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.ids import EntityId
from syncproto.vector_clock import covers

ALL_NOTES_FIELD: Final = "all_notes"
"""The field of an agent that a person's request writes. Only who wrote it when matters, not its value."""


def request_all_notes(tx: Transaction, agent: EntityId) -> None:
    """Let the next completed run of an agent read all notes, on whatever device it runs."""
    tx.commit([EntityWrite(agent, "agent", {ALL_NOTES_FIELD: True})])


def reads_all_notes(snapshot: Snapshot, agent: Agent) -> bool:
    """Report whether a run that begins now reads all notes.

    It does if a person requested that, or permitted a tool, after what the last completed run has seen. A
    tool that was denied could propose nothing from the notes that the earlier runs read.
    """
    entity = snapshot.entity(agent.id)
    if entity is None:
        return False
    versions = [*entity.versions(ALL_NOTES_FIELD), *permitting_versions(entity)]
    return any(not covers(agent.watermark, version.source.head, snapshot.log) for version in versions)
