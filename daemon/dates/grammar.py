"""Days and times as people type them, in five languages: "friday", "în două săptămâni", "gestern 14:00".

Never guesses: what can be read in two ways is refused with both readings, and no word is skipped because
it is not understood. The configured language is tried first, and the others only if it reads nothing. A
weekday is the next one after today, or the last one before today if a past time is expected; "this" weekday
may be today.

The grammars are the project's own: dateparser 1.5 did not read a third of what the tests list, and read some
of it wrongly ("2 weeks from today" as two weeks ago).
"""

import calendar
import re
from collections.abc import Callable, Container, Iterable
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache
from typing import Final, Literal, NamedTuple, TypeVar

from daemon.dates.date_language import (
    DAY,
    MINUTE,
    MONTH,
    DateLanguage,
    date_language,
    examples_hint,
    foreign_date_language,
    known_language,
)
from daemon.dates.spelling import any_of_pattern, excerpt, normalized_words
from daemon.dates.vocabulary import DayRule
from daemon.dates.zone_time import beginning_in_utc, in_utc, in_utc_unnamed
from daemon.language import LANGUAGES
from daemon.refusal import usage_error
from store.sentence import Sentence, sentence

TimeDirection = Literal["past", "future"]
"""Which way a time is meant that does not say so: a weekday, a date without its year, a time of the day."""

NO_DATE: Final = "no-date"
"""The id of the sentence on words that mean no day, and no time either."""
NOTHING: Final = frozenset({"", "none"})
ISO_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_YEAR_FIRST: Final = re.compile(r"(\d{4})([./-])(\d{1,2})\2(\d{1,2})")
_NUMERIC: Final = re.compile(r"(\d{1,2}) ?([./-]) ?(\d{1,2})(?: ?\2 ?(\d{4}|\d{2})?)?")
_TIMES: Final = (
    r"(?P<hour>\d{1,2})(?::| ?h ?)(?P<minute>\d{2})(?: ?(?P<half>[ap])\.?m\.?)?(?: uhr| h)?",
    r"(?P<hour>\d{1,2})\.(?P<minute>\d{2})(?P<half>) uhr",
    r"(?P<minute>)(?P<hour>\d{1,2}) ?(?:(?P<half>[ap])\.?m\.?|uhr)",
)
_BARE_HOUR: Final = r"(?P<hour>\d{1,2})(?P<minute>)(?P<half>)"
_H_HOUR: Final = _BARE_HOUR + " ?h"
# A leap day that is written without its year may be eight years away, as around 2100.
_YEARS_MAX: Final = 8

CHARS_MAX: Final = 100

T = TypeVar("T", date, datetime)


class _Reference(NamedTuple):
    """The day to count from, whether a day without a direction is in the past, and the rules left out."""

    today: date
    in_past: bool
    without: Container[DayRule] = ()


def parse_due_day(words: str, today: date, language: str) -> date | None:
    """Read the day on which something is due; None for "none" or nothing. Refuses what is no day."""
    text = normalized_words(_require_short(words))
    if text in NOTHING:
        return None
    if ISO_DATE.fullmatch(text):
        day = date_or_none(*map(int, text.split("-")))
    else:
        reference = _Reference(today, in_past=False)
        day = _require_one_reading(words, _readings(language, lambda spoken: _days(text, spoken, reference)))
        if day is None and names_a_time(text, language):
            raise usage_error(
                sentence(
                    "time-not-day", "{words!r} contains a time; this is a day alone", words=excerpt(words)
                ),
                sentence("leave-time-out", "leave the time out"),
            )
    if day is None:
        unread = sentence("no-date", "{words!r} is not a date that can be read", words=excerpt(words))
        raise usage_error(unread, examples_hint(language, f"{today.year + 1}-03-15"))
    return day


def day_readings(
    words: str, today: date, language: str, *, without: Container[DayRule] = ()
) -> frozenset[date]:
    """Return every day that the words can mean in one language alone; none if they mean no day.

    A rule in `without` does not count: what only it could read means no day.
    """
    text, spoken = normalized_words(words[:CHARS_MAX]), date_language(language)
    return frozenset(_days(text, spoken, _Reference(today, in_past=False, without=without)))


