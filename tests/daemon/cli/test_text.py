"""Escaping, measuring, cutting and wrapping, and the words for times.

Never runs a process: these are functions.
"""

import re
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.cli.look import Look
from daemon.cli.short import short_ids
from daemon.cli.table import Cell, Column, table
from daemon.cli.text import cells, cut, padded, shown, wrapped
from daemon.cli.when import ago, ahead, due, http_date, minutes, moment_s, moment_words

NOW = http_date("Wed, 04 Mar 2026 12:00:00 GMT")
ANY_TEXT = st.text(st.characters(exclude_categories=()))


@given(ANY_TEXT)
def test_what_is_shown_has_nothing_that_moves_hides_or_reorders(text: str):
    hidden = {letter for letter in shown(text) if category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp")}
    assert hidden <= {"\u200c", "\u200d"}


@given(st.text(st.characters(categories=("L", "N", "P", "S", "M", "Zs"))))
def test_ordinary_text_is_shown_as_it_is(text: str):
    assert shown(text) == text


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
    assert shown(text) == expected


@given(ANY_TEXT.map(shown), st.integers(1, 30))
def test_a_cut_text_fits(text: str, width: int):
    assert cells(cut(text, width)) <= width
    assert cells(padded(cut(text, width), width)) == width


@given(ANY_TEXT, st.integers(4, 30))
def test_wrapped_lines_fit_and_lose_no_word(text: str, width: int):
    lines = wrapped(text, width)
    assert lines
    assert all(cells(line) <= width for line in lines)
    assert all(shown(line) == line for line in lines)
    kept = "".join("".join(shown(line.expandtabs(4)) for line in text.splitlines()).split(" "))
    assert "".join("".join(lines).split(" ")) == kept


def test_wide_characters_take_two_columns():
    assert cells("日本") == 4
    assert cells("e\u0301") == 1
    assert cut("日本語です", 6) == "日本…"


@given(st.sets(st.text("0123456789abcdef", min_size=32, max_size=32), max_size=50))
def test_short_ids_are_unique_beginnings_of_at_least_four(ids: set[str]):
    short = short_ids(ids)
    assert set(short) == ids
    assert all(full.startswith(brief) and len(brief) >= 4 for full, brief in short.items())
    assert all(sum(one.startswith(brief) for one in ids) == 1 for brief in short.values())


@given(st.lists(st.tuples(ANY_TEXT, ANY_TEXT, st.text("ab", max_size=30)), min_size=1), st.integers(40, 100))
def test_a_table_is_as_wide_as_the_terminal_at_most(rows: list[tuple[str, str, str]], width: int):
    columns = (Column("ONE", width_max=12), Column("TWO", gives=True), Column("THREE", width_max=12))
    drawn = table(columns, [[Cell(shown(text)) for text in row] for row in rows], Look(width=width))
    assert all(cells(line) <= width for line in drawn)


@pytest.mark.parametrize(
    ("at", "words"),
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
def test_times_are_said_as_people_say_them(at: object, words: str):
    assert ago(at, NOW) == words


@pytest.mark.parametrize(
    ("at", "words"),
    [
        ("2026-03-04T12:00:30Z", "in a moment"),
        ("2026-03-04T11:59:30Z", "just now"),
        ("2026-03-04T12:05:00Z", "in 5 min"),
        (None, ""),
        ("soon", "soon"),
    ],
)
def test_what_is_seconds_ahead_is_not_said_to_have_been(at: object, words: str):
    assert ahead(at, NOW) == words


def test_a_moment_is_said_with_its_day_and_its_time():
    assert re.fullmatch(r"\w{3} \d+ Mar 2026, \d\d:\d\d", moment_words("2026-03-04T12:00:00Z"))
    assert (moment_words(None), moment_words("soon\x07")) == ("", "soon\\x07")


def test_without_knowing_now_a_time_is_said_in_full(monkeypatch: pytest.MonkeyPatch):
    assert moment_s("2026-03-04T12:00:00Z") == NOW
    assert ago("2026-03-04T12:00:00Z", None).startswith("4 Mar 2026, ")


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
        (None, "", None),
    ],
)
def test_due_dates_are_said_as_people_say_them(day: object, words: str, days: int | None):
    assert due(day, NOW) == (words, days)


def test_a_date_header_that_is_none_is_no_time():
    assert http_date("") is None
    assert http_date("Wed, 99 Mar 2026 12:00:00 GMT") is None


def test_lengths_of_time_are_hours_and_minutes():
    assert [minutes(one) for one in (0, 45, 60, 150, "x")] == ["0 min", "45 min", "1 h", "2 h 30 min", "x"]
