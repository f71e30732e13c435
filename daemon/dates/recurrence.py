"""The days of a rule: what comes every so many days, weeks, months or years, after RFC 5545 §3.3.10.

Never runs without a bound, whatever a peer wrote as a rule: a day that is further away than `REACH_YEARS` is
not looked for. There are whole days here, and neither a clock nor a zone.
"""

import calendar
import re
import sys
from collections.abc import Iterator
from datetime import date, timedelta
from functools import lru_cache
from typing import Final, Literal, NamedTuple

Frequency = Literal["DAILY", "WEEKLY", "MONTHLY", "YEARLY"]

REACH_YEARS: Final = 40
"""A rule that names no day for so long names none: 29 February on a Monday comes every 28 years, or 40."""
COUNT_MAX: Final = 1000
INTERVAL_MAX: Final = 1000
AFTER_DAYS_MAX: Final = 3660
WEEKDAY_NAMES: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_RULE_CHARS_MAX: Final = 400
_FREQUENCIES: Final = ("DAILY", "WEEKLY", "MONTHLY", "YEARLY")
_MONTHS: Final = 12
_DAYS_OF_MONTH: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_WEEK: Final = 7
_SET_MAX: Final = 366
_WEEKS_OF_YEAR_MAX: Final = 53
_WEEKS_OF_MONTH_MAX: Final = 5
_ALL_KINDS_OF_YEARS_FROM: Final = date(2000, 1, 1)
_ALL_KINDS_OF_YEARS: Final = 28
_NUMBER: Final = re.compile(r"[+-]?\d{1,4}", re.ASCII)
_WEEKDAY: Final = re.compile(r"([+-]?\d{1,2})?(MO|TU|WE|TH|FR|SA|SU)", re.ASCII)
_AFTER: Final = re.compile(r"AFTER=(\d{1,4})", re.ASCII)
_PARTS: Final = (
    "FREQ",
    "INTERVAL",
    "COUNT",
    "BYMONTH",
    "BYMONTHDAY",
    "BYDAY",
    "BYSETPOS",
    "WKST",
)


class UnreadRule(ValueError):
    """A text that is no rule of days, or one that can name no day."""


class BudgetSpent(Exception):
    """Days were looked for that cost more than they may."""


class Budget:
    """How many days may still be looked at, by all that share it."""

    def __init__(self, days: int) -> None:
        self.left = days

    def spend(self, days: int) -> None:
        """Count days that are looked at. Raises BudgetSpent if there are more than were left."""
        self.left -= days
        if self.left < 0:
            raise BudgetSpent


class NthWeekday(NamedTuple):
    """A weekday, 0 for Monday; `n` says which of a month or a year, from its end if negative, 0 for each."""

    n: int
    weekday: int


class Rule(NamedTuple):
    """A rule of days, as it was read. `times` is 0 without a bound."""

    frequency: Frequency
    interval: int = 1
    times: int = 0
    months: tuple[int, ...] = ()
    month_days: tuple[int, ...] = ()
    weekdays: tuple[NthWeekday, ...] = ()
    positions: tuple[int, ...] = ()
    week_start: int = 0

    def text(self) -> str:
        """Return the rule as RFC 5545 writes it, each part once, in one order."""
        parts = {
            "FREQ": self.frequency,
            "INTERVAL": "" if self.interval == 1 else str(self.interval),
            "COUNT": str(self.times or ""),
            "BYMONTH": ",".join(map(str, self.months)),
            "BYMONTHDAY": ",".join(map(str, self.month_days)),
            "BYDAY": ",".join(f"{n or ''}{WEEKDAY_NAMES[weekday]}" for n, weekday in self.weekdays),
            "BYSETPOS": ",".join(map(str, self.positions)),
            "WKST": WEEKDAY_NAMES[self.week_start] if self.week_start else "",
        }
        return ";".join(f"{name}={value}" for name, value in parts.items() if value)


class AfterDone(NamedTuple):
    """A rule that counts from the day on which the last one was done."""

    days: int

    def text(self) -> str:
        """Return the rule as the journal writes it."""
        return f"AFTER={self.days}"


