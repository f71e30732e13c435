"""The dates of a to-do that comes again (RRULE, RDATE, EXDATE of RFC 5545), and the one that is next.

Never runs through a rule without a bound: of a rule that cannot be read there is its first date alone.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from heapq import merge
from typing import Final, NamedTuple

from daemon.formats.icalendar.content_lines import MalformedCalendar, Property
from daemon.formats.icalendar.date_times import CalendarMoment, CalendarTimes

RULE_NAMES: Final = ("RRULE", "RDATE")
_DURATION: Final = re.compile(
    r"([+-]?)P(?:(\d{1,5})W|(?=\d|T\d)(?:(\d{1,6})D)?"
    r"(?:T(?:(\d{1,7})H)?(?:(\d{1,8})M)?(?:(\d{1,9})S)?)?)",
    re.ASCII,
)
_UNTIL: Final = re.compile(r"(?<![^;])UNTIL=([^;]*)", re.IGNORECASE)
_FREQUENCY: Final = re.compile(r"(?<![^;])FREQ=(DAILY|WEEKLY|MONTHLY|YEARLY)(?![^;])", re.IGNORECASE)
_NO_INTERVAL: Final = re.compile(r"(?<![^;])INTERVAL=0*(?![^;])", re.IGNORECASE)
_FIRST_YEAR: Final = 1900
_RULES_MAX: Final = 2
_DAYS_AHEAD: Final = 30 * 366
"""A rule that names no date for so long has none."""
_DAYS_MAX: Final = 4_000_000
"""So many days, in all, are the rules of one file followed through."""


class NextDate(NamedTuple):
    """The day on which a to-do is due; `is_over` if each of its dates was done or is a to-do of its own."""

    due: date
    is_over: bool = False


class Recurrence(NamedTuple):
    """What says when a to-do comes again, and which of its dates are to-dos of their own (RECURRENCE-ID)."""

    rules: Sequence[Property]
    dates: Sequence[Property]
    exceptions: Sequence[Property]
    overridden: Sequence[Property]


def read_duration(property_: Property) -> timedelta | None:
    """Read a DURATION, None if it is none."""
    match = _DURATION.fullmatch(property_.value.strip().upper())
    if match is None:
        return None
    weeks, days, hours, minutes, seconds = (int(number or 0) for number in match.groups()[1:])
    length = timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)
    return -length if match[1] == "-" else length


class SeriesDates:
    """Finds the next dates of one file's to-dos; `today` is the person's day, None if nobody knows it."""

    def __init__(self, times: CalendarTimes, today: date | None) -> None:
        self._times = times
        self._today = today
        self._days_left = _DAYS_MAX

    def day(self, start: CalendarMoment, length: timedelta) -> date | None:
        """Return the day on which what begins at `start` ends, None if it is beyond the calendar."""
        try:
            return self._day(start, start.wall + length)
        except OverflowError:
            return None

    def next_date(self, first: CalendarMoment, length: timedelta, recurrence: Recurrence) -> NextDate | None:
        """Return the first date that is left and not before today, else the last one that is left.

        `first` is the first date of the rule, and `length` what lies between a date of it and its due. It is
        None if the day is beyond the calendar.
        """
        try:
            return self._next_date(first, length, recurrence)
        except OverflowError:
            return None

    def _next_date(self, first: CalendarMoment, length: timedelta, recurrence: Recurrence) -> NextDate:
        taken = _Taken(self._times, first, (*recurrence.exceptions, *recurrence.overridden))
        last, latest = None, first.wall
        for wall in self._dates(first, recurrence):
            latest = wall
            if taken.contains(wall):
                continue
            last = wall
            if self._today is None or self._day(first, wall + length) >= self._today:
                break
        return NextDate(self._day(first, (last or latest) + length), is_over=last is None)

    def _day(self, first: CalendarMoment, wall: datetime) -> date:
        return self._times.local_day(wall) if first.is_utc else wall.date()

    def _dates(self, first: CalendarMoment, recurrence: Recurrence) -> Iterator[datetime]:
        """Yield the dates on the clock of the first one, in order, each once."""
        more = (_on_clock_of(first, moment) for moment in _moments(self._times, recurrence.dates))
        rules = [self._rule_dates(first, rule) for rule in recurrence.rules[:_RULES_MAX]]
        last = None
        for wall in merge([first.wall], sorted(more), *rules):
            if wall >= first.wall and wall != last:
                last = wall
                yield wall

    def _rule_dates(self, first: CalendarMoment, rule: Property) -> Iterator[datetime]:
        """Yield the dates of a rule as far as it can be read, and count the days that were looked through."""
        text = rule.value.strip()
        is_bounded = _FREQUENCY.search(text) and not _NO_INTERVAL.search(text)
        if self._days_left <= 0 or first.wall.year < _FIRST_YEAR or not is_bounded:
            return
        # dateutil follows a rule that names no date to the end of the calendar, for a second.
        # One of them in a file is enough.
        reached = None
        try:
            end = self._end_of_rule(first, rule)
            for wall in _dates_of_rule(_UNTIL.sub("", text), first.wall):
                reached = wall
                if wall > end:
                    break
                yield wall
        except (MalformedCalendar, ValueError, OverflowError, TypeError, AttributeError, LookupError):
            reached = first.wall  # dateutil does not check all of a rule; what came before it fails stands
        finally:
            self._days_left -= _DAYS_MAX if reached is None else (reached - first.wall).days

    def _end_of_rule(self, first: CalendarMoment, rule: Property) -> datetime:
        """Return until when the dates of a rule are looked for. Raises MalformedCalendar."""
        reach = max(self._today or first.day, first.day).toordinal() + _DAYS_AHEAD
        end = datetime.combine(date.fromordinal(min(reach, date.max.toordinal())), time())
        until = _UNTIL.search(rule.value)
        if until is None:
            return end
        ending = self._times.parse(Property(rule.line, "UNTIL", {}, until[1], rule.whole))
        # A day without a time counts to its end.
        last = _on_clock_of(first, ending) if ending.at else datetime.combine(ending.day, time.max)
        return min(end, last)


def _dates_of_rule(text: str, start: datetime) -> Iterable[datetime]:
    from dateutil.rrule import rrulestr  # imported here: few files have a rule

    dates: Iterable[datetime] = rrulestr(f"RRULE:{text.strip(';').replace(';;', ';')}", dtstart=start)
    return dates


class _Taken:
    """The dates that are left out of a series, however each of them is written."""

    def __init__(self, times: CalendarTimes, first: CalendarMoment, properties: Sequence[Property]) -> None:
        moments = list(_moments(times, properties))
        self._walls = {_on_clock_of(first, moment) for moment in moments if moment.at}
        self._days = {moment.day for moment in moments if not moment.at}

    def contains(self, wall: datetime) -> bool:
        """Report whether a date, on the clock of the first one, is left out."""
        return wall in self._walls or wall.date() in self._days


def _moments(times: CalendarTimes, properties: Collection[Property]) -> Iterator[CalendarMoment]:
    """Yield what a list of days, times or periods names; what is none of them names nothing."""
    for property_ in properties:
        for value in property_.value.split(","):
            start = value.partition("/")[0]  # of a period
            single = Property(property_.line, property_.name, property_.params, start, property_.whole)
            try:
                yield times.parse(single)
            except MalformedCalendar:
                continue


def _on_clock_of(first: CalendarMoment, moment: CalendarMoment) -> datetime:
    """Return a moment as the clock of another one shows it."""
    if moment.at is None or first.at is None or moment.is_utc == first.is_utc:
        return moment.wall
    clock = UTC if first.is_utc else first.at.tzinfo
    return moment.at.astimezone(clock).replace(tzinfo=None)
