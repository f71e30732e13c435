"""Which run a proposal belongs to.

Never holds anything that a run finds out.
"""

from dataclasses import dataclass

from syncproto.ids import EntityId


@dataclass(frozen=True, slots=True)
class RunIdentity:
    """The run that proposals belong to."""

    agent: EntityId
    task: EntityId
    run_key: str
    now_ms: int
