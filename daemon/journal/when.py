"""Days and times as people type them, in five languages: "friday", "în două săptămâni", "gestern 14:00".

Never guesses: what can be read in two ways is refused with both readings, and a word that is not
understood is not passed over. The configured language is asked first; only where it knows nothing,
the others are. A weekday is the next one after today, or the last one before it where times past are
asked for; "this" weekday may be today.

Its grammars are its own: dateparser 1.5 did not read a third of what the tests list, and read some of it
wrongly ("2 weeks from today" as two weeks ago).
"""

import calendar
import re
from collections.abc import Callable, Container, Iterable
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache
from typing import Final, Literal, NamedTuple, TypeVar

from daemon.journal.date_words import DAY, ENGLISH, MINUTE, MONTH, TONGUES, Tongue
from daemon.journal.errors import Refused, usage
from daemon.journal.spelling import alternatives, folded, shortened

Prefer = Literal["past", "future"]
"""Which way a time is meant that does not say so: a weekday, a date without its year, a time of the day."""

_NOTHING: Final = frozenset({"", "none"})
_ISO_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
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

_CHARS_MAX: Final = 100

# "so", "do" and "mi" are days to those alone who speak the language.
_FOREIGN: Final = {
    language: replace(tongue, weekdays={name: day for name, day in tongue.weekdays.items() if len(name) > 2})
    for language, tongue in TONGUES.items()
}

T = TypeVar("T", date, datetime)


class _Day(NamedTuple):
    """What days are counted from, and which way those lie that do not say so."""

    today: date
    back: bool


def due(words: str, today: date, language: str) -> date | None:
    """Read the day on which something is due; None for "none" or nothing. Refuses what is no day."""
    text = folded(_bounded(words))
    if text in _NOTHING:
        return None
    if _ISO_DATE.fullmatch(text):
        found = _made(*map(int, text.split("-")))
    else:
        here = _Day(today, back=False)
        found = _only(words, _read(language, lambda tongue: _days(text, tongue, here)))
        if found is None and _names_a_time(text, language):
            raise usage(f"{shortened(words)} says a time; what is due is due on a day", "leave the time out")
    if found is None:
        raise _unreadable(words, "a date", language, f"{today.year + 1}-03-15")
    return found


def readings(words: str, today: date, language: str, *, without: Container[str] = ()) -> frozenset[date]:
    """Return every day that the words can mean in one language alone, and none where they say no day.

    Words that are said in one of the ways of `without` (names of rules in `date_words.py`) say none.
    """
    text, tongue = folded(words[:_CHARS_MAX]), TONGUES[language]
    if any(kind in without and pattern.fullmatch(text) for kind, pattern in _patterns(tongue)):
        return frozenset()
    return frozenset(_days(text, tongue, _Day(today, back=False)))


def moment(words: str, now: datetime, zone: tzinfo, language: str, prefer: Prefer = "past") -> datetime:
    """Read a point in time and answer it in UTC; a day alone is its beginning in `zone`.

    `now` carries its zone. Refuses what is no time, what the clocks skip, and what they show twice.
    """
    local = now.astimezone(zone).replace(tzinfo=None)
    if (exact := _iso(words, zone)) is not None:
        return exact
    text = folded(_bounded(words))
    asked = _Asked(now.astimezone(UTC), local, zone, prefer == "past")
    found = _only(words, _read(language, lambda tongue: _moments(text, tongue, asked, words)))
    if found is None:
        raise _unreadable(words, "a time", language, f"10:30, {now.year}-03-15 10:30")
    return found


def _bounded(words: str) -> str:
    """Refuse what nobody types for a day, before it costs anything."""
    if len(words) > _CHARS_MAX:
        raise usage(f"{shortened(words)} is too long for a day or a time", "write it in a few words")
    return words


# -- which reading ------------------------------------------------------------------------------------


def _read(language: str, reading: Callable[[Tongue], set[T]]) -> set[T]:
    own = TONGUES.get(language, ENGLISH)
    others = (tongue for language, tongue in _FOREIGN.items() if language != own.language)
    return reading(own) or set().union(*map(reading, others))


def _only(words: str, found: Iterable[T]) -> T | None:
    readings = sorted(found)
    if len(readings) > 1:
        named = " or as ".join(_said(one) for one in readings)
        raise usage(f"{shortened(words)} can be read as {named}", "write the one that is meant")
    return readings[0] if readings else None


def _said(reading: date) -> str:
    return reading.isoformat(timespec="minutes") if isinstance(reading, datetime) else reading.isoformat()


