"""Whether the words of a day are the whole of what a text says of it: "Monday week" is not Monday.

Never decides which day words mean; that is `daemon.dates.grammar`.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import Final

from daemon.dates.date_language import MINUTE, date_language
from daemon.dates.spelling import any_of_pattern, typed_spellings
from daemon.dates.vocabulary import date_words

_UNIT_CHARS_MIN: Final = 2
_MONTH_CHARS_MIN: Final = 4
_JOINT: Final = r"[\s,(:/–—+-]+"
_NTH: Final = r"\d{1,3}(?:st|nd|rd|th|er|\.)?"


def end_of_phrase(rest: str, language: str, *, is_named: bool) -> int:
    """Return where the phrase ends that a day goes on with, in the text behind the day; 0 if it does not.

    `is_named` means that the day is said without figures, so that its number may follow: "Friday the 13th".
    """
    match = _continuation_pattern(language).match(rest) or (
        _number_pattern(language).match(rest) if is_named else None
    )
    return match.end() if match else 0


def is_led_elsewhere(before: str, language: str) -> bool:
    """Return whether what stands before a day makes another of it, as of "the first Monday"."""
    return _lead_pattern(language).search(before) is not None


def folded_text(text: str) -> str:
    """Return a text in small letters without accents, its signs kept."""
    apart = unicodedata.normalize("NFD", text.replace("’", "'"))
    return "".join(sign for sign in apart if not unicodedata.combining(sign)).casefold()


def _spellings_pattern(phrases: Iterable[str]) -> str:
    # "No, Friday" takes a day back, and "no more than Friday" does not: typed spellings have no comma.
    typed = {typed + "," * phrase.endswith(",") for phrase in phrases for typed in typed_spellings(phrase)}
    return any_of_pattern(typed).replace(r"\ ", r"\s+") or r"(?!)"


@cache
def _continuation_pattern(language: str) -> re.Pattern[str]:
    """Compile what moves a day, and some linking words with another day, month or unit behind them."""
    words, spoken = date_words(language), date_language(language)
    minutes = r"(?:[:.h]\d\d|\s?h(?!\w))?(?:\s?[ap]\.?m\b\.?|\s?uhr)?(?!\w)"
    clock = rf"(?:[\s,]*(?:(?:{spoken.at})\s*)?\d{{1,2}}{minutes})?"
    short = {typed for word in words.weekdays_short for typed in typed_spellings(word)}
    units = (unit for unit, (kind, _) in spoken.units.items() if kind != MINUTE)
    named = (
        *(name for name in spoken.weekdays if name not in short),
        *(name for name in spoken.months if len(name) >= _MONTH_CHARS_MIN),
        *(unit for unit in units if len(unit) >= _UNIT_CHARS_MIN),
    )
    links = f"{_spellings_pattern((*words.day_links, *words.numbers))}|{_NTH}"
    moved = rf"[\s,(–—-]*(?:{_spellings_pattern(words.day_moved_by)})(?!\w)"
    return re.compile(
        rf"{clock}(?:{moved}|{_JOINT}(?:(?:{links})[\s/-]+){{0,4}}(?:{any_of_pattern(named)})(?!\w))"
    )


@cache
def _number_pattern(language: str) -> re.Pattern[str]:
    """Compile the number of a day that is named: "Friday the 13th". What has minutes is a time."""
    return re.compile(rf"[\s,(]+(?:{date_language(language).on})\s+\d{{1,2}}(?![\d:])")


@cache
def _lead_pattern(language: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{_spellings_pattern(date_words(language).day_moved_behind)})\s+$")
