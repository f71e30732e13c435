"""What notes do to a checklist: items that they add, and items that they say are done.

Never adds what says the same as an item that is there, and never ticks without evidence.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from daemon.agents.models.cues import Cues
from daemon.agents.models.interface import ChecklistItemView, NoteView, ToolCall
from daemon.agents.tools import BATCH_ITEMS_MAX

LIKE_MIN = 92.0
NEW_MAX = 60  # more than a run may queue
COMPARED_MAX = 300  # lines in a run: each is compared with every item


class Compared(NamedTuple):
    """A title as it is compared with others."""

    folded: str
    numbers: tuple[str, ...]

    @classmethod
    def of(cls, title: str) -> "Compared":
        """Prepare a title."""
        numbers = (word for word in title.split() if any(sign.isdigit() for sign in word))
        return cls(title.casefold(), tuple(numbers))

    def is_like(self, other: "Compared") -> bool:
        """Say whether two titles say the same, small differences in spelling aside; numbers must agree."""
        from rapidfuzz import fuzz  # imported here: it costs memory, and most wakes list nothing

        return self.numbers == other.numbers and fuzz.ratio(self.folded, other.folded) >= LIKE_MIN


class Added:
    """The items of a checklist, and those that notes add to it."""

    def __init__(self, there: Iterable[ChecklistItemView]) -> None:
        self._there = [(Compared.of(item.title), item) for item in there]
        self._new: dict[str, Compared] = {}
        self._checked: set[str] = set()
        self._asked = 0

    def add(self, title: str, checked: bool) -> ChecklistItemView | None:
        """Add an item unless one says the same; return the one of the task that does."""
        self._asked += 1
        if len(self._new) >= NEW_MAX or self._asked > COMPARED_MAX:
            return None
        compared = Compared.of(title)
        for known, item in self._there:
            if compared.is_like(known):
                return item
        if not any(compared.is_like(known) for known in self._new.values()):
            self._new[title] = compared
            self._checked.update([title] if checked else [])
        return None

    def calls(self, cues: Cues) -> list[ToolCall]:
        """Make the calls that add them."""
        new = [{"title": title, "isChecked": title in self._checked} for title in self._new]
        batches = [new[at : at + BATCH_ITEMS_MAX] for at in range(0, len(new), BATCH_ITEMS_MAX)]
        arguments = ({"items": batch, "rationale": cues.wording.listed} for batch in batches)
        return [ToolCall("add_multiple_checklist_items", one) for one in arguments]


class Ticked:
    """The items that notes say are done, each with its evidence."""

    def __init__(self) -> None:
        self._found: dict[str, dict[str, Any]] = {}

    def add(self, item: ChecklistItemView, quote: str, note: NoteView, cues: Cues) -> None:
        """Tick an item, unless it is ticked or its user set it after the note was written."""
        written_ms = note.written_at.timestamp() * 1000
        is_newer = item.checked_by != "agent" and (item.checked_at_ms or 0) >= written_ms
        if not item.is_checked and not item.is_archived and not is_newer:
            reason = cues.wording.evidence.format(day=note.written_at.date().isoformat(), quote=quote)
            self._found[item.id] = {
                "id": item.id,
                "isChecked": True,
                "reason": reason,
                "evidenceIds": [note.id],
            }

    def calls(self) -> list[ToolCall]:
        """Make the calls that tick them."""
        found = list(self._found.values())
        batches = [found[at : at + BATCH_ITEMS_MAX] for at in range(0, len(found), BATCH_ITEMS_MAX)]
        return [ToolCall("update_checklist_items", {"items": batch}) for batch in batches]
