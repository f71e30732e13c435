"""One language's words for days and times in the form in which typed text is compared with them.

Never decides what words mean: that is `daemon.dates.grammar`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from daemon.dates.spelling import any_of_pattern, typed_spellings
from daemon.dates.vocabulary import DateWords, DayRule, UnitWords, date_words
from daemon.language import DEFAULT_LANGUAGE, LANGUAGES
from store.sentence import Sentence, sentence

MINUTE: Final = "minute"
DAY: Final = "day"
MONTH: Final = "month"

DateUnit = tuple[str, int]
"""What is counted, and how many of it: a fortnight is fourteen days."""

_UNITS: Final[Mapping[str, DateUnit]] = {
    "minute": (MINUTE, 1),
    "hour": (MINUTE, 60),
    "day": (DAY, 1),
    "week": (DAY, 7),
    "fortnight": (DAY, 14),
    "month": (MONTH, 1),
    "year": (MONTH, 12),
}
_FOREIGN_WEEKDAY_CHARS_MIN: Final = 3


@dataclass(frozen=True, slots=True, eq=False)
class DateLanguage:
    """One language's words, normalized as `normalized_words` does it; see `DateWords` for what they mean.

    `weekdays` counts from 0 for Monday, `months` from 1. `at` and `on` are patterns.
    """

    language: str
    examples: str
    days: Mapping[str, int]
    weekdays: Mapping[str, int]
    months: Mapping[str, int]
    units: Mapping[str, DateUnit]
    numbers: Mapping[str, int]
    rules: Mapping[DayRule, tuple[str, ...]]
    now: frozenset[str]
    at: str
    on: str
    weeks_in_days: Mapping[int, int]
    month_first: bool


def known_language(language: str) -> str:
    """Return the language if there are words of it, else the default one."""
    return language if language in LANGUAGES else DEFAULT_LANGUAGE


@cache
def date_language(language: str) -> DateLanguage:
    """Return the words of one of `daemon.language.LANGUAGES`. Raises KeyError for any other."""
    words = date_words(language)
    return DateLanguage(
        language=words.language,
        examples=words.examples,
        days=_number_table(words.days),
        weekdays=_name_table(words.weekdays, first=0),
        months=_name_table(words.months, first=1),
        units=_units(words),
        numbers=_number_table(words.numbers),
        rules=words.rules,
        now=frozenset(_number_table(dict.fromkeys(words.now, 0))),
        at=_first_of_pattern(words.at),
        on=_first_of_pattern(words.on),
        weeks_in_days=dict(words.weeks_in_days),
        month_first=words.month_first,
    )


@cache
def foreign_date_language(language: str) -> DateLanguage:
    """Return the words of a language for those who speak another one.

    "so", "do" and "mi" are days only to those who speak the language.
    """
    own = date_language(language)
    weekdays = {name: day for name, day in own.weekdays.items() if len(name) >= _FOREIGN_WEEKDAY_CHARS_MIN}
    return replace(own, weekdays=weekdays)


def _number_table(numbers: Mapping[str, int]) -> dict[str, int]:
    return {typed: value for phrase, value in numbers.items() for typed in typed_spellings(phrase)}


def _name_table(spellings: Iterable[Iterable[str]], first: int) -> dict[str, int]:
    return {
        typed: number
        for number, names in enumerate(spellings, first)
        for name in names
        for typed in typed_spellings(name)
    }


def _units(words: DateWords) -> dict[str, DateUnit]:
    return {
        typed: unit
        for name, unit in _UNITS.items()
        for names_by_unit in (words.units, words.units_of_days)
        for word in unit_words(names_by_unit, name)
        for typed in typed_spellings(word)
    }


def unit_words(unit_table: UnitWords, name: str) -> tuple[str, ...]:
    """Return the words for one unit, as people spell them."""
    words: tuple[str, ...] = getattr(unit_table, name)
    return words


def _first_of_pattern(patterns: Iterable[str]) -> str:
    """Return a pattern of any of the words. Their order is the file's: the first one that fits counts."""
    return "|".join(any_of_pattern([typed]) for word in patterns for typed in typed_spellings(word))


def examples_hint(language: str, strict: str) -> Sentence:
    """Return how to write a day, by the examples of a language and one that all languages read."""
    examples = date_language(known_language(language)).examples
    return sentence("write-like", "write it like {examples}, {strict}", examples=examples, strict=strict)
