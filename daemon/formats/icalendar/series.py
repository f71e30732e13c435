"""The dates of a to-do that comes again (RRULE, RDATE, EXDATE of RFC 5545), and the one that is next.

Never runs through a rule without a bound: of one that cannot be followed there is its first date alone.
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
_COUNT: Final = re.compile(r"(?<![^;])COUNT=0*(\d{1,9})(?![^;])", re.IGNORECASE | re.ASCII)
_CLOCK: Final = re.compile(r"(?<![^;])BY(?:HOUR|MINUTE|SECOND)=([^;]*)", re.IGNORECASE)
_EASTER: Final = re.compile(r"(?<![^;])BYEASTER=", re.IGNORECASE)
_FIRST_YEAR: Final = 1900
_RULES_MAX: Final = 4
_TIMES_A_DAY_MAX: Final = 24
_CHARS_MAX: Final = 1000
_CHARS_PER_STEP: Final = 40
_DAYS_AHEAD: Final = 30 * 366
"""A rule that names no date for so long has none."""
_STEPS_MAX: Final = 600_000
"""So many days and dates, in all, are the rules of one file followed through: some seconds."""
_CYCLE_YEARS: Final = 400
"""After so many years, each date has the same weekday, and each year the same length, again."""


class NextDate(NamedTuple):
    """The day on which a to-do is due; `is_over` if each of its dates was done or is a to-do of its own.

    It is the first day, whatever came since, if a rule cannot be followed.
    """

    due: date
    is_over: bool = False
    is_followed: bool = True


class Recurrence(NamedTuple):
    """What says when a to-do comes again, and which of its dates are to-dos of their own (RECURRENCE-ID)."""

    rules: Sequence[Property]
    dates: Sequence[Property]
    exceptions: Sequence[Property]
    overridden: Sequence[Property]
    excepted_rules: Sequence[Property] = ()


class _Unfollowed(Exception):
    """A rule that cannot be read, or not within the steps that are left."""


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
        self._steps_left = _STEPS_MAX

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
        except _Unfollowed:
            day = self.day(first, length)
            return None if day is None else NextDate(day, is_followed=False)
        except OverflowError:
            return None

    def _next_date(self, first: CalendarMoment, length: timedelta, recurrence: Recurrence) -> NextDate:
        taken = _Taken(self._times, first, (*recurrence.exceptions, *recurrence.overridden))
        excepted = _Ascending(self._dates_of_rules(first, recurrence.excepted_rules))
        last, latest = None, first.wall
        for wall in self._dates(first, recurrence):
            latest = wall
            if taken.contains(wall) or excepted.contains(wall):
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
        rules = self._dates_of_rules(first, recurrence.rules)
        last = None
        for wall in merge([first.wall], sorted(more), rules):
            if wall >= first.wall and wall != last:
                last = wall
                yield wall

    def _dates_of_rules(self, first: CalendarMoment, rules: Sequence[Property]) -> Iterator[datetime]:
        if len(rules) > _RULES_MAX:
            raise _Unfollowed
        return merge(*(self._rule_dates(first, rule) for rule in rules))

    def _rule_dates(self, first: CalendarMoment, rule: Property) -> Iterator[datetime]:
        """Yield the dates of a rule. Raises _Unfollowed."""
        text = rule.value.strip()
        if first.wall.year < _FIRST_YEAR or not _is_followed(text):
            raise _Unfollowed
        weight = 1 + len(text) // _CHARS_PER_STEP
        counted, dates_count = _COUNT.search(text), 0
        try:
            end = self._end_of_rule(first, rule)
            # dateutil looks for dates until the year 9999, whatever comes. So close to it there are few.
            years = (date.max.year - end.year) // _CYCLE_YEARS * _CYCLE_YEARS
            reached = _years_later(first.wall, years)
            for wall in _dates_of_rule(_UNTIL.sub("", text), reached):
                dates_count += 1
                self._spend(1 + weight * (wall - reached).days)
                reached = wall
                if _years_later(wall, -years) > end:
                    return
                yield _years_later(wall, -years)
        except (MalformedCalendar, ValueError, OverflowError, TypeError, AttributeError, LookupError):
            raise _Unfollowed from None  # dateutil does not check all of a rule
        if counted is None or dates_count < int(counted[1]):
            self._spend(weight * (date.max - reached.date()).days)

    def _spend(self, steps: int) -> None:
        """Count what was done to find a date. Raises _Unfollowed if it was too much."""
        if self._steps_left <= 0:
            raise _Unfollowed
        self._steps_left -= steps

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


def _is_followed(text: str) -> bool:
    """Report whether a rule is one of days and of few times a day, as long as people and programs write."""
    times = 1
    for values in _CLOCK.findall(text):
        times *= values.count(",") + 1
    is_usual = _FREQUENCY.search(text) and not _NO_INTERVAL.search(text) and not _EASTER.search(text)
    return bool(is_usual) and times <= _TIMES_A_DAY_MAX and len(text) <= _CHARS_MAX


def _dates_of_rule(text: str, start: datetime) -> Iterable[datetime]:
    from dateutil.rrule import rrulestr  # imported here: few files have a rule

    dates: Iterable[datetime] = rrulestr(f"RRULE:{text.strip(';').replace(';;', ';')}", dtstart=start)
    return dates


def _years_later(wall: datetime, years: int) -> datetime:
    return wall.replace(year=wall.year + years)


class _Ascending:
    """Dates in order, asked for in order."""

    def __init__(self, dates: Iterator[datetime]) -> None:
        self._dates = dates
        self._next = next(dates, None)

    def contains(self, wall: datetime) -> bool:
        """Report whether a date is one of them; none before it is asked for later."""
        while self._next is not None and self._next < wall:
            self._next = next(self._dates, None)
        return self._next == wall


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


def start_moment(properties: Iterable[Property], times: CalendarTimes) -> CalendarMoment | None:
    """Return what DTSTART says of a to-do that has no length and does not come again; None of another."""
    starts = [property_ for property_ in properties if property_.name == "DTSTART"]
    names = {property_.name for property_ in properties}
    if len(starts) != 1 or not names.isdisjoint((*RULE_NAMES, "DURATION", "RECURRENCE-ID")):
        return None
    try:
        return times.parse(starts[0])
    except MalformedCalendar:
        return None
