"""What an import kept of a to-do as it was written: properties, alarms and zones, read back for an export.

Never reads back what a person wrote: only text that an import gave, word for word, is another program's data.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, tzinfo
from functools import cache

from daemon.due_time import read_due_time
from daemon.formats.core.exported_tasks import ExportedTask
from daemon.formats.icalendar.content_lines import ZONE, MalformedCalendar, Property, read_calendar
from daemon.formats.icalendar.date_times import CalendarMoment, CalendarTimes, name_of_zone, zone_named
from daemon.formats.icalendar.reader import ATTRIBUTES, FORMAT, SPELLED, parse
from daemon.formats.icalendar.series import RULE_NAMES, SeriesDates, read_duration, start_moment

_BEGIN, _END = "BEGIN:VCALENDAR\nBEGIN:VTODO\n", "\nEND:VTODO\nEND:VCALENDAR\n"


@dataclass(frozen=True, slots=True)
class KeptLines:
    """The lines kept of one task; `says_due`: they mean the day on which it is due, or how it moves.

    `overtaken` are the names of those that mean a value which the task has no longer. `start` is the day on
    which the task begins by them.
    """

    properties: tuple[Property, ...] = ()
    alarms: tuple[str, ...] = ()
    zones: tuple[str, ...] = ()
    says_due: bool = False
    overtaken: frozenset[str] = frozenset()
    start: str | None = None

    @classmethod
    def of_task(cls, task: ExportedTask, zone: tzinfo) -> "KeptLines":
        """Return what is kept of a task: nothing if a person changed it, or if it is not one to-do's."""
        notes = task.kept_notes(FORMAT, f"{task.id_in_format(FORMAT)}/{ATTRIBUTES}")
        text = "".join(note.text for note in notes)
        if not text or text[0].isspace():
            return cls()
        calendar = read_calendar(f"{_BEGIN}{text}{_END}")
        if calendar.faults or len(calendar.todos) != 1 or calendar.others.keys() - {ZONE}:
            return cls()
        todo, zones = calendar.todos[0], tuple(calendar.zones)
        properties = tuple(todo.properties)
        times = CalendarTimes(zone, zones)
        says_due = task.due is not None and _says_due(task, properties, times)
        overtaken = set(_overtaken(task, text, {line.name for line in properties}, zone))
        moment = start_moment(properties, times)
        start = None if moment is None else moment.day.isoformat()
        # Without the length or the rule that it began, it would be read as a start.
        is_start_lost = bool(start) and start != task.start and task.is_start_written
        if is_start_lost or (moment is None and "DUE" in overtaken):
            overtaken.add("DTSTART")
        return cls(properties, tuple(todo.alarms), zones, says_due, frozenset(overtaken), start)

    @property
    def takes_start(self) -> bool:
        """Report whether a day may stand in DTSTART beside them: it says no length, and no time of day."""
        others = (*RULE_NAMES, "DURATION", "RECURRENCE-ID", "DUE")
        is_free = not self.has("DTSTART") or (self.start is not None and "DTSTART" in self.overtaken)
        return is_free and not any(map(self.has, others))

    def has(self, name: str) -> bool:
        """Report whether a property is among them."""
        return any(property_.name == name for property_ in self.properties)


def _overtaken(task: ExportedTask, text: str, names: set[str], zone: tzinfo) -> Iterator[str]:
    """Yield the names of lines from which an import would read what the task has no longer."""
    lacking = {name: field.name for name, field in SPELLED.items() if not getattr(task, field.name)}
    is_due_lost = task.due is None and not names.isdisjoint(("DTSTART", "DUE"))
    if not is_due_lost and names.isdisjoint(lacking):
        return
    plan = parse("", f"{_BEGIN}UID:x\n{text}{_END}", zone)
    for task_read in plan.tasks:
        if is_due_lost and task_read.due is not None:
            # A length alone says nothing of the day.
            yield from ("DUE", *RULE_NAMES, *(["DURATION"] if "DTSTART" in names else []))
        yield from (name for name, field in lacking.items() if getattr(task_read, field) is not None)


def _says_due(task: ExportedTask, properties: tuple[Property, ...], times: CalendarTimes) -> bool:
    first = {property_.name: property_ for property_ in reversed(properties)}
    dated = [first[name] for name in ("DTSTART", "DUE") if name in first]
    try:
        if "RECURRENCE-ID" not in first and any(name in first for name in RULE_NAMES):
            # Which of its dates is next depends on the day of the import.
            return bool(dated) and task.is_due_imported
        if "DUE" in first:
            moment = times.parse(first["DUE"])
            return moment.day.isoformat() == task.due and _says_hour(task, moment, times.zone)
        length = read_duration(first["DURATION"]) if "DURATION" in first else None
        if not dated or length is None:
            return False
        day = SeriesDates(times, None).day(times.parse(dated[0]), length)
    except MalformedCalendar:
        return False
    return day is not None and day.isoformat() == task.due


def _says_hour(task: ExportedTask, moment: CalendarMoment, zone: tzinfo) -> bool:
    """Report whether a due moment says the hour of a task; one that an older version imported has none."""
    hour = read_due_time(task.due_time)
    if hour is None:
        return moment.at is None or not task.is_hour_written
    return moment.at is not None and moment.at.astimezone(UTC).replace(second=0) == hour.moment(zone)


class ZoneWriter:
    """Describes each zone that kept times are in, once in a file, before the first to-do that needs it."""

    def __init__(self) -> None:
        self._written: set[str] = set()

    def new_zones(self, kept: KeptLines) -> Iterator[str]:
        """Yield the zones of a to-do that no to-do before it needed."""
        described = {name: text for text in kept.zones if (name := name_of_zone(text))}
        names = [line.params.get("TZID", "").strip() for line in kept.properties]
        for name in dict.fromkeys(filter(None, names)):
            if name not in self._written and (text := described.get(name) or _description(name)):
                self._written.add(name)
                yield text


@cache
def _description(name: str) -> str:
    """Describe a zone that is known by its name, "" if it is not."""
    zone = zone_named(name)
    if zone is None:
        return ""
    from icalendar import Timezone

    described: bytes = Timezone.from_tzinfo(zone, name).to_ical()
    return described.decode().replace("\r\n ", "")
