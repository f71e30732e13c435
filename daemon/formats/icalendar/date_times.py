"""Days and times of iCalendar, in whatever zone they are written.

Never guesses a zone: one that nobody knows is said.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, tzinfo
from zoneinfo import ZoneInfo

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
    """A day in the person's time zone; `at` is the point in time, None if only the day is given."""

    day: date
    at: datetime | None

    def ms(self, zone: tzinfo) -> int:
        """Return Unix time; a day counts from its beginning."""
        moment = self.at or datetime.combine(self.day, time(), zone)
        return int(moment.timestamp()) * 1000


class CalendarTimes:
    """Reads the times of one file; `zone` is the person's."""

    def __init__(self, zone: tzinfo, described: Iterable[str]) -> None:
        self._zone = zone
        self._described = {match[1].strip(): text for text in described if (match := _NAMED.search(text))}
        self._known: dict[str, tzinfo | DescribedZone | None] = {}

    def parse(self, property_: Property) -> CalendarMoment:
        """Read a DATE or a DATE-TIME. Raises MalformedCalendar."""
        value = property_.value.strip()
        try:
            if match := _DATE.fullmatch(value):
                return CalendarMoment(date(*map(int, match.groups())), None)
            if match := _TIME.fullmatch(value):
                year, month, day, hour, minute, second = map(int, match.groups()[:6])
                # A leap second has no number of its own in Python.
                wall = datetime(year, month, day, hour, minute, min(second, 59), tzinfo=UTC)
                zone = UTC if match[7] else self._zone_of(property_)
                moment = wall.replace(
                    tzinfo=zone.offset_at(wall) if isinstance(zone, DescribedZone) else zone
                )
                moment.timestamp()
                return CalendarMoment(moment.astimezone(self._zone).date(), moment)
        except (ValueError, OverflowError):
            pass  # said below, like any other text that is no time
        not_a_time = sentence(
            "ical-not-a-time",
            "{property} is {seen!r}, not a date or time",
            property=property_.name[:_SHOWN_CHARS],
            seen=value[:_SHOWN_CHARS],
        )
        raise MalformedCalendar(property_.line, not_a_time)

    def _zone_of(self, property_: Property) -> tzinfo | DescribedZone:
        name = property_.params.get("TZID", "").strip()
        if not name:
            return self._zone  # a time without a zone is the same on every clock
        if name not in self._known and len(self._known) < _ZONES_MAX:
            self._known[name] = _zone_named(name) or _from_description(self._described.get(name, ""))
        zone = self._known.get(name)
        if zone is None:
            unknown = sentence(
                "ical-unknown-zone",
                "{property} is in the time zone {zone!r}, unknown here",
                property=property_.name[:_SHOWN_CHARS],
                zone=name[:_SHOWN_CHARS],
            )
            raise MalformedCalendar(property_.line, unknown)
        return zone


def _zone_named(name: str) -> tzinfo | None:
    """Return a zone by its own name, as Windows calls it, or as some programs put a path before it."""
    from icalendar.timezone.windows_to_olson import WINDOWS_TO_OLSON

    paths = name.split("/")
    names = [name, WINDOWS_TO_OLSON.get(name, ""), "/".join(paths[-2:]), "/".join(paths[-3:])]
    return next((zone for text in names if text and (zone := _by_name(text))), None)


def _by_name(name: str) -> tzinfo | None:
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
