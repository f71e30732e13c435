"""What notes change in a checklist: items that they add, and items that they report as done.

Never adds an item that is there already in other words, and never ticks one without evidence.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from daemon.agents.models.rules.lexicon.cue_table import CueTable
from daemon.agents.tools.arguments import BATCH_ITEMS_MAX
from daemon.agents.tools.model_interface import ChecklistItemView, EntryView, ToolCall

SIMILARITY_MIN = 92.0
NEW_ITEMS_MAX = 60  # more than a run may queue
COMPARED_TITLES_MAX = 300  # lines in a run: each is compared with every item


class ComparableTitle(NamedTuple):
    """A title as it is compared with others."""

    folded: str
    numbers: tuple[str, ...]

    @classmethod
    def from_title(cls, title: str) -> "ComparableTitle":
        """Prepare a title."""
        numbers = (word for word in title.split() if any(sign.isdigit() for sign in word))
        return cls(title.casefold(), tuple(numbers))

    def is_similar(self, other: "ComparableTitle") -> bool:
        """Return whether two titles differ only a little in spelling. Their numbers must be equal."""
        from rapidfuzz import fuzz  # imported here: it costs memory, and most wakes list nothing

        return self.numbers == other.numbers and fuzz.ratio(self.folded, other.folded) >= SIMILARITY_MIN


class NewItems:
    """The items of a checklist, and those that notes add to it."""

    def __init__(self, existing_items: Iterable[ChecklistItemView]) -> None:
        self._there = [(ComparableTitle.from_title(item.title), item) for item in existing_items]
        self._new: dict[str, ComparableTitle] = {}
        self._notes: dict[str, str] = {}
        self._checked: set[str] = set()
        self._asked = 0

    def add_title(self, title: str, checked: bool, note: EntryView) -> ChecklistItemView | None:
        """Add an item unless one is similar. Return the similar item of the task, if there is one."""
        self._asked += 1
        if len(self._new) >= NEW_ITEMS_MAX or self._asked > COMPARED_TITLES_MAX:
            return None
        compared = ComparableTitle.from_title(title)
        for known_title, item in self._there:
            if compared.is_similar(known_title):
                return item
        if not any(compared.is_similar(comparable_title) for comparable_title in self._new.values()):
            self._new[title] = compared
            self._notes[title] = note.id
            self._checked.update([title] if checked else [])
        return None

    @property
    def titles(self) -> tuple[str, ...]:
        """Return the titles of the new items."""
        return tuple(self._new)

    def calls(self, cues: CueTable) -> list[ToolCall]:
        """Return the calls that add the new items."""
        new = [
            {"title": title, "isChecked": title in self._checked, "evidenceIds": [self._notes[title]]}
            for title in self._new
        ]
        batches = [new[index : index + BATCH_ITEMS_MAX] for index in range(0, len(new), BATCH_ITEMS_MAX)]
        arguments = ({"items": batch, "rationale": cues.wording.listed} for batch in batches)
        return [ToolCall("add_multiple_checklist_items", argument) for argument in arguments]


class FinishedItems:
    """The items that notes report as done, or as open again, each with its evidence."""

    def __init__(self) -> None:
        self._found: dict[str, dict[str, Any]] = {}

    def add_item(self, item: ChecklistItemView, quote: str, note: EntryView, cues: CueTable) -> None:
        """Tick an item, unless it is ticked, archived, or set by a person after the note was written."""
        self._set(item, True, quote, note, cues)

    def reopen_item(self, item: ChecklistItemView, quote: str, note: EntryView, cues: CueTable) -> None:
        """Take a tick away, unless there is none, or a person set it after the note was written."""
        self._set(item, False, quote, note, cues)

    def _set(
        self, item: ChecklistItemView, checked: bool, quote: str, note: EntryView, cues: CueTable
    ) -> None:
        written_ms = note.written_at.timestamp() * 1000
        is_newer = item.checked_by != "agent" and (item.checked_at_ms or 0) >= written_ms
        if item.is_checked != checked and not item.is_archived and not is_newer:
            reason = cues.wording.evidence.format(day=note.written_at.date().isoformat(), quote=quote)
            self._found[item.id] = {
                "id": item.id,
                "isChecked": checked,
                "reason": reason,
                "evidenceIds": [note.id],
            }

    def calls(self) -> list[ToolCall]:
        """Return the calls that tick the items, and take ticks away."""
        arguments = list(self._found.values())
        batches = [
            arguments[index : index + BATCH_ITEMS_MAX] for index in range(0, len(arguments), BATCH_ITEMS_MAX)
        ]
        return [ToolCall("update_checklist_items", {"items": batch}) for batch in batches]
