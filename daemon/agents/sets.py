"""How a change set stands as a whole, from how its items do.

Never written anywhere: an item has one set of verdicts, in however many sets it was proposed.
"""

from enum import StrEnum

from msgspec import Struct

from daemon.agents import judging
from daemon.journal.provenance import iso
from store.item import Item
from store.snapshot import Snapshot
from store.verdicts import Status, deciding
from syncproto.ids import EntityId, text

_OPEN = frozenset({Status.PENDING, Status.DEFERRED})


class SetStatus(StrEnum):
    """Nothing decided yet; some of it; all of it, or what is left came too late; nothing in time."""

    PENDING = "pending"
    PARTIALLY_RESOLVED = "partially_resolved"
    RESOLVED = "resolved"
    EXPIRED = "expired"


class ItemOfSet(Struct, frozen=True):
    """One item of a set, and how it stands by itself."""

    item_id: str
    tool: str
    status: str
    disputed: bool


class SetShown(Struct, frozen=True):
    """A change set. `resolved_at` is when the decision fell that left nothing open, None before."""

    set_id: str
    status: SetStatus
    resolved_at: str | None
    items: list[ItemOfSet]


def shown(snapshot: Snapshot, change_set: EntityId, now_ms: int) -> SetShown:
    """Show a change set."""
    items = snapshot.items_of_set(change_set)
    status = _status(items, now_ms)
    ends_ms = [end for item in items if (end := _decided_ms(item)) is not None]
    resolved_ms = max(ends_ms, default=None) if status is SetStatus.RESOLVED else None
    listed = [
        ItemOfSet(text(item.id), item.tool, judging.status_now(snapshot, item, now_ms), item.disputed)
        for item in items
    ]
    return SetShown(text(change_set), status, None if resolved_ms is None else iso(resolved_ms), listed)


def _status(items: list[Item], now_ms: int) -> SetStatus:
    decided = [item for item in items if item.status not in _OPEN and not item.disputed]
    still_open = [item for item in items if _is_open(item, now_ms)]
    if items and not still_open:
        return SetStatus.RESOLVED if decided else SetStatus.EXPIRED
    return SetStatus.PARTIALLY_RESOLVED if decided else SetStatus.PENDING


def _is_open(item: Item, now_ms: int) -> bool:
    return item.disputed or (item.status in _OPEN and not judging.is_expired(item, now_ms))


def _decided_ms(item: Item) -> int | None:
    """Return when the newest of the decisions fell that an item's status rests on."""
    counted = {one.decision for one in deciding(decision.opinion for decision in item.decisions)}
    return max((one.stamp_ms for one in item.decisions if one.id in counted), default=None)
