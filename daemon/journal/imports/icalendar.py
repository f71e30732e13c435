"""Reads the to-dos of an iCalendar file (RFC 5545) into a plan.

Never drops a property that says something of a to-do: what has no place in the journal is kept as text.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, tzinfo
from typing import Final

from daemon.journal.imports import own
from daemon.journal.imports.icalendar_lines import (
    Calendar,
    NotACalendar,
    Property,
    Todo,
    listed,
    read_calendar,
)
from daemon.journal.imports.icalendar_times import Moment, Times
from daemon.journal.imports.plan import (
    ImportFault,
    Plan,
    PlannedChecklist,
    PlannedEntry,
    PlannedLink,
    PlannedTask,
    Skipped,
    cut_title,
    entries_of,
    failed,
    fits_title,
    on_one_line,
    unreadable,
    utc_text,
)
from daemon.journal.tasks import LABELS_MAX
from daemon.journal.values import CLOSED, NAME_CHARS_MAX

FORMAT = "icalendar"

ATTRIBUTES = "attributes"
"""What ends the key of the entry with the properties that have no place of their own, a line each."""
STATUSES: Final = {
    "NEEDS-ACTION": "OPEN",
    "IN-PROCESS": "IN PROGRESS",
    "COMPLETED": "DONE",
    "CANCELLED": "REJECTED",
}
PRIORITIES: Final = {0: None, 1: "P0", 2: "P1", 3: "P1", 4: "P1", 5: "P2", 6: "P3", 7: "P3", 8: "P3", 9: "P3"}
WRITTEN_PRIORITIES: Final = {"P0": 1, "P1": 3, "P2": 5, "P3": 9}
RELATIONS: Final = {
    "SIBLING": "basic",
    "X-PLACET-FOLLOWS-UP": "follows_up",
    "X-PLACET-DUPLICATES": "duplicates",
    "X-PLACET-FIXES": "fixes",
}
PARENT, CHILD, DEPENDS = "PARENT", "CHILD", "DEPENDS-ON"
X_STATUS, X_REASON, X_CATEGORY = "X-PLACET-STATUS", "X-PLACET-REASON", "X-PLACET-CATEGORY"
X_ESTIMATE, X_CHECKLIST, X_AT = "X-PLACET-ESTIMATE", "X-PLACET-CHECKLIST", "X-PLACET-AT"
_OWN_STATUSES = ("GROOMED", "BLOCKED", "ON HOLD")
_UID_CHARS_MAX = 1000
_UNTITLED = "(no summary)"
# Written anew by every program that touches the to-do, or read already.
_ALWAYS_PLACED = frozenset({"UID", "DTSTAMP", "SEQUENCE", "CREATED", "LAST-MODIFIED", "STATUS"})

_RECURRING = "a recurring to-do: only occurrences with a date of their own are imported"
_ALARM = "alarms are not kept"
_OTHER = "only to-dos (VTODO) are imported"


def parse(name: str, text: str, zone: tzinfo = UTC, now_ms: int | None = None) -> Plan:
    """Read a file; never raises, what cannot be read is in the plan's faults.

    `zone` is the person's: a time in any other one is due on the day that it is there.
    """
    del name, now_ms  # to-dos have identities of their own, whatever the file is called
    if fault := unreadable(text):
        return failed(FORMAT, fault)
    calendar = read_calendar(text.removeprefix("\ufeff"))
    times = Times(zone, calendar.zones)
    found: list[_Found] = []
    faults = calendar.faults
    for todo in calendar.todos:
        try:
            found.append(_Found(todo, times, zone))
        except NotACalendar as error:
            faults.append(error.fault)
    single = [one for one in found if not one.recurs]
    faults += _repeated(single)
    present = {one.key for one in single}
    tasks: list[PlannedTask] = []
    for one in single:
        try:
            tasks.append(one.task(present))
        except NotACalendar as error:
            faults.append(error.fault)
    if faults:
        return failed(FORMAT, *sorted(faults, key=lambda fault: fault.line))
    return Plan(FORMAT, tuple(tasks), tuple(_skipped(found, calendar)))


def _repeated(found: list["_Found"]) -> Iterator[ImportFault]:
    first: dict[str, int] = {}
    for one in found:
        if one.key in first:
            uid = one.key[:40]
            yield ImportFault(one.line, f"UID {uid!r} is used a second time, first on line {first[one.key]}")
        first.setdefault(one.key, one.line)


def _skipped(found: list["_Found"], calendar: Calendar) -> Iterator[Skipped]:
    yield from (Skipped(one.line, one.title, _RECURRING) for one in found if one.recurs)
    for kind, count in calendar.others.items():
        if kind != "VTIMEZONE":
            why = _ALARM if kind == "VALARM" else _OTHER
            yield Skipped(calendar.first[kind], f"{count} {kind[:40]}", why)


class _Found:
    """One to-do; `placed` are the properties that have a place in the journal. Raises NotACalendar."""

    def __init__(self, todo: Todo, times: Times, zone: tzinfo) -> None:
        self.line = todo.line
        self._todo = todo
        self._times = times
        self._zone = zone
        self._placed: set[int] = set()
        uid = self._first("UID")
        self.uid = "" if uid is None else uid.text.strip()
        if not self.uid or len(self.uid) > _UID_CHARS_MAX:
            seen = "has no UID" if not self.uid else f"has a UID of {len(self.uid)} characters"
            raise NotACalendar(todo.line, f"the to-do {seen}")
        occurrence = self._first("RECURRENCE-ID")
        self.key = self.uid if occurrence is None else f"{self.uid}\n{occurrence.value.strip()[:40]}"
        self.recurs = occurrence is None and bool(self._first("RRULE") or self._first("RDATE"))
        self._summary = self._first("SUMMARY")
        summary = "" if self._summary is None else self._summary.text
        self._whole = on_one_line(summary) or self._described() or _UNTITLED
        self.title = cut_title(self._whole)

    def _described(self) -> str:
        description = self._first("DESCRIPTION")
        lines = description.text.strip().split("\n") if description else [""]
        return on_one_line(lines[0])

    def task(self, present: set[str]) -> PlannedTask:
        """Make the task. Raises NotACalendar with what is wrong in it."""
        made_ms = self._ms("CREATED")
        status, reason = self._status()
        ended_ms = self._ms("COMPLETED") if status in CLOSED else None
        category, labels = self._names()
        task = PlannedTask(
            key=self.key,
            line=self.line,
            title=self.title,
            made_ms=made_ms,
            changed_ms=self._ms("LAST-MODIFIED"),
            ended_ms=ended_ms,
            source=self.key,
            status=status,
            reason=reason,
            priority=self._priority(),
            due=self._due(),
            estimate_minutes=self._estimate(),
            language=self._language(),
            category=category,
            labels=labels,
            checklists=tuple(self._checklists()),
            links=tuple(self._links(present)),
            entries=tuple(self._entries(made_ms)),
        )
        # Only now is it known what has no place.
        kept = "\n".join(self._left(is_ended=ended_ms is not None))
        if not kept:
            return task
        more = entries_of(f"{self.key}/{ATTRIBUTES}", kept, made_ms)
        return replace(task, entries=(*task.entries, *more))

    # -- one property ---------------------------------------------------------------------------------

    def _first(self, name: str) -> Property | None:
        return next(self._all(name), None)

    def _all(self, name: str) -> Iterator[Property]:
        return (one for one in self._todo.properties if one.name == name)

    def _place(self, given: Property) -> Property:
        self._placed.add(given.line)
        return given

    def _moment(self, name: str) -> Moment | None:
        given = self._first(name)
        return None if given is None else self._times.moment(given)

    def _ms(self, name: str) -> int | None:
        moment = self._moment(name)
        try:
            return None if moment is None else moment.ms(self._zone)
        except (ValueError, OverflowError):
            given = self._first(name)
            raise NotACalendar(given.line if given else self.line, f"{name} is beyond the calendar") from None

    # -- what has a place -----------------------------------------------------------------------------

    def _status(self) -> tuple[str, str | None]:
        given = self._first("STATUS")
        written = "" if given is None else given.value.strip().upper()
        if given is None:
            return ("DONE" if self._first("COMPLETED") else "OPEN"), None
        if written not in STATUSES:
            raise NotACalendar(given.line, f"STATUS is {written[:40]!r}, not one of {', '.join(STATUSES)}")
        status, told = self._first(X_STATUS), self._first(X_REASON)
        reason = None if told is None else own.reason(self._place(told).text)
        if status and STATUSES[written] == "OPEN" and own.is_status(status.text, reason, _OWN_STATUSES):
            return self._place(status).text, reason
        # A status of ours that stands beside another one is older, and so is its reason.
        return STATUSES[written], None if status else reason

    def _priority(self) -> str | None:
        given = self._first("PRIORITY")
        if given is None:
            return None
        written = given.value.strip()
        if len(written) != 1 or written not in "0123456789":
            raise NotACalendar(given.line, f"PRIORITY is {written[:40]!r}, not one of 0 to 9")
        priority = PRIORITIES[int(written)]
        if priority is None or WRITTEN_PRIORITIES[priority] == int(written):
            self._place(given)
        return priority

    def _due(self) -> str | None:
        given, moment = self._first("DUE"), self._moment("DUE")
        if given is None or moment is None:
            return None
        if moment.at is None:
            self._place(given)
        return moment.day.isoformat()

    def _estimate(self) -> int | None:
        given = self._first(X_ESTIMATE)
        minutes = None if given is None else own.estimate(given.text.strip())
        if given is not None and minutes is not None:
            self._place(given)
        return minutes

    def _language(self) -> str | None:
        return own.language(self._summary.params.get("LANGUAGE", "")) if self._summary else None

    def _names(self) -> tuple[str | None, tuple[str, ...]]:
        """Return category and labels: all CATEGORIES are labels, but for the one that is said to be more."""
        given = self._first(X_CATEGORY)
        category = on_one_line(given.text) if given else ""
        labels: dict[str, None] = {}
        for one in self._all("CATEGORIES"):
            names = [on_one_line(name) for name in listed(one.value)]
            wanted = [name for name in names if name]
            if (
                all(len(name) <= NAME_CHARS_MAX for name in wanted)
                and len(labels) + len(wanted) <= LABELS_MAX
            ):
                if category in wanted:
                    wanted.remove(category)
                labels |= dict.fromkeys(wanted)
                self._place(one)
        if given is None or not 0 < len(category) <= NAME_CHARS_MAX:
            return None, tuple(labels)
        self._place(given)
        return category, tuple(labels)

    def _checklists(self) -> Iterator[PlannedChecklist]:
        for nth, given in enumerate(self._all(X_CHECKLIST), 1):
            lists = own.checklists(given.text, f"{self.key}/{nth}")
            if lists is not None:
                self._place(given)
                yield from lists

    def _links(self, present: set[str]) -> Iterator[PlannedLink]:
        seen: set[tuple[str, str, str]] = set()
        for given in self._all("RELATED-TO"):
            other, relation = given.text.strip(), given.params.get("RELTYPE", PARENT).upper()
            if other not in present or other == self.key:
                continue
            ends = _ends(self.key, other, relation)
            if ends is None:
                continue
            self._place(given)
            start, end, kind, type_ = ends
            if (start, end, kind) not in seen:
                seen.add((start, end, kind))
                yield PlannedLink(related_key(start, end, kind), start, end, type_)

    def _entries(self, made_ms: int | None) -> Iterator[PlannedEntry]:
        if self._summary:
            self._place(self._summary)
        if not fits_title(self._whole):
            yield from entries_of(f"{self.key}/summary", self._whole, made_ms)
        description = self._first("DESCRIPTION")
        if description and self._place(description).text.strip():
            at_ms = self._noted_ms(description, made_ms)
            yield from entries_of(f"{self.key}/description", description.text, at_ms)
        seen: dict[str, int] = {}
        for given in self._all("COMMENT"):
            at_ms = self._noted_ms(self._place(given), made_ms)
            at = "" if at_ms is None else utc_text(at_ms)
            seen[at] = seen.get(at, 0) + 1
            if given.text.strip():
                yield from entries_of(f"{self.key}/comment/{at}/{seen[at]}", given.text, at_ms)

    def _noted_ms(self, given: Property, made_ms: int | None) -> int | None:
        """Return when a note happened: what an export says beside it, else when the to-do was made."""
        at = given.params.get(X_AT)
        if at is None:
            return made_ms
        written = Property(given.line, X_AT, {}, at, given.whole)
        return self._times.moment(written).ms(self._zone)

    def _left(self, *, is_ended: bool) -> Iterator[str]:
        for given in self._todo.properties:
            is_placed = given.line in self._placed or given.name in _ALWAYS_PLACED
            if not (is_placed or (given.name == "COMPLETED" and is_ended)):
                yield self._in_utc(given) if "TZID" in given.params else given.whole

    def _in_utc(self, given: Property) -> str:
        """Write a time without its zone, which an export would have to describe."""
        try:
            moment = self._times.moment(given)
        except NotACalendar:
            return given.whole
        if moment.at is None:
            return given.whole
        return f"{given.name}:{moment.at.astimezone(UTC).isoformat()[:19].replace('-', '').replace(':', '')}Z"


def _ends(key: str, other: str, relation: str) -> tuple[str, str, str, str] | None:
    """Return from where to where a relation goes, its name in the link's key, and its type here."""
    if relation == PARENT:
        return key, other, PARENT, "basic"
    if relation == CHILD:
        return other, key, PARENT, "basic"
    if relation == DEPENDS:
        return other, key, DEPENDS, "blocks"
    return (key, other, relation, RELATIONS[relation]) if relation in RELATIONS else None


def related_key(start: str, end: str, kind: str) -> str:
    """Return the key of a link."""
    return f"{start}/related/{kind}/{end}"
