"""The attributes that an export adds to a Taskwarrior record for what Taskwarrior has no place for.

Never believed if Taskwarrior's own attributes differ: it changes those and keeps these.
"""

from collections.abc import Callable, Iterator
from typing import TypeVar

from daemon.formats.core import extension_fields
from daemon.formats.core.plan import PlannedChecklist, PlannedLink
from daemon.formats.taskwarrior.records import LocatedRecord
from daemon.journal.fields.validation import checked_due_day
from daemon.refusal import Refused

STATUS = "placet_status"
REASON = "placet_reason"
PRIORITY = "placet_priority"
DUE = "placet_due"
ESTIMATE = "placet_estimate"
LANGUAGE = "placet_language"
CHECKLISTS = "placet_checklists"
LINKS = "placet_links"
URGENT = "P0"
HIGH = "P1"
_STATUSES = {
    "pending": ("GROOMED", "IN PROGRESS", "BLOCKED", "ON HOLD"),
    "deleted": ("REJECTED",),
}
_OURS = frozenset({STATUS, REASON, PRIORITY, DUE, ESTIMATE, LANGUAGE, CHECKLISTS, LINKS})

Attribute = TypeVar("Attribute")


class CustomAttributes:
    """The parsed parts of a record; `left` is every other attribute, and any of ours that is unreadable."""

    def __init__(self, source: LocatedRecord, present: set[str]) -> None:
        self._source = source
        self._present = present
        self.left = [pair for pair in source.others if pair[0] not in _OURS]
        self._given = dict(pair for pair in source.others if pair[0] in _OURS)
        self._urgent = self._given.get(PRIORITY) == URGENT
        self.estimate = self._read_attribute(ESTIMATE, extension_fields.read_estimate)
        self.language = self._read_attribute(LANGUAGE, extension_fields.read_language)
        self.due = None if source.record.due else self._read_attribute(DUE, _day)
        self.checklists: tuple[PlannedChecklist, ...] = (
            self._read_attribute(CHECKLISTS, lambda text: extension_fields.read_checklists(text, source.key))
            or ()
        )
        reason = self._read_attribute(REASON, extension_fields.read_reason)
        allowed = _STATUSES.get(source.record.status, ())
        status = self._given.get(STATUS, "")
        self.status = status if extension_fields.is_status_allowed(status, reason, allowed) else None
        self.reason = reason if self.status or source.record.status == "pending" else None
        self.links = tuple(self._links())

    def priority(self, text: str | None) -> str | None:
        """Return the priority: Taskwarrior's highest is two of ours."""
        return URGENT if text == HIGH and self._urgent else text

    def _read_attribute(self, name: str, reader: Callable[[str], Attribute | None]) -> Attribute | None:
        text = self._given.get(name)
        if text is None:
            return None
        value = reader(text)
        if value is None:
            self.left.append((name, text))
        return value

    def _links(self) -> Iterator[PlannedLink]:
        for word in self._given.get(LINKS, "").split():
            type_, _, other = word.partition(":")
            if (
                type_ in extension_fields.NON_BLOCKING_LINK_TYPES
                and other in self._present
                and other != self._source.key
            ):
                yield PlannedLink(f"{self._source.key}/{type_}/{other}", self._source.key, other, type_)
            else:
                self.left.append((LINKS, word))


def _day(text: str) -> str | None:
    try:
        return checked_due_day(text)
    except Refused:
        return None
