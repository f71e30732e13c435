"""The files of words: each one fits its type, and what does not make sense is refused.

Never checks what a phrase means: that is the grammar's test.
"""

import re
import unicodedata
from collections.abc import Sequence
from importlib import resources

import pytest
from msgspec import ValidationError, toml

from daemon.dates.date_language import date_language
from daemon.dates.spelling import typed_spellings
from daemon.dates.vocabulary import DateWords, DayRule, date_words
from daemon.language import LANGUAGES


def vocabulary_text(language: str) -> str:
    return (resources.files("daemon") / "dates" / "words" / f"{language}.toml").read_text(encoding="utf-8")


def test_there_is_one_file_for_each_language():
    names = sorted(file.name for file in (resources.files("daemon") / "dates" / "words").iterdir())
    assert names == sorted(f"{language}.toml" for language in LANGUAGES)
    assert [date_words(language).language for language in LANGUAGES] == list(LANGUAGES)
    with pytest.raises(KeyError):
        date_words("../en")


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_word_is_listed_twice(language: str):
    words = date_words(language)
    lists: list[Sequence[str]] = [words.now, words.at, words.on, words.weekdays_short, words.length.joiners]
    lists += [[name for names in words.weekdays for name in names]]
    lists += [[name for names in words.months for name in names]]
    lists += [[word for name in words.units.__struct_fields__ for word in getattr(words.units, name)]]
    for listed in lists:
        typed = [spelling for word in listed for spelling in typed_spellings(word)]
        assert len(typed) == len(set(typed))


@pytest.mark.parametrize("language", LANGUAGES)
def test_patterns_have_no_accents_as_they_meet_text_without_them(language: str):
    patterns = [pattern for listed in date_words(language).rules.values() for pattern in listed]
    assert all(re.compile(re.sub(r"\{\w+\}", "x", pattern)) for pattern in patterns)
    assert not [
        pattern
        for pattern in patterns
        if unicodedata.normalize("NFD", pattern) != pattern or not pattern.isascii()
    ]


def test_umlauts_are_also_typed_as_two_letters():
    assert {"marz", "maerz"} <= date_language("de").months.keys()
    assert typed_spellings("sîmbătă") == ("simbata",)
    assert typed_spellings("dreißig") == ("dreissig", "dreisig")


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("tomorrow = 1", "tomorrow = 30"),
        ('["sunday", "sun"],', ""),
        ('["december", "dec"],', ""),
        ('weekdays_short = ["mon"', 'weekdays_short = ["moon"'),
        ("two = 2", "two = 0"),
        ('"half an hour" = 30', '"half an hour" = 0'),
        ("'{n} {unit} ago'", "'{n} {units} ago'"),
        ("this = [", "bare = ["),
        ("this = [", "thus = ["),
        ("month_first = true", 'month_first = "yes"'),
        ("month_first = true", "month_last = true"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(line: str, wrong: str):
    text = vocabulary_text("en")
    assert text.count(line) == 1
    with pytest.raises(ValidationError):
        toml.decode(text.replace(line, wrong), type=DateWords)


def test_every_way_to_say_a_day_is_listed_in_every_language():
    for language in LANGUAGES:
        assert date_language(language).rules.keys() | {DayRule.BARE} == set(DayRule)
