"""Lengths of time as people type them: "90", "2h", "1h30", "2 ore", "anderthalb Stunden".

Never reads a length that is not counted in minutes, hours or working days of eight hours.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from daemon.dates.spelling import any_of_pattern, excerpt, normalized_words, typed_spellings
from daemon.dates.vocabulary import date_words
from daemon.language import LANGUAGES
from daemon.refusal import usage_error
from store.sentence import sentence

WORKDAY_MINUTES: Final = 480
HOUR_MINUTES: Final = 60
_CLOCK: Final = re.compile(r"(\d{1,4}):([0-5]\d)")
_CHARS_MAX: Final = 100
_ISO_8601: Final = re.compile(r"pt(?:(\d{1,4}(?:\.\d{1,2})?)h)?(?:(\d{1,5})m)?(?<=[hm])", re.ASCII)
_FRACTIONS: Final = {"½": ".5", "¼": ".25", "¾": ".75", "1/2": ".5", "1/4": ".25", "3/4": ".75"}
_FRACTION: Final = re.compile(
    r"(?<![\d.,/])(?:(\d{1,4}) ?([½¼¾])|(\d{1,4}) ([13]/[24])|([½¼¾]|[13]/[24]))(?![\d.,/½¼¾])", re.ASCII
)
_SIGN_IN_A_PART: Final = re.compile(r"\s*[,;]|.*\d\s*;|.*\d\s*,\s*[^\W\d_]")
"""A comma or semicolon that may stand for another sign: before the first part, or in front of a unit."""


@dataclass(frozen=True, slots=True)
class _LengthLanguage:
    """What lengths need of the words of all languages together, normalized.

    `units` and `amounts` map words to minutes, `numbers` words to their number. `halves` are words without
    which no text can be `and_a_half`, as in "two and a half hours". `part` is a pattern of one part of a sum.
    """

    units: Mapping[str, int]
    numbers: Mapping[str, int]
    amounts: Mapping[str, int]
    halves: frozenset[str]
    and_a_half: re.Pattern[str]
    part: re.Pattern[str]


@cache
def _all_languages() -> _LengthLanguage:
    """Join the words of all languages, on the first length that is read."""
    spoken = [date_words(language) for language in LANGUAGES]
    minutes = _all_spellings(word for words in spoken for word in (*words.units.minute, *words.length.minute))
    hours = _all_spellings(word for words in spoken for word in (*words.units.hour, *words.length.hour))
    days = _all_spellings(word for words in spoken for word in words.units.day)
    numbers = _number_table(words.numbers for words in spoken)
    half = _all_spellings(phrase for words in spoken for phrase in words.length.and_a_half)
    joiners = any_of_pattern(_all_spellings(word for words in spoken for word in words.length.joiners))
    number = any_of_pattern(numbers)
    return _LengthLanguage(
        units={
            **dict.fromkeys(days, WORKDAY_MINUTES),
            **dict.fromkeys(hours, HOUR_MINUTES),
            **dict.fromkeys(minutes, 1),
        },
        numbers=numbers,
        amounts=_number_table(
            amounts for words in spoken for amounts in (words.length.amounts, words.length.typed_amounts)
        ),
        halves=frozenset(phrase.split()[-1] for phrase in half),
        and_a_half=re.compile(
            rf"(?P<n>\d{{1,4}}|{number}) (?:(?:{any_of_pattern(half)}) )?"
            rf"(?:{any_of_pattern(hours)})(?: (?:{any_of_pattern(half)}))?"
        ),
        # Romanian has "de" between a number and its unit: "20 de minute".
        part=re.compile(
            rf"(?P<n>\d{{1,15}}(?:[.,]\d{{1,2}})?|(?:{number})(?= )) ?(?:de )?"
            rf"(?P<unit>{any_of_pattern((*minutes, *hours, *days))})?(?![a-z])\.? ?(?:(?:{joiners}) )?"
        ),
    )


def _all_spellings(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(typed for word in words for typed in typed_spellings(word)))


def _number_table(tables: Iterable[Mapping[str, int]]) -> dict[str, int]:
    return {
        typed: value for table in tables for word, value in table.items() for typed in typed_spellings(word)
    }


def parse_minutes(words: str) -> int | None:
    """Read how long something takes, in minutes; None for "none" or nothing. A bare number is minutes."""
    if len(words) > _CHARS_MAX:
        raise usage_error(
            sentence("length-too-long", "{words!r} is too long for a length of time", words=excerpt(words)),
            sentence("write-short-length", "write it like 90, 2h or 1h30"),
        )
    text = _readable_text(words)
    if text in ("", "none"):
        return None
    minutes = None if text is None else _minutes(text)
    if minutes is None or minutes <= 0:
        raise usage_error(
            sentence("no-length", "{words!r} is not a length of time", words=excerpt(words)),
            sentence("write-length", "write it like 90, 2h, 1h30 or 1.5 hours"),
        )
    return minutes


def parse_named_length(words: str) -> int | None:
    """Read a length that names its unit, as "45 min" and "half an hour" do; None for any other words.

    A number in letters needs more than a unit behind it: "a minute" and "one day" are said of other things.
    """
    if len(words) > _CHARS_MAX:
        return None
    text = _readable_text(words)
    if text is None:
        return None
    if text in _all_languages().amounts:
        return _all_languages().amounts[text]
    has_figure, has_letter = (any(map(test, text)) for test in (str.isdigit, str.isalpha))
    minutes = _minutes(text) if has_figure and has_letter else None
    return minutes if minutes is not None and minutes > 0 else None


def _readable_text(words: str) -> str | None:
    """Return words normalized, each number in figures and a point; None if a sign in them has no meaning."""
    # Before the signs are folded: a comma becomes a blank, and the 2 of "h²" a figure.
    text = _FRACTION.sub(
        _decimal, re.sub(r"(?<![\w.,])[.,](?=\d)", "0.", re.sub(r"(?<=\d),(?=\d)", ".", words))
    )
    has_other_figures = any(sign.isnumeric() and not sign.isdecimal() and not sign.isalpha() for sign in text)
    return None if has_other_figures or _SIGN_IN_A_PART.match(text) else normalized_words(text)


def _decimal(fraction: re.Match[str]) -> str:
    whole, sign = fraction[1] or fraction[3] or "0", fraction[2] or fraction[4] or fraction[5]
    return whole + _FRACTIONS.get(sign, "\0")


def _minutes(text: str) -> int | None:
    spoken = _all_languages()
    if text in spoken.amounts:
        return spoken.amounts[text]
    if clock := _CLOCK.fullmatch(text):
        return int(clock[1]) * HOUR_MINUTES + int(clock[2])
    if iso := _ISO_8601.fullmatch(text):
        return round(float(iso[1] or 0) * HOUR_MINUTES) + int(iso[2] or 0)
    if any(half in text for half in spoken.halves):
        match = spoken.and_a_half.fullmatch(text)
        return None if match is None else round(_number(match["n"]) * HOUR_MINUTES) + HOUR_MINUTES // 2
    return _sum_of_parts(text)


def _sum_of_parts(text: str) -> int | None:
    """Add the parts up, each of a smaller unit than the one before. The last part may leave its unit out."""
    total, start, last_size = 0.0, 0, 0
    while start < len(text):
        part = _all_languages().part.match(text, start)
        if part is None or part.end() == start:
            return None
        size = _size(part["unit"], last_size)
        # "30 min 2 h" is more likely a slip than a sum.
        if size is None or (last_size and size >= last_size):
            return None
        if size == 1 and "." in part["n"]:
            return None  # no minute has a half; "1.5" may mean hours
        total, start, last_size = total + _number(part["n"]) * size, part.end(), size
    return round(total)


def _size(unit: str | None, last_size: int) -> int | None:
    """Return the minutes of a unit; without one, minutes, which follow only on nothing or on hours."""
    if unit is None:
        return 1 if last_size in (0, HOUR_MINUTES) else None
    return _all_languages().units[unit]


def _number(text: str) -> float:
    return float(_all_languages().numbers.get(text, text))
