"""Time zones that a calendar file describes itself (VTIMEZONE of RFC 5545).

Never keeps anything between files, and never runs through the years of a rule.
"""

import calendar
import re
from bisect import bisect_right
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Final

TEXT_CHARS_MAX: Final = 32 * 1024
RULES_MAX: Final = 16
"""How many rules a zone may have in all: a time is compared with each of them."""

_WEEKDAYS: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_TIME = re.compile(r"(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(Z?)", re.ASCII)
_OFFSET = re.compile(r"([+-])(\d\d)(\d\d)(\d\d)?", re.ASCII)
_BY_DAY = re.compile(r"([+-]?[1-4])?(MO|TU|WE|TH|FR|SA|SU)", re.ASCII)
_CALENDARS = range(2000, 2028)
"""Years that begin on every weekday, both leap years and others."""
_RULE_KEYS = frozenset({"FREQ", "INTERVAL", "WKST", "UNTIL", "BYMONTH", "BYDAY", "BYMONTHDAY"})


class UnusableZone(Exception):
    """The description is malformed, or it has rules that no zone needs."""


@dataclass(frozen=True, slots=True)
class _YearlyRule:
    """One change of offset per year, on one day that the rule names.

    `start` is the first change, and none is after `until`. Without `weekday` (0 is Monday), the change is on
    the first of `days` that the month has. With it, it is on the `ordinal`-th such weekday of the month (-1
    is the last), or on the first one among `days` if there is no `ordinal`.
    """

    start: datetime
    until: datetime | None
    month: int
    weekday: int | None
    ordinal: int | None
    days: tuple[int, ...]

    def latest(self, wall: datetime) -> datetime | None:
        """Return the last change that is not after `wall`, both on the clock from before the change."""
        limit = wall if self.until is None else min(wall, self.until)
        for year in (limit.year, limit.year - 1):
            if year >= self.start.year and (day := self.day_in(year)) is not None:
                change = self.start.replace(year=year, month=self.month, day=day)
                if self.start <= change <= limit:
                    return change
        return self.start if self.start <= limit else None

    def day_in(self, year: int) -> int | None:
        """Return the day of the month on which the change is in a year, None if there is none."""
        first_weekday, days = calendar.monthrange(year, self.month)
        if self.weekday is None:
            candidates = [day for day in self.days if day <= days]
        else:
            first = 1 + (self.weekday - first_weekday) % 7
            candidates = list(range(first, days + 1, 7))
            if self.ordinal is not None:
                place = self.ordinal - (self.ordinal > 0)
                candidates = candidates[place : place + 1 or None]
            else:
                candidates = [day for day in candidates if day in self.days]
        return candidates[0] if candidates else None


@dataclass(slots=True)
class _Part:
    """A STANDARD or DAYLIGHT part: the offset before and after, its single changes, and its rules."""

    before: timedelta
    after: timedelta
    single: list[datetime] = field(default_factory=list)
    rules: list[_YearlyRule] = field(default_factory=list)

    def latest(self, wall: datetime) -> datetime | None:
        place = bisect_right(self.single, wall)
        changes = [rule.latest(wall) for rule in self.rules]
        changes.append(self.single[place - 1] if place else None)
        return max((change for change in changes if change is not None), default=None)


class DescribedZone:
    """A zone as one file describes it. It answers one question: the offset at a time on its clocks."""

    def __init__(self, text: str) -> None:
        """Read the lines of a VTIMEZONE, unfolded. Raises UnusableZone."""
        if len(text) > TEXT_CHARS_MAX:
            raise UnusableZone
        try:
            self._parts = list(_parts(text))
        except (ValueError, KeyError) as fault:
            raise UnusableZone from fault
        if not self._parts or sum(len(part.rules) for part in self._parts) > RULES_MAX:
            raise UnusableZone
        first = min(self._parts, key=_first_change)
        self._earliest = first.before

    def offset_at(self, wall: datetime) -> tzinfo:
        """Return the offset of a time on this zone's clocks, as a fixed zone.

        Before the first change the zone has the offset from which that change leads away.
        """
        offset, last = self._earliest, None
        for part in self._parts:
            change = part.latest(wall)
            if change is not None and (last is None or change >= last):
                offset, last = part.after, change
        return timezone(offset)


