"""The glossary: every word once, and each name that it gives is one that the code uses.

Never judges a meaning.
"""

import re
from functools import cache
from pathlib import Path

from tests.support.source_tree import PACKAGES, modules, text_of

ROWS = re.findall(r"^\| (\*\*.*?) \| (.*?) \| `(.*?)` \|$", text_of(Path("docs/glossary.md")), re.MULTILINE)


@cache
def words_of_the_code() -> frozenset[str]:
    """Return every name that stands in the code, of files and folders too."""
    names = {name for path in modules(*PACKAGES) for name in re.findall(r"[A-Za-z_]\w*", text_of(path))}
    return frozenset(names | {path.stem for path in modules(*PACKAGES)})


def test_every_row_has_a_word_a_meaning_and_a_name() -> None:
    lines = [line for line in text_of(Path("docs/glossary.md")).splitlines() if line.startswith("| **")]
    assert len(ROWS) == len(lines) > 40


def test_every_word_has_one_meaning() -> None:
    words = [word for cell, _, _ in ROWS for word in re.findall(r"\*\*(.*?)\*\*", cell)]
    assert len(words) == len(set(words))


def test_each_part_is_in_alphabetical_order() -> None:
    for part in text_of(Path("docs/glossary.md")).split("\n## ")[1:]:
        words = [word.lower() for word in re.findall(r"^\| \*\*(.*?)\*\*", part, re.MULTILINE)]
        assert words == sorted(words)


def test_every_name_is_one_of_the_code() -> None:
    parts = [part for _, _, name in ROWS for part in name.split(".")]
    assert not [name for name in parts if name not in words_of_the_code()]
