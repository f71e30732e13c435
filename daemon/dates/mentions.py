"""Days and lengths of time that stand somewhere in a text, whatever the text says of them.

Never reads what can mean two days, and never more of a text than a bounded number of its words.
"""

import re
from collections.abc import Collection, Iterator
from datetime import date
from functools import cache
from typing import Final

from daemon.dates import grammar
from daemon.dates.date_language import date_language
from daemon.dates.spelling import normalized_words

_SPAN_WORDS_MAX: Final = 4
_SPANS_MAX: Final = 2000
_SIGNS: Final = ".,:\"'„“”«»–-"
_TOKEN: Final = re.compile(r"[^\s()!?;]+")


def days_mentioned(text: str, today: date, languages: Collection[str]) -> dict[str, date]:
    """Return the days that words of a text mean, counted from `today`, by the longest of these words.

    Words that can mean several days in one language, or in two of the languages, mean none.
    """
    days: dict[str, date] = {}
    for words in time_words_in(text, languages):
        readings = {day for language in languages for day in grammar.day_readings(words, today, language)}
        if len(readings) == 1:
            days[words] = readings.pop()
    return {
        words: day
        for words, day in days.items()
        if not any(words != other and words in other and day == days[other] for other in days)
    }


def time_words_in(text: str, languages: Collection[str]) -> Iterator[str]:
    """Yield the words of a text, some at a time, that have a number or a word for days or lengths of time."""
    time_words = frozenset[str]().union(*(_time_words(language) for language in languages))
    count = 0
    for line in text.splitlines():
        tokens = [token.group() for token in _TOKEN.finditer(line)]
        telling = [
            any(sign.isdigit() for sign in token)
            or not time_words.isdisjoint(normalized_words(token.strip(_SIGNS)).split())
            for token in tokens
        ]
        for start in range(len(tokens)):
            for end in range(start + 1, min(start + _SPAN_WORDS_MAX, len(tokens)) + 1):
                if not any(telling[start:end]):
                    continue
                count += 1
                if count > _SPANS_MAX:
                    return
                yield " ".join(tokens[start:end]).strip(_SIGNS)


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
