"""Reads the to-dos of an iCalendar file (RFC 5545) into a plan.

Never drops a property that says something of a to-do: what has no place in the journal is kept as text.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, Final, NamedTuple

from daemon.due_time import due_time_on
from daemon.formats.core import extension_fields
from daemon.formats.core.plan import (
    ImportFault,
    Plan,
    PlannedChecklist,
    PlannedEntry,
    PlannedLink,
    PlannedTask,
    Skipped,
    cut_title,
    describe_skipped,
    fits_title,
    joined_line,
    split_entry,
    text_fault,
    title_line,
    unreadable_plan,
    utc_iso,
    with_faults,
)
from daemon.formats.icalendar.content_lines import (
    Calendar,
    MalformedCalendar,
    Property,
    Todo,
    read_calendar,
    split_texts,
)
from daemon.formats.icalendar.date_times import CalendarMoment, CalendarTimes, hour_of_due, zone_named
from daemon.formats.icalendar.relations import CHILD, PARENT, link_key_in_file, relation_ends, relation_of
from daemon.formats.icalendar.series import RULE_NAMES, Recurrence, SeriesDates, read_duration, start_moment
from daemon.journal.fields.validation import CLOSED, NAME_CHARS_MAX
from daemon.journal.tasks import LABELS_MAX
from daemon.task_fields import TASK_FIELDS
from store.sentence import Sentence, sentence

FORMAT = "icalendar"

ATTRIBUTES = "attributes"
"""What ends the key of the entry with all that has no place of its own: properties, alarms and zones."""
STATUSES: Final = {
    "NEEDS-ACTION": "OPEN",
    "IN-PROCESS": "IN PROGRESS",
    "COMPLETED": "DONE",
    "CANCELLED": "REJECTED",
}
PRIORITIES: Final = {0: None, 1: "P0", 2: "P1", 3: "P1", 4: "P1", 5: "P2", 6: "P3", 7: "P3", 8: "P3", 9: "P3"}
WRITTEN_PRIORITIES: Final = {"P0": 1, "P1": 3, "P2": 5, "P3": 9}
X_STATUS, X_REASON, X_CATEGORY = "X-PLACET-STATUS", "X-PLACET-REASON", "X-PLACET-CATEGORY"
X_CHECKLIST, X_AT = "X-PLACET-CHECKLIST", "X-PLACET-AT"
SPELLED: Final = {
    f"X-PLACET-{field.exported_as.upper().replace('_', '-')}": field
    for field in TASK_FIELDS
    if field.exported_as and field.type != "language"
}
"""The fields that an export writes as properties of our own; a language is a parameter of the summary."""
_OWN_STATUSES = ("GROOMED", "BLOCKED", "ON HOLD")
_UID_CHARS_MAX = 1000
_UNTITLED = "(no summary)"
# Written anew by every program that touches the to-do, or read already.
_ALWAYS_PLACED = frozenset({"UID", "DTSTAMP", "CREATED", "LAST-MODIFIED", "STATUS"})
# The parameters that a property has in an export too; with others it is also kept as it is written.
_PLACED_PARAMS: Final = {
    "SUMMARY": {"LANGUAGE"},
    "DESCRIPTION": {X_AT},
    "COMMENT": {X_AT},
    "DUE": {"VALUE"},
    "DTSTART": {"VALUE"},
    "RELATED-TO": {"RELTYPE"},
}

_ALARM = sentence("ical-alarm", "only alarms of to-dos are kept, if each of their lines is a property")
_UNKNOWN_ZONE = sentence(
    "ical-unknown-zone", "a time zone that is not known here: a time in it is taken as your clock shows it"
)
_RULE = sentence(
    "ical-rule-not-followed", "its rule cannot be followed: it is due at its first date, and the rule is kept"
)
_OTHER = sentence("ical-other-component", "only to-dos (VTODO) are imported")


def parse(name: str, text: str, zone: tzinfo = UTC, now_ms: int | None = None) -> Plan:
    """Read a file; never raises, what cannot be read is in the plan's faults.

    `zone` is the person's: a time in UTC is due on the day that it is there. `now_ms` is the time for which
    the file is read: the date at which a recurring to-do is next depends on it.
    """
    del name  # to-dos have identities of their own, whatever the file is called
    if fault := text_fault(text):
        return unreadable_plan(FORMAT, fault)
    calendar = read_calendar(text.removeprefix("\ufeff"))
    times = CalendarTimes(zone, calendar.zones)
    today = None if now_ms is None else datetime.fromtimestamp(now_ms / 1000, zone).date()
    series = SeriesDates(times, today)
    todos: dict[str, _TodoReader] = {}
    faults = calendar.faults
    for todo in filter(lambda todo: todo.is_whole, calendar.todos):
        try:
            component = _TodoReader(todo, times, zone)
        except MalformedCalendar as error:
            faults.append(error.fault)
            continue
        first = todos.setdefault(component.key, component)
        if first is not component:
            faults.append(_uid_repeated(component, first))
    others = _Others(todos.keys(), _overrides(todos.values()), _parents(todos.values()))
    tasks: list[PlannedTask] = []
    for component in todos.values():
        try:
            tasks.append(component.task(others, series))
        except MalformedCalendar as error:
            faults.append(error.fault)
    zones = (describe_skipped(line, name, _UNKNOWN_ZONE) for name, line in times.unknown_zones.items())
    rules = (
        describe_skipped(todo.line, todo.title, _RULE) for todo in todos.values() if not todo.is_followed
    )
    plan = Plan(FORMAT, tuple(tasks), tuple(_skipped_components(calendar)), remarks=(*zones, *rules))
    return with_faults(plan, faults)


class _Others(NamedTuple):
    """What a to-do has to know of the file's others.

    These are their keys, by UID the dates that are their own, and by key those that call it their child.
    """

    keys: Collection[str]
    overridden: Mapping[str, Sequence[Property]]
    parents: Mapping[str, Sequence[str]]


def _overrides(todos: Iterable["_TodoReader"]) -> Mapping[str, Sequence[Property]]:
    overridden: dict[str, list[Property]] = {}
    for todo in todos:
        if todo.occurrence is not None:
            overridden.setdefault(todo.uid, []).append(todo.occurrence)
    return overridden


def _parents(todos: Iterable["_TodoReader"]) -> Mapping[str, Sequence[str]]:
    parents: dict[str, list[str]] = {}
    for todo in todos:
        for child in todo.named_children():
            parents.setdefault(child, []).append(todo.key)
    return parents


def _uid_repeated(todo: "_TodoReader", first: "_TodoReader") -> ImportFault:
    repeated = sentence(
        "ical-uid-repeated",
        "UID {uid!r} is used a second time, first on line {line}",
        uid=todo.key[:40],
        line=first.line,
    )
    return ImportFault(todo.line, repeated)


def _skipped_components(calendar: Calendar) -> Iterator[Skipped]:
    for kind, count in calendar.others.items():
        if kind != "VTIMEZONE":
            reason = _ALARM if kind == "VALARM" else _OTHER
            yield describe_skipped(calendar.first[kind], f"{count} {kind[:40]}", reason)


def _uid_fault(uid: str) -> Sentence:
    if not uid:
        return sentence("ical-no-uid", "the to-do has no UID")
    return sentence("ical-long-uid", "the to-do has a UID of {count} characters", count=len(uid))


class _TodoReader:
    """One to-do; `_placed` are its properties that have a place in the journal. Raises MalformedCalendar."""

    def __init__(self, todo: Todo, times: CalendarTimes, zone: tzinfo) -> None:
        self.line = todo.line
        self.is_followed = True
        self._todo = todo
        self._times = times
        self._zone = zone
        self._placed: set[int] = set()
        uid = self._first_property("UID")
        self.uid = "" if uid is None else uid.text.strip()
        if not self.uid or len(self.uid) > _UID_CHARS_MAX:
            raise MalformedCalendar(todo.line, _uid_fault(self.uid))
        self.occurrence = occurrence = self._first_property("RECURRENCE-ID")
        self.key = self.uid if occurrence is None else f"{self.uid}\n{occurrence.value.strip()[:40]}"
        # An occurrence with a date of its own is one to-do, whatever rule it came from.
        self._recurs = occurrence is None and any(map(self._first_property, RULE_NAMES))
        self._summary = self._first_property("SUMMARY")
        summary = "" if self._summary is None else self._summary.text
        self._whole = title_line(summary) or self._first_description_line() or _UNTITLED
        self.title = cut_title(self._whole)

    def _first_description_line(self) -> str:
        description = self._first_property("DESCRIPTION")
        lines = description.text.strip().split("\n") if description else [""]
        return joined_line(lines[0])

    def task(self, others: _Others, series: SeriesDates) -> PlannedTask:
        """Make the task. Raises MalformedCalendar with what is wrong in it."""
        made_ms = self._ms("CREATED")
        status, reason = self._status()
        due, is_over = self._due(series, others.overridden.get(self.uid, ()))
        if is_over and status == "OPEN":
            status = "DONE"
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
            due=due,
            **self._with_hour(due, self._spelled_values()) | self._start(),
            language=self._language(),
            category=category,
            labels=labels,
            checklists=tuple(self._checklists()),
            links=tuple(self._links(others)),
            entries=tuple(self._entries(made_ms)),
            due_moves=self._recurs,
        )
        # Only now is it known what has no place.
        key = f"{self.key}/{ATTRIBUTES}"
        text = "\n".join(self._unplaced_lines(is_done=ended_ms is not None and status == "DONE"))
        if not text:
            return replace(task, gone=(key,))
        more = split_entry(key, text, made_ms)
        return replace(task, entries=(*task.entries, *more))

    # -- one property ---------------------------------------------------------------------------------

    def _first_property(self, name: str) -> Property | None:
        return next(self._properties(name), None)

    def _properties(self, name: str) -> Iterator[Property]:
        return (property_ for property_ in self._todo.properties if property_.name == name)

    def _place(self, property_: Property) -> Property:
        self._placed.add(property_.line)
        return property_

    def _moment(self, name: str) -> CalendarMoment | None:
        property_ = self._first_property(name)
        return None if property_ is None else self._times.parse(property_)

    def _ms(self, name: str) -> int | None:
        moment = self._moment(name)
        try:
            return None if moment is None else moment.ms(self._zone)
        except (ValueError, OverflowError):
            property_ = self._first_property(name)
            beyond = sentence("ical-beyond-calendar", "{property} is beyond the calendar", property=name)
            raise MalformedCalendar(property_.line if property_ else self.line, beyond) from None

    # -- what has a place -----------------------------------------------------------------------------

    def _status(self) -> tuple[str, str | None]:
        property_ = self._first_property("STATUS")
        value = "" if property_ is None else property_.value.strip().upper()
        if property_ is None:
            return ("DONE" if self._first_property("COMPLETED") else "OPEN"), None
        if value not in STATUSES:
            unknown = sentence(
                "ical-unknown-status",
                "STATUS is {seen!r}, not one of {choices}",
                seen=value[:40],
                choices=", ".join(STATUSES),
            )
            raise MalformedCalendar(property_.line, unknown)
        status, reported = self._first_property(X_STATUS), self._first_property(X_REASON)
        reason = None if reported is None else extension_fields.read_reason(self._place(reported).text)
        if (
            status
            and STATUSES[value] == "OPEN"
            and extension_fields.is_status_allowed(status.text, reason, _OWN_STATUSES)
        ):
            return self._place(status).text, reason
        # If our status and the format's own differ, ours is older, and so is its reason.
        return STATUSES[value], None if status else reason

    def _priority(self) -> str | None:
        property_ = self._first_property("PRIORITY")
        if property_ is None:
            return None
        value = property_.value.strip()
        if len(value) != 1 or value not in "0123456789":
            unknown = sentence(
                "ical-unknown-priority", "PRIORITY is {seen!r}, not one of 0 to 9", seen=value[:40]
            )
            raise MalformedCalendar(property_.line, unknown)
        priority = PRIORITIES[int(value)]
        # A number that the writer would not write is also kept as text, so that an export can return it.
        if priority is None or WRITTEN_PRIORITIES[priority] == int(value):
            self._place(property_)
        return priority

    def _due(self, series: SeriesDates, overridden: Sequence[Property]) -> tuple[str | None, bool]:
        """Return the day on which the to-do is due, and whether nothing is left of a series."""
        property_, due = self._first_property("DUE"), self._moment("DUE")
        if self._recurs:
            return self._next_due(series, due, overridden)
        if property_ is not None and due is not None:
            # A due date has no time of day, so a property that has one is also kept as text. So is one beside
            # a start and a length, which say another day.
            lengths = [self._first_property(name) for name in ("DTSTART", "DURATION")]
            if due.at is None and not all(lengths):
                self._place(property_)
            return due.day.isoformat(), False
        length = self._length(None, None)
        start = None if length is None else self._moment("DTSTART")
        if start is None or length is None:
            return None, False
        day = series.day(start, length)
        return (None if day is None else day.isoformat()), False

    def _with_hour(self, due: str | None, values: dict[str, Any]) -> dict[str, Any]:
        """Return values with the hour that DUE says; our own property says its zone if both agree."""
        moment, property_ = self._moment("DUE"), self._first_property("DUE")
        own = due_time_on(due, values.get("due_time"))
        if property_ is not None and moment is not None and not self._recurs:
            own = hour_of_due(property_, moment, own, self._zone)
            # Of another form, such as one with a zone, the text is kept too.
            if own is not None and moment.is_whole_minute_in_utc and not self._first_property("DURATION"):
                self._place(property_)
        return values | {"due_time": None if own is None else own.text()}

    def _start(self) -> dict[str, str]:
        """Return the day of the start, if DTSTART says nothing else."""
        moment = start_moment(self._todo.properties, self._times)
        if moment is None:
            return {}
        # A start has no time of day, so a property that has one is also kept as text. So is one beside a due
        # date that has: both are of one kind.
        due = self._moment("DUE")
        if moment.at is None and (due is None or due.at is None):
            self._placed |= {property_.line for property_ in self._properties("DTSTART")}
        return {"start": moment.day.isoformat()}

    def _next_due(
        self, series: SeriesDates, due: CalendarMoment | None, overridden: Sequence[Property]
    ) -> tuple[str | None, bool]:
        start = self._moment("DTSTART")
        first = start or due
        if first is None:
            return None, False
        length = self._length(start, due) or timedelta()
        rules, dates, exceptions, excepted_rules = (
            tuple(self._properties(name)) for name in (*RULE_NAMES, "EXDATE", "EXRULE")
        )
        next_date = series.next_date(
            first, length, Recurrence(rules, dates, exceptions, overridden, excepted_rules)
        )
        if next_date is None:
            return None, False
        self.is_followed = next_date.is_followed
        return next_date.due.isoformat(), next_date.is_over

    def _length(self, start: CalendarMoment | None, due: CalendarMoment | None) -> timedelta | None:
        """Return how long after its start the to-do is due, None if the file does not tell."""
        if start is not None and due is not None:
            return due.wall - start.wall
        property_ = self._first_property("DURATION")
        return None if property_ is None else read_duration(property_)

    def _spelled_values(self) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name, field in SPELLED.items():
            property_ = self._first_property(name)
            if property_ is None:
                continue
            values[field.name] = extension_fields.read_value(field.type, property_.text.strip())
            if values[field.name] is not None:
                self._place(property_)
        return values

    def _language(self) -> str | None:
        summary = self._summary
        return extension_fields.read_language(summary.params.get("LANGUAGE", "")) if summary else None

    def _names(self) -> tuple[str | None, tuple[str, ...]]:
        """Return category and labels: all CATEGORIES are labels, except the one marked as the category."""
        property_ = self._first_property(X_CATEGORY)
        category = joined_line(property_.text) if property_ else ""
        labels: dict[str, None] = {}
        for line in self._properties("CATEGORIES"):
            names = [joined_line(name) for name in split_texts(line.value)]
            wanted = [name for name in names if name]
            if (
                all(len(name) <= NAME_CHARS_MAX for name in wanted)
                and len(labels) + len(wanted) <= LABELS_MAX
            ):
                if category in wanted:
                    wanted.remove(category)
                labels |= dict.fromkeys(wanted)
                self._place(line)
        if property_ is None or not 0 < len(category) <= NAME_CHARS_MAX:
            return None, tuple(labels)
        self._place(property_)
        return category, tuple(labels)

    def _checklists(self) -> Iterator[PlannedChecklist]:
        for nth, property_ in enumerate(self._properties(X_CHECKLIST), 1):
            lists = extension_fields.read_checklists(property_.text, f"{self.key}/{nth}")
            if lists is not None:
                self._place(property_)
                yield from lists

    def named_children(self) -> Iterator[str]:
        """Yield the UIDs that it names as those of its children."""
        for property_ in self._properties("RELATED-TO"):
            if relation_of(property_) == CHILD:
                yield property_.text.strip()

    def _links(self, others: _Others) -> Iterator[PlannedLink]:
        """Yield its links; that with a child is the child's, whichever of the two names it."""
        ends: dict[tuple[str, str, str], str] = {}
        for property_ in self._properties("RELATED-TO"):
            other, relation = property_.text.strip(), relation_of(property_)
            if other not in others.keys or other == self.key:
                continue
            named = relation_ends(self.key, other, relation)
            if named:
                ends[named[:3]] = named[3]
            if named or relation == CHILD:
                self._place(property_)
        for parent in others.parents.get(self.key, ()):
            if parent != self.key:
                ends[self.key, parent, PARENT] = "basic"
        for (start, end, kind), type_ in ends.items():
            yield PlannedLink(link_key_in_file(start, end, kind), start, end, type_)

    def _entries(self, made_ms: int | None) -> Iterator[PlannedEntry]:
        if self._summary:
            self._place(self._summary)
        if not fits_title(self._whole):
            yield from split_entry(f"{self.key}/summary", self._whole, made_ms)
        descriptions = list(self._properties("DESCRIPTION"))
        if descriptions and self._place(descriptions[0]).text.strip():
            at_ms = self._noted_ms(descriptions[0], made_ms)
            yield from split_entry(f"{self.key}/description", descriptions[0].text, at_ms)
        key_counts: dict[str, int] = {}
        # A to-do has one summary and one description: what it says beyond them are words all the same.
        further = (*list(self._properties("SUMMARY"))[1:], *descriptions[1:])
        for property_ in (*self._properties("COMMENT"), *further):
            at_ms = self._noted_ms(self._place(property_), made_ms)
            moment = "" if at_ms is None else utc_iso(at_ms)
            key_counts[moment] = key_counts.get(moment, 0) + 1
            if property_.text.strip():
                yield from split_entry(
                    comment_key(self.key, moment, key_counts[moment]), property_.text, at_ms
                )

    def _noted_ms(self, property_: Property, made_ms: int | None) -> int | None:
        """Return when a note happened: the time in our export, else the time when the to-do was made."""
        noted_at = property_.params.get(X_AT)
        if noted_at is None:
            return made_ms
        written_property_ = Property(property_.line, X_AT, {}, noted_at, property_.whole)
        return self._times.parse(written_property_).ms(self._zone)

    def _unplaced_lines(self, *, is_done: bool) -> Iterator[str]:
        zones: dict[str, str] = {}
        for property_ in self._todo.properties:
            name = property_.name
            is_placed = property_.line in self._placed or name in _ALWAYS_PLACED
            is_further = name == "SUMMARY" and property_ is not self._summary
            params = set[str]() if is_further else _PLACED_PARAMS.get(name, set())
            is_whole = name in _ALWAYS_PLACED or property_.params.keys() <= params
            if (is_placed and is_whole) or (name == "COMPLETED" and is_done):
                continue
            yield property_.whole
            zone = property_.params.get("TZID", "").strip()
            if zone and zone_named(zone) is None:
                zones[zone] = self._times.description_of(zone)
        yield from self._todo.alarms
        # No other program knows this zone by its name alone.
        yield from (text.replace("\r\n", "\n") for text in zones.values() if text)


def comment_key(key: str, moment: str, nth: int) -> str:
    """Return the key of the nth comment of a to-do that was written at a moment, "" if none is told."""
    return f"{key}/comment/{moment}/{nth}"
