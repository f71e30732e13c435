"""What presses among the proposals that wait: what runs out, then what a due date waits for, then age.

Never reads a clock, and never decides what is shown.
"""

from collections.abc import Iterable
from typing import NamedTuple

from daemon.agents.deciding.item_state import ItemState
from daemon.task_fields import CLOSED_STATUSES
from store.fold.item import Item
from syncproto.ids import EntityId

SOON_MS = 86_400_000


class _Place(NamedTuple):
    """The place of a task in the order; the lesser presses more. `made_ms` and `task` break ties."""

    rank: int
    at_ms: int
    due: str
    made_ms: int
    task: EntityId


def expires_soon(item: Item, now_ms: int) -> bool:
    """Report whether an item that nobody decided on expires within a day."""
    return not item.decisions and now_ms < item.expires_ms <= now_ms + SOON_MS


def changes_ms(item: Item) -> tuple[int, int]:
    """Return the times at which an open item changes by time alone: it begins to expire soon, and expires."""
    return item.expires_ms - SOON_MS, item.expires_ms


def task_places(states: Iterable[ItemState], now_ms: int) -> dict[EntityId, _Place]:
    """Return a key to sort tasks by: the least of those of their items. It is the same on every device.

    Tasks of which a proposal expires within a day come first, the first to expire first. Then come open tasks
    with a due date, the earliest first, then the others, the oldest proposal first.
    """
    places: dict[EntityId, _Place] = {}
    for state in states:
        place = _place(state, now_ms)
        places[place.task] = min(places.get(place.task, place), place)
    return places


def _place(state: ItemState, now_ms: int) -> _Place:
    item, task = state.item, state.task
    made_ms = min(occurrence.created_ms for occurrence in item.occurrences)
    if expires_soon(item, now_ms):
        return _Place(0, item.expires_ms, "", made_ms, item.task)
    due = "" if task is None or task.text("status") in CLOSED_STATUSES else task.text("due")
    return _Place(1 if due else 2, 0, due, made_ms, item.task)
