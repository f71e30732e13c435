"""How much an agent of another maker may propose and ask in a day of UTC, and what it has spent of that.

Never lets a part of a request through: what does not fit is refused as a whole.
"""

from typing import Final

from daemon.refusal import RefusalCode, Refused
from store.fold.entity import Entity
from store.local.daily_spending import spend, spent_today
from store.sentence import sentence
from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto.ids import EntityId

PROPOSALS, ASKS, BYTES = "proposals", "asks", "bytes"
DEFAULTS: Final = {PROPOSALS: 100, ASKS: 100, BYTES: 1 << 20}
LIMIT_MAX: Final = 1 << 40
LIMIT_FIELD: Final = "daily_limit"
"""The limits that a person set for an agent, one field `daily_limit/<kind>` per kind."""


def limit_field(kind: str) -> str:
    """Return the field of an agent that contains its daily limit of a kind."""
    return f"{LIMIT_FIELD}/{kind}"


def daily_limits(agent: Entity) -> dict[str, int]:
    """Return an agent's limits by kind.

    Of limits that devices set while apart the lowest applies; one that cannot be read allows nothing.
    """
    return {kind: _limit_of(agent, kind) for kind in DEFAULTS}


def _limit_of(agent: Entity, kind: str) -> int:
    values = [version.value for version in agent.versions(limit_field(kind))]
    limits = [
        value if type(value) is int and 0 <= value <= LIMIT_MAX else 0
        for value in values
        if value is not None
    ]
    return min(limits, default=DEFAULTS[kind])


def spending_today(snapshot: Snapshot, agent: EntityId, now_ms: int) -> dict[str, int]:
    """Return by kind what an agent has spent today."""
    return {kind: spent_today(snapshot, agent, kind, now_ms) for kind in DEFAULTS}


def spend_within_limits(tx: Transaction, agent: EntityId, amounts: dict[str, int]) -> None:
    """Count what an agent does against its limits. Raises Refused, and counts nothing, if one is exceeded."""
    entity = tx.entity(agent)
    assert entity is not None
    limits, spent = daily_limits(entity), spending_today(tx, agent, tx.now_ms())
    for kind, amount in amounts.items():
        if spent[kind] + amount > limits[kind]:
            raise Refused(
                RefusalCode.CONFLICT,
                sentence(
                    "daily-limit-reached",
                    "the agent has reached its daily limit: {spent} of {limit} {kind}",
                    spent=spent[kind],
                    limit=limits[kind],
                    kind=kind,
                ),
                sentence("try-again-tomorrow", "it may go on tomorrow (UTC), or a person raises the limit"),
            )
    for kind, amount in amounts.items():
        spend(tx, agent, kind, amount)