def parse_moment(
    words: str, now: datetime, zone: tzinfo, language: str, prefer: TimeDirection = "past"
) -> datetime:
    """Read a point in time and answer it in UTC; a day alone is its beginning in `zone`.

    `now` carries its zone. Refuses what is no time, what the clocks skip, and what they show twice.
    """
    local = now.astimezone(zone).replace(tzinfo=None)
    if (exact := _iso(words, zone)) is not None:
        return exact
    text = normalized_words(_require_short(words))
    request = _MomentRequest(now.astimezone(UTC), local, zone, prefer == "past")
    moment = _require_one_reading(
        words, _readings(language, lambda spoken: _moments(text, spoken, request, words))
    )
    if moment is None:
        unread = sentence("no-time", "{words!r} is not a time that can be read", words=excerpt(words))
        raise usage_error(unread, examples_hint(language, f"10:30, {now.year}-03-15 10:30"))
    return moment


def _require_short(words: str) -> str:
    """Refuse what nobody types for a day, before it costs anything."""
    if len(words) > CHARS_MAX:
        raise usage_error(
            sentence("moment-too-long", "{words!r} is too long for a day or a time", words=excerpt(words)),
            sentence("write-few-words", "write it in a few words"),
        )
    return words


# -- which reading ------------------------------------------------------------------------------------


def _readings(language: str, reading: Callable[[DateLanguage], set[T]]) -> set[T]:
    """Read by the own language; by the others only if it reads nothing, so that they load only then."""
    own = known_language(language)
    if readings := reading(date_language(own)):
        return readings
    others = (foreign_date_language(other) for other in LANGUAGES if other != own)
    return set().union(*map(reading, others))


def _require_one_reading(words: str, readings_found: Iterable[T]) -> T | None:
    readings = sorted(readings_found)
    if len(readings) > 1:
        reading_name: Sentence | str = _iso_text(readings[0])
        for reading in map(_iso_text, readings[1:]):
            reading_name = sentence("or-as", "{first} or as {second}", first=reading_name, second=reading)
        raise usage_error(
            sentence(
                "several-readings",
                "{words!r} can be read as {readings}",
                words=excerpt(words),
                readings=reading_name,
            ),
            sentence("write-meant-one", "write the one that you mean"),
        )
    return readings[0] if readings else None


def _iso_text(reading: date) -> str:
    return reading.isoformat(timespec="minutes") if isinstance(reading, datetime) else reading.isoformat()


# -- days ---------------------------------------------------------------------------------------------


@lru_cache(maxsize=2 * len(LANGUAGES))
def _patterns(language: DateLanguage) -> tuple[tuple[DayRule, re.Pattern[str]], ...]:
    """Compile the patterns of a language, each with its rule."""
    holes = {
        "n": rf"(?P<n>\d{{1,4}}|{any_of_pattern(language.numbers)})",
        "unit": rf"(?P<unit>{any_of_pattern(language.units)})",
        "weekday": rf"(?P<weekday>{any_of_pattern(language.weekdays)})\.?",
        "month": rf"(?P<month>{any_of_pattern(language.months)})\.?",
        "day": r"(?P<day>\d{1,2})",
        "year": r"(?: (?P<year>\d{4}))?",
    }
    rules = {**language.rules, DayRule.BARE: (r"{n}(?: |(?<=\d)){unit}",)}
    filled = [
        (rule, _fill_holes(template, holes)) for rule, templates in rules.items() for template in templates
    ]
    return tuple((rule, re.compile(pattern)) for rule, pattern in filled)


def _fill_holes(rule: str, holes: dict[str, str]) -> str:
    for name, pattern in holes.items():
        rule = rule.replace(f"{{{name}}}", pattern)
    return rule


def _days(text: str, language: DateLanguage, reference: _Reference) -> set[date]:
    """Return every day that the text can mean in this language."""
    try:
        if text in language.days:
            return {reference.today + timedelta(days=language.days[text])}
        return _plain_days(text, language, reference) or _with_weekday(text, language, reference)
    except OverflowError:
        return set()


def _plain_days(text: str, language: DateLanguage, reference: _Reference) -> set[date]:
    days = set(_numeric(text, language, reference))
    for rule, pattern in _patterns(language):
        if rule not in reference.without and (match := pattern.fullmatch(text)):
            days |= _DAYS_OF[rule](match, language, reference)
    return days


