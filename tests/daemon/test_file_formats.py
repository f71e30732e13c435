"""What a file is by its name, and a format follows from its row: one that is made up reaches every face.

Never asks what the commands and the page say of the formats that there are: their tests do.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from daemon import file_formats
from daemon.formats.core.format import declared_format
from tests.support.patience import LIMIT_S
from tests.support.source_tree import ROOT, text_of

FACES = "tests/daemon/faces_of_a_format.py"
PROSE = (
    "docs/guide/import-and-export.md",
    "docs/guide/page.md",
    "docs/reference/file-formats.md",
    "daemon/web/frame/drop.html",
    "daemon/cli/commands/files/imports.py",
)
"""What says in words which lists there are. A person calls a list of iCalendar a calendar."""


@pytest.mark.parametrize(
    ("name", "format_"),
    [
        ("TODO.md", "markdown"),
        ("list.MARKDOWN", "markdown"),
        ("a.b.txt", "todotxt"),
        ("tasks.json", "taskwarrior"),
        ("calendar.ics", "icalendar"),
        ("all.jsonl", file_formats.JSON_LINES),
        ("photo.jpg", None),
        ("txt", None),
        (".txt", None),
        ("", None),
    ],
)
def test_the_ending_of_a_name_says_the_format(name: str, format_: str | None):
    assert file_formats.format_by_ending(name) == format_


def test_no_face_forgets_a_format_that_has_a_row() -> None:
    made_up = [
        "-p",
        "tests.support.made_up_format",
        "-p",
        "no:cacheprovider",
        "-n0",
        "-q",
        "--tb=line",
        FACES,
    ]
    result = subprocess.run(
        [sys.executable, "-m", "pytest", *made_up],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    forgot = re.findall(r"^(?:FAILED|ERROR) .*$", result.stdout, re.MULTILINE)
    assert not forgot, "\n".join(forgot)
    assert result.returncode == 0, result.stdout + result.stderr


def test_a_row_says_what_its_folder_declares() -> None:
    for row in file_formats.FILE_FORMATS:
        declared = declared_format(row)
        is_list = row in file_formats.list_formats()
        assert (declared.parse is not None, declared.write is not None) == (is_list, True), row.name
        assert (declared.write_part is not None) == row.keeps_ids, row.name
        assert (declared.reread is not None) == file_formats.is_known_by_name(row.name), row.name


def test_what_names_lists_in_words_names_every_one() -> None:
    forgot = [
        (path, row.title)
        for path in PROSE
        for row in file_formats.list_formats()
        if row.title.removeprefix("i").lower() not in text_of(Path(path)).lower()
    ]
    assert forgot == []
