"""The day and the length with which a line ends that a person typed to note a task.

Never guesses: what can be read in two ways is no day and no length, nor is what stands in quotation marks.
"""

import re
from collections.abc import Callable, Iterable
from datetime import date
from typing import Final

from daemon.dates import durations, grammar
from daemon.dates.date_language import date_language, known_language
from daemon.dates.spelling import normalized_words
from daemon.dates.vocabulary import DateWords, DayRule, date_words
from daemon.dates.whole_days import folded_text, is_led_elsewhere
from daemon.due_time import DueTime
from daemon.language import DEFAULT_LANGUAGE, LANGUAGES
from daemon.refusal import Refused

SPAN_WORDS_MAX: Final = 6
_LETTERS_MIN: Final = 4
_LETTER: Final = re.compile(r"[^\W\d_]")
_FULL_DATE: Final = re.compile(r".*\d{4}.*|\d{1,2}\. ?\d{1,2}\.")
"""Figures without a word are a date only with a year, or with two full stops: "3/4" and "5.6" are not."""
_SIZE: Final = re.compile(r"\{n\}.*?\{unit\}")
_CLOCK_OR_METRES: Final = re.compile(r"(?:[7-9]|1\d|2[0-4]) ?h(?:\d\d)?|\d+(?:[.,]\d+)? ?m", re.IGNORECASE)
"""What is a time of the day, or a distance, as often as it is a length: "14h", "100 m"."""
_NUMBER: Final = re.compile(r"\d{1,4}[.,]?")
END_SIGNS: Final = ",;:"
"""What joins a title to what follows it, beside dashes."""
DASHES: Final = "—–-"
_JOINING_SIGNS: Final = f"{END_SIGNS}{DASHES}&+→/…"
"""A word of these alone joins what stands on both sides of it, as in "Monday - Friday"."""


def length_at_end(words: list[str], today: date, language: str) -> tuple[int, int | None]:
    """Return at which word a length begins that ends the words, and its minutes; 0 and None without any."""
    for start in _starts(words):
        span = " ".join(words[start:])
        minutes = durations.parse_named_length(span)
        if minutes is not None:
            # "2 days" is how long something takes, and also when it is due.
            is_day = any(grammar.day_readings(span, today, other) for other in LANGUAGES)
            begin = start - _lead_count(words[:start], language)
            is_hanging = leaves_hanging(words[begin - 1], {language})
            before = folded_text(f"{' '.join(words[:begin])} ")
            is_hanging |= is_led_elsewhere(before, span, known_language(language))
            is_hanging |= _CLOCK_OR_METRES.fullmatch(span) is not None
            is_hanging |= _is_end_of_range(words, begin, today, is_length=True)
            is_hanging |= _is_spoken(words[begin - 1], {language}, lambda spoken: spoken.at)
            return (0, None) if is_day or is_hanging or _is_moment(words, start) else (begin, minutes)
    return 0, None


def _lead_count(words: list[str], language: str) -> int:
    """Return how many words at the end belong to a length that follows, as "for" does; one word is left."""
    for spoken in (known_language(language), DEFAULT_LANGUAGE):
        for lead in map(normalized_words, date_words(spoken).length.leads):
            count = len(lead.split())
            if count < len(words) and normalized_words(" ".join(words[-count:])) == lead:
                return count
    return 0


def day_at_end(words: list[str], today: date, language: str) -> tuple[int, date | None]:
    """Return at which word a day begins that ends the words, and the day; 0 and None without any."""
    for start in _starts(words):
        span = " ".join(words[start:])
        try:
            day = grammar.parse_due_day(span, today, language)
        except Refused as refused:
            if refused.sentence.id == grammar.NO_DATE:
                continue
            # All of it means a day or a time in more ways than one: a part of it may not count either.
            return 0, None
        is_clear = day is not None and day >= today and _says_a_day(span, day, today, language)
        # "de la mañana" is Spanish, whatever language the person speaks with Placet.
        spoken = {
            language,
            *(other for other in LANGUAGES if day in grammar.day_readings(span, today, other)),
        }
        is_whole = not leaves_hanging(words[start - 1], spoken) and not _is_half(words, start, today, spoken)
        return (start, day) if is_clear and is_whole else (0, None)
    return 0, None


def hour_at_end(
    words: list[str], today: date, language: str, hour_of: Callable[[str], DueTime | None]
) -> tuple[int, DueTime | None]:
    """Return at which word a day with an hour begins that ends the words, and both; 0 and None without any.

    An hour alone needs a word that says so, as "at 14:00" and "2 pm" have: "3:16" is a verse as often.
    """
    for start in _starts(words):
        due_time = hour_of(" ".join(words[start:]))
        if due_time is None:
            continue
        before = words[start - 1].strip(END_SIGNS)
        is_whole = len(words) - start > 1 and not leaves_hanging(words[start - 1], set(LANGUAGES))
        is_whole = is_whole and not _is_half(words, start, today, {language})
        # "9:00 to 5 pm" are two hours of which neither is when it is due.
        is_whole = is_whole and (not any(sign.isdigit() for sign in before) or hour_of(before) is None)
        return (start, due_time) if is_whole and due_time.day >= today else (0, None)
    return 0, None


