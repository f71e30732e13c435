"""Escaping, measuring, cutting and wrapping, and the words for times.

Never runs a process: these are functions.
"""

import re
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.cli.api.client import parse_http_date_s
from daemon.cli.terminal.display import Display
from daemon.cli.terminal.table import Cell, Column, table_lines
from daemon.words.dates import (
    due_words,
    duration_words,
    full_time_words,
    parse_time_s,
    relative_future_time,
    relative_time,
)
from daemon.words.short_ids import short_ids
from daemon.words.terminal_text import display_width, escape, pad_right, truncate, wrap_lines

NOW = parse_http_date_s("Wed, 04 Mar 2026 12:00:00 GMT")
ANY_TEXT = st.text(st.characters(exclude_categories=()))


@given(ANY_TEXT)
def test_what_is_shown_has_nothing_that_moves_hides_or_reorders(text: str):
    hidden = {letter for letter in escape(text) if category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp")}
    assert hidden <= {"\u200c", "\u200d"}


@given(st.text(st.characters(categories=("L", "N", "P", "S", "M", "Zs"))))
def test_ordinary_text_is_shown_as_it_is(text: str):
    assert escape(text) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\tb\nc\r", "a\\tb\\nc\\r"),
        ("\x1b[31m", "\\x1b[31m"),
        ("\x9b", "\\x9b"),
        ("\u202e\u2066", "\\u202e\\u2066"),
        ("\U000e0041", "\\U000e0041"),
        ("👩\u200d👧", "👩\u200d👧"),
        ("a\u00a0b", "a\u00a0b"),
    ],
)
def test_escapes_look_like_a_python_literal(text: str, expected: str):
    assert escape(text) == expected


@given(ANY_TEXT.map(escape), st.integers(1, 30))
def test_a_cut_text_fits(text: str, width: int):
    assert display_width(truncate(text, width)) <= width
    assert display_width(pad_right(truncate(text, width), width)) == width


@given(ANY_TEXT, st.integers(4, 30))
def test_wrapped_lines_fit_and_lose_no_word(text: str, width: int):
    lines = wrap_lines(text, width)
    assert lines
    assert all(display_width(line) <= width for line in lines)
    assert all(escape(line) == line for line in lines)
    remaining = "".join("".join(escape(line.expandtabs(4)) for line in text.splitlines()).split(" "))
    assert "".join("".join(lines).split(" ")) == remaining


def test_wide_characters_take_two_columns():
    assert display_width("日本") == 4
    assert display_width("e\u0301") == 1
    assert truncate("日本語です", 6) == "日本…"


@given(st.sets(st.text("0123456789abcdef", min_size=32, max_size=32), max_size=50))
def test_short_ids_are_unique_beginnings_of_at_least_four(ids: set[str]):
    short = short_ids(ids)
    assert set(short) == ids
    assert all(full.startswith(brief) and len(brief) >= 4 for full, brief in short.items())
    assert all(sum(text.startswith(brief) for text in ids) == 1 for brief in short.values())


@given(st.lists(st.tuples(ANY_TEXT, ANY_TEXT, st.text("ab", max_size=30)), min_size=1), st.integers(40, 100))
def test_a_table_is_as_wide_as_the_terminal_at_most(rows: list[tuple[str, str, str]], width: int):
    columns = (Column("ONE", width_max=12), Column("TWO", shrinks=True), Column("THREE", width_max=12))
    drawn = table_lines(columns, [[Cell(escape(text)) for text in row] for row in rows], Display(width=width))
    assert all(display_width(line) <= width for line in drawn)


@pytest.mark.parametrize(
    ("moment", "words"),
    [
        ("2026-03-04T11:59:30Z", "just now"),
        ("2026-03-04T12:00:30Z", "just now"),
        ("2026-03-04T11:15:00+00:00", "45 min ago"),
        ("2026-03-04T09:00:00", "3 h ago"),
        ("2026-03-03T09:00:00Z", "yesterday"),
        ("2026-03-01T09:00:00Z", "3 days ago"),
        ("2026-03-05T13:00:00Z", "in 1 day"),
        ("2026-03-04T12:05:00Z", "in 5 min"),
        ("2026-03-04T12:59:50Z", "in 1 h"),
        ("2026-03-05T11:59:00Z", "in 1 day"),
        ("2026-03-11T11:59:58Z", "in 7 days"),
        ("2026-03-11T12:00:01Z", "in 7 days"),
        ("2026-03-12T12:00:00Z", "12 Mar"),
        ("2026-01-15T12:00:00Z", "15 Jan"),
        ("2027-01-15T12:00:00Z", "15 Jan 2027"),
        (1772625600000, "just now"),
        (None, ""),
        (True, "True"),
        ("soon", "soon"),
        ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"),
        (10**30, str(10**30)),
        (float("nan"), "nan"),
    ],
)
def test_times_are_said_as_people_say_them(moment: object, words: str):
    assert relative_time(moment, NOW) == words


@pytest.mark.parametrize(
    ("moment", "words"),
    [
        ("2026-03-04T12:00:30Z", "in a moment"),
        ("2026-03-04T11:59:30Z", "just now"),
        ("2026-03-04T12:05:00Z", "in 5 min"),
        (None, ""),
        ("soon", "soon"),
    ],
)
def test_what_is_seconds_ahead_is_not_said_to_have_been(moment: object, words: str):
    assert relative_future_time(moment, NOW) == words


def test_a_moment_is_said_with_its_day_and_its_time():
    assert re.fullmatch(r"\w{3} \d+ Mar 2026, \d\d:\d\d", full_time_words("2026-03-04T12:00:00Z"))
    assert (full_time_words(None), full_time_words("soon\x07")) == ("", "soon\\x07")


def test_without_knowing_now_a_time_is_said_in_full(monkeypatch: pytest.MonkeyPatch):
    assert parse_time_s("2026-03-04T12:00:00Z") == NOW
    assert relative_time("2026-03-04T12:00:00Z", None).startswith("4 Mar 2026, ")


@pytest.mark.parametrize(
    ("day", "words", "days"),
    [
        ("2026-03-04", "today", 0),
        ("2026-03-05", "tomorrow", 1),
        ("2026-03-03", "yesterday", -1),
        ("2026-03-08", "Sun", 4),
        ("2026-03-11", "11 Mar", 7),
        ("2025-03-11", "11 Mar 2025", -358),
        ("never", "never", None),
        ("2099-01-01junk", "2099-01-01junk", None),
        ("20260304", "20260304", None),
        ("2026-03-04T09:00:00Z", "2026-03-04T09:00:00Z", None),
        (None, "", None),
    ],
)
def test_due_dates_are_said_as_people_say_them(day: object, words: str, days: int | None):
    assert due_words(day, NOW) == (words, days)


def test_a_date_header_that_is_none_is_no_time():
    assert parse_http_date_s("") is None
    assert parse_http_date_s("Wed, 99 Mar 2026 12:00:00 GMT") is None


def test_lengths_of_time_are_hours_and_minutes():
    assert [duration_words(nested) for nested in (0, 45, 60, 150, "x")] == [
        "0 min",
        "45 min",
        "1 h",
        "2 h 30 min",
        "x",
    ]
