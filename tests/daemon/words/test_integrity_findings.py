"""What `verify` finds, in the language of the person: by the ids that the answer names.

Never makes a damaged file: tests/store does.
"""

from collections.abc import Iterator

import pytest

from daemon.cli.terminal.display import Display
from daemon.cli.views.files.backups import verify_lines
from daemon.journal.verification import finding_fields
from daemon.words import translation
from store.sentence import sentence
from store.upkeep.verification import VerificationFinding

WHAT = sentence("verify-commits-missing", "commits are missing")
WHERE = sentence("log-between", "between {first} and {last} of the log", first=3, last=5)
REMEDY = sentence("verify-mend-this-first", "repair this first")


@pytest.fixture(autouse=True)
def _english_again() -> Iterator[None]:
    yield
    translation.use_language("en")


def lines(**newer: object) -> list[str]:
    """Return what a person sees of a finding; `newer` replaces parts of the answer."""
    finding = {**finding_fields(VerificationFinding(WHAT, WHERE, REMEDY)), **newer}
    counts = {"signatures": 1, "commits": 2, "entities": 3, "sound": False, "more": 0}
    return list(verify_lines({**counts, "findings": [finding]}, Display()))


def test_a_finding_is_shown_in_english_as_the_store_words_it():
    assert "commits are missing (between 3 and 5 of the log)" in lines()[0]
    assert "repair this first" in lines()[1]


def test_a_finding_is_translated_by_its_ids():
    translation.use_language("de")
    assert "zwischen 3 und 5 des Protokolls" in lines()[0]
    assert not {"commits are missing", "repair this first"} & set(" ".join(lines()).split("  "))


def test_a_finding_of_a_newer_store_is_shown_as_it_came():
    translation.use_language("de")
    assert "the wind is too strong" in lines(what="the wind is too strong", what_id="wind")[0]
