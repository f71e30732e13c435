"""Cases for series: the days of rules, texts that are none, and the ids of tasks, steps and series split off.

Never imports what they check: the days are those of python-dateutil.
"""

from datetime import date, datetime, time, timedelta
from typing import Any

from dateutil.rrule import rrulestr

from tests.vectors import wire
from tests.vectors.commit_writer import name_id

Case = dict[str, Any]

_FIRST = "2024-01-31"
_SPANS = ((_FIRST, 0, 40), (_FIRST, 700, 1600), ("2028-02-29", 0, 3000), ("2026-03-27", 0, 8))
"""First days, and the days from each on between which a rule is asked for; the last has a clock change."""
_RULES = (
    "FREQ=DAILY",
    "FREQ=DAILY;INTERVAL=3",
    "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29",
    "FREQ=DAILY;BYMONTHDAY=13;BYDAY=FR",
    "FREQ=DAILY;COUNT=5",
    "FREQ=WEEKLY",
    "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU",
    "FREQ=WEEKLY;INTERVAL=2;BYDAY=TU,SU;WKST=SU",
    "FREQ=WEEKLY;COUNT=40;BYDAY=MO,TU,WE,TH,FR",
    "FREQ=MONTHLY",
    "FREQ=MONTHLY;BYMONTHDAY=-1",
    "FREQ=MONTHLY;BYMONTHDAY=30,31",
    "FREQ=MONTHLY;INTERVAL=3;BYDAY=2TU",
    "FREQ=MONTHLY;BYDAY=-1FR",
    "FREQ=MONTHLY;BYDAY=5MO",
    "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
    "FREQ=YEARLY",
    "FREQ=YEARLY;INTERVAL=4;BYMONTH=2;BYMONTHDAY=29",
    "FREQ=YEARLY;BYMONTH=11;BYDAY=4TH",
    "FREQ=YEARLY;BYDAY=-1SU",
    "FREQ=YEARLY;COUNT=3;BYMONTH=1,7;BYMONTHDAY=1,15",
)
_UNREAD = (
    "",
    "FREQ=SECONDLY",
    "FREQ=HOURLY;INTERVAL=24",
    "FREQ=DAILY;INTERVAL=0",
    "FREQ=DAILY;INTERVAL=1001",
    "FREQ=DAILY;COUNT=1001",
    "FREQ=DAILY;FREQ=WEEKLY",
    "FREQ=DAILY;UNTIL=20300101",
    "FREQ=DAILY;BYHOUR=3",
    "FREQ=WEEKLY;BYDAY=2MO",
    "FREQ=WEEKLY;BYMONTHDAY=3",
    "FREQ=MONTHLY;BYDAY=6MO",
    "FREQ=MONTHLY;BYDAY=MO,2TU",
    "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
    "FREQ=MONTHLY;BYSETPOS=1",
    "INTERVAL=2",
    "AFTER=0",
    "AFTER=3661",
)
_STEPS = (("Cactus", 0), ("Cactus", 1), ("Füttern 🐈", 49))
"""Titles of steps, each with the number of equal ones before it."""


def occurrences() -> list[Case]:
    """Return rules with their days in a span, both ends included, then texts that are no rules, then ids."""
    days = [
        {
            "rule": rule,
            "first": first,
            "from": (begin := date.fromisoformat(first) + timedelta(low)).isoformat(),
            "to": (end := date.fromisoformat(first) + timedelta(high)).isoformat(),
            "days": _days(rule, date.fromisoformat(first), begin, end),
            "outcome": "ok",
        }
        for rule in _RULES
        for first, low, high in _SPANS
    ]
    return [*days, *({"rule": rule, "outcome": "unread"} for rule in _UNREAD), *_ids()]


def _days(rule: str, first: date, begin: date, end: date) -> list[str]:
    days: list[str] = []
    until = "" if "COUNT" in rule else f";UNTIL={end:%Y%m%d}"
    for moment in rrulestr(f"RRULE:{rule}{until}", dtstart=datetime.combine(first, time())):
        if moment.date() > end:
            break
        if moment.date() >= begin:
            days.append(moment.date().isoformat())
    return days


def _ids() -> list[Case]:
    root, task = name_id("a series"), name_id("a task of it")
    cases: list[tuple[str, list[Any], bytes]]
    cases = [("occurrence", [wire.text(root), token], root) for token in ("2026-12-04", "1", "10000")]
    cases += [("occurrence step", [wire.text(task), title, ordinal], task) for title, ordinal in _STEPS]
    cases += [("series split", [wire.text(root), "2026-12-04"], root)]
    return [
        {
            "tag": tag,
            "parts": parts,
            "time_of": time_of.hex(),
            "id": wire.derived_id(tag, parts, time_of).hex(),
            "outcome": "ok",
        }
        for tag, parts, time_of in cases
    ]
