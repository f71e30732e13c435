"""The days of a rule: those of the vectors and of python-dateutil, and a bound for whatever a peer writes.

Never measures a time: the steps are counted.
"""

import json
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pytest
from dateutil.rrule import rrulestr
from hypothesis import given, settings
from hypothesis import strategies as st

from daemon.dates import recurrence
from daemon.dates.recurrence import AfterDone, Rule, UnreadRule, read_rule, rule_days
from daemon.journal.recurring.occurrences import occurrence_id, split_series_id
from daemon.journal.recurring.touching import step_id
from syncproto.ids import id_from_text

CASES: list[dict[str, Any]] = json.loads(Path("tests/vectors/occurrences.json").read_text("utf-8"))
STEPS_MAX = 41 * 366
"""The days of forty years, and of one more in which they may begin."""
WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")


@pytest.mark.parametrize("case", [case for case in CASES if "days" in case], ids=lambda case: case["rule"])
def test_a_rule_has_the_days_that_are_specified(case: dict[str, Any]) -> None:
    rule = read_rule(case["rule"])
    assert isinstance(rule, Rule)
    days = rule_days(rule, *(date.fromisoformat(case[name]) for name in ("first", "from", "to")))
    assert [day.isoformat() for day in days] == case["days"]
    assert rule.text() == case["rule"]


@pytest.mark.parametrize("rule", [case["rule"] for case in CASES if case["outcome"] == "unread"])
def test_what_is_no_rule_of_days_is_not_read(rule: str) -> None:
    with pytest.raises(UnreadRule):
        read_rule(rule)


def test_ids_follow_as_specified() -> None:
    for case in (case for case in CASES if "tag" in case):
        named, (token, *others) = id_from_text(case["parts"][0]), case["parts"][1:]
        match case["tag"]:
            case "occurrence":
                made = occurrence_id(named, token)
            case "occurrence step":
                made = step_id(named, token, *others)
            case _:
                made = split_series_id(named, token)
        assert made.hex() == case["id"]


numbers = st.lists(st.sampled_from((1, 2, 13, 28, 29, 30, 31, -1, -2, -31)), max_size=2, unique=True)


@st.composite
def rules(draw: st.DrawFn) -> str:
    frequency = draw(st.sampled_from(("DAILY", "WEEKLY", "MONTHLY", "YEARLY")))
    nth = st.sampled_from(("1", "2", "5", "-1")) if frequency in ("MONTHLY", "YEARLY") else st.just("")
    prefix = draw(st.one_of(st.just(""), nth))
    days = draw(st.lists(st.sampled_from(WEEKDAYS), max_size=3, unique=True))
    parts = {
        "FREQ": frequency,
        "INTERVAL": str(draw(st.integers(1, 5))),
        "COUNT": draw(st.one_of(st.just(""), st.integers(1, 30).map(str))),
        "BYMONTH": ",".join(map(str, draw(st.lists(st.integers(1, 12), max_size=2, unique=True)))),
        "BYMONTHDAY": "" if frequency == "WEEKLY" else ",".join(map(str, draw(numbers))),
        "BYDAY": ",".join(f"{prefix}{day}" for day in days),
        "BYSETPOS": "" if frequency == "WEEKLY" else draw(st.sampled_from(("", "", "1", "-1", "2"))),
        "WKST": draw(st.sampled_from(("", *WEEKDAYS))),
    }
    return ";".join(f"{name}={value}" for name, value in parts.items() if value)


@settings(max_examples=25)
@given(rules(), st.dates(date(2023, 1, 1), date(2029, 12, 31)), st.integers(0, 400), st.integers(0, 1500))
def test_a_rule_has_the_days_that_dateutil_finds(text: str, first: date, skipped: int, length: int) -> None:
    try:
        rule = read_rule(text)
    except UnreadRule:
        return
    assert isinstance(rule, Rule)
    begin = first + timedelta(skipped)
    end = begin + timedelta(length)
    # Without its count, dateutil would look for what is missing until the year 9999.
    endless = f"RRULE:{rule._replace(times=0).text()};UNTIL={end:%Y%m%d}"
    start = datetime.combine(first, time())
    days = [moment.date() for moment in rrulestr(endless, dtstart=start)][: rule.times or None]
    assert list(rule_days(rule, first, begin, end)) == [day for day in days if begin <= day <= end]


@pytest.mark.parametrize(
    "text",
    [
        "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO",
        "FREQ=WEEKLY;BYMONTH=2;BYDAY=MO",
        "FREQ=YEARLY;BYDAY=53MO;INTERVAL=7",
        "FREQ=YEARLY;BYMONTH=4;BYMONTHDAY=-31,-30;BYSETPOS=366",
        "FREQ=DAILY;COUNT=1000;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO",
        "FREQ=DAILY;INTERVAL=1000;BYMONTH=2;BYMONTHDAY=29",
        "FREQ=DAILY;INTERVAL=7;BYDAY=MO;BYMONTHDAY=1,2,3,4,5,6,7",
    ],
)
@pytest.mark.parametrize("first", [date.min, date(2000, 1, 1), date(9999, 12, 1), date.max])
def test_a_hostile_rule_takes_a_bounded_number_of_steps(
    text: str, first: date, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = 0

    def counting(function: Callable[..., Any]) -> Callable[..., Any]:
        def count(*args: Any) -> Any:
            nonlocal steps
            steps += 1
            return function(*args)

        return count

    for name in ("_days_of_period", "_is_day_of_month"):
        monkeypatch.setattr(recurrence, name, counting(getattr(recurrence, name)))
    rule = read_rule(text)
    assert isinstance(rule, Rule)
    start = max(first, date(2026, 1, 1))
    next(rule_days(rule, first, start, date.max), None)
    assert steps <= STEPS_MAX


def test_a_rule_that_counts_from_what_was_done() -> None:
    assert read_rule("AFTER=10") == AfterDone(10)
    assert AfterDone(10).text() == "AFTER=10"