def _unreadable(words: str, what: str, language: str, strict: str) -> Refused:
    examples = TONGUES.get(language, ENGLISH).examples
    return usage(f"{shortened(words)} is not {what} that can be read", f"write it like {examples}, {strict}")


# -- days ---------------------------------------------------------------------------------------------


@lru_cache(maxsize=2 * len(TONGUES))
def _patterns(tongue: Tongue) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Compile the rules of a language, each with its kind."""
    holes = {
        "n": rf"(?P<n>\d{{1,4}}|{alternatives(tongue.numbers)})",
        "unit": rf"(?P<unit>{alternatives(tongue.units)})",
        "weekday": rf"(?P<weekday>{alternatives(tongue.weekdays)})\.?",
        "month": rf"(?P<month>{alternatives(tongue.months)})\.?",
        "day": r"(?P<day>\d{1,2})",
        "year": r"(?: (?P<year>\d{4}))?",
    }
    rules = {**tongue.rules, "bare": ("{n} ?{unit}",)}
    filled = [(kind, _filled(rule, holes)) for kind, written in rules.items() for rule in written]
    return tuple((kind, re.compile(pattern)) for kind, pattern in filled)


def _filled(rule: str, holes: dict[str, str]) -> str:
    for name, pattern in holes.items():
        rule = rule.replace(f"{{{name}}}", pattern)
    return rule


def _days(text: str, tongue: Tongue, here: _Day) -> set[date]:
    """Return every day that the text can mean in this language."""
    try:
        if text in tongue.days:
            return {here.today + timedelta(days=tongue.days[text])}
        return _plain_days(text, tongue, here) or _with_weekday(text, tongue, here)
    except OverflowError:
        return set()


def _plain_days(text: str, tongue: Tongue, here: _Day) -> set[date]:
    found = set(_numeric(text, tongue, here))
    for kind, pattern in _patterns(tongue):
        if match := pattern.fullmatch(text):
            found |= _DAYS_OF[kind](match, tongue, here)
    return found


def _with_weekday(text: str, tongue: Tongue, here: _Day) -> set[date]:
    """Read "Friday, 20 November": the date, if it is such a day."""
    match = re.fullmatch(rf"({alternatives(tongue.weekdays)})\.? (.*\d.*)", text)
    if match is None:
        return set()
    return {day for day in _plain_days(match[2], tongue, here) if day.weekday() == tongue.weekdays[match[1]]}


def _numeric(text: str, tongue: Tongue, here: _Day) -> set[date]:
    """Read 15.3., 15/3/2027 and the like: day first, but in both orders where the language has both."""
    if found := _YEAR_FIRST.fullmatch(text):
        return _known(_made(int(found[1]), int(found[3]), int(found[4])))
    found = _NUMERIC.fullmatch(re.sub(rf"^(?:{tongue.on}) ", "", text))
    if found is None:
        return set()
    first, sign, second, year = int(found[1]), found[2], int(found[3]), found[4]
    day_first = _dated(second, first, year, here)
    month_first = _dated(first, second, year, here)
    if sign == ".":
        return day_first
    if sign == "-" and year and len(year) == 2:
        return day_first | month_first | _known(_made(2000 + first, second, int(year)))
    return day_first | month_first if tongue.month_first else day_first or month_first


def _dated(month: int, day: int, year: str | None, here: _Day) -> set[date]:
    """Return the date, of the nearest year in which it exists where none is given."""
    if year:
        return _known(_made(int(year) + 2000 * (len(year) == 2), month, day))
    step = -1 if here.back else 1
    years = range(here.today.year, here.today.year + (_YEARS_MAX + 1) * step, step)
    nearest = (made for one in years if (made := _made(one, month, day)) is not None)
    return _known(next((one for one in nearest if (one - here.today).days * step >= 0), None))


def _made(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _known(day: date | None) -> set[date]:
    return set() if day is None else {day}


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _weekday(match: re.Match[str], tongue: Tongue, here: _Day, least: int = 1) -> date:
    """Return the nearest such weekday, at least so many days away."""
    wanted, step = tongue.weekdays[match["weekday"]], -1 if here.back else 1
    away = (wanted - here.today.weekday()) * step % 7
    return here.today + step * timedelta(days=away if away >= least else away + 7)


def _following(match: re.Match[str], tongue: Tongue, here: _Day) -> date:
    return _monday(here.today) + timedelta(days=7 + tongue.weekdays[match["weekday"]])


def _either(match: re.Match[str], tongue: Tongue, here: _Day) -> set[date]:
    """Read "next friday", which some mean as the coming one and some as the one after."""
    ahead = _Day(here.today, back=False)
    return {_weekday(match, tongue, ahead), _following(match, tongue, ahead)}


def _past_weekday(match: re.Match[str], tongue: Tongue, here: _Day) -> set[date]:
    return {_weekday(match, tongue, _Day(here.today, back=True))}


def _end_of(match: re.Match[str], tongue: Tongue, here: _Day) -> set[date]:
    month = tongue.months[match["month"]]
    year = here.today.year + (month < here.today.month) * (not here.back)
    return {_last_of(year - (here.back and month >= here.today.month), month)}


def _last_of(year: int, month: int) -> date:
    return date(year, month, calendar.monthrange(year, month)[1])


def _nth(match: re.Match[str], _tongue: Tongue, here: _Day) -> set[date]:
    """Read "the 15th": the nearest day of this number."""
    step = -1 if here.back else 1
    for away in range(0, 3 * step, step):
        first = _months_on(here.today.replace(day=1), away)
        made = _made(first.year, first.month, int(match["day"]))
        if made is not None and (made - here.today).days * step >= 0:
            return {made}
    return set()


def _months_on(day: date, months: int) -> date:
    """Return the same day of a later month, or the last that it has."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    if not date.min.year <= year <= date.max.year:
        raise OverflowError
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def _spans(match: re.Match[str], tongue: Tongue) -> set[tuple[str, int]]:
    """Return the kinds and counts that "two weeks" can mean: "quinze jours" is also two weeks."""
    kind, size = tongue.units[match["unit"]]
    count = _number(match, tongue)
    counts = {count}
    if match["n"] in tongue.numbers and (kind, size) == (DAY, 1) and count in tongue.weeks_in_days:
        counts.add(tongue.weeks_in_days[count])
    return {(kind, one * size) for one in counts}


