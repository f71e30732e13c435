"""The day by which a clause says that something is due.

Never reads a date without a cue before it, a bare number as a day, or free text as a date.
"""

import calendar
import re
from datetime import date, datetime, timedelta
from typing import NamedTuple

from daemon.agents.models.cues import Cues
from daemon.agents.models.segments import before, is_meant, phrases
from daemon.journal import when
from daemon.journal.errors import Refused

YEARS_BACK_MAX = 1
YEARS_AHEAD_MAX = 10
FILLERS_MAX = 4
_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?![\d-])")
_DOTTED = re.compile(r"(\d{1,2})([./])(\d{1,2})\2(\d{4})(?!\d)")
_TOKEN = re.compile(r"\s*[:=,.]?\s*(?:([^\W\d_]+)|(\d{1,4})(st|nd|rd|th)?(?![\w:/-]|\.\d))", re.IGNORECASE)
_DAY_ALONE = re.compile(r"(\d{1,2})(?:st|nd|rd|th)\s*(?:[,.;!)]|$)", re.IGNORECASE)
_DAY_MAX = 31


class Due(NamedTuple):
    """A calendar date, and where in the clause its cue stands."""

    day: date
    start: int


def dues(clause: str, written_at: datetime, cues: Cues) -> list[Due]:
    """Find the due dates in a clause; `written_at` is what "tomorrow" counts from."""
    found = []
    for match in phrases(cues.due).finditer(clause):
        if not _is_deadline(clause, match, cues):
            continue
        day = _day(clause[match.end() :], written_at, cues)
        if day is not None and _is_sensible(day, written_at.date()):
            found.append(Due(day, match.start()))
    return found


def _is_deadline(clause: str, match: re.Match[str], cues: Cues) -> bool:
    blockers = cues.due_not_after.get(match.group().lower(), frozenset())
    led = before(clause, match.start(), cues)
    return is_meant(clause, match.start(), cues) and not blockers.intersection(led)


def _is_sensible(day: date, today: date) -> bool:
    return today.year - YEARS_BACK_MAX <= day.year <= today.year + YEARS_AHEAD_MAX


def _day(after: str, written_at: datetime, cues: Cues) -> date | None:
    """Read the day that follows a cue directly, filler words aside."""
    named = _named_end(after, written_at.date(), cues)
    if named is not None:
        return named
    rest = _without_fillers(after, cues)
    if found := _ISO.match(rest):
        return _date(int(found[1]), int(found[2]), int(found[3]))
    if found := _DOTTED.match(rest):
        return _dotted(found)
    return _spoken(rest, written_at, cues)


def _without_fillers(after: str, cues: Cues) -> str:
    """Drop what people put between a cue and a date."""
    rest = after.lstrip(" :=,\t")
    for _ in range(FILLERS_MAX):
        word = _TOKEN.match(rest)
        if word is None or word[1] is None or word[1].lower() not in cues.due_fillers:
            break
        rest = rest[word.end() :].lstrip(" :=,\t")
    return rest


def _named_end(after: str, today: date, cues: Cues) -> date | None:
    """Read "end of the month", "end of March"."""
    rest = after.lstrip(" :=,\t")
    for ends, month in ((cues.end_of_month, today.month), (cues.end_of_year, 12)):
        if phrases((*ends, *(f"the {end}" for end in ends))).match(rest):
            return _last_of(today.year, month)
    lead = phrases(cues.end_of).match(rest)
    if lead is None:
        return None
    token = _TOKEN.match(rest[lead.end() :])
    month = cues.months.get((token[1] or "").lower(), 0) if token else 0
    if not month:
        return None
    return _last_of(today.year + (month < today.month), month)


def _last_of(year: int, month: int) -> date:
    return date(year, month, calendar.monthrange(year, month)[1])


def _dotted(found: re.Match[str]) -> date | None:
    """Read 15.3.2026 day first; with slashes, only where day and month cannot be taken for one another."""
    first, second, year = int(found[1]), int(found[3]), int(found[4])
    if found[2] == ".":
        return _date(year, second, first)
    if first == second or second > 12 >= first:
        return _date(year, first, second)
    return _date(year, second, first) if first > 12 else None


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _spoken(rest: str, written_at: datetime, cues: Cues) -> date | None:
    """Read a day in words: take the run of date words, then read that run alone."""
    first = _TOKEN.match(rest)
    word = (first[1] or "").lower() if first else ""
    if word in cues.today:
        return written_at.date() + timedelta(days=cues.today[word])
    if found := _DAY_ALONE.match(rest):
        return _next_such(int(found[1]), written_at.date())
    span = _ahead(rest, cues) or _calendar_span(rest, cues)
    return _parsed(span, written_at.date(), cues) if span else None


def _next_such(day: int, today: date) -> date | None:
    """Return the next day of this number, in this month or the one after."""
    this = _date(today.year, today.month, day)
    if this is not None and this >= today:
        return this
    return _date(today.year + today.month // 12, today.month % 12 + 1, day)


def _ahead(rest: str, cues: Cues) -> str:
    """Return a span such as "in 3 days", empty where there is none."""
    numbers = "|".join(cues.numbers)
    units = "|".join(sorted(cues.ahead_units, key=len, reverse=True))
    found = re.match(rf"{cues.ahead}\s+(?:\d{{1,3}}|{numbers}|a)\s+(?:{units})\b", rest, re.IGNORECASE)
    return found.group() if found else ""


def _calendar_span(rest: str, cues: Cues) -> str:
    """Return the run of date words at the start, reduced to what fixes a day; empty where nothing does."""
    day, month, year, weekday, at = "", "", "", "", 0
    while token := _TOKEN.match(rest, at):
        word, number, ordinal = token[1] or "", token[2] or "", token[3] or ""
        lower = word.lower()
        if number and not day and 1 <= int(number) <= _DAY_MAX and len(number) <= 2:
            day = number + ordinal
        elif number and month and day and not year and len(number) == 4:
            year = number
        elif lower in cues.months and not month:
            month = word
        elif _is_weekday(word, cues) and not weekday and not day:
            weekday = word
        elif lower not in cues.date_joins:
            break
        at = token.end()
    if day and month:
        return f"{day.rstrip('stndrh')} {month} {year}".strip()
    after = _TOKEN.match(rest, at)
    return "" if day or month or not _stands_alone(weekday, after, cues) else weekday


def _stands_alone(weekday: str, after: re.Match[str] | None, cues: Cues) -> bool:
    """Say whether a weekday is the coming one ("Friday next week" is not) and no name ("Sun Inc")."""
    following = (after[1] or "") if after else ""
    is_short = weekday.lower() in cues.weekdays_short
    return following.lower() not in cues.weekday_not_before and not (is_short and following[:1].isupper())


def _is_weekday(word: str, cues: Cues) -> bool:
    lower = word.lower()
    return lower in cues.weekdays or (lower in cues.weekdays_short and word[:1].isupper())


def _parsed(span: str, today: date, cues: Cues) -> date | None:
    """Read a short span as a person's own words would be; what can be read in two ways is no date."""
    try:
        return when.due(span, today, cues.language)
    except Refused:
        return None
