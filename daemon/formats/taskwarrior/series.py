"""The days of a recurring Taskwarrior task, told by its template.

Never makes an occurrence: the template is one task, due on the first day that no occurrence has taken.
"""

import re
from collections.abc import Iterable
from datetime import date

from daemon.formats.taskwarrior.records import LocatedRecord, text_in_json

_ENDED = frozenset("+X")
_NAMED = {
    "daily": (1, 0),
    "day": (1, 0),
    "weekly": (7, 0),
    "sennight": (7, 0),
    "biweekly": (14, 0),
    "fortnight": (14, 0),
    "monthly": (0, 1),
    "bimonthly": (0, 2),
    "quarterly": (0, 3),
    "semiannual": (0, 6),
    "annual": (0, 12),
    "yearly": (0, 12),
    "biannual": (0, 24),
    "biyearly": (0, 24),
}
"""Days and months between two occurrences."""
_UNITS = {"d": (1, 0), "w": (7, 0), "mo": (0, 1), "q": (0, 3), "y": (0, 12)}
_COUNTED = re.compile(r"(\d{1,4}) ?(d|w|mo|q|y)[a-z]*", re.ASCII)
_ISO_8601 = re.compile(r"p(\d{1,4})([dwmy])", re.ASCII)
_WHOLE = re.compile(r"(\d{1,6})(?:\.0*)?", re.ASCII)


def occurrences(records: Iterable[LocatedRecord]) -> dict[str, set[int]]:
    """Return which places in its series each template's occurrences in the file have, by its uuid."""
    places: dict[str, set[int]] = {}
    for record in records:
        attributes = dict(record.others)
        parent = text_in_json(attributes.get("parent", ""))
        place = _WHOLE.fullmatch(attributes.get("imask", "").strip('"'))
        if parent and place:
            places.setdefault(parent.strip().lower(), set()).add(int(place[1]))
    return places


def next_day(template: LocatedRecord, first: date, taken: set[int]) -> date:
    """Return the first day that the mask does not call ended and that no occurrence of the file has."""
    attributes = dict(template.others)
    mask = text_in_json(attributes.get("mask", "")) or ""
    ended = {place for place, sign in enumerate(mask) if sign in _ENDED}
    place = next(place for place in range(len(ended | taken) + 1) if place not in ended | taken)
    days, months = _step(text_in_json(attributes.get("recur", "")) or "")
    from dateutil.relativedelta import relativedelta  # imported here: few files have a template

    try:
        day: date = first + relativedelta(days=days * place, months=months * place)
        return day
    except (OverflowError, ValueError):
        return first


def _step(rule: str) -> tuple[int, int]:
    """Return days and months between occurrences, none for a rule of another kind: its first day stays."""
    text = rule.strip().lower()
    if text in _NAMED:
        return _NAMED[text]
    counted, iso = _COUNTED.fullmatch(text), _ISO_8601.fullmatch(text)
    if counted:
        number, unit = int(counted[1]), counted[2]
    elif iso:
        number, unit = int(iso[1]), {"m": "mo"}.get(iso[2], iso[2])
    else:
        return 0, 0
    days, months = _UNITS[unit]
    return days * number, months * number
