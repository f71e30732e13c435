"""Where a review stands: what was shown, what was decided, what comes next.

Never asks anybody and decides nothing: it keeps the place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from daemon.cli.shapes import PendingItem


class Review:
    """One review: exactly the proposals that were open when it began, in their order."""

    def __init__(self, items: Sequence[PendingItem]) -> None:
        self.items = list(items)
        self.at = 0
        self.decided: dict[str, str] = {}
        self.gone: set[str] = set()
        self._order: list[str] = []

    def __len__(self) -> int:
        return len(self.items)

    @property
    def is_over(self) -> bool:
        return self.at >= len(self.items)

    @property
    def current(self) -> PendingItem:
        return self.items[self.at]

    @property
    def last_decided(self) -> PendingItem | None:
        return self._named(self._order[-1]) if self._order else None

    def renew(self, now: Mapping[str, PendingItem]) -> None:
        """Take items as they are now for what they were; none comes in that was not there."""
        self.items = [now.get(_id(one), one) for one in self.items]

    def decide(self, item: str, verdict: str) -> None:
        """Note what the person decided."""
        self.decided[item] = verdict
        self._order = [one for one in self._order if one != item] + [item]

    def drop(self, item: str) -> None:
        """Note that an item waits no more, for no doing of this review."""
        self.gone.add(item)

    def take_back(self) -> None:
        """Forget the last decision, and go where it was made."""
        last = self._order.pop()
        del self.decided[last]
        self.at = next(at for at, one in enumerate(self.items) if _id(one) == last)

    def forward(self) -> None:
        """Go to the next open item, or beyond the end."""
        self.at = next(self._open(range(self.at + 1, len(self.items))), len(self.items))

    def backward(self) -> bool:
        """Go to the open item before this one; say whether there is one."""
        before = next(self._open(range(self.at - 1, -1, -1)), None)
        self.at = self.at if before is None else before
        return before is not None

    def has_next(self) -> bool:
        return next(self._open(range(self.at + 1, len(self.items))), None) is not None

    def rest_of_task(self) -> list[PendingItem]:
        """Give what is open of this task, from the current item on."""
        task = self.current.get("task_id")
        return [one for one in self.items[self.at :] if one.get("task_id") == task and self._is_open(one)]

    def beside(self, others: Iterable[PendingItem]) -> list[PendingItem]:
        """Give those that were not there when the review began."""
        known = {_id(one) for one in self.items}
        return [one for one in others if _id(one) not in known]

    def left(self) -> int:
        """Count what is still open."""
        return sum(map(self._is_open, self.items))

    def count(self, verdict: str) -> int:
        return sum(one == verdict for one in self.decided.values())

    def _open(self, places: Iterable[int]) -> Iterator[int]:
        return (at for at in places if self._is_open(self.items[at]))

    def _is_open(self, item: PendingItem) -> bool:
        return _id(item) not in self.decided and _id(item) not in self.gone

    def _named(self, item: str) -> PendingItem:
        return next(one for one in self.items if _id(one) == item)


def _id(item: PendingItem) -> str:
    return str(item.get("item_id") or "")
