"""The attributes that an export adds to a Taskwarrior record for what Taskwarrior has no place for.

Never believed if Taskwarrior's own attributes differ: it changes those and keeps these.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

from daemon.formats.core import extension_fields
from daemon.formats.core.plan import PlannedChecklist, PlannedLink
from daemon.formats.taskwarrior.records import LocatedRecord, as_json, text_in_json
from daemon.task_fields import TASK_FIELDS

STATUS = "placet_status"
REASON = "placet_reason"
PRIORITY = "placet_priority"
DUE = "placet_due"
CHECKLISTS = "placet_checklists"
LINKS = "placet_links"
SCHEDULED = "scheduled"
"""Taskwarrior's own word for the start, of which a text that is no time is kept."""
URGENT = "P0"
HIGH = "P1"
_STATUSES = {
    "pending": ("GROOMED", "IN PROGRESS", "BLOCKED", "ON HOLD"),
    "recurring": ("GROOMED", "IN PROGRESS", "BLOCKED", "ON HOLD"),
    "deleted": ("REJECTED",),
}
SPELLED = {f"placet_{field.exported_as}": field for field in TASK_FIELDS if field.exported_as}
"""The fields that are such an attribute and nothing else."""
_OURS = frozenset({STATUS, REASON, PRIORITY, DUE, *SPELLED, CHECKLISTS, LINKS})

Attribute = TypeVar("Attribute")


class CustomAttributes:
    """The parsed parts of a record; `left` is every other attribute, and any of ours that is unreadable."""

    def __init__(self, source: LocatedRecord, present: set[str]) -> None:
        self._source = source
        self._present = present
        texts = {name: text_in_json(raw) for name, raw in source.others if name in _OURS}
        self.left = [pair for pair in source.others if texts.get(pair[0]) is None]
        self._given = {name: text for name, text in texts.items() if text is not None}
        self._urgent = self._given.get(PRIORITY) == URGENT
        self.values: dict[str, Any] = {
            field.name: self._read_attribute(name, partial(extension_fields.read_value, field.type))
            for name, field in SPELLED.items()
        }
        self.due = None if source.record.due else self._read_attribute(DUE, extension_fields.read_day)
        self.checklists: tuple[PlannedChecklist, ...] = (
            self._read_attribute(CHECKLISTS, lambda text: extension_fields.read_checklists(text, source.key))
            or ()
        )
        reason = self._read_attribute(REASON, extension_fields.read_reason)
        allowed = _STATUSES.get(source.record.status, ())
        status = self._given.get(STATUS, "")
        self.status = status if extension_fields.is_status_allowed(status, reason, allowed) else None
        self.reason = reason if self.status or source.record.status in ("pending", "recurring") else None
        self.scheduled = next(
            (text for name, raw in source.others if name == SCHEDULED and (text := text_in_json(raw))), None
        )
        self.links = tuple(self._links())
        if loose := self._loose_links():
            self.left.append((LINKS, as_json(" ".join(loose))))

    def priority(self, text: str | None) -> str | None:
        """Return the priority: Taskwarrior's highest is two of ours."""
        return URGENT if text == HIGH and self._urgent else text

    def _read_attribute(self, name: str, reader: Callable[[str], Attribute | None]) -> Attribute | None:
        text = self._given.get(name)
        if text is None:
            return None
        value = reader(text)
        if value is None:
            self.left.append((name, as_json(text)))
        return value

    def _links(self) -> Iterator[PlannedLink]:
        for word in self._given.get(LINKS, "").split():
            if self._is_link(word):
                type_, _, other = word.partition(":")
                yield PlannedLink(f"{self._source.key}/{type_}/{other}", self._source.key, other, type_)

    def _loose_links(self) -> list[str]:
        return [word for word in self._given.get(LINKS, "").split() if not self._is_link(word)]

    def _is_link(self, word: str) -> bool:
        type_, _, other = word.partition(":")
        is_known = type_ in extension_fields.NON_BLOCKING_LINK_TYPES and other in self._present
        return is_known and other != self._source.key
