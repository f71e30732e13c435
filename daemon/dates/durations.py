"""Lengths of time as people type them: "90", "2h", "1h30", "2 ore", "anderthalb Stunden".

Never reads a length that is not counted in minutes, hours or working days of eight hours.
"""

import re
from functools import cache
from typing import Final

from daemon.dates.length_grammar import (
    HOUR_MINUTES,
    LengthWordTable,
    all_spellings,
    fractions_of,
    joined_numbers_of,
    length_at,
    numbers_of,
    sizes_of_units,
    unread_units,
)
from daemon.dates.spelling import excerpt, normalized_words, typed_spellings
from daemon.dates.vocabulary import date_words
from daemon.language import LANGUAGES
from daemon.refusal import usage_error
from store.sentence import sentence

_CLOCK: Final = re.compile(r"(\d{1,4}):([0-5]\d)")
_CHARS_MAX: Final = 100
_ISO_8601: Final = re.compile(r"pt(?:(\d{1,4}(?:\.\d{1,2})?)h)?(?:(\d{1,5})m)?(?<=[hm])", re.ASCII)
_FRACTIONS: Final = {"½": ".5", "¼": ".25", "¾": ".75", "1/2": ".5", "1/4": ".25", "3/4": ".75"}
_FRACTION: Final = re.compile(
    r"(?<![\d.,/])(?:(\d{1,4}) ?([½¼¾])|(\d{1,4}) ([13]/[24])|([½¼¾]|[13]/[24]))(?![\d.,/½¼¾])", re.ASCII
)
_SIGN_IN_A_PART: Final = re.compile(r"\s*[,;]|.*\d\s*;|.*\d\s*,\s*[^\W\d_]")
"""A comma or semicolon that may stand for another sign: before the first part, or in front of a unit."""


@cache
def lengths_of_all_languages() -> LengthWordTable:
    """Return the words of all languages joined, on the first length that is read."""
    spoken = [date_words(language) for language in LANGUAGES]
    amounts = {
        typed: minutes
        for words in spoken
        for listed in (words.length.amounts, words.length.typed_amounts)
        for phrase, minutes in listed.items()
        for typed in typed_spellings(phrase)
    }
    return LengthWordTable(
        units={word: size for words in reversed(spoken) for word, size in sizes_of_units(words).items()},
        numbers={word: number for words in spoken for word, number in numbers_of(words).items()},
        joined_numbers=frozenset[str]().union(*map(joined_numbers_of, spoken)),
        amounts=amounts,
        fractions={phrase: part for words in spoken for phrase, part in fractions_of(words).items()},
        joiners=all_spellings(word for words in spoken for word in words.length.joiners),
        vague=all_spellings(phrase for words in spoken for phrase in words.length.vague),
        unread=frozenset[str]().union(*map(unread_units, spoken)),
        # "20 de colegi" counts people.
        tails=all_spellings(word for words in spoken for word in words.hanging) - {"de"},
    )


def parse_minutes(words: str) -> int | None:
    """Read how long something takes, in minutes; None for "none" or nothing. A bare number is minutes."""
    if len(words) > _CHARS_MAX:
        raise usage_error(
            sentence("length-too-long", "{words!r} is too long for a length of time", words=excerpt(words)),
            sentence("write-short-length", "write it like 90, 2h or 1h30"),
        )
    text = readable_length(words)
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
    text = readable_length(words)
    if text is None:
        return None
    if text in lengths_of_all_languages().amounts:
        return lengths_of_all_languages().amounts[text]
    has_figure, has_letter = (any(map(test, text)) for test in (str.isdigit, str.isalpha))
    minutes = _minutes(text) if has_figure and has_letter else None
    return minutes if minutes is not None and minutes > 0 else None


def readable_length(words: str) -> str | None:
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
    if clock := _CLOCK.fullmatch(text):
        return int(clock[1]) * HOUR_MINUTES + int(clock[2])
    if iso := _ISO_8601.fullmatch(text):
        return round(float(iso[1] or 0) * HOUR_MINUTES) + int(iso[2] or 0)
    if text.isdecimal():
        return int(text)
    length = length_at(text, 0, lengths_of_all_languages())
    return round(length.minutes) if length is not None and length.end == len(text) else None
