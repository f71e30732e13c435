"""The records of decisions: each has its five parts, and the index has each once.

Never judges a decision.
"""

import re
from pathlib import Path

import pytest

from tests.support.source_tree import project_files, text_of

FOLDER = Path("docs/decisions")
PARTS = ["Context", "Decision", "Consequences", "Rejected", "Where"]
RECORDS = [path for path in project_files() if path.parent == FOLDER and path.name != "README.md"]


def test_a_record_has_its_number_and_its_five_parts(subtests: pytest.Subtests) -> None:
    for record in RECORDS:
        with subtests.test(str(record)):
            text = text_of(record)
            assert re.match(rf"# {int(record.name[:4])}\. \S", text)
            assert re.findall(r"^## (.*)$", text, re.MULTILINE) == PARTS
            assert all(part.strip() for part in re.split(r"^## .*$", text, flags=re.MULTILINE)[1:])


def test_the_numbers_run_from_one() -> None:
    assert [int(path.name[:4]) for path in RECORDS] == list(range(1, len(RECORDS) + 1))


def test_the_index_names_every_record_once_and_by_its_title() -> None:
    index = re.findall(r"^\* \[\d{4} (.*)\]\((.*)\)$", text_of(FOLDER / "README.md"), re.MULTILINE)
    titles = {path.name: text_of(path).splitlines()[0].partition(". ")[2] for path in RECORDS}
    assert sorted((title, name) for title, name in index) == sorted((t, n) for n, t in titles.items())
