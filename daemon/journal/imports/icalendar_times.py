"""Days and times of iCalendar, in whatever zone they are written.

Never guesses a zone: one that nobody knows is said.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, tzinfo
from zoneinfo import ZoneInfo

from daemon.journal.imports.icalendar_lines import NotACalendar, Property

_DATE = re.compile(r"(\d{4})(\d\d)(\d\d)", re.ASCII)
_TIME = re.compile(r"(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(Z?)", re.ASCII)
_NAMED = re.compile(r"^TZID(?:;[^:]*)?:(.*)$", re.MULTILINE)
_RULE = re.compile(r"^RRULE(?:;[^:]*)?:(.*)$", re.MULTILINE | re.IGNORECASE)
# What a zone that a file describes itself may take: its rules are run through, year by year.
_ZONE_CHARS_MAX = 32 * 1024
_ZONES_MAX = 200
_SHOWN_CHARS = 60


@dataclass(frozen=True, slots=True)
class Moment:
    """A day where the person is; `at` is the point in time, None where only the day is said."""

    day: date
    at: datetime | None

    def ms(self, zone: tzinfo) -> int:
        """Return Unix time; a day counts from its beginning."""
        at = self.at or datetime.combine(self.day, time(), zone)
        return int(at.timestamp()) * 1000


class Times:
    """Reads the times of one file; `zone` is the person's."""

    def __init__(self, zone: tzinfo, described: Iterable[str]) -> None:
        self._zone = zone
        self._described = {found[1].strip(): text for text in described if (found := _NAMED.search(text))}
        self._known: dict[str, tzinfo | None] = {}

    def moment(self, given: Property) -> Moment:
        """Read a DATE or a DATE-TIME. Raises NotACalendar."""
        value = given.value.strip()
        try:
            if found := _DATE.fullmatch(value):
                return Moment(date(*map(int, found.groups())), None)
            if found := _TIME.fullmatch(value):
                year, month, day, hour, minute, second = map(int, found.groups()[:6])
                # A leap second has no number of its own in Python.
                zone = UTC if found[7] else self._named(given)
                at = datetime(year, month, day, hour, minute, min(second, 59), tzinfo=zone)
                at.timestamp()
                return Moment(at.astimezone(self._zone).date(), at)
        except (ValueError, OverflowError):
            pass  # said below, like any other text that is no time
        raise NotACalendar(given.line, f"{given.name} is {value[:_SHOWN_CHARS]!r}, not a date or time")

    def _named(self, given: Property) -> tzinfo:
        name = given.params.get("TZID", "").strip()
        if not name:
            return self._zone  # a time without a zone is the same on every clock
        if name not in self._known and len(self._known) < _ZONES_MAX:
            self._known[name] = _found(name) or _from_description(self._described.get(name, ""))
        zone = self._known.get(name)
        if zone is None:
            raise NotACalendar(
                given.line, f"{given.name} is in the time zone {name[:_SHOWN_CHARS]!r}, unknown here"
            )
        return zone


def _found(name: str) -> tzinfo | None:
    """Return a zone by its own name, as Windows calls it, or as some programs put a path before it."""
    from icalendar.timezone.windows_to_olson import WINDOWS_TO_OLSON

    paths = name.split("/")
    names = [name, WINDOWS_TO_OLSON.get(name, ""), "/".join(paths[-2:]), "/".join(paths[-3:])]
    return next((zone for one in names if one and (zone := _by_name(one))), None)


def _by_name(name: str) -> tzinfo | None:
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, LookupError):  # also what is no name of a file at all
        return None


def _from_description(text: str) -> tzinfo | None:
    """Return the zone that a VTIMEZONE describes; only rules that run yearly are run through."""
    rules = [rule.upper() for rule in _RULE.findall(text)]
    if not text or len(text) > _ZONE_CHARS_MAX or any("FREQ=YEARLY" not in rule for rule in rules):
        return None
    if any(part in rule for rule in rules for part in ("BYSECOND", "BYMINUTE", "BYHOUR", "BYYEARDAY")):
        return None
    from icalendar import Timezone

    try:
        described = Timezone.from_ical(text)
        return described.to_tz() if isinstance(described, Timezone) else None
    except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError):
        return None  # the library has no error of its own for what cannot be a zone
