"""Lengths of time as people type them: "90", "2h", "1h30", "2 ore", "anderthalb Stunden".

Never reads a length that is not counted in minutes, hours or working days of eight hours.
"""

import re
from typing import Final

from daemon.journal.date_words import TONGUES
from daemon.journal.errors import usage
from daemon.journal.spelling import alternatives, folded, shortened


def _words(written: str) -> frozenset[str]:
    return frozenset(written.split())


_MINUTES: Final = _words("m min mins minute minutes minuten minuto minutos minut")
_HOURS: Final = _words("h hr hrs hour hours std stunde stunden hora horas heure heures ora ore")
_DAYS: Final = _words("d day days tag tage tagen dia dias jour jours j zi zile")
# The same as an agent takes for a day's work.
_DAY_MINUTES: Final = 480
_NUMBERS: Final = {word: number for one in TONGUES.values() for word, number in one.numbers.items()}

_HALVES: Final = {
    30: "half an hour|half hour|eine halbe stunde|halbe stunde|media hora|une demi-heure|demi-heure"
    "|une demi heure|o jumatate de ora|jumatate de ora",
    45: "three quarters of an hour|dreiviertelstunde|eine dreiviertelstunde|tres cuartos de hora"
    "|trois quarts d'heure|trei sferturi de ora",
    15: "a quarter of an hour|quarter of an hour|viertelstunde|eine viertelstunde|un cuarto de hora"
    "|un quart d'heure|un sfert de ora",
    90: "an hour and a half|one and a half hours|anderthalb stunden|eineinhalb stunden|hora y media"
    "|una hora y media|une heure et demie|o ora si jumatate|o ora jumate",
}
_PHRASES: Final = {phrase: minutes for minutes, written in _HALVES.items() for phrase in written.split("|")}
_AND_A_HALF: Final = re.compile(
    rf"(?P<n>\d{{1,4}}|{alternatives(_NUMBERS)}) (?:(?:and a half|y media|et demie|si jumatate) )?"
    rf"(?:{alternatives(_HOURS)})(?: (?:and a half|y media|et demie|si jumatate))?"
)
_PART: Final = re.compile(
    rf"(?P<n>\d{{1,15}}(?:[.,]\d{{1,2}})?|(?:{alternatives(_NUMBERS)})(?= )) ?(?:de )?"
    rf"(?P<unit>{alternatives(_MINUTES | _HOURS | _DAYS)})?(?![a-z])\.? ?(?:(?:and|und|y|et|si) )?"
)
_CLOCK: Final = re.compile(r"(\d{1,4}):([0-5]\d)")


_CHARS_MAX: Final = 100


def estimate(words: str) -> int | None:
    """Read how long something takes, in minutes; None for "none" or nothing. A bare number is minutes."""
    if len(words) > _CHARS_MAX:
        raise usage(f"{shortened(words)} is too long for a length of time", "write it like 90, 2h or 1h30")
    # The comma of "1,5" is kept: folding takes it for a blank.
    text = folded(re.sub(r"(?<=\d),(?=\d)", ".", words))
    if text in ("", "none"):
        return None
    minutes = _minutes(text)
    if minutes is None or minutes <= 0:
        raise usage(f"{shortened(words)} is not a length of time", "write it like 90, 2h, 1h30 or 1.5 hours")
    return minutes


def _minutes(text: str) -> int | None:
    if text in _PHRASES:
        return _PHRASES[text]
    if clock := _CLOCK.fullmatch(text):
        return int(clock[1]) * 60 + int(clock[2])
    if any(half in text for half in ("half", "media", "demie", "jumatate")):
        found = _AND_A_HALF.fullmatch(text)
        return None if found is None else round(_number(found["n"]) * 60) + 30
    return _summed(text)


def _summed(text: str) -> int | None:
    """Add parts up, each of a smaller unit than the one before; the last one may leave it out."""
    total, at, size = 0.0, 0, 0
    while at < len(text):
        part = _PART.match(text, at)
        if part is None or part.end() == at:
            return None
        unit = _size(part["unit"], size)
        if unit is None or (size and unit >= size):
            return None
        total, at, size = total + _number(part["n"]) * unit, part.end(), unit
    return round(total)


def _size(unit: str | None, before: int) -> int | None:
    """Return the minutes of a unit; without one, minutes, which follow only on nothing or on hours."""
    if unit is None:
        return 1 if before in (0, 60) else None
    return 1 if unit in _MINUTES else 60 if unit in _HOURS else _DAY_MINUTES


def _number(written: str) -> float:
    return float(_NUMBERS.get(written, written))
