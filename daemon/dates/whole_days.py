"""Whether the words of a day are the whole of what a text says of it: "Monday week" is not Monday.

Never decides which day words mean; that is `daemon.dates.grammar`.
"""

import re
import unicodedata
from collections.abc import Iterable
from enum import Enum, auto
from functools import cache
from typing import Final

from daemon.dates.date_language import MINUTE, date_language
from daemon.dates.spelling import any_of_pattern, normalized_words, typed_spellings
from daemon.dates.vocabulary import date_words

_UNIT_CHARS_MIN: Final = 2
_MONTH_CHARS_MIN: Final = 4
_JOINT: Final = r"[\s,(:/–—+-]+"
_NTH: Final = r"\d{1,3}(?:st|nd|rd|th|er|\.)?"
# What has a clock's signs is a time, or the ends of one.
_COUNT: Final = rf"{_NTH}(?![\d–-]|[.:h]\d|\s?[ap]\.?m\b|\s?(?:h|uhr)\b)"
_SIZES: Final = r"(?:[kmgt]i?b|[km]?g|[kcm]?m|[cm]?l|%)"
_DECIMAL: Final = re.compile(r"\d+[.,]\d+")
_YEAR: Final = re.compile(r"(?<!\d)\d{4}(?!\d)|\d[./-]\d{1,2}[./-]\d")


class _Kind(Enum):
    """How a day is said: with its year in figures, as a number of units, or by a name or figures."""

    DATED = auto()
    COUNTED = auto()
    NAMED = auto()


def end_of_phrase(day: str, rest: str, language: str) -> int:
    """Return where the phrase ends that a day goes on with, in the text behind the day; 0 if it does not."""
    if not any(map(str.isalpha, day)) and (match := _counted_pattern(language).match(rest)):
        is_range = match["upto"] is not None
        # "27.11 à 14 heures" is a day and a time, and "27/11 all day" is no number.
        if not is_range and match["word"] is None:
            return match.end()
        if _DECIMAL.fullmatch(day) and (not is_range or _number(day) < _number(match["upto"])):
            return match.end()
    match = _continuation_pattern(language, _kind(day, language)).match(rest)
    # Said without figures, a day may have its number behind it: "Friday the 13th".
    if match is None and not any(sign.isdigit() for sign in day):
        match = _number_pattern(language).match(rest)
    return match.end() if match else 0


def _number(figures: str) -> float:
    return float(figures.replace(",", "."))


def end_of_length_apart(rest: str, language: str) -> int:
    """Return where a length ends that moves not the day before it, as in ", 3 days of work"; 0 if none."""
    match = _length_apart(language).match(rest)
    return match.end() if match else 0


def is_led_elsewhere(before: str, day: str, language: str) -> bool:
    """Return whether what stands before a day makes another of it, as of "the first Monday".

    So does half of a range ("one to two weeks"), and a part of a period ("the end of next month").
    """
    units = date_language(language).units
    kinds = [units[word][0] for word in normalized_words(day).split() if word in units]
    is_period = any(kind != MINUTE for kind in kinds)
    is_counted = _kind(day, language) is _Kind.COUNTED
    return _lead_pattern(language, is_counted=is_counted, is_period=is_period).search(before) is not None


def _kind(day: str, language: str) -> _Kind:
    if _YEAR.search(day):
        return _Kind.DATED
    *_, last = ["", *normalized_words(day).strip(".").split()]
    return _Kind.COUNTED if last.lstrip("0123456789") in date_language(language).units else _Kind.NAMED


def folded_text(text: str) -> str:
    """Return a text in small letters without accents, its signs kept."""
    apart = unicodedata.normalize("NFD", text.replace("’", "'"))
    return "".join(sign for sign in apart if not unicodedata.combining(sign)).casefold()


def _spellings_pattern(phrases: Iterable[str]) -> str:
    # "No, Friday" takes a day back, and "no more than Friday" does not: typed spellings have no comma.
    typed = {typed + "," * phrase.endswith(",") for phrase in phrases for typed in typed_spellings(phrase)}
    return any_of_pattern(typed).replace(r"\ ", r"\s+") or r"(?!)"


