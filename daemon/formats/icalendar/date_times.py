"""Days and times of iCalendar, in whatever zone they are written.

Never takes one zone for another: a time in one that nobody knows is that of the person's clock, and said.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, tzinfo
from zoneinfo import ZoneInfo

from daemon.due_time import DueTime, hour_of_moment
from daemon.formats.icalendar.content_lines import MalformedCalendar, Property
from daemon.formats.icalendar.described_zones import DescribedZone, UnusableZone
from store.sentence import sentence

_DATE = re.compile(r"(\d{4})(\d\d)(\d\d)", re.ASCII)
_TIME = re.compile(r"(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(Z?)", re.ASCII)
_NAMED = re.compile(r"^TZID(?:;[^:]*)?:(.*)$", re.MULTILINE)
_ZONES_MAX = 200
_SHOWN_CHARS = 60


@dataclass(frozen=True, slots=True)
class CalendarMoment:
    """A day as who wrote it saw it; `at` is the point in time, None if only the day is given.

    `wall` is what the clock showed that it was written by, without its zone. A time in UTC names no clock:
    its day is the one that it is where the person is.
    """

    day: date
    at: datetime | None
    wall: datetime
    is_utc: bool = False

    @property
    def is_whole_minute_in_utc(self) -> bool:
        """Report whether an export would write it so."""
        return self.is_utc and self.at is not None and not self.at.second

    def ms(self, zone: tzinfo) -> int:
        """Return Unix time; a day counts from its beginning."""
        moment = self.at or datetime.combine(self.day, time(), zone)
        return int(moment.timestamp()) * 1000


class CalendarTimes:
    """Reads the times of one file; `zone` is the person's.

    `unknown_zones` are names of zones that nobody knows, each with the first line that has it.
    """

    def __init__(self, zone: tzinfo, described: Iterable[str]) -> None:
        self.zone = zone
        self._described = {name: text for text in described if (name := name_of_zone(text))}
        self._known: dict[str, tzinfo | DescribedZone | None] = {}
        self.unknown_zones: dict[str, int] = {}

    def parse(self, property_: Property) -> CalendarMoment:
        """Read a DATE or a DATE-TIME. Raises MalformedCalendar."""
        value = property_.value.strip()
        try:
            if match := _DATE.fullmatch(value):
                day = date(*map(int, match.groups()))
                return CalendarMoment(day, None, datetime.combine(day, time()))
            if match := _TIME.fullmatch(value):
                year, month, number, hour, minute, second = map(int, match.groups()[:6])
                # A leap second has no number of its own in Python.
                wall = datetime(year, month, number, hour, minute, min(second, 59), tzinfo=UTC)
                zone = UTC if match[7] else self._zone_of(property_)
                moment = wall.replace(
                    tzinfo=zone.offset_at(wall) if isinstance(zone, DescribedZone) else zone
                )
                moment.timestamp()
                shown = wall.replace(tzinfo=None)
                day = self.local_day(shown) if match[7] else wall.date()
                return CalendarMoment(day, moment, shown, is_utc=bool(match[7]))
        except (ValueError, OverflowError):
            pass  # said below, like any other text that is no time
        not_a_time = sentence(
            "ical-not-a-time",
            "{property} is {seen!r}, not a date or time",
            property=property_.name[:_SHOWN_CHARS],
            seen=value[:_SHOWN_CHARS],
        )
        raise MalformedCalendar(property_.line, not_a_time)

    def description_of(self, name: str) -> str:
        """Return how the file describes a zone, "" if it does not."""
        return self._described.get(name, "")

    def local_day(self, wall: datetime) -> date:
        """Return the day that a time in UTC is where the person is."""
        return wall.replace(tzinfo=UTC).astimezone(self.zone).date()

    def _zone_of(self, property_: Property) -> tzinfo | DescribedZone:
        name = property_.params.get("TZID", "").strip()
        if not name:
            return self.zone  # a time without a zone is the same on every clock
        if name not in self._known and len(self._known) < _ZONES_MAX:
            self._known[name] = zone_named(name) or _from_description(self._described.get(name, ""))
        zone = self._known.get(name)
        if zone is None:
            # The day that its author saw is known nevertheless: it is as it is written.
            self.unknown_zones.setdefault(name[:_SHOWN_CHARS], property_.line)
            return self.zone
        return zone


def hour_of_due(
    property_: Property, moment: CalendarMoment, own: DueTime | None, zone: tzinfo
) -> DueTime | None:
    """Return the hour that a due moment says: `own` if it is that, else one of its zone, or of `zone`."""
    if moment.at is None or (
        own is not None and own.moment(zone) == moment.at.astimezone(UTC).replace(second=0)
    ):
        return own
    named = zone_named(property_.params.get("TZID", "").strip())
    return hour_of_moment(moment.day, moment.at, named or zone)


def name_of_zone(description: str) -> str:
    """Return what a VTIMEZONE is called, "" if it has no name."""
    match = _NAMED.search(description)
    return match[1].strip() if match else ""


def zone_named(name: str) -> ZoneInfo | None:
    """Return a zone by its own name, as Windows calls it, or as some programs put a path before it."""
    from icalendar.timezone.windows_to_olson import WINDOWS_TO_OLSON

    paths = name.split("/")
    names = [name, WINDOWS_TO_OLSON.get(name, ""), "/".join(paths[-2:]), "/".join(paths[-3:])]
    return next((zone for text in names if text and (zone := _by_name(text))), None)


def _by_name(name: str) -> ZoneInfo | None:
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, LookupError):  # also what is no name of a file at all
        return None


def _from_description(text: str) -> DescribedZone | None:
    """Return the zone that a VTIMEZONE describes; None if it describes none that can be used."""
    try:
        return DescribedZone(text)
    except UnusableZone:
        return None
