"""Which words of a note may belong to a day, so that most of them cost nothing.

Never decides which day words mean; that is `daemon.dates.grammar`.
"""

from functools import lru_cache

from daemon.dates.date_language import date_language
from daemon.dates.spelling import normalized_words

BEGINNING_CHARS = 4


def tells_a_day(token: str, language: str) -> bool:
    """Return whether a word has a figure, or may belong to the name of a day, be it with a letter wrong."""
    if any(map(str.isdigit, token)):
        return True
    return any(
        word in _time_words(language) or word[:BEGINNING_CHARS] in _beginnings(language)
        for word in normalized_words(token.strip(".,:\"'–-")).split()
    )


def names_a_day(word: str, language: str) -> bool:
    """Return whether a word alone is a number, or the name of a day or a month."""
    spoken = date_language(language)
    names = (spoken.days, spoken.weekdays, spoken.months)
    return word[:1].isdigit() or any(normalized_words(word) in named for named in names)


@lru_cache(maxsize=8)
def _time_words(language: str) -> frozenset[str]:
    spoken = date_language(language)
    phrases = (*spoken.days, *spoken.weekdays, *spoken.months, *spoken.units)
    return frozenset(word for phrase in phrases for word in phrase.split())


@lru_cache(maxsize=8)
def _beginnings(language: str) -> frozenset[str]:
    spoken = date_language(language)
    names = (*spoken.days, *spoken.weekdays, *spoken.months)
    return frozenset(name[:BEGINNING_CHARS] for name in names if len(name) > BEGINNING_CHARS)
