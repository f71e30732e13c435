"""What a text says of time: both readings of what has two, and nothing for what is not understood."""

from datetime import datetime
from time import process_time
from zoneinfo import ZoneInfo

import pytest

from daemon.dates.day_reckoner import TEXT_CHARS_MAX, DatesRead, reckon_days

BERLIN = ZoneInfo("Europe/Berlin")
SUNDAY = datetime(2026, 11, 29, 10, tzinfo=BERLIN)


def read(text: str, language: str = "en", now: datetime = SUNDAY) -> DatesRead:
    return reckon_days(text, now, BERLIN, "Europe/Berlin", language)


def days(text: str, language: str = "en") -> list[list[str]]:
    return [[f"{day.day} {day.weekday}" for day in part.readings] for part in read(text, language).days]


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("tomorrow", "en", [["2026-11-30 Monday"]]),
        ("2026-12-01", "en", [["2026-12-01 Tuesday"]]),
        ("03/04/2027", "en", [["2027-03-04 Thursday", "2027-04-03 Saturday"]]),
        ("03/04/2027", "de", [["2027-04-03 Saturday"]]),
        ("Call Ana next friday, or on 27.11.", "en", [["2026-12-04 Friday"], ["2027-11-27 Saturday"]]),
        ("nächsten Freitag", "en", [["2026-12-04 Friday"]]),
        ("the last Friday of March", "en", []),
        ("2026-02-30", "en", []),
    ],
)
def test_a_day_has_its_weekday_and_each_of_its_readings(text: str, language: str, expected: list[list[str]]):
    assert days(text, language) == expected


@pytest.mark.parametrize(
    ("text", "clock", "readings"),
    [
        ("next friday at 3 pm", "15:00", ["2026-12-04T15:00+01:00"]),
        ("nächsten Freitag um 14:30 Uhr", "14:30", ["2026-12-04T14:30+01:00"]),
        ("14:00", "14:00", ["2026-11-29T14:00+01:00"]),
        ("9:00", "09:00", ["2026-11-30T09:00+01:00"]),
        ("in 2 hours", None, ["2026-11-29T12:00+01:00"]),
        ("2026-12-01T10:00", None, ["2026-12-01T10:00+01:00"]),
        ("03/04/2027 9:00", "09:00", ["2027-03-04T09:00+01:00", "2027-04-03T09:00+02:00"]),
        ("31.10.2027 02:30", "02:30", ["2027-10-31T02:30+02:00", "2027-10-31T02:30+01:00"]),
        ("28.03.2027 02:30", "02:30", []),
        ("the second Tuesday at 14:00", "14:00", []),
    ],
)
def test_a_time_has_the_moments_that_it_can_mean(text: str, clock: str | None, readings: list[str]):
    (time,) = read(text).times
    assert (time.clock, time.readings) == (clock, readings)


def test_a_time_in_a_text_takes_no_day_from_words_that_are_not_understood():
    first, second = read("Meeting tomorrow 9:00 to 10:30").times
    assert (first.words, first.readings) == ("tomorrow 9:00", ["2026-11-30T09:00+01:00"])
    assert (second.words, second.readings) == ("10:30", [])


@pytest.mark.parametrize(
    ("text", "words", "rule", "first_days"),
    [
        ("every tuesday", "every tuesday", "FREQ=WEEKLY;BYDAY=TU", ["2026-12-01", "2026-12-08"]),
        ("Water plants every 3 days", "every 3 days", "FREQ=DAILY;INTERVAL=3", ["2026-11-29", "2026-12-02"]),
        ("every monday at 14:00", "every monday", "FREQ=WEEKLY;BYDAY=MO", ["2026-11-30", "2026-12-07"]),
        ("FREQ=DAILY;COUNT=1", "FREQ=DAILY;COUNT=1", "FREQ=DAILY;COUNT=1", ["2026-11-29"]),
    ],
)
def test_what_comes_again_has_its_rule_and_its_next_days(
    text: str, words: str, rule: str, first_days: list[str]
):
    answer = read(text)
    (series,) = answer.series
    assert (series.words, series.rule, series.days[:2]) == (words, rule, first_days)
    assert answer.lengths == []


@pytest.mark.parametrize(("text", "lengths"), [("90 minutes", [90]), ("half an hour", [30]), ("à 15h", [])])
def test_lengths_are_in_minutes_and_no_time_of_the_day_is_one(text: str, lengths: list[int]):
    assert read(text).lengths == lengths


def test_it_is_said_that_words_of_time_could_not_be_read():
    assert read("the last Friday of March").unread
    assert not read("Nothing of the kind").unread
    assert not read("tomorrow").unread


@pytest.mark.parametrize(
    "text",
    [
        *("", " \n", "\u202etomorrow\x00", "9" * 500, "1 " * 250, "a\n" * 250, "14:00 " * 83, "every " * 83),
        *("in 999999999 weeks", "99999-01-01", "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "25:99", "0000-00-00"),
    ],
)
def test_no_text_is_too_much(text: str):
    began_s = process_time()
    read(text, "en", datetime(1900, 1, 1, tzinfo=BERLIN))
    read(text, "ro", datetime(2999, 12, 31, 23, 59, tzinfo=BERLIN))
    assert process_time() - began_s < 10


def test_no_more_of_a_text_is_read_than_its_bound():
    assert read("a " * (TEXT_CHARS_MAX // 2) + "tomorrow").days == []
