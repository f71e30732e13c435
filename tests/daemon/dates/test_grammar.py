"""Days and times as people type them.

Never asks this machine for the day: every test says what today is.
"""

from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.dates import grammar
from daemon.dates.date_language import date_language
from daemon.dates.vocabulary import DayRule
from daemon.language import LANGUAGES
from daemon.refusal import Refused
from tests.daemon.dates.phrases import PHRASES, TODAY

WEDNESDAY = date.fromisoformat(TODAY)
BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 18, 9, 30, tzinfo=BERLIN)


def refusal(words: str, language: str = "en") -> Refused:
    with pytest.raises(Refused) as error:
        grammar.parse_due_day(words, WEDNESDAY, language)
    assert "\n" not in error.value.message + error.value.hint
    return error.value


def moment(
    words: str, prefer: grammar.TimeDirection = "past", language: str = "en", now: datetime = NOW
) -> str:
    """Read a time and write it as the wall's clock in Berlin shows it."""
    read = grammar.parse_moment(words, now, BERLIN, language, prefer)
    assert read.tzinfo is UTC
    return f"{read.astimezone(BERLIN):%Y-%m-%d %H:%M}"


@pytest.mark.parametrize("language", PHRASES)
def test_every_phrase_is_read_in_its_own_language(language: str):
    meant = {words: date.fromisoformat(day) for words, day in PHRASES[language].items()}
    assert len(meant) >= 40
    assert {words: grammar.parse_due_day(words, WEDNESDAY, language) for words in meant} == meant


@pytest.mark.parametrize("language", PHRASES)
def test_words_of_another_language_are_read_where_the_own_does_not_know_them(language: str):
    for own in LANGUAGES:
        for words in ("tomorrow", "übermorgen", "pasado mañana", "après-demain", "poimâine", "vineri"):
            assert grammar.parse_due_day(words, WEDNESDAY, own) == grammar.parse_due_day(
                words, WEDNESDAY, language
            )


@pytest.mark.parametrize(
    ("words", "first", "second"),
    [
        ("3/4", "2027-03-04", "2027-04-03"),
        ("3-4", "2027-03-04", "2027-04-03"),
        ("03/04/2027", "2027-03-04", "2027-04-03"),
        ("5/6/27", "2027-05-06", "2027-06-05"),
        ("1/12", "2026-12-01", "2027-01-12"),
    ],
)
def test_figures_that_can_be_read_two_ways_are_refused_in_english_with_both(words, first, second):
    message = refusal(words).message
    assert first in message
    assert second in message
    day_first = grammar.parse_due_day(words, WEDNESDAY, "de")
    assert day_first is not None
    assert day_first.isoformat() in message


def test_a_two_digit_date_with_hyphens_is_refused_with_every_reading():
    message = refusal("27-03-15", "de").message
    assert "2015-03-27" in message
    assert "2027-03-15" in message


@pytest.mark.parametrize(
    ("words", "language"),
    [("next friday", "en"), ("nächsten Freitag", "de"), ("vendredi prochain", "fr")],
)
def test_next_weekday_is_refused_where_some_mean_this_week_and_some_the_next(words: str, language: str):
    message = refusal(words, language).message
    assert "2026-11-20" in message
    assert "2026-11-27" in message
    on_saturday = WEDNESDAY + timedelta(days=3)
    assert grammar.parse_due_day(words, on_saturday, language) == date(2026, 11, 27)


@pytest.mark.parametrize(
    ("words", "language"),
    [
        ("dans quinze jours", "fr"),
        ("en quince días", "es"),
        ("in acht Tagen", "de"),
        ("end of the week", "en"),
    ],
)
def test_an_idiom_that_is_not_what_it_says_is_refused_with_both_readings(words: str, language: str):
    assert " or as " in refusal(words, language).message


@pytest.mark.parametrize(
    "words",
    [
        "soon",
        "15",
        "friyay",
        "31 April",
        "2027-02-30",
        "2027-13-01",
        "32.1.",
        "in 0.5 weeks",
        "tomorrow maybe",
        "not friday",
        "friday 21 November",
        "in 9999 years",
        "0.0.",
        "١٥ مارس",
        "in two",
        "29.2.2027",
    ],
)
@pytest.mark.parametrize("language", ["en", "ro"])
def test_what_is_no_day_is_refused_with_examples(words: str, language: str):
    refused = refusal(words, language)
    assert date_language(language).examples in refused.hint
    assert len(refused.message) < 200


@pytest.mark.parametrize("words", ["x" * 1_000_000, "1 " * 500_000, "1" * 101])
def test_what_is_far_too_long_is_refused_at_once(words: str):
    for read in (refusal, refusal_of_a_time):
        assert "too long" in read(words).message


def refusal_of_a_time(words: str) -> Refused:
    with pytest.raises(Refused) as error:
        moment(words)
    return error.value