def _first_change(part: _Part) -> datetime:
    """Return when a part takes effect for the first time. Each part has a rule or a single change."""
    return min([*part.single[:1], *(rule.start for rule in part.rules)])


def _parts(text: str) -> list[_Part]:
    """Read the parts of a description. Raises ValueError or KeyError."""
    parts: list[_Part] = []
    lines: list[tuple[str, str]] | None = None
    for line in text.split("\r\n"):
        name, _, value = line.partition(":")
        name, value = name.partition(";")[0].upper(), value.strip()
        if name == "BEGIN" and value.upper() in ("STANDARD", "DAYLIGHT"):
            lines = []
        elif name == "END" and lines is not None:
            parts.append(_part(lines))
            lines = None
        elif lines is not None:
            lines.append((name, value))
    return parts


def _part(lines: list[tuple[str, str]]) -> _Part:
    """Read the lines of one part, as pairs of name and value. Raises ValueError or KeyError."""
    fields = dict(lines)
    part = _Part(_offset(fields["TZOFFSETFROM"]), _offset(fields["TZOFFSETTO"]))
    start = _time(fields["DTSTART"], part.before)
    part.rules = [_rule(value, start, part.before) for name, value in lines if name == "RRULE"]
    dates = [value for name, value in lines if name == "RDATE"]
    part.single = sorted(
        _time(listed_part, part.before) for value in dates for listed_part in value.split(",")
    )
    if not part.rules:
        part.single = sorted([start, *part.single])
    return part


def _offset(value: str) -> timedelta:
    """Read an offset from UTC, such as `+0100`. Raises ValueError."""
    match = _OFFSET.fullmatch(value)
    if match is None:
        raise ValueError(value)
    hours, minutes, seconds = int(match[2]), int(match[3]), int(match[4] or 0)
    if hours > 23 or minutes > 59 or seconds > 59:
        raise ValueError(value)
    offset = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    return -offset if match[1] == "-" else offset


def _time(value: str, before: timedelta) -> datetime:
    """Return a time on the clock from before the change; one in UTC is moved to it.

    Times on a zone's own clock have UTC as their `tzinfo` here, which compares quickly and means nothing.
    """
    match = _TIME.fullmatch(value)
    if match is None:
        raise ValueError(value)
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    wall = datetime(year, month, day, hour, minute, min(second, 59), tzinfo=UTC)
    try:
        return wall + before if match[7] else wall
    except OverflowError as fault:
        raise ValueError(value) from fault


def _rule(text: str, start: datetime, before: timedelta) -> _YearlyRule:
    """Read a rule that names one day per year; others are not needed for a zone, and can run for ever."""
    parameters = dict(part.upper().split("=", 1) for part in text.split(";") if part)
    if (
        parameters.keys() - _RULE_KEYS
        or parameters["FREQ"] != "YEARLY"
        or parameters.get("INTERVAL", "1") != "1"
    ):
        raise UnusableZone
    weekday = ordinal = None
    days = tuple(sorted(map(int, parameters["BYMONTHDAY"].split(",")))) if "BYMONTHDAY" in parameters else ()
    if len(days) > 31 or not all(1 <= day <= 31 for day in days):
        raise UnusableZone
    if "BYDAY" in parameters:
        match = _BY_DAY.fullmatch(parameters["BYDAY"])
        if match is None or "BYMONTH" not in parameters or (match[1] is None) == (not days):
            raise UnusableZone
        weekday, ordinal = _WEEKDAYS.index(match[2]), int(match[1]) if match[1] else None
    elif not days:
        days = (start.day,)
    month = int(parameters.get("BYMONTH", start.month))
    if not 1 <= month <= 12:
        raise UnusableZone
    until = _until(parameters["UNTIL"], before) if "UNTIL" in parameters else None
    rule = _YearlyRule(start, until, month, weekday, ordinal, days)
    if any(rule.day_in(year) is None for year in _CALENDARS):
        raise UnusableZone  # It skips years, so the last change could be any number of years ago.
    return rule


def _until(value: str, before: timedelta) -> datetime:
    """Read the end of a rule; a day without a time counts to its end."""
    if len(value) == 8:
        value += "T235959"
    return _time(value, before)