@lru_cache(4096)
def read_rule(text: str) -> Rule | AfterDone:
    """Read a rule as the journal keeps it. Raises UnreadRule, also for what can name no day."""
    if len(text) > _RULE_CHARS_MAX:
        raise UnreadRule("too long")
    if after := _AFTER.fullmatch(text):
        if not 1 <= int(after[1]) <= AFTER_DAYS_MAX:
            raise UnreadRule(text)
        return AfterDone(int(after[1]))
    parts: dict[str, str] = {}
    for part in text.strip(";").split(";"):
        name, sign, value = part.strip().upper().partition("=")
        if not sign or not value or name in parts or name not in _PARTS:
            raise UnreadRule(part)
        parts[name] = value
    frequency = next((name for name in _FREQUENCIES if name == parts.get("FREQ")), None)
    if frequency is None:
        raise UnreadRule(parts.get("FREQ", "FREQ"))
    rule = Rule(
        frequency,
        _number(parts.get("INTERVAL", "1"), 1, INTERVAL_MAX),
        _number(parts["COUNT"], 1, COUNT_MAX) if "COUNT" in parts else 0,
        _numbers(parts.get("BYMONTH", ""), _MONTHS, negative=False),
        _numbers(parts.get("BYMONTHDAY", ""), 31),
        _weekdays(parts.get("BYDAY", "")),
        _numbers(parts.get("BYSETPOS", ""), _SET_MAX),
        WEEKDAY_NAMES.index(_one_weekday(parts.get("WKST", "MO"))),
    )
    _require_possible(rule)
    return rule


def _number(text: str, least: int, most: int) -> int:
    if not _NUMBER.fullmatch(text) or not least <= int(text) <= most:
        raise UnreadRule(text)
    return int(text)


def _numbers(text: str, most: int, *, negative: bool = True) -> tuple[int, ...]:
    """Read a list of numbers from 1 to `most`, or from the end; each once, in order."""
    numbers = [_number(part, -most if negative else 1, most) for part in text.split(",")] if text else []
    if 0 in numbers:
        raise UnreadRule(text)
    return tuple(sorted(set(numbers)))


def _weekdays(text: str) -> tuple[NthWeekday, ...]:
    matches = [_WEEKDAY.fullmatch(part) for part in text.split(",")] if text else []
    days = {NthWeekday(int(match[1] or 0), WEEKDAY_NAMES.index(match[2])) for match in matches if match}
    if None in matches or any(match and match[1] and not int(match[1]) for match in matches):
        raise UnreadRule(text)
    return tuple(sorted(days))


def _one_weekday(text: str) -> str:
    if text not in WEEKDAY_NAMES:
        raise UnreadRule(text)
    return text


def _require_possible(rule: Rule) -> None:
    """Refuse parts that RFC 5545 does not allow together, and days that no month has."""
    counted = max((abs(n) for n, _weekday in rule.weekdays), default=0)
    in_month = rule.frequency == "MONTHLY" or bool(rule.months)
    most = {"MONTHLY": _WEEKS_OF_MONTH_MAX, "YEARLY": _WEEKS_OF_YEAR_MAX}.get(rule.frequency, 0)
    faults = [
        counted > (min(most, _WEEKS_OF_MONTH_MAX) if in_month else most),
        rule.frequency == "WEEKLY" and (rule.month_days or rule.positions),
        # Programs read a rule with both kinds in two ways.
        counted and any(n == 0 for n, _weekday in rule.weekdays),
        rule.positions and not (rule.months or rule.month_days or rule.weekdays),
    ]
    if rule.months and rule.month_days:
        longest = max(_DAYS_OF_MONTH[month - 1] for month in rule.months)
        faults.append(min(map(abs, rule.month_days)) > longest)
    if any(faults):
        raise UnreadRule(rule.text())


