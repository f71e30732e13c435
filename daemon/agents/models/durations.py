"""How long a clause says that something takes.

Never reads a bare number, a time that has passed, or a time until something.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from daemon.agents.models.cues import Cues
from daemon.agents.models.segments import alternatives, before, is_meant, words
from daemon.agents.tools import MINUTES_MAX


class Duration(NamedTuple):
    """Minutes, and where in the clause they are said."""

    minutes: int
    start: int
    end: int


def durations(clause: str, cues: Cues) -> list[Duration]:
    """Find the estimates in a clause: an amount of time after a cue, in sensible bounds."""
    found = []
    for match in _pattern(cues).finditer(clause):
        minutes = _minutes(match, cues)
        if 1 <= minutes <= MINUTES_MAX and _is_estimate(clause, match, cues):
            found.append(Duration(minutes, match.start(), match.end()))
    return found


def _is_estimate(clause: str, match: re.Match[str], cues: Cues) -> bool:
    if not is_meant(clause, match.start(), cues):
        return False
    led = before(clause, match.start(), cues)
    if led and led[-1] in cues.duration_not_after:
        return False
    rest = " ".join(words(clause[match.end() :])[:2]) + " "
    return not any(rest.startswith(f"{after} ") for after in cues.duration_not_before)


def _minutes(match: re.Match[str], cues: Cues) -> int:
    """Turn an amount into minutes, rounded; of a range, its upper end."""
    unit = cues.units[match["unit"].lower()]
    if match["half"]:
        return unit // 2
    if match["couple"]:
        return 2 * unit
    amount = _number(match["upto"] or match["number"], cues)
    if match["more"]:
        amount += 0.5
    minutes = amount * unit
    if match["rest"]:
        minutes += int(match["rest"]) * (cues.units[match["rest_unit"].lower()] if match["rest_unit"] else 1)
    return round(minutes)


def _number(written: str, cues: Cues) -> float:
    lower = written.lower()
    if lower in cues.a:
        return 1
    if lower in cues.numbers:
        return cues.numbers[lower]
    return float(lower.replace(",", "."))


@lru_cache(maxsize=16)
def _pattern(cues: Cues) -> re.Pattern[str]:
    """Build: cue, filler words, amount, unit."""
    takes, about = alternatives(cues.takes), alternatives(cues.about)
    lead = rf"(?:(?<![\w'-])(?:{takes}|{about})(?![\w'])\.?|~)"
    filler = rf"(?:[\s:=~]*(?:(?:{alternatives(cues.take_fillers)})\b\.?)?){{0,3}}[\s:=~]*(?<![\w.,-])"
    number = rf"\d{{1,4}}(?:[.,]\d{{1,2}})?|{alternatives(cues.numbers)}|{alternatives(cues.a)}"
    count = rf"(?P<number>{number})(?:\s*(?:-|–|to)\s*(?P<upto>\d{{1,4}}(?:[.,]\d{{1,2}})?))?"
    half, couple, unit = alternatives(cues.half), alternatives(cues.couple), alternatives(cues.units)
    amount = rf"(?:(?P<half>{half})|(?P<couple>{couple})|{count})[\s-]*(?P<unit>{unit})(?![a-z'])"
    minutes = "|".join(unit for unit, size in cues.units.items() if size == 1)
    rest = rf"\s*(?P<rest>\d{{1,2}})(?!\d|[.:/-]\d)\s*(?P<rest_unit>{minutes})?\b"
    more = rf"(?:\s+(?P<more>{alternatives([cues.and_a_half])})|{rest})?"
    return re.compile(lead + filler + amount + more, re.IGNORECASE)
