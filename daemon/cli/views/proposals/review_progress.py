"""The progress of a review: what was shown, what was decided, what comes next.

Never asks anybody and decides nothing: it keeps the place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from daemon.words.proposals import question_id, without_other_answers
from daemon.words.short_ids import short_ids_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from daemon.shapes.answers import PendingItemJson


class ReviewProgress:
    """One review: exactly the proposals that were open when it began, in their order."""

    def __init__(self, items: Sequence[PendingItemJson]) -> None:
        self.items = without_other_answers(items)
        self.short_ids: Final = short_ids_of(self.items, "item_id")
        self.position = 0
        self.decided: dict[str, str] = {}
        self.gone: set[str] = set()
        self._order: list[str] = []

    def __len__(self) -> int:
        return len(self.items)

    @property
    def is_over(self) -> bool:
        return self.position >= len(self.items)

    @property
    def current(self) -> PendingItemJson:
        return self.items[self.position]

    @property
    def last_decided(self) -> PendingItemJson | None:
        return self._item_named(self._order[-1]) if self._order else None

    def refresh(self, now: Mapping[str, PendingItemJson]) -> None:
        """Take items as they are now for what they were; none comes in that was not there."""
        self.items = [now.get(_id(item), item) for item in self.items]

    def decide(self, item: str, verdict: str) -> None:
        """Note what the person decided."""
        self.decided[item] = verdict
        self._order = [other for other in self._order if other != item] + [item]

    def mark_gone(self, item: str) -> None:
        """Note that an item no longer waits, through no action of this review."""
        self.gone.add(item)

    def undo_last(self) -> None:
        """Forget the last decision, and go back to its item."""
        last = self._order.pop()
        del self.decided[last]
        self.position = next(index for index, item in enumerate(self.items) if _id(item) == last)

    def go_forward(self) -> None:
        """Go to the next open item, or beyond the end."""
        self.position = next(self._open(range(self.position + 1, len(self.items))), len(self.items))

    def go_backward(self) -> bool:
        """Go to the open item before this one; say whether there is one."""
        before = next(self._open(range(self.position - 1, -1, -1)), None)
        self.position = self.position if before is None else before
        return before is not None

    def has_next(self) -> bool:
        return next(self._open(range(self.position + 1, len(self.items))), None) is not None

    def open_of_task(self) -> list[PendingItemJson]:
        """Give what is open of this task, from the current item on, without questions."""
        task = self.current.get("task_id")
        return [
            item
            for item in self.items[self.position :]
            if item.get("task_id") == task and self._is_open(item) and not question_id(item)
        ]

    def new_items(self, others: Iterable[PendingItemJson]) -> list[PendingItemJson]:
        """Give those that were not there when the review began."""
        names = {question_id(item) or _id(item) for item in self.items}
        return [
            item for item in without_other_answers(others) if (question_id(item) or _id(item)) not in names
        ]

    def open_count(self) -> int:
        """Count what is still open."""
        return sum(map(self._is_open, self.items))

    def decided_count(self, verdict: str) -> int:
        return sum(item == verdict for item in self.decided.values())

    def _open(self, places: Iterable[int]) -> Iterator[int]:
        return (place for place in places if self._is_open(self.items[place]))

    def _is_open(self, item: PendingItemJson) -> bool:
        return _id(item) not in self.decided and _id(item) not in self.gone

    def _item_named(self, item: str) -> PendingItemJson:
        return next(candidate for candidate in self.items if _id(candidate) == item)


def _id(item: PendingItemJson) -> str:
    return str(item.get("item_id") or "")