def rule_days(
    rule: Rule, first: date, start: date, end: date, *, budget: Budget | None = None
) -> Iterator[date]:
    """Yield the days of a rule from `start` to `end`, both included, in order; none lies before `first`.

    Costs the periods between the two, and those before them for a rule that counts; at most `REACH_YEARS`.
    Raises BudgetSpent if the days of these periods are more than a budget has left.
    """
    budget = budget or Budget(sys.maxsize)
    begin = max(first, start)
    end = min(end, _years_later(begin if not rule.times else first, REACH_YEARS))
    if begin > end or not _may_name_a_day(rule, budget):
        return
    cost = _days_looked_at(rule, first)
    counted, places = 0, _places_of_month_day(rule, first)
    if rule.frequency == "DAILY" and not rule.times and not rule.positions:
        yield from _daily_days(rule, first, begin, end, budget)
        return
    for number in _period_numbers(rule, first, first if rule.times else begin, end):
        budget.spend(cost)
        for day in _days_of_period(rule, first, number, places):
            if day < first:
                continue
            counted += 1
            if day > end or (rule.times and counted > rule.times):
                return
            if day >= begin:
                yield day


def _days_looked_at(rule: Rule, first: date) -> int:
    """Return how many days a period has that are looked at."""
    months = _places_of_month_day(rule, first).months
    yearly = 31 * len(months) or 366
    return {"DAILY": 1, "WEEKLY": _WEEK, "MONTHLY": 31, "YEARLY": yearly}[rule.frequency]


def _may_name_a_day(rule: Rule, budget: Budget) -> bool:
    """Report whether a rule with places in its periods may name any day, whatever its first one is."""
    if rule.positions and rule.frequency == "DAILY":
        # A period is one day: that is the first of it, and the last.
        return 1 in rule.positions or -1 in rule.positions
    follows_first = not rule.month_days and not rule.weekdays
    if not rule.positions or follows_first or budget.left < _ALL_KINDS_OF_YEARS * 372:
        return True
    may_name, cost = _look_for_a_day(rule)
    budget.spend(cost)
    return may_name


@lru_cache(4096)
def _look_for_a_day(rule: Rule) -> tuple[bool, int]:
    """Report whether a rule of months or years names a day in years of all 14 kinds, and what that cost.

    A kind is the length of a year and the weekday on which it begins.
    """
    begin, steady = _ALL_KINDS_OF_YEARS_FROM, rule._replace(interval=1, times=0)
    cost = 31 if rule.frequency == "MONTHLY" else 366
    periods = _ALL_KINDS_OF_YEARS * (_MONTHS if rule.frequency == "MONTHLY" else 1)
    for number in range(periods):
        if _days_of_period(steady, begin, number, steady):
            return True, (number + 1) * cost
    return False, periods * cost