def _with_weekday(text: str, language: DateLanguage, reference: _Reference) -> set[date]:
    """Read "Friday, 20 November": the date, if it is such a day."""
    match = re.fullmatch(rf"(?:(?:{language.on}) )?({any_of_pattern(language.weekdays)})\.? (.*\d.*)", text)
    if match is None:
        return set()
    return {
        day
        for day in _plain_days(match[2], language, reference)
        if day.weekday() == language.weekdays[match[1]]
    }


def _numeric(text: str, language: DateLanguage, reference: _Reference) -> set[date]:
    """Read 15.3., 15/3/2027 and the like: day first, but in both orders if the language has both."""
    if match := _YEAR_FIRST.fullmatch(text):
        return _as_set(date_or_none(int(match[1]), int(match[3]), int(match[4])))
    match = _NUMERIC.fullmatch(re.sub(rf"^(?:{language.on}) ", "", text))
    if match is None:
        return set()
    first, sign, second, year = int(match[1]), match[2], int(match[3]), match[4]
    day_first = _dates_of(second, first, year, reference)
    month_first = _dates_of(first, second, year, reference)
    if sign == ".":
        return day_first
    # 27-03-15 may begin with its year: then both readings count, and the person is asked.
    if sign == "-" and year and len(year) == 2:
        return day_first | month_first | _as_set(date_or_none(2000 + first, second, int(year)))
    # English is written in both orders, so 3/4 is ambiguous there. Elsewhere the month comes first only if
    # the date exists in no other order.
    return day_first | month_first if language.month_first else day_first or month_first


def _dates_of(month: int, day: int, year: str | None, reference: _Reference) -> set[date]:
    """Return the date; if no year is given, that of the nearest year in which it exists."""
    if year:
        return _as_set(date_or_none(int(year) + 2000 * (len(year) == 2), month, day))
    step = -1 if reference.in_past else 1
    years = range(reference.today.year, reference.today.year + (_YEARS_MAX + 1) * step, step)
    nearest = (
        candidate for full_year in years if (candidate := date_or_none(full_year, month, day)) is not None
    )
    return _as_set(
        next((near_day for near_day in nearest if (near_day - reference.today).days * step >= 0), None)
    )


def date_or_none(year: int, month: int, day: int) -> date | None:
    """Return the date if the calendar has it."""
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _as_set(day: date | None) -> set[date]:
    return set() if day is None else {day}


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _weekday(match: re.Match[str], language: DateLanguage, reference: _Reference, least: int = 1) -> date:
    """Return the nearest such weekday that is at least `least` days away."""
    wanted, step = language.weekdays[match["weekday"]], -1 if reference.in_past else 1
    away = (wanted - reference.today.weekday()) * step % 7
    return reference.today + step * timedelta(days=away if away >= least else away + 7)


def _weekday_of_next_week(match: re.Match[str], language: DateLanguage, reference: _Reference) -> date:
    return _monday(reference.today) + timedelta(days=7 + language.weekdays[match["weekday"]])


def _next_weekday_readings(match: re.Match[str], language: DateLanguage, reference: _Reference) -> set[date]:
    """Read "next friday", which some mean as the coming one and some as the one after."""
    ahead = _Reference(reference.today, in_past=False)
    return {_weekday(match, language, ahead), _weekday_of_next_week(match, language, ahead)}


def _past_weekday(match: re.Match[str], language: DateLanguage, reference: _Reference) -> set[date]:
    return {_weekday(match, language, _Reference(reference.today, in_past=True))}


def _end_of(match: re.Match[str], language: DateLanguage, reference: _Reference) -> set[date]:
    month = language.months[match["month"]]
    year = reference.today.year + (month < reference.today.month) * (not reference.in_past)
    return {_last_of(year - (reference.in_past and month >= reference.today.month), month)}


def _last_of(year: int, month: int) -> date:
    return date(year, month, calendar.monthrange(year, month)[1])


def _nearest_day_of_month(match: re.Match[str], _language: DateLanguage, reference: _Reference) -> set[date]:
    """Read "the 15th": the nearest day of this number."""
    step = -1 if reference.in_past else 1
    for away in range(0, 3 * step, step):
        first = _add_months(reference.today.replace(day=1), away)
        nth_day = date_or_none(first.year, first.month, int(match["day"]))
        if nth_day is not None and (nth_day - reference.today).days * step >= 0:
            return {nth_day}
    return set()


