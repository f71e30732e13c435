"""What holds of every document: its links lead somewhere, and its sentences are short.

Never judges a word; `tests/test_tidy.py` looks whether the names that a document uses exist.
"""

import re
from pathlib import Path
from statistics import median

from tests.docs.documents import anchors, documents, links, sentences
from tests.support.source_tree import ROOT, text_of

WORDS_MAX, MEDIAN_MAX = 40, 18
THREATS = Path("docs/threats.md")
README_WORDS_MAX = 600
UNRELEASED_WORDS_MAX = 900
THREAT_CHARACTERS_MAX = 360


def test_every_link_leads_to_a_document_of_the_project() -> None:
    texts = []
    for document in documents():
        for path, anchor in links(document):
            if not (ROOT / path).exists():
                texts.append(f"{document}: {path}")
            elif anchor and path.endswith(".md") and anchor not in anchors(Path(path)):
                texts.append(f"{document}: {path}#{anchor}")
    assert not texts


def test_no_sentence_is_longer_than_40_words() -> None:
    assert not [
        f"{document}: {text}"
        for document in documents()
        for text in sentences(document)
        if len(text.split()) > WORDS_MAX
    ]


def test_half_of_the_sentences_are_short() -> None:
    lengths = [len(text.split()) for document in documents() for text in sentences(document)]
    assert median(lengths) < MEDIAN_MAX


def test_the_readme_is_short() -> None:
    assert len(text_of(Path("README.md")).split()) <= README_WORDS_MAX


def test_what_is_not_released_yet_takes_one_page() -> None:
    """It says what there is. A merge by union may bring back lines that somebody took out."""
    parts = text_of(Path("CHANGELOG.md")).split("\n## ")[1:]
    unreleased = [part for part in parts if "not yet released" in part.splitlines()[0]]
    assert not [part.splitlines()[0] for part in unreleased if len(part.split()) > UNRELEASED_WORDS_MAX]


def test_every_document_is_in_an_index() -> None:
    """From the README a reader reaches every document by links."""
    reached, open_ = set[str](), ["README.md"]
    while open_:
        path = open_.pop()
        if path in reached:
            continue
        reached.add(path)
        if (ROOT / path).is_dir():
            continue
        open_ += [target for target, _ in links(Path(path)) if target.endswith(".md")]
    assert {str(document) for document in documents()} <= reached


def threats() -> list[str]:
    """Return the rows of the tables of threats, without their heads."""
    lines = text_of(THREATS).splitlines()
    return [line for line in lines if line.startswith("| ") and not line.startswith("| threat ")]


def test_a_threat_is_in_the_one_table_of_threats() -> None:
    """Whoever reports a weakness reads SECURITY.md, which has no table."""
    assert not [line for line in text_of(Path("SECURITY.md")).splitlines() if line.startswith("|")]


def test_the_row_of_a_threat_takes_three_lines_at_most() -> None:
    assert not [row for row in threats() if len(row) > THREAT_CHARACTERS_MAX]


def test_each_threat_names_tests_that_exist() -> None:
    without = [row for row in threats() if "`tests/" not in row]
    names = re.findall(r"`(tests/[^`]+)`", text_of(THREATS))
    assert not without
    assert not [name for name in names if not (ROOT / name).exists()]