@pytest.mark.parametrize("words", ["so", "do", "mi", "Fr"])
def test_two_letters_are_a_weekday_in_german_alone(words: str):
    assert grammar.parse_due_day(words, WEDNESDAY, "de") is not None
    assert "not a date" in refusal(words, "en").message


def test_a_time_is_no_due_day():
    assert {refusal(words).hint for words in ("tomorrow 14:00", "in 2 hours")} == {"leave the time out"}


def test_the_end_of_the_week_is_plain_once_the_work_is_over():
    friday, sunday = WEDNESDAY + timedelta(days=2), WEDNESDAY + timedelta(days=4)
    assert grammar.parse_due_day("end of the week", sunday, "en") == sunday
    with pytest.raises(Refused, match="2026-11-20 or as 2026-11-22"):
        grammar.parse_due_day("end of the week", friday, "en")


def test_a_leap_day_without_its_year_is_the_next_that_there_is():
    assert grammar.parse_due_day("29 February", date(2097, 1, 1), "en") == date(2104, 2, 29)


@pytest.mark.parametrize("words", ["none", "NONE", "", "  "])
def test_nothing_clears(words: str):
    assert grammar.parse_due_day(words, WEDNESDAY, "de") is None


@given(st.dates(date(1990, 1, 1), date(2200, 12, 31)), st.dates(date(2020, 1, 1), date(2100, 1, 1)))
def test_an_iso_date_is_itself_on_any_day_in_any_language(day: date, today: date):
    assert {grammar.parse_due_day(day.isoformat(), today, language) for language in LANGUAGES} == {day}


@given(st.dates(date(2000, 1, 1), date(2100, 1, 1)), st.sampled_from(LANGUAGES), st.data())
def test_a_weekday_is_within_the_next_seven_days(today: date, language: str, data: st.DataObject):
    words = data.draw(st.sampled_from(list(date_language(language).weekdays)))
    day = grammar.parse_due_day(words, today, language)
    assert day is not None
    assert day.weekday() == date_language(language).weekdays[words]
    assert 1 <= (day - today).days <= 7


@given(st.dates(date(2000, 1, 1), date(2100, 1, 1)), st.text(max_size=30))
def test_any_text_is_read_or_refused(today: date, words: str):
    for language in LANGUAGES:
        with suppress(Refused):
            assert isinstance(grammar.parse_due_day(words, today, language), date | None)


@pytest.mark.parametrize(("months", "day"), [(1, "2027-02-28"), (2, "2027-03-31"), (13, "2028-02-29")])
def test_a_month_from_its_end_is_the_end_of_a_shorter_one(months: int, day: str):
    assert grammar.parse_due_day(f"in {months} months", date(2027, 1, 31), "en") == date.fromisoformat(day)


# -- times --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "past", "future"),
    [
        ("now", "2026-11-18 09:30", "2026-11-18 09:30"),
        ("09:00", "2026-11-18 09:00", "2026-11-19 09:00"),
        ("10:30", "2026-11-17 10:30", "2026-11-18 10:30"),
        ("at 8", "2026-11-18 08:00", "2026-11-19 08:00"),
        ("8am", "2026-11-18 08:00", "2026-11-19 08:00"),
        ("12:15 am", "2026-11-18 00:15", "2026-11-19 00:15"),
        ("yesterday 14:00", "2026-11-17 14:00", "2026-11-17 14:00"),
        ("yesterday at 2pm", "2026-11-17 14:00", "2026-11-17 14:00"),
        ("14:00 yesterday", "2026-11-17 14:00", "2026-11-17 14:00"),
        ("tomorrow 9:00", "2026-11-19 09:00", "2026-11-19 09:00"),
        ("friday", "2026-11-13 00:00", "2026-11-20 00:00"),
        ("friday 10:00", "2026-11-13 10:00", "2026-11-20 10:00"),
        ("15 March", "2026-03-15 00:00", "2027-03-15 00:00"),
        ("15.3. 8:05", "2026-03-15 08:05", "2027-03-15 08:05"),
        ("the 20th", "2026-10-20 00:00", "2026-11-20 00:00"),
        ("2 hours ago", "2026-11-18 07:30", "2026-11-18 07:30"),
        ("an hour ago", "2026-11-18 08:30", "2026-11-18 08:30"),
        ("2h", "2026-11-18 07:30", "2026-11-18 11:30"),
        ("90 min", "2026-11-18 08:00", "2026-11-18 11:00"),
        ("in 20 minutes", "2026-11-18 09:50", "2026-11-18 09:50"),
        ("3 days ago", "2026-11-15 09:30", "2026-11-15 09:30"),
        ("today", "2026-11-18 00:00", "2026-11-18 00:00"),
        ("last week", "2026-11-11 00:00", "2026-11-11 00:00"),
        ("2026-11-01", "2026-11-01 00:00", "2026-11-01 00:00"),
        ("2026-11-01 12:00", "2026-11-01 12:00", "2026-11-01 12:00"),
        ("2026-11-01T12:00:00Z", "2026-11-01 13:00", "2026-11-01 13:00"),
        ("2026-11-01T12:00+05:00", "2026-11-01 08:00", "2026-11-01 08:00"),
        ("1999-12-31 23:59", "1999-12-31 23:59", "1999-12-31 23:59"),
    ],
)
def test_a_time_is_read_backwards_or_forwards(words: str, past: str, future: str):
    assert (moment(words), moment(words, "future")) == (past, future)


