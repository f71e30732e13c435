"""The budget of a person's attention: how much of an agent's day is put before a person at once.

Never decides, drops, or delays anything: what is held back waits like the rest, and whoever asks sees it.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from daemon.agents.deciding.waiting_items import PendingItem, decided_together

_ISO_DAY_CHARS = 10


def mark_held_back(items: Iterable[PendingItem], open_per_day: int) -> list[PendingItem]:
    """Mark, in a list over all agents, what is beyond the budget; the order is kept.

    Of the open proposals that one agent made on one day (UTC), the first `open_per_day` of the list are put
    before the person. As these are decided, others take their place. A question counts once. What somebody
    deferred or disputes is never held back: a person has it in hand.
    """
    shown: dict[tuple[str, str], set[str]] = {}
    return [
        replace(item, held_back=True) if _is_beyond(item, shown, open_per_day) else item for item in items
    ]


def _is_beyond(item: PendingItem, shown: dict[tuple[str, str], set[str]], open_per_day: int) -> bool:
    if item.status != "pending" or item.disputed:
        return False
    of_day = shown.setdefault((item.agent_id, item.created_at[:_ISO_DAY_CHARS]), set())
    if len(of_day) < open_per_day:
        of_day.add(decided_together(item))
    return decided_together(item) not in of_day
