"""A field of a task follows from its row: a row that is made up reaches every place where fields stand.

Never says what a face shows of the fields that there are: the tests of each face do.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from daemon.task_fields import TASK_FIELDS
from tests.support.patience import LIMIT_S
from tests.support.source_tree import ROOT, text_of

FACES = "tests/daemon/faces_of_a_field.py"


@pytest.mark.slow
def test_no_face_forgets_a_field_that_has_a_row() -> None:
    made_up = ["-p", "tests.support.made_up_field", "-p", "no:cacheprovider", "-n0", "-q", "--tb=line", FACES]
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


def test_the_page_of_the_journal_names_every_field_as_it_is_kept() -> None:
    [row] = re.findall(r"^\| `task` \|.*$", text_of(Path("docs/reference/journal.md")), re.MULTILINE)
    assert [field.name for field in TASK_FIELDS if f"`{field.kept_as or field.name}" not in row] == []
