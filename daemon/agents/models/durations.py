"""How long a clause says that something takes.

Never reads a bare number, a time that has passed, or a time until something.
"""

import re
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from daemon.agents.models.cues import Cues
from daemon.agents.models.plain import alternatives, plain, spellings
from daemon.agents.models.segments import FINDS_MAX, Clause, after, before, is_meant
from daemon.agents.tools import MINUTES_MAX
from daemon.journal.date_words import TONGUES

_DAY_MINUTES = 480


class Duration(NamedTuple):
    """Minutes, and where in the clause they are said."""

    minutes: int
    start: int
    end: int


def durations(clause: Clause, cues: Cues) -> list[Duration]:
    """Find the estimates in a clause: an amount of time after a cue, in sensible bounds."""
    found = []
    for match in islice(_pattern(cues).finditer(clause.own), FINDS_MAX):
        minutes = _minutes(match, cues)
        if 1 <= minutes <= MINUTES_MAX and _is_estimate(clause, match, cues):
            found.append(Duration(minutes, match.start(), match.end()))
    return found


def _is_estimate(clause: Clause, match: re.Match[str], cues: Cues) -> bool:
    led = before(clause.own, match.start(), cues)
    if not is_meant(clause, match.start(), cues) or cues.duration_not_with.intersection(led):
        return False
    if led and led[-1] in cues.duration_not_after:
        return False
    if match["about"] and not cues.about_after.issuperset(led):
        return False
    rest = " ".join(after(clause.own, match.end(), cues)[:3]) + " "
    return not any(rest.startswith(f"{plain(one)} ") for one in cues.duration_not_before)


def _minutes(match: re.Match[str], cues: Cues) -> int:
    """Turn an amount into minutes, rounded; of a range, its upper end."""
    if match["whole"]:
        return _wholes(cues)[" ".join(match["whole"].split())]
    unit = _size(match["unit"], cues)
    minutes = _number(match["upto"] or match["number"], cues) * unit
    if match["more"]:
        minutes += unit / 2
    if match["rest"]:
        minutes += int(match["rest"])
    return round(minutes)


def _size(unit: str, cues: Cues) -> int:
    said = " ".join(unit.split())
    of_minutes, of_hours = (map(plain, one) for one in (cues.minutes, cues.hours))
    return 1 if said in of_minutes else 60 if said in of_hours else _DAY_MINUTES


def _number(written: str, cues: Cues) -> float:
    known = _numbers(cues).get(" ".join(written.split()))
    return float(written.replace(",", ".")) if known is None else known


@lru_cache(maxsize=16)
def _numbers(cues: Cues) -> dict[str, float]:
    own = {one: value for word, value in cues.numbers.items() for one in spellings(word)}
    return {**TONGUES[cues.language].numbers, **own}


@lru_cache(maxsize=16)
def _wholes(cues: Cues) -> dict[str, int]:
    return {one: value for phrase, value in cues.amounts.items() for one in spellings(phrase)}


@lru_cache(maxsize=16)
def _pattern(cues: Cues) -> re.Pattern[str]:
    """Build: cue, filler words, amount, unit."""
    lead = (
        rf"(?:(?<![\w'-])(?:(?P<takes>{alternatives(cues.takes)})|(?P<about>{alternatives(cues.about)}))(?![\w'])\.?"
        r"|(?P<tilde>~))"
    )
    filler = rf"(?:[\s:=~]*(?:(?:{alternatives(cues.take_fillers)})\b\.?)?){{0,3}}[\s:=~]*(?<![\w.,-])"
    said = alternatives(_numbers(cues))
    digits = r"\d{1,4}(?:[.,]\d{1,2})?"
    upto = rf"\s*(?:-|–|\b(?:{alternatives(cues.to)})\b)\s*(?P<upto>{digits}|(?:{said})\b)"
    count = rf"(?P<number>{digits}|{said})(?:{upto})?"
    unit = alternatives((*cues.minutes, *cues.hours, *cues.days))
    half = alternatives(cues.and_a_half)
    amount = rf"(?:(?P<whole>{alternatives(cues.amounts)})|{count}[\s-]*(?:de\s+)?(?P<unit>{unit}))(?![a-z'])"
    rest = rf"\s*(?P<rest>\d{{1,2}})(?!\d|[.:/-]\d)(?:\s*(?:{alternatives(cues.minutes)}))?\b"
    return re.compile(rf"{lead}{filler}{amount}(?:\s+(?P<more>{half})|{rest})?")
