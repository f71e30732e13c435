"""Lengths of time by the clock, as settings have them: "45 s", "10 min", "7 days", in any language.

Never for work: here a day has 24 hours, and in `durations.py` eight.
"""

from dataclasses import replace
from functools import cache
from typing import Final, NamedTuple

from daemon.dates.date_language import unit_words
from daemon.dates.durations import lengths_of_all_languages, readable_length
from daemon.dates.length_grammar import HOUR_MINUTES, LengthWordTable, all_spellings, length_at
from daemon.dates.vocabulary import date_words
from daemon.language import LANGUAGES

_DAY_MINUTES: Final = 1440
_MINUTES: Final = {"minute": 1, "hour": HOUR_MINUTES, "day": _DAY_MINUTES, "week": 7 * _DAY_MINUTES}
_HALF_DAY_MINUTES: Final = 240
"""From here on a phrase of a length may count days of work: "half a day"."""
_CHARS_MAX: Final = 100


class _Words(NamedTuple):
    """The words of lengths: a table whose units are minutes, and one whose single unit is a second."""

    in_minutes: LengthWordTable
    in_seconds: LengthWordTable


@cache
def _words_of_all_languages() -> _Words:
    table = lengths_of_all_languages()
    spoken = [date_words(language) for language in LANGUAGES]
    units = {
        word: size
        for words in spoken
        for name, size in _MINUTES.items()
        for word in all_spellings([*unit_words(words.units, name), *getattr(words.length, name, ())])
    }
    seconds = all_spellings(word for words in spoken for word in (*words.length.unread, "s"))
    amounts = {phrase: minutes for phrase, minutes in table.amounts.items() if minutes < _HALF_DAY_MINUTES}
    return _Words(
        replace(table, units=units, amounts=amounts, unread=table.unread - units.keys()),
        replace(table, units=dict.fromkeys(seconds, 1), amounts={}, unread=frozenset(units)),
    )


def parse_clock_seconds(words: str) -> float | None:
    """Return how many seconds a length has that names its unit; None for any other words."""
    text = (readable_length(words) if len(words) <= _CHARS_MAX else None) or ""
    number, _blank, unit = text.partition(" ")
    tables = _words_of_all_languages()
    if unit in tables.in_seconds.units and _is_decimal(number):
        return float(number)
    length = length_at(text, 0, tables.in_minutes)
    if length is not None and length.end == len(text):
        return length.minutes * 60
    length = length_at(text, 0, tables.in_seconds)
    return length.minutes if length is not None and length.end == len(text) else None


def _is_decimal(text: str) -> bool:
    whole, _point, part = text.partition(".")
    return whole.isdecimal() and (not part or part.isdecimal())