def _daily_days(rule: Rule, first: date, begin: date, end: date, budget: Budget) -> Iterator[date]:
    """Yield the days of a plain rule of days; months that it does not name are passed over at once."""
    weekdays = {weekday for _n, weekday in rule.weekdays}
    origin, ordinal, last = first.toordinal(), begin.toordinal(), end.toordinal()
    ordinal += (origin - ordinal) % rule.interval
    while ordinal <= last:
        budget.spend(1)
        day = date.fromordinal(ordinal)
        step = rule.interval
        if rule.months and day.month not in rule.months:
            gap = calendar.monthrange(day.year, day.month)[1] - day.day + 1
            step = -(-gap // rule.interval) * rule.interval
        elif (not weekdays or day.weekday() in weekdays) and (
            not rule.month_days or _is_day_of_month(day, rule.month_days)
        ):
            yield day
        ordinal += step


def _years_later(day: date, years: int) -> date:
    year = min(day.year + years, date.max.year)
    return day.replace(year=year, day=min(day.day, calendar.monthrange(year, day.month)[1]))


def _period_numbers(rule: Rule, first: date, begin: date, end: date) -> range:
    """Return the numbers of the periods that may have days between two days; that of `first` is 0."""
    low, high = _period_of(rule, first, begin), _period_of(rule, first, end)
    return range(max(0, -(-low // rule.interval)) * rule.interval, high + 1, rule.interval)


def _period_of(rule: Rule, first: date, day: date) -> int:
    match rule.frequency:
        case "DAILY":
            return day.toordinal() - first.toordinal()
        case "WEEKLY":
            return (_week_of(rule, day) - _week_of(rule, first)) // _WEEK
        case "MONTHLY":
            return (day.year - first.year) * _MONTHS + day.month - first.month
    return day.year - first.year


def _week_of(rule: Rule, day: date) -> int:
    """Return the ordinal of the day with which a week begins."""
    return day.toordinal() - (day.weekday() - rule.week_start) % _WEEK


def _places_of_month_day(rule: Rule, first: date) -> Rule:
    """Return the rule with what its first day says, where the rule itself says nothing."""
    if rule.month_days or rule.weekdays:
        return rule
    match rule.frequency:
        case "WEEKLY":
            return rule._replace(weekdays=(NthWeekday(0, first.weekday()),))
        case "MONTHLY":
            return rule._replace(month_days=(first.day,))
        case "YEARLY":
            return rule._replace(months=rule.months or (first.month,), month_days=(first.day,))
    return rule


def _days_of_period(rule: Rule, first: date, number: int, full: Rule) -> list[date]:
    """Return the days of one period; `full` is the rule with what its first day says."""
    match rule.frequency:
        case "DAILY":
            days = _matching_days(full, [first.toordinal() + number])
        case "WEEKLY":
            begin = _week_of(rule, first) + number * _WEEK
            days = _matching_days(full, range(begin, begin + _WEEK))
        case "MONTHLY":
            months = first.year * _MONTHS + first.month - 1 + number
            days = _days_of_month(full, months // _MONTHS, months % _MONTHS + 1)
        case _:
            days = _days_of_year(full, first.year + number)
    return sorted(_at_positions(days, rule.positions)) if rule.positions else days


def _matching_days(full: Rule, ordinals: range | list[int]) -> list[date]:
    """Return the days of a week, or the day, that the parts of a rule let through."""
    last = date.max.toordinal()
    days = [date.fromordinal(ordinal) for ordinal in ordinals if 1 <= ordinal <= last]
    weekdays = {weekday for _n, weekday in full.weekdays}
    return [
        day
        for day in days
        if (not full.months or day.month in full.months)
        and (not weekdays or day.weekday() in weekdays)
        and (not full.month_days or _is_day_of_month(day, full.month_days))
    ]


def _is_day_of_month(day: date, month_days: tuple[int, ...]) -> bool:
    length = calendar.monthrange(day.year, day.month)[1]
    return day.day in month_days or day.day - length - 1 in month_days


def _days_of_month(full: Rule, year: int, month: int) -> list[date]:
    if year > date.max.year or (full.months and month not in full.months):
        return []
    begin, length = date(year, month, 1), calendar.monthrange(year, month)[1]
    return _chosen_days(full, [begin + timedelta(number) for number in range(length)])


def _days_of_year(full: Rule, year: int) -> list[date]:
    if year > date.max.year:
        return []
    if full.months:
        return [day for month in full.months for day in _days_of_month(full, year, month)]
    if not any(n for n, _weekday in full.weekdays):
        return [day for month in range(1, _MONTHS + 1) for day in _days_of_month(full, year, month)]
    length = 366 if calendar.isleap(year) else 365
    return _chosen_days(full, [date(year, 1, 1) + timedelta(number) for number in range(length)])


def _chosen_days(full: Rule, days: list[date]) -> list[date]:
    """Return those of a month's or a year's days that the parts of a rule name."""
    days_left = [day for day in days if not full.month_days or _is_day_of_month(day, full.month_days)]
    if not full.weekdays:
        return days_left
    named: set[date] = set()
    for n, weekday in full.weekdays:
        own = [day for day in days if day.weekday() == weekday]
        if n == 0:
            named.update(own)
        elif abs(n) <= len(own):
            named.add(own[n - 1 if n > 0 else n])
    return [day for day in days_left if day in named]


def _at_positions(days: list[date], positions: tuple[int, ...]) -> set[date]:
    return {days[place - 1 if place > 0 else place] for place in positions if 1 <= abs(place) <= len(days)}
