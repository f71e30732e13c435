"""What notes do to a checklist: items that they add, and items that they say are done.

Never adds what says the same as an item that is there, and never ticks without evidence.
"""

from collections.abc import Iterable
from typing import Any

from daemon.agents.models.cues import Cues
from daemon.agents.models.interface import ChecklistItemView, NoteView, ToolCall
from daemon.agents.tools import BATCH_ITEMS_MAX

LIKE_MIN = 92.0
NEW_MAX = 60  # more than a run may queue
COMPARED_MAX = 300  # lines in a run: each is compared with every item


class Added:
    """The items of a checklist, and those that notes add to it."""

    def __init__(self, there: Iterable[ChecklistItemView]) -> None:
        self._titles: list[tuple[str, ChecklistItemView | None]] = [(item.title, item) for item in there]
        self._new: list[dict[str, Any]] = []
        self._compared = 0

    def add(self, title: str, checked: bool) -> ChecklistItemView | None:
        """Add an item unless one says the same; return the one of the task that does."""
        self._compared += 1
        if len(self._new) >= NEW_MAX or self._compared > COMPARED_MAX:
            return None
        for known, item in self._titles:
            if is_like(title, known):
                return item
        self._titles.append((title, None))
        self._new.append({"title": title, "isChecked": checked})
        return None

    def calls(self, cues: Cues) -> list[ToolCall]:
        """Make the calls that add them."""
        batches = [self._new[at : at + BATCH_ITEMS_MAX] for at in range(0, len(self._new), BATCH_ITEMS_MAX)]
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


def is_like(title: str, other: str) -> bool:
    """Say whether two titles say the same, small differences in spelling aside; numbers must agree."""
    from rapidfuzz import fuzz  # imported here: it costs memory, and most wakes list nothing

    same_numbers = _with_digits(title) == _with_digits(other)
    return same_numbers and fuzz.ratio(title.casefold(), other.casefold()) >= LIKE_MIN


def _with_digits(written: str) -> list[str]:
    return [word for word in written.split() if any(sign.isdigit() for sign in word)]