@cache
def _continuation_pattern(language: str, kind: _Kind) -> re.Pattern[str]:
    """Compile what moves a day, and some linking words with another day, month or unit behind them."""
    words, spoken = date_words(language), date_language(language)
    minutes = r"(?:[:.h]\d\d|\s?h(?!\w))?(?:\s?[ap]\.?m\b\.?|\s?uhr)?(?!\w)"
    clock = rf"(?:[\s,]*(?:(?:{spoken.at})\s*)?\d{{1,2}}{minutes})?"
    links = rf"(?:(?:{_spellings_pattern((*words.day_links, *words.numbers))}|{_NTH})[\s/-]+){{0,4}}"
    unit = _unit_pattern(language)
    day = f"{_day_names_pattern(language)}|{_spellings_pattern((*words.days, *words.day_moved_behind))}"
    number = rf"{_spellings_pattern(_numbers_of_many(language))}|{_COUNT}"
    moved, sums = _spellings_pattern(words.day_moved_by), _spellings_pattern(words.day_sums)
    may_move = f"{_spellings_pattern(words.day_moved_if)}|{sums}"
    target = (
        rf"{_JOINT}{links}(?:{unit})(?!\w)|(?={_JOINT}{links}(?:{day}|{number})(?!\w))|(?=\s*(?:[.,;:!?)]|$))"
    )
    moves = {
        _Kind.DATED: rf"(?:{sums})(?!\w)(?:{target})",
        _Kind.COUNTED: rf"(?:{moved}|{may_move})(?!\w)",
        _Kind.NAMED: rf"(?:{moved})(?!\w)|(?:{may_move})(?!\w)(?:{target})",
    }
    # "2 weeks, 3 days" may be one length.
    apart = "" if kind is _Kind.COUNTED else f"(?!{_length_apart(language).pattern})"
    more = rf"{_JOINT}{links}(?:{_day_names_pattern(language)}|{unit})(?!\w)"
    return re.compile(rf"{apart}{clock}{apart}(?:{more}|[\s,(–—-]*(?:{moves[kind]}))")


@cache
def _length_apart(language: str) -> re.Pattern[str]:
    """Compile a length behind a comma: "Friday, 3 weeks from now" is one phrase, and has none."""
    words = date_words(language)
    number = rf"(?:{_spellings_pattern(words.numbers)}|\d{{1,3}})"
    moved = _spellings_pattern((*words.day_moved_by, *words.day_moved_if))
    return re.compile(rf"\s*,\s*{number}[\s-]+(?:{_unit_pattern(language)})(?!\w)(?!\s+(?:{moved})(?!\w))")


def _unit_pattern(language: str) -> str:
    units = (unit for unit, (kind, _) in date_language(language).units.items() if kind != MINUTE)
    return any_of_pattern(unit for unit in units if len(unit) >= _UNIT_CHARS_MIN)


def _day_names_pattern(language: str) -> str:
    """Return a pattern of weekdays and months, no abbreviation nor other word among them."""
    words, spoken = date_words(language), date_language(language)
    short = {typed for word in words.weekdays_short for typed in typed_spellings(word)}
    alike = {typed for word in words.months_alike for typed in typed_spellings(word)}
    full = {typed for names in words.months for typed in typed_spellings(names[0])}
    names = (
        *(name for name in spoken.weekdays if name not in short),
        *(name for name in spoken.months if name in full - alike or len(name) >= _MONTH_CHARS_MIN),
    )
    led = rf"(?:(?<=\()|(?:{_spellings_pattern(words.month_leads)})\s+)(?:{any_of_pattern(alike)})"
    return f"{any_of_pattern(names)}|{led}" if alike else any_of_pattern(names)


def _numbers_of_many(language: str) -> tuple[str, ...]:
    """Return the words for numbers of which none is also an article."""
    return tuple(word for word, number in date_words(language).numbers.items() if number > 1)


@cache
def _number_pattern(language: str) -> re.Pattern[str]:
    """Compile the number of a day that is named: "Friday the 13th". What has minutes is a time."""
    on, last = date_language(language).on, r"(?=\s*(?:[.,;:!?)](?!\d)|$))"
    return re.compile(rf"[\s,(]+(?:(?:{on})\s+\d{{1,2}}(?![\d:])|\d{{1,2}}{last})")


@cache
def _counted_pattern(language: str) -> re.Pattern[str]:
    """Compile the unit that figures count, alone or in a range: "1.5 to 2 hours" is no first of May."""
    units = (unit for unit in date_language(language).units if len(unit) >= _UNIT_CHARS_MIN or unit == "h")
    between = rf"[–-]|(?:{_spellings_pattern(date_words(language).range_words)})(?!\w)"
    ends = rf"(?:\s*(?:{between})\s*(?P<upto>\d+(?:[.,]\d+)?))?"
    # "1.5 working days", and a size that is alike in all languages.
    return re.compile(
        rf"{ends}[\s-]*(?:(?:de\s+)?(?P<word>[^\W\d_]+\s+)?(?:{any_of_pattern(units)})|{_SIZES})(?!\w)"
    )


@cache
def _lead_pattern(language: str, *, is_counted: bool, is_period: bool) -> re.Pattern[str]:
    words = date_words(language)
    moved = (*words.day_moved_behind, *(words.period_parts if is_period else ()))
    lead = rf"(?<!\w)(?:{_spellings_pattern(moved)})[\s-]+"
    number = rf"(?<![\w.,/:-])(?:{_spellings_pattern(words.numbers)}|\d{{1,3}})"
    half = rf"{number}\s*(?:[,–-]|(?:{_spellings_pattern(words.range_words)})(?!\w))\s*"
    return re.compile(rf"(?:{lead}|{half})$" if is_counted else rf"{lead}$")