def _add_months(day: date, months: int) -> date:
    """Return the same day of a later month, or the last that it has."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    if not date.min.year <= year <= date.max.year:
        raise OverflowError
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def _spans(match: re.Match[str], language: DateLanguage) -> set[tuple[str, int]]:
    """Return the units and counts that "two weeks" can mean: "quinze jours" is also two weeks."""
    unit, size = language.units[match["unit"]]
    count = _number(match, language)
    counts = {count}
    # Only in words: "quinze jours" may mean two weeks, "15 jours" never does.
    if match["n"] in language.numbers and (unit, size) == (DAY, 1) and count in language.weeks_in_days:
        counts.add(language.weeks_in_days[count])
    return {(unit, quantity * size) for quantity in counts}


def _number(match: re.Match[str], language: DateLanguage) -> int:
    digits = match.groupdict().get("n")
    if digits is None:
        return 1
    return int(digits) if digits.isdecimal() else language.numbers[digits]


def _days_away(match: re.Match[str], language: DateLanguage, reference: _Reference, sign: int) -> set[date]:
    return {
        _step_by(reference.today, unit, sign * count)
        for unit, count in _spans(match, language)
        if unit != MINUTE
    }


def _step_by(day: date, unit: str, count: int) -> date:
    """Return the day that is `count` months or days later."""
    return _add_months(day, count) if unit == MONTH else day + timedelta(days=count)


def _one_away(match: re.Match[str], language: DateLanguage, reference: _Reference, sign: int) -> set[date]:
    unit, size = language.units[match["unit"]]
    return set() if unit == MINUTE else {_step_by(reference.today, unit, sign * size)}


def _date(match: re.Match[str], language: DateLanguage, reference: _Reference) -> set[date]:
    return _dates_of(language.months[match["month"]], int(match["day"]), match["year"], reference)


def _week_end(_match: re.Match[str], _language: DateLanguage, reference: _Reference) -> set[date]:
    """Read "end of the week": of work or of the calendar."""
    friday = _monday(reference.today) + timedelta(days=4)
    return {day for day in (friday, friday + timedelta(days=2)) if day >= reference.today}


_DAYS_OF: Final[dict[DayRule, Callable[[re.Match[str], DateLanguage, _Reference], set[date]]]] = {
    DayRule.AHEAD: lambda match, language, reference: _days_away(match, language, reference, 1),
    DayRule.BACK: lambda match, language, reference: _days_away(match, language, reference, -1),
    DayRule.BARE: lambda match, language, reference: _days_away(
        match, language, reference, -1 if reference.in_past else 1
    ),
    DayRule.NEXT: lambda match, language, reference: _one_away(match, language, reference, 1),
    DayRule.LAST: lambda match, language, reference: _one_away(match, language, reference, -1),
    DayRule.COMING: lambda match, language, reference: {_weekday(match, language, reference)},
    DayRule.THIS: lambda match, language, reference: {_weekday(match, language, reference, least=0)},
    DayRule.EITHER: _next_weekday_readings,
    DayRule.FOLLOWING: lambda match, language, reference: {_weekday_of_next_week(match, language, reference)},
    DayRule.PAST: _past_weekday,
    DayRule.WEEK_END: _week_end,
    DayRule.MONTH_END: lambda _match, _language, reference: {
        _last_of(reference.today.year, reference.today.month)
    },
    DayRule.YEAR_END: lambda _match, _language, reference: {date(reference.today.year, 12, 31)},
    DayRule.END_OF: _end_of,
    DayRule.NTH: _nearest_day_of_month,
    DayRule.DATE: _date,
}


# -- times --------------------------------------------------------------------------------------------


class _MomentRequest(NamedTuple):
    """Now, in UTC and in local time, and whether a time that does not say so is in the past."""

    utc: datetime
    local: datetime
    zone: tzinfo
    in_past: bool

    @property
    def day(self) -> _Reference:
        return _Reference(self.local.date(), self.in_past)


def _iso(words: str, zone: tzinfo) -> datetime | None:
    """Read an ISO 8601 day or time, with or without its offset."""
    text = words.strip()
    try:
        if ISO_DATE.fullmatch(text):
            return beginning_in_utc(date.fromisoformat(text), zone)
        return in_utc(datetime.fromisoformat(text), zone, words) if ISO_DATE.match(text) else None
    except (ValueError, OverflowError):
        return None


def _moments(text: str, language: DateLanguage, request: _MomentRequest, words: str) -> set[datetime]:
    """Return every point in time that the text can mean in this language, in UTC."""
    if text in language.now:
        return {request.utc}
    try:
        moments = _exact_spans(text, language, request)
        for day, clock in split_day_and_clock(text, language):
            moments |= {
                in_utc(moment, request.zone, words) for moment in _at_clock(day, clock, language, request)
            }
        if not moments:
            moments = {beginning_in_utc(day, request.zone) for day in _days(text, language, request.day)}
    except OverflowError:
        return set()
    return moments


def _exact_spans(text: str, language: DateLanguage, request: _MomentRequest) -> set[datetime]:
    """Read "2 hours ago" by the clock, "2 days ago" by the calendar at the same time of the day."""
    moments = set()
    signs = {DayRule.AHEAD: 1, DayRule.BACK: -1, DayRule.BARE: -1 if request.in_past else 1}
    for rule, pattern in _patterns(language):
        match = pattern.fullmatch(text) if rule in signs else None
        for unit, count in _spans(match, language) if match else ():
            if unit == MINUTE:
                moments.add(request.utc + signs[rule] * timedelta(minutes=count))
            else:
                day = _step_by(request.local.date(), unit, signs[rule] * count)
                moments.add(in_utc_unnamed(datetime.combine(day, request.local.time()), request.zone))
    return moments


def split_day_and_clock(text: str, language: DateLanguage) -> Iterable[tuple[str, time]]:
    """Take a text apart into its day, empty for today, and its time of the day."""
    for pattern in _clock_patterns(language):
        if (match := pattern.fullmatch(text)) and (clock := _time_of_day(match)) is not None:
            yield (match["day"] or "").strip(), clock


@lru_cache(maxsize=2 * len(LANGUAGES))
def _clock_patterns(language: DateLanguage) -> tuple[re.Pattern[str], ...]:
    at_word, day = f"(?:{language.at}) ?", "(?P<day>.+?)"
    ends = [re.compile(f"(?:(?:{at_word})?|{day} (?:{at_word})?){time_pattern}") for time_pattern in _TIMES]
    # "2h" alone is a length of time, and "8" alone a number.
    led = [
        re.compile(f"(?:{at_word}|{day} {at_word}){_BARE_HOUR}"),
        re.compile(f"(?:{at_word}|{day} (?:{at_word})?){_H_HOUR}"),
    ]
    return (*ends, *led, *(re.compile(f"(?:{at_word})?{time_pattern} {day}") for time_pattern in _TIMES))


def _time_of_day(match: re.Match[str]) -> time | None:
    hour, minute, half = int(match["hour"]), int(match["minute"] or 0), match["half"]
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (half == "p")
    try:
        return time(hour, minute)
    except ValueError:
        return None


def _at_clock(day: str, clock: time, language: DateLanguage, request: _MomentRequest) -> set[datetime]:
    if day:
        return {datetime.combine(local_day, clock) for local_day in _days(day, language, request.day)}
    today = datetime.combine(request.local.date(), clock)
    if request.in_past and today > request.local:
        return {today - timedelta(days=1)}
    return {today + timedelta(days=1)} if not request.in_past and today <= request.local else {today}


def names_a_time(text: str, language: str) -> bool:
    """Report whether normalized words say a time of the day, or a span that the clock counts."""
    spoken = [date_language(name) for name in dict.fromkeys((known_language(language), *LANGUAGES))]
    rules = [(name, *rule) for name in spoken for rule in _patterns(name) if rule[0] is DayRule.AHEAD]
    spans = [_spans(match, name) for name, _rule, pattern in rules if (match := pattern.fullmatch(text))]
    is_span = any(unit == MINUTE for counts in spans for unit, _count in counts)
    return is_span or any(any(split_day_and_clock(text, name)) for name in spoken)
