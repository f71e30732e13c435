"""The embedded model's files of words: each one fits its type, and what does not make sense is refused.

Never checks what a cue does: that is the note reader's test.
"""

import re
from importlib import resources

import pytest
from msgspec import ValidationError, toml

from daemon.agents.models.rules.lexicon.cue_table import CueTable, decode_words
from daemon.agents.models.rules.lexicon.tables import cue_tables
from daemon.agents.models.rules.lexicon.word_lists import WordSet
from daemon.agents.tools.table import TOOLS
from daemon.dates.vocabulary import date_words
from daemon.language import LANGUAGES

WORDS = resources.files("daemon.agents.models.rules.lexicon") / "words"


def decoded(text: str) -> CueTable:
    return toml.decode(text, type=CueTable, dec_hook=decode_words)


def test_there_is_one_file_for_each_language():
    assert sorted(file.name for file in WORDS.iterdir()) == sorted(f"{name}.toml" for name in LANGUAGES)
    assert [table.language for table in cue_tables().values()] == list(cue_tables()) == list(LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_phrase_is_listed_twice(language: str):
    table = cue_tables()[language]
    parts = [
        table.deadline,
        table.duration,
        table.to_do,
        table.done,
        table.status,
        table.priority,
        table.title,
    ]
    lists = [
        value
        for part in parts
        for name in part.__struct_fields__
        if isinstance(value := getattr(part, name), tuple)
    ]
    assert len(lists) > 20
    assert all(len(set(phrases)) == len(phrases) for phrases in [*lists, table.priority.urgent_phrases])


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_the_words_of_dates_have_is_not_said_again(language: str):
    own, dates = cue_tables()[language].duration, date_words(language)
    assert own.amounts.keys().isdisjoint(dates.length.amounts)
    assert set(own.units.minute).isdisjoint(dates.units.minute + dates.length.minute)
    assert set(own.units.day).isdisjoint(dates.units.day)


def test_every_language_names_the_same_tools():
    tools = {frozenset(table.wording.tool_nouns) for table in cue_tables().values()}
    assert len(tools) == 1
    assert len(tools.pop() & TOOLS.keys()) >= 6


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_only_looks_like_an_imperative_is_a_pattern(language: str):
    assert re.compile(cue_tables()[language].verbs.not_imperative).match("\n") is None


def test_a_word_matches_in_each_of_its_spellings():
    assert WordSet.from_words(["für", "être"]) == WordSet({"fur", "fuer", "etre"})
    assert {"ubernehmen", "uebernehmen"} <= cue_tables()["de"].verbs.forms.keys()


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ('language = "en"', ""),
        ('letters = ""', 'letters = ["a"]'),
        ("[status]", "[state]"),
        ('suffixes = ["at the latest", "at the very latest", "latest"]', 'suffixes = "latest"'),
        ('segment_words = ["but", ', 'segment_words = ["but", "but", '),
        ('segment_words = ["but", ', "segment_words = [1, "),
        ('due = "due {due}"', 'due = "due {day}"'),
        ('listed = "Listed in the note."', 'listed = "Listed in {note}."'),
        ("P0 = [", "P2 = ["),
        ('of_others = ["has"]', 'of_others = "has"'),
        ('buy = ["bought"]', 'buy = "bought"'),
    ],
)
def test_a_file_that_does_not_fit_is_refused(line: str, wrong: str):
    text = (WORDS / "en.toml").read_text(encoding="utf-8")
    assert text.count(line) == 1
    assert decoded(text).language == "en"
    with pytest.raises((ValidationError, ValueError)):
        decoded(text.replace(line, wrong))
