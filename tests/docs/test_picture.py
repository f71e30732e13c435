"""The picture in the README shows what the demonstration prints.

Never compares ids, addresses and days: each run has its own.
"""

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.docs.picture import COLUMNS, FILE, excerpt, lines_of, plain, recorded
from tests.support.source_tree import ROOT, text_of

_OWN = [
    (re.compile(r"\b[0-9a-f]{4,32}\b(?!-)"), "ID"),
    (re.compile(r"127\.0\.0\.1:\S+"), "ADDRESS"),
    (re.compile(r"\bThe note of 2\d{3}-\d\d-\d\d "), "The note of DAY "),
    (re.compile(r"\b2\d{3}-\d\d-\d\d\b(?! +|”|\.”|$)"), "DAY"),
    (re.compile(r"\b(just now|\d+ (s|seconds|min) ago)\b"), "LATELY"),
    # Whether a device is back at once depends on the machine.
    (re.compile(r"^ +(ID +NAME|ID +(laptop|phone) ).*"), "A DEVICE"),
    # How many commits there are depends on which changes an agent is woken by together.
    (re.compile(r"^ +commits +\d+ "), "COMMITS "),
    (re.compile(r"^  (No other device is connected|In step with.*|1 device .*)$"), "A STATE"),
]


def masked(lines: list[str]) -> Counter[str]:
    """Return the lines without what each run has of its own."""
    result = Counter[str]()
    for line in lines:
        text = plain(line)
        for pattern, name in _OWN:
            text = pattern.sub(name, text)
        result[" ".join(text.split())] += 1
    return result


@pytest.mark.e2e
@pytest.mark.slow
@pytest.mark.xdist_group("demonstration")  # two at once would find each other's devices by mDNS
def test_the_picture_shows_what_the_demonstration_prints() -> None:
    displayed = masked(list(lines_of(FILE.read_text("utf-8"))))
    printed = masked(excerpt(recorded()))
    assert set(displayed) == set(printed), "run `make picture`"


def test_every_line_fits() -> None:
    lines = list(lines_of(FILE.read_text("utf-8")))
    assert len(lines) > 60
    assert not [line for line in lines if len(line) > COLUMNS]


def test_the_picture_stands_at_the_beginning_of_the_readme_and_follows_the_colours_of_its_reader() -> None:
    top = text_of(Path("README.md")).splitlines()[:40]
    assert any(str(FILE.relative_to(ROOT)) in line for line in top)
    picture = FILE.read_text("utf-8")
    assert "prefers-color-scheme:dark" in picture
    assert "prefers-reduced-motion" in picture