def _number(match: re.Match[str], tongue: Tongue) -> int:
    written = match.groupdict().get("n")
    if written is None:
        return 1
    return int(written) if written.isdecimal() else tongue.numbers[written]


def _away(match: re.Match[str], tongue: Tongue, here: _Day, sign: int) -> set[date]:
    return {_on(here.today, kind, sign * count) for kind, count in _spans(match, tongue) if kind != MINUTE}


def _on(day: date, kind: str, count: int) -> date:
    return _months_on(day, count) if kind == MONTH else day + timedelta(days=count)


def _one_away(match: re.Match[str], tongue: Tongue, here: _Day, sign: int) -> set[date]:
    kind, size = tongue.units[match["unit"]]
    return set() if kind == MINUTE else {_on(here.today, kind, sign * size)}


def _date(match: re.Match[str], tongue: Tongue, here: _Day) -> set[date]:
    return _dated(tongue.months[match["month"]], int(match["day"]), match["year"], here)


def _week_end(_match: re.Match[str], _tongue: Tongue, here: _Day) -> set[date]:
    """Read "end of the week": of work or of the calendar."""
    friday = _monday(here.today) + timedelta(days=4)
    return {day for day in (friday, friday + timedelta(days=2)) if day >= here.today}


_DAYS_OF: Final[dict[str, Callable[[re.Match[str], Tongue, _Day], set[date]]]] = {
    "ahead": lambda match, tongue, here: _away(match, tongue, here, 1),
    "back": lambda match, tongue, here: _away(match, tongue, here, -1),
    "bare": lambda match, tongue, here: _away(match, tongue, here, -1 if here.back else 1),
    "next": lambda match, tongue, here: _one_away(match, tongue, here, 1),
    "last": lambda match, tongue, here: _one_away(match, tongue, here, -1),
    "coming": lambda match, tongue, here: {_weekday(match, tongue, here)},
    "this": lambda match, tongue, here: {_weekday(match, tongue, here, least=0)},
    "either": _either,
    "following": lambda match, tongue, here: {_following(match, tongue, here)},
    "past": _past_weekday,
    "week_end": _week_end,
    "month_end": lambda _match, _tongue, here: {_last_of(here.today.year, here.today.month)},
    "year_end": lambda _match, _tongue, here: {date(here.today.year, 12, 31)},
    "end_of": _end_of,
    "nth": _nth,
    "date": _date,
}


# -- times --------------------------------------------------------------------------------------------


class _Asked(NamedTuple):
    """Now, in UTC and as the clock on the wall shows it, and which way what does not say so lies."""

    utc: datetime
    local: datetime
    zone: tzinfo
    back: bool

    @property
    def day(self) -> _Day:
        return _Day(self.local.date(), self.back)


