"""Days and lengths of time that stand somewhere in a text, whatever the text says of them.

Never reads a part of a phrase, such as the Monday of "Monday week", and never more of a text than a bounded
number of its words.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from datetime import date
from functools import cache
from typing import Final

from daemon.dates import grammar
from daemon.dates.date_language import date_language
from daemon.dates.durations import lengths_of_all_languages
from daemon.dates.length_grammar import end_of_length, length_at
from daemon.dates.spelling import normalized_words
from daemon.dates.whole_days import end_of_length_apart, end_of_phrase, folded_text, is_led_elsewhere

_SPAN_WORDS_MAX: Final = 5
_PLACES_MAX: Final = 500
_REST_CHARS_MAX: Final = 60
_SIGNS: Final = ".,:\"'„“”«»–-"
_TOKEN: Final = re.compile(r"[^\s()!?;]+")


def days_mentioned(text: str, today: date, languages: Collection[str]) -> dict[str, date]:
    """Return the days that words of a text mean, counted from `today`, by the longest of these words.

    Words that can mean several days in one language, or in two of the languages, mean none.
    """
    days: dict[str, date] = {}
    phrases = (words for language in languages for words, _ in day_phrases_in(text, today, language))
    for words in dict.fromkeys(phrases):
        readings = {day for language in languages for day in grammar.day_readings(words, today, language)}
        if len(readings) == 1:
            days[words] = readings.pop()
    return {
        words: day
        for words, day in days.items()
        if not any(words != other and words in other and day == days[other] for other in days)
    }


def day_phrases_in(text: str, today: date, language: str) -> Iterator[tuple[str, frozenset[date]]]:
    """Yield the words of a text that mean a day in a language, the longest at each place, with these days.

    What goes on with a day and is not understood is passed over with it.
    """
    places_left = _PLACES_MAX
    for line in text.splitlines():
        tokens = _tokens(line)
        telling = [_tells(line[start:end], _time_words(language)) for start, end in tokens]
        position = 0
        for index, (start, _) in enumerate(tokens):
            if start < position or not any(telling[index : index + _SPAN_WORDS_MAX]):
                continue
            places_left -= 1
            if places_left < 0:
                return
            ends = [end for _, end in tokens[index : index + _SPAN_WORDS_MAX]]
            near = tokens[index : index + 2 * _SPAN_WORDS_MAX]
            if phrase := _longest_day(line, start, ends, today, language):
                end, days = phrase
                if other_end := _end_of_other_day(line, phrase, near, today, language):
                    position = other_end
                    continue
                before = folded_text(line[max(start - _REST_CHARS_MAX, 0) : start])
                rest = folded_text(line[end : end + _REST_CHARS_MAX])
                more = end_of_phrase(line[start:end], rest, language)
                position = end + max(more, end_of_length_apart(rest, language))
                if not more and not is_led_elsewhere(before, line[start:end], language):
                    yield line[start:end], days


def _end_of_other_day(
    line: str,
    phrase: tuple[int, frozenset[date]],
    tokens: Sequence[tuple[int, int]],
    today: date,
    language: str,
) -> int | None:
    """Return where a date in figures ends right behind a day, and is another: "Friday, 27.11."."""
    end, days = phrase
    behind = [token for token in tokens if token[0] >= end][:_SPAN_WORDS_MAX]
    first = behind[0][0] if behind else len(line)
    if not line[first : first + 1].isdigit() or line[end:first].strip(" ,"):
        return None
    other = _longest_day(line, first, [token_end for _, token_end in behind], today, language)
    if other is None or not other[1].isdisjoint(days):
        return None
    figures, rest = line[first : other[0]], folded_text(line[other[0] : other[0] + _REST_CHARS_MAX])
    is_whole = not any(map(str.isalpha, figures)) and not end_of_phrase(figures, rest, language)
    return other[0] if is_whole else None


def _longest_day(
    line: str, start: int, ends: Sequence[int], today: date, language: str
) -> tuple[int, frozenset[date]] | None:
    """Return where the longest words end that mean a day, and the days."""
    for end in reversed(ends):
        if days := grammar.day_readings(line[start:end], today, language):
            return end, days
    return None


def lengths_in(text: str) -> Iterator[int]:
    """Yield the lengths of time in a text, in minutes, each with all its parts. A bare number is none."""
    table = lengths_of_all_languages()
    for line in folded_text(text).splitlines():
        position, places_left = 0, _PLACES_MAX
        while places_left and (match := table.beginning.search(line, position)):
            length = length_at(line, match.start(), table)
            if length is not None:
                yield round(length.minutes)
            position = end_of_length(line, match.start(), table) if length is None else length.end
            places_left -= 1


def _tokens(line: str) -> list[tuple[int, int]]:
    """Return where the words of a line begin and end, without the signs around them."""
    spans = ((match.start(), match.group()) for match in _TOKEN.finditer(line))
    return [
        (start + len(token) - len(token.lstrip(_SIGNS)), start + len(token.rstrip(_SIGNS)))
        for start, token in spans
        if token.strip(_SIGNS)
    ]


def _tells(token: str, time_words: frozenset[str]) -> bool:
    return any(map(str.isdigit, token)) or not time_words.isdisjoint(normalized_words(token).split())


def has_time_words(text: str, languages: Collection[str]) -> bool:
    """Report whether a text has a digit, or a word that by itself names a day or a length of time."""
    names = frozenset[str]().union(*(_time_names(language) for language in languages))
    words = (normalized_words(token.strip(_SIGNS)) for token in _TOKEN.findall(text))
    return any(sign.isdigit() for sign in text) or any(not names.isdisjoint(word.split()) for word in words)


@cache
def _time_names(language: str) -> frozenset[str]:
    """Return the words of a language that alone mean a day, or a part or a length of time."""
    spoken = date_language(language)
    phrases = (*spoken.days, *spoken.weekdays, *spoken.months, *spoken.units)
    return frozenset(phrase for phrase in phrases if " " not in phrase)


@cache
def _time_words(language: str) -> frozenset[str]:
    """Return the words of a language without one of which no words mean a day or a length of time."""
    spoken = date_language(language)
    phrases = (*spoken.days, *spoken.weekdays, *spoken.months, *spoken.units)
    return frozenset(word for phrase in phrases for word in phrase.split())
