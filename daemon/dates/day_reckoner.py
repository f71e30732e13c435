"""What a text says of time, for whoever would have to reckon it: days, times, lengths, what comes again.

Never guesses, and never knows of a task: words that can be read in two ways have both readings, and words
that the grammars do not read have none.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta, tzinfo
from itertools import islice
from typing import Final

from msgspec import Struct

from daemon.dates import grammar
from daemon.dates.date_language import date_language, known_language
from daemon.dates.durations import parse_named_length
from daemon.dates.mentions import day_phrases_in, has_time_words, lengths_in
from daemon.dates.recurrence import AfterDone, Budget, BudgetSpent, read_rule, rule_days
from daemon.dates.recurrence_words import parse_recurrence, recurrence_at_end
from daemon.dates.spelling import normalized_words
from daemon.language import LANGUAGES
from daemon.refusal import Refused

TEXT_CHARS_MAX: Final = 500
NEXT_DAYS: Final = 5
"""How many days of a series are named."""
_SPAN_WORDS_MAX: Final = 7
_DAYS_LOOKED_AT_MAX: Final = 20_000
_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_SIGNS: Final = '.,;!?()"“”„«»'


class ReadDay(Struct, frozen=True, kw_only=True):
    """A day: YYYY-MM-DD, its weekday in English, and how many days it lies ahead; behind if negative."""

    day: str
    weekday: str
    days_ahead: int


class DayReading(Struct, frozen=True, kw_only=True):
    """Words that mean a day; if they can mean several, each of them, the earliest first."""

    words: str
    readings: list[ReadDay]


class TimeReading(Struct, frozen=True, kw_only=True):
    """Words that say a time of the day. `clock` is HH:MM, null for a span such as "in 2 hours".

    `readings` are the moments in ISO 8601 with their offset: two if the words can mean two days, or if the
    clocks show the time twice, and none if the clocks skip it, or if no day can be told.
    """

    words: str
    clock: str | None
    readings: list[str]


class SeriesReading(Struct, frozen=True, kw_only=True):
    """Words that say how often something comes: the rule as the journal keeps it, and its next days."""

    words: str
    rule: str
    days: list[str]


class DatesRead(Struct, frozen=True, kw_only=True):
    """What a text says of time, as it is read at `moment`, in `zone`.

    `lengths` are in minutes. `unread`: the text seems to name a time, and nothing of it could be read.
    """

    moment: str
    weekday: str
    zone: str
    days: list[DayReading]
    times: list[TimeReading]
    lengths: list[int]
    series: list[SeriesReading]
    unread: bool


def reckon_days(text: str, now: datetime, zone: tzinfo, zone_name: str, language: str) -> DatesRead:
    """Read a text of at most TEXT_CHARS_MAX at a moment, which is aware.

    It is read by the given language, and by the others only if that reads nothing in it.
    """
    text, local = text[:TEXT_CHARS_MAX], now.astimezone(zone)
    own = known_language(language)
    days, languages = _days_in(text, local.date(), [own]), [own]
    if not days:
        days, languages = _days_in(text, local.date(), LANGUAGES), list(LANGUAGES)
    times = _times_in(text, local, days, languages)
    series = _series_in(text, local.date(), own, times)
    lengths = _lengths_in(text, [*days, *(time.words for time in times), *(part.words for part in series)])
    return DatesRead(
        moment=local.isoformat(timespec="minutes"),
        weekday=_WEEKDAYS[local.weekday()],
        zone=zone_name,
        days=[DayReading(words=words, readings=_read_days(meant, local)) for words, meant in days.items()],
        times=times,
        lengths=lengths,
        series=series,
        unread=not (days or times or lengths or series) and has_time_words(text, LANGUAGES),
    )


def _read_days(days: Iterable[date], local: datetime) -> list[ReadDay]:
    today = local.date()
    return [
        ReadDay(day=day.isoformat(), weekday=_WEEKDAYS[day.weekday()], days_ahead=(day - today).days)
        for day in sorted(days)
    ]


def _days_in(text: str, today: date, languages: Iterable[str]) -> dict[str, frozenset[date]]:
    """Return words that mean days, with these days; a text that is one phrase is read as a whole."""
    whole = " ".join(text.split()).strip(_SIGNS)
    days: dict[str, frozenset[date]] = {}
    for language in languages:
        readings = _iso_day(whole) or grammar.day_readings(whole, today, language)
        if readings and len(whole) <= grammar.CHARS_MAX:
            days[whole] = days.get(whole, frozenset()) | readings
    if days:
        return days
    for language in languages:
        for words, readings in day_phrases_in(text, today, language):
            days[words] = days.get(words, frozenset()) | readings
    return days


def _iso_day(words: str) -> frozenset[date]:
    day = grammar.date_or_none(*map(int, words.split("-"))) if grammar.ISO_DATE.fullmatch(words) else None
    return frozenset() if day is None else frozenset({day})


# -- times --------------------------------------------------------------------------------------------


def _times_in(
    text: str, local: datetime, days: dict[str, frozenset[date]], languages: Sequence[str]
) -> list[TimeReading]:
    """Return the times in a text, the longest words at each place."""
    times = list[TimeReading]()
    whole = " ".join(text.split()).strip(_SIGNS)
    if (span := _span_from_now(whole, local, languages)) is not None:
        return [span]
    by_words = {normalized_words(words): readings for words, readings in days.items()}
    for line in text.splitlines():
        words, position = line.split(), 0
        while position < len(words):
            ends = range(min(position + _SPAN_WORDS_MAX, len(words)), position, -1)
            phrases = ((" ".join(words[position:end]).strip(_SIGNS), end) for end in ends)
            readings = ((_time_of(phrase, whole, local, by_words, languages), end) for phrase, end in phrases)
            time, end = next(((time, end) for time, end in readings if time), (None, position + 1))
            times += [] if time is None else [time]
            position = end
    return times


def _time_of(
    phrase: str,
    whole: str,
    local: datetime,
    days: dict[str, frozenset[date]],
    languages: Sequence[str],
) -> TimeReading | None:
    """Read words that are a time, with a day or without; None for others.

    A time alone is that of the next such moment only if nothing else stands in the text: its day may stand in
    words that could not be read.
    """
    text = normalized_words(phrase)
    if len(phrase) > grammar.CHARS_MAX or not any(map(str.isdigit, text)):
        return None
    moments, clocks = list[datetime](), set[str]()
    for language in languages:
        for words, clock in grammar.split_day_and_clock(text, date_language(language)):
            if words:
                meant = days.get(words, frozenset())
                if phrase == whole:
                    meant |= grammar.day_readings(words, local.date(), language)
                if not meant:
                    continue
            else:
                later = clock > local.time()
                next_day = local.date() + timedelta(days=not later)
                meant = frozenset({next_day}) if phrase == whole else frozenset()
            clocks.add(f"{clock:%H:%M}")
            moments.extend(
                moment for day in meant for moment in _moments_at(datetime.combine(day, clock), local.tzinfo)
            )
    if len(clocks) != 1:
        return None
    return TimeReading(words=phrase, clock=clocks.pop(), readings=_iso_moments(moments))


def _moments_at(shown: datetime, zone: tzinfo | None) -> Iterator[datetime]:
    """Yield the moments at which the clocks of a zone show a time: one, two, or none."""
    for fold in (0, 1):
        moment = shown.replace(tzinfo=zone, fold=fold)
        if moment.astimezone(UTC).astimezone(zone).replace(tzinfo=None, fold=0) == shown:
            yield moment


def _iso_moments(moments: Iterable[datetime]) -> list[str]:
    # Two moments of one zone compare by what its clocks show, so that the offset has to count too.
    by_text = {moment.isoformat(timespec="minutes"): moment.astimezone(UTC) for moment in moments}
    return sorted(by_text, key=lambda text: by_text[text])


def _span_from_now(whole: str, local: datetime, languages: Sequence[str]) -> TimeReading | None:
    """Read a text that is a span counted by the clock, or a moment in ISO 8601; None for any other."""
    text = normalized_words(whole)
    if len(whole) > grammar.CHARS_MAX or local.tzinfo is None or grammar.ISO_DATE.fullmatch(text):
        return None
    if any(any(grammar.split_day_and_clock(text, date_language(language))) for language in languages):
        return None
    language = languages[0]
    if not grammar.ISO_DATE.match(text) and not grammar.names_a_time(text, language):
        return None
    try:
        moment = grammar.parse_moment(whole, local, local.tzinfo, language, "future")
    except Refused:
        return None
    return TimeReading(words=whole, clock=None, readings=_iso_moments([moment.astimezone(local.tzinfo)]))


# -- lengths and what comes again ---------------------------------------------------------------------


def _lengths_in(text: str, other_words: Iterable[str]) -> list[int]:
    """Return the lengths of time in a text, apart from words that mean something else: "every 3 days"."""
    for words in sorted(other_words, key=len, reverse=True):
        text = text.replace(words, "\n")
    if lengths := list(lengths_in(text)):
        return lengths
    whole = " ".join(text.split()).strip(_SIGNS)
    minutes = parse_named_length(whole) if 0 < len(whole) <= grammar.CHARS_MAX else None
    return [] if minutes is None else [minutes]


def _series_in(text: str, today: date, language: str, times: Sequence[TimeReading]) -> list[SeriesReading]:
    """Return what comes again: of each sentence the rule that ends it, a time of the day aside."""
    if (rule := _written_rule(text.strip(), language)) is not None:
        return [SeriesReading(words=text.strip(), rule=rule, days=_next_days(rule, today))]
    series = list[SeriesReading]()
    for sentence in re.split(r"[;\n]|\. ", text):
        line = " ".join(sentence.split()).strip(_SIGNS)
        ending = next((time.words for time in times if line.endswith(time.words)), "")
        words = line.removesuffix(ending).split()
        # A rule never begins a line that notes a task, since the title does.
        start, rule = recurrence_at_end(["-", *words], language)
        if rule is not None:
            phrase = " ".join(words[start - 1 :])
            series.append(SeriesReading(words=phrase, rule=rule, days=_next_days(rule, today)))
    return series


def _written_rule(words: str, language: str) -> str | None:
    """Return a rule that is written as files write it; None for words."""
    try:
        return parse_recurrence(words, language) if words.upper().startswith(("RRULE:", "FREQ=")) else None
    except Refused:
        return None


def _next_days(text: str, today: date) -> list[str]:
    """Return the next days of a rule that begins today; none if it counts from when something is done."""
    rule = read_rule(text)
    if isinstance(rule, AfterDone):
        return []
    try:
        budget = Budget(_DAYS_LOOKED_AT_MAX)
        return [
            day.isoformat()
            for day in islice(rule_days(rule, today, today, date.max, budget=budget), NEXT_DAYS)
        ]
    except BudgetSpent:
        return []
