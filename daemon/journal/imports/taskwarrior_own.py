"""The attributes that an export adds to a Taskwarrior record for what Taskwarrior has no place for.

Never believed where Taskwarrior's own attributes say otherwise: it changes those and keeps these.
"""

from collections.abc import Callable, Iterator
from typing import TypeVar

from daemon.journal.errors import Refused
from daemon.journal.imports import own
from daemon.journal.imports.plan import PlannedChecklist, PlannedLink
from daemon.journal.imports.taskwarrior_json import Source
from daemon.journal.values import due

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

Value = TypeVar("Value")


class Own:
    """What they say of one record; `left` is every other attribute, and those of ours that cannot be read."""

    def __init__(self, source: Source, present: set[str]) -> None:
        self._source = source
        self._present = present
        self.left = [pair for pair in source.others if pair[0] not in _OURS]
        self._given = dict(pair for pair in source.others if pair[0] in _OURS)
        self._urgent = self._given.get(PRIORITY) == URGENT
        self.estimate = self._read(ESTIMATE, own.estimate)
        self.language = self._read(LANGUAGE, own.language)
        self.due = None if source.record.due else self._read(DUE, _day)
        self.checklists: tuple[PlannedChecklist, ...] = (
            self._read(CHECKLISTS, lambda written: own.checklists(written, source.key)) or ()
        )
        reason = self._read(REASON, own.reason)
        allowed = _STATUSES.get(source.record.status, ())
        status = self._given.get(STATUS, "")
        self.status = status if own.is_status(status, reason, allowed) else None
        self.reason = reason if self.status or source.record.status == "pending" else None
        self.links = tuple(self._links())

    def priority(self, said: str | None) -> str | None:
        """Return the priority: Taskwarrior's highest is two of ours."""
        return URGENT if said == HIGH and self._urgent else said

    def _read(self, name: str, reader: Callable[[str], Value | None]) -> Value | None:
        written = self._given.get(name)
        if written is None:
            return None
        value = reader(written)
        if value is None:
            self.left.append((name, written))
        return value

    def _links(self) -> Iterator[PlannedLink]:
        for word in self._given.get(LINKS, "").split():
            type_, _, other = word.partition(":")
            if type_ in own.LINK_TYPES and other in self._present and other != self._source.key:
                yield PlannedLink(f"{self._source.key}/{type_}/{other}", self._source.key, other, type_)
            else:
                self.left.append((LINKS, word))


def _day(written: str) -> str | None:
    try:
        return due(written)
    except Refused:
        return None