def _iso(words: str, zone: tzinfo) -> datetime | None:
    """Read an ISO 8601 day or time, with or without its offset."""
    text = words.strip()
    try:
        if _ISO_DATE.fullmatch(text):
            return _begins(date.fromisoformat(text), zone)
        return _in_utc(datetime.fromisoformat(text), zone, words) if _ISO_DATE.match(text) else None
    except (ValueError, OverflowError):
        return None


def _moments(text: str, tongue: Tongue, asked: _Asked, words: str) -> set[datetime]:
    """Return every point in time that the text can mean in this language, in UTC."""
    if text in tongue.now:
        return {asked.utc}
    try:
        found = _exact_spans(text, tongue, asked)
        for day, clock in _timed(text, tongue):
            found |= {_in_utc(one, asked.zone, words) for one in _clocked(day, clock, tongue, asked)}
        if not found:
            found = {_begins(day, asked.zone) for day in _days(text, tongue, asked.day)}
    except OverflowError:
        return set()
    return found


def _exact_spans(text: str, tongue: Tongue, asked: _Asked) -> set[datetime]:
    """Read "2 hours ago" by the clock, "2 days ago" by the calendar at the same time of the day."""
    found = set()
    signs = {"ahead": 1, "back": -1, "bare": -1 if asked.back else 1}
    for kind, pattern in _patterns(tongue):
        match = pattern.fullmatch(text) if kind in signs else None
        for unit, count in _spans(match, tongue) if match else ():
            if unit == MINUTE:
                found.add(asked.utc + signs[kind] * timedelta(minutes=count))
            else:
                day = _on(asked.local.date(), unit, signs[kind] * count)
                found.add(_shifted(datetime.combine(day, asked.local.time()), asked.zone))
    return found


def _timed(text: str, tongue: Tongue) -> Iterable[tuple[str, time]]:
    """Take a text apart into its day, empty for today, and its time of the day."""
    for pattern in _clock_patterns(tongue):
        if (match := pattern.fullmatch(text)) and (clock := _clock(match)) is not None:
            yield (match["day"] or "").strip(), clock


@lru_cache(maxsize=2 * len(TONGUES))
def _clock_patterns(tongue: Tongue) -> tuple[re.Pattern[str], ...]:
    at, day = f"(?:{tongue.at}) ?", "(?P<day>.+?)"
    ends = [re.compile(f"(?:(?:{at})?|{day} (?:{at})?){one}") for one in _TIMES]
    # "2h" alone is a length of time, and "8" alone a number.
    led = [re.compile(f"(?:{at}|{day} {at}){_BARE_HOUR}"), re.compile(f"(?:{at}|{day} (?:{at})?){_H_HOUR}")]
    return (*ends, *led, *(re.compile(f"(?:{at})?{one} {day}") for one in _TIMES))


def _clock(match: re.Match[str]) -> time | None:
    hour, minute, half = int(match["hour"]), int(match["minute"] or 0), match["half"]
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (half == "p")
    try:
        return time(hour, minute)
    except ValueError:
        return None


def _clocked(day: str, clock: time, tongue: Tongue, asked: _Asked) -> set[datetime]:
    if day:
        return {datetime.combine(one, clock) for one in _days(day, tongue, asked.day)}
    today = datetime.combine(asked.local.date(), clock)
    if asked.back and today > asked.local:
        return {today - timedelta(days=1)}
    return {today + timedelta(days=1)} if not asked.back and today <= asked.local else {today}


def _names_a_time(text: str, language: str) -> bool:
    own = TONGUES.get(language, ENGLISH)
    return any(True for tongue in (own, *TONGUES.values()) for _ in _timed(text, tongue))


# -- the clocks of a zone -----------------------------------------------------------------------------


def _in_utc(local: datetime, zone: tzinfo, words: str) -> datetime:
    """Place a time of the wall's clock; refuse one that the clock skips or shows twice there."""
    if local.tzinfo is not None:
        return local.astimezone(UTC)
    early, late = (local.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    if early.utcoffset() == late.utcoffset():
        return early.astimezone(UTC)
    if early.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != local:
        raise usage(
            f"{shortened(words)}: the clocks here skip {local:%H:%M} on that day", "name another time"
        )
    both = " or ".join(one.isoformat(timespec="minutes") for one in (early, late))
    raise usage(f"{shortened(words)}: the clocks here show {local:%H:%M} twice on that day", f"say {both}")


def _shifted(local: datetime, zone: tzinfo) -> datetime:
    """Place a time that nobody named; where the clock skips it, what it shows instead."""
    return local.replace(tzinfo=zone).astimezone(UTC)


def _begins(day: date, zone: tzinfo) -> datetime:
    return _shifted(datetime.combine(day, time()), zone)