@pytest.mark.parametrize(
    ("language", "words", "read"),
    [
        ("de", "gestern 14:00", "2026-11-17 14:00"),
        ("de", "gestern um 14 Uhr", "2026-11-17 14:00"),
        ("de", "um 8", "2026-11-18 08:00"),
        ("de", "8.15 Uhr", "2026-11-18 08:15"),
        ("de", "vor 2 Stunden", "2026-11-18 07:30"),
        ("de", "vor einer Stunde", "2026-11-18 08:30"),
        ("de", "Freitag um 10:00 Uhr", "2026-11-13 10:00"),
        ("es", "ayer a las 14:00", "2026-11-17 14:00"),
        ("es", "a las 8", "2026-11-18 08:00"),
        ("es", "hace 2 horas", "2026-11-18 07:30"),
        ("es", "hace una hora", "2026-11-18 08:30"),
        ("fr", "hier à 14h", "2026-11-17 14:00"),
        ("fr", "hier à 14h30", "2026-11-17 14:30"),
        ("fr", "hier 14:00", "2026-11-17 14:00"),
        ("fr", "il y a 2 heures", "2026-11-18 07:30"),
        ("fr", "à 8h", "2026-11-18 08:00"),
        ("ro", "ieri la 14:00", "2026-11-17 14:00"),
        ("ro", "ieri la ora 14", "2026-11-17 14:00"),
        ("ro", "acum 2 ore", "2026-11-18 07:30"),
        ("ro", "acum o oră", "2026-11-18 08:30"),
        ("ro", "acum", "2026-11-18 09:30"),
    ],
)
def test_times_are_read_in_every_language(language: str, words: str, read: str):
    assert moment(words, language=language) == read


def test_what_names_its_direction_keeps_it():
    saturday = NOW + timedelta(days=3)
    assert moment("next friday", "past", now=saturday) == "2026-11-27 00:00"
    assert moment("last friday", "future", now=saturday) == "2026-11-20 00:00"
    assert moment("end of October") == "2026-10-31 00:00"
    assert moment("end of November") == "2025-11-30 00:00"
    assert moment("end of October", "future") == "2027-10-31 00:00"


def test_a_span_in_hours_counts_hours_and_one_in_days_keeps_the_time_of_the_day():
    now = datetime(2026, 10, 25, 12, 0, tzinfo=BERLIN)  # the clocks went back at three
    assert moment("12 hours ago", now=now) == "2026-10-25 01:00"
    assert moment("1 day ago", now=now) == "2026-10-24 12:00"


def test_a_time_that_the_clocks_skip_is_refused():
    with pytest.raises(Refused, match="skip 02:30"):
        moment("2026-03-29 02:30")


def test_a_time_that_the_clocks_show_twice_is_refused_with_both():
    with pytest.raises(Refused, match="twice") as error:
        moment("25 October 2:30")
    assert "2026-10-25T02:30+02:00 or 2026-10-25T02:30+01:00" in error.value.hint
    assert moment("2026-10-25T02:30+01:00") == "2026-10-25 02:30"


def test_a_day_that_begins_when_the_clocks_jump_begins_after_the_jump():
    santiago = ZoneInfo("America/Santiago")
    now = datetime(2026, 9, 7, 12, 0, tzinfo=santiago)
    assert grammar.parse_moment("2026-09-06", now, santiago, "en").astimezone(santiago).hour == 1


@pytest.mark.parametrize(
    "words", ["", "none", "25:00", "10:60", "13pm", "later", "tomorrow-ish 10:00", "0pm"]
)
def test_what_is_no_time_is_refused_with_examples(words: str):
    with pytest.raises(Refused) as error:
        moment(words)
    assert "10:30" in error.value.hint


@given(st.text(max_size=30), st.sampled_from(["past", "future"]))
def test_any_text_is_a_time_or_refused(words: str, prefer: grammar.TimeDirection):
    with suppress(Refused):
        assert grammar.parse_moment(words, NOW, BERLIN, "de", prefer).tzinfo is UTC


def test_readings_are_of_one_language_alone_and_leave_out_ways_of_saying_it() -> None:
    day = date(2026, 11, 18)
    assert grammar.day_readings("viernes", day, "es") == {date(2026, 11, 20)}
    assert grammar.day_readings("viernes", day, "en") == frozenset()
    assert grammar.day_readings("nächsten Freitag", day, "de") == {date(2026, 11, 20), date(2026, 11, 27)}
    assert grammar.day_readings("next week", day, "en") == {date(2026, 11, 25)}
    assert grammar.day_readings("next week", day, "en", without={DayRule.NEXT}) == frozenset()
