"""The status of a change set as a whole, which follows from the status of its items.

Never written anywhere: an item has one set of verdicts, in however many sets it was proposed.
"""

from enum import StrEnum

from msgspec import Struct

from daemon.agents.deciding import item_state
from daemon.timestamps import stamp_utc
from store.fold.item import Item
from store.fold.verdicts import DecisionStatus, deciding_opinions
from store.snapshot import Snapshot
from syncproto.ids import EntityId, id_to_text

_OPEN = frozenset({DecisionStatus.PENDING, DecisionStatus.DEFERRED})


class ChangeSetStatus(StrEnum):
    """How much of a set is decided.

    `pending`: nothing yet. `partially_resolved`: some items. `resolved`: all items, or all that did not
    expire. `expired`: nothing, and all items have expired.
    """

    PENDING = "pending"
    PARTIALLY_RESOLVED = "partially_resolved"
    RESOLVED = "resolved"
    EXPIRED = "expired"


class ChangeSetItem(Struct, frozen=True):
    """One item of a set. `status` is the one that people see; `disputed` if devices decided differently."""

    item_id: str
    tool: str
    status: str
    disputed: bool


class ChangeSetSummary(Struct, frozen=True):
    """A change set. `resolved_at` is the time of the decision that left nothing open; None before that."""

    set_id: str
    status: ChangeSetStatus
    resolved_at: str | None
    items: list[ChangeSetItem]


def change_set_summary(snapshot: Snapshot, change_set: EntityId, now_ms: int) -> ChangeSetSummary:
    """Return a change set as people see it."""
    items = snapshot.items_of_set(change_set)
    status = _status(items, now_ms)
    decided_at_ms = [decided for item in items if (decided := _last_decision_ms(item)) is not None]
    resolved_ms = max(decided_at_ms, default=None) if status is ChangeSetStatus.RESOLVED else None
    summaries = [
        ChangeSetItem(
            id_to_text(item.id),
            item.tool,
            item_state.displayed_status_text(snapshot, item, now_ms),
            item.disputed,
        )
        for item in items
    ]
    return ChangeSetSummary(
        id_to_text(change_set),
        status,
        None if resolved_ms is None else stamp_utc(resolved_ms, now_ms),
        summaries,
    )


def _status(items: list[Item], now_ms: int) -> ChangeSetStatus:
    # A dispute is open again, although the item folds to rejected.
    decided = [item for item in items if item.status not in _OPEN and not item.disputed]
    still_open = [item for item in items if _is_open(item, now_ms)]
    if items and not still_open:
        return ChangeSetStatus.RESOLVED if decided else ChangeSetStatus.EXPIRED
    return ChangeSetStatus.PARTIALLY_RESOLVED if decided else ChangeSetStatus.PENDING


def _is_open(item: Item, now_ms: int) -> bool:
    return item.disputed or (item.status in _OPEN and not item_state.is_expired(item, now_ms))


def _last_decision_ms(item: Item) -> int | None:
    """Return the time of the newest decision that the status of an item rests on."""
    deciding = {
        deciding_opinion.decision
        for deciding_opinion in deciding_opinions(decision.opinion for decision in item.decisions)
    }
    return max((decision.stamp_ms for decision in item.decisions if decision.id in deciding), default=None)
