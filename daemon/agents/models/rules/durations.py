"""The time that something takes, as a clause says it.

Never reads a bare number, a past duration, or the time until something.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice
from typing import NamedTuple, TypeVar

from daemon.agents.models.rules.clauses import MATCHES_MAX, Clause, is_asserted_now, words_after, words_before
from daemon.agents.models.rules.lexicon.cue_table import CueTable
from daemon.agents.models.rules.lexicon.plain_text import alternation, plain_spellings, to_plain
from daemon.agents.tools.arguments import MINUTES_MAX
from daemon.dates.durations import HOUR_MINUTES, WORKDAY_MINUTES
from daemon.dates.vocabulary import date_words

T = TypeVar("T", int, float)


class StatedDuration(NamedTuple):
    """Minutes, and the positions in the clause between which they are stated."""

    minutes: int
    start: int
    end: int


def stated_durations(clause: Clause, cues: CueTable) -> list[StatedDuration]:
    """Find the estimates in a clause: an amount of time after a cue, in sensible bounds."""
    durations = []
    for match in islice(_pattern(cues).finditer(clause.unquoted), MATCHES_MAX):
        minutes = _minutes(match, cues)
        if 1 <= minutes <= MINUTES_MAX and _is_estimate(clause, match, cues):
            durations.append(StatedDuration(minutes, match.start(), match.end()))
    return durations


def _is_estimate(clause: Clause, match: re.Match[str], cues: CueTable) -> bool:
    led = words_before(clause.unquoted, match.start(), cues)
    if not is_asserted_now(clause, match.start(), cues) or cues.duration.not_with.intersection(led):
        return False
    if led and led[-1] in cues.duration.not_after:
        return False
    if match["about"] and not cues.duration.about_after.issuperset(led):
        return False
    rest = " ".join(words_after(clause.unquoted, match.end(), cues)[:3]) + " "
    return not any(rest.startswith(f"{to_plain(text)} ") for text in cues.duration.not_before)


def _minutes(match: re.Match[str], cues: CueTable) -> int:
    """Turn an amount into minutes, rounded; of a range, its upper end."""
    if match["whole"]:
        return _wholes(cues)[" ".join(match["whole"].split())]
    unit = _units(cues)[" ".join(match["unit"].split())]
    minutes = _number(match["upto"] or match["number"], cues) * unit
    if match["more"]:
        minutes += unit / 2
    if match["rest"]:
        minutes += int(match["rest"])
    return round(minutes)


def _number(text: str, cues: CueTable) -> float:
    number = _numbers(cues).get(" ".join(text.split()))
    return float(text.replace(",", ".")) if number is None else number


@lru_cache(maxsize=16)
def _numbers(cues: CueTable) -> dict[str, float]:
    return _by_plain_spelling((*date_words(cues.language).numbers.items(), *cues.duration.numbers.items()))


@lru_cache(maxsize=16)
def _wholes(cues: CueTable) -> dict[str, int]:
    return _by_plain_spelling(
        (*date_words(cues.language).length.amounts.items(), *cues.duration.amounts.items())
    )


@lru_cache(maxsize=16)
def _units(cues: CueTable) -> dict[str, int]:
    """Return how many minutes each word for a unit means."""
    words, own = date_words(cues.language), cues.duration.units
    sizes = (
        (WORKDAY_MINUTES, (*words.units.day, *own.day)),
        (HOUR_MINUTES, (*words.units.hour, *words.length.hour)),
        (1, (*words.units.minute, *words.length.minute, *own.minute)),
    )
    units = _by_plain_spelling((word, minutes) for minutes, listed in sizes for word in listed)
    return {word: minutes for word, minutes in units.items() if word not in cues.duration.units_not_read}


def _by_plain_spelling(values_by_spelling: Iterable[tuple[str, T]]) -> dict[str, T]:
    """Return words with their values as they look in a plain text."""
    return {spelled: value for word, value in values_by_spelling for spelled in plain_spellings(word)}


@lru_cache(maxsize=16)
def _pattern(cues: CueTable) -> re.Pattern[str]:
    """Build: cue, filler words, amount, unit."""
    lead = (
        rf"(?:(?<![\w'-])(?:(?P<takes>{alternation(cues.duration.cues)})|(?P<about>{alternation(cues.duration.about)}))(?![\w'])\.?"
        r"|(?P<tilde>~))"
    )
    filler = rf"(?:[\s:=~]*(?:(?:{alternation(cues.duration.fillers)})\b\.?)?){{0,3}}[\s:=~]*(?<![\w.,-])"
    text = alternation(_numbers(cues))
    digits = r"\d{1,4}(?:[.,]\d{1,2})?"
    upto = rf"\s*(?:-|–|\b(?:{alternation(cues.duration.range_words)})\b)\s*(?P<upto>{digits}|(?:{text})\b)"
    count = rf"(?P<number>{digits}|{text})(?:{upto})?"
    unit = alternation(_units(cues))
    minute = alternation(word for word, minutes in _units(cues).items() if minutes == 1)
    half = alternation((*date_words(cues.language).length.and_a_half, *cues.duration.and_a_half))
    amount = rf"(?:(?P<whole>{alternation(_wholes(cues))})|{count}[\s-]*(?:de\s+)?(?P<unit>{unit}))(?![a-z'])"
    rest = rf"\s*(?P<rest>\d{{1,2}})(?!\d|[.:/-]\d)(?:\s*(?:{minute}))?\b"
    return re.compile(rf"{lead}{filler}{amount}(?:\s+(?P<more>{half})|{rest})?")