def _is_moment(words: list[str], start: int) -> bool:
    """Report whether a length at the end is a time from now, as in "in 2 hours"."""
    length = re.escape(normalized_words(" ".join(words[start:])))
    spans = [normalized_words(" ".join(words[first:])) for first in (start - 1, start - 2) if first > 0]
    templates = (template for name in LANGUAGES for template in date_language(name).rules[DayRule.AHEAD])
    patterns = [_SIZE.sub(lambda _hole: length, template) for template in templates]
    return any(re.fullmatch(pattern, span) for pattern in patterns for span in spans)


def _is_half(words: list[str], start: int, today: date, spoken: Iterable[str]) -> bool:
    """Report whether what stands before a day belongs to it: "end of next month", "Friday 21 November"."""
    before, day, last = " ".join(words[:start]), " ".join(words[start:]), words[start - 1].strip(END_SIGNS)
    is_named = len(_LETTER.findall(last)) >= _LETTERS_MIN
    if _is_end_of_range(words, start, today):
        return True
    return any(
        is_led_elsewhere(folded_text(f"{before} "), day, language)
        or (is_named and grammar.day_readings(last, today, language))
        for language in map(known_language, spoken)
    )


def _is_end_of_range(words: list[str], start: int, today: date, *, is_length: bool = False) -> bool:
    """Report whether what stands before a day or a length is another one, as in "Monday - Friday"."""
    end = start
    while end and not words[end - 1].strip(_JOINING_SIGNS):
        end -= 1
    last = words[end - 1].strip(END_SIGNS) if end else ""
    # "until" joins two days, and "for" a day and a length that say different things.
    is_joined = end < start or (not is_length and leaves_hanging(words[start], LANGUAGES))
    if is_joined and _NUMBER.fullmatch(last):
        return True
    spans = [" ".join(words[first:end]).strip(END_SIGNS) for first in range(max(0, end - 4), end)]
    if is_joined and any(
        durations.parse_named_length(span) is not None or grammar.day_readings(span, today, language)
        for span in spans
        for language in LANGUAGES
    ):
        return True
    return _is_weekday(last) and _is_weekday(words[start].strip(END_SIGNS))


def _is_weekday(word: str) -> bool:
    """Report whether a word is the name of a day of the week, or short for one, in any language."""
    return any(
        normalized_words(word).rstrip(".") == normalized_words(name)
        for language in LANGUAGES
        for names in date_words(language).weekdays
        for name in names
    )


def _starts(words: list[str]) -> range:
    return range(max(1, len(words) - SPAN_WORDS_MAX), len(words))


def _says_a_day(span: str, day: date, today: date, language: str) -> bool:
    """Report whether words say a day that no running text is likely to say of something else."""
    letters = len(_LETTER.findall(span))
    if not letters:
        return _FULL_DATE.fullmatch(span) is not None
    has_figure = any(sign.isdigit() for sign in span)
    # "Sat" and "mar" are words and names too, and "2 weeks" is how long something takes.
    is_long = has_figure or letters >= _LETTERS_MIN or _is_whole_name(span, language)
    return is_long and any(
        day in grammar.day_readings(span, today, other, without=(DayRule.BARE,)) for other in LANGUAGES
    )


def _is_whole_name(span: str, language: str) -> bool:
    """Report whether words are a day's own name in a language, short as it is: "hoy", "azi", "joi"."""
    spoken = date_words(known_language(language))
    names = {name for weekday in spoken.weekdays for name in weekday} - set(spoken.weekdays_short)
    return normalized_words(span) in map(normalized_words, (*spoken.days, *names))


def leaves_hanging(word: str, languages: Iterable[str]) -> bool:
    """Report whether a title cannot end with a word: "the meeting on the" lacks what was taken away."""
    return _is_spoken(word, languages, lambda spoken: (*spoken.hanging, *spoken.reserves))


def _is_spoken(word: str, languages: Iterable[str], words_of: Callable[[DateWords], Iterable[str]]) -> bool:
    """Report whether a word is one of some words of these languages, or of English."""
    spoken = {*map(known_language, languages), DEFAULT_LANGUAGE}
    plain = normalized_words(word).rstrip(".")
    return any(plain in map(normalized_words, words_of(date_words(name))) for name in spoken)
