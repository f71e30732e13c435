"""Runs on machines that lack something: green, with one block that names it, and red if CI is set.

Never takes anything from this machine: what lacks is a program that nobody has.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.needs import NOT_RUN, describe_skipped
from tests.support.patience import LIMIT_S
from tests.support.source_tree import ROOT

PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
PROGRAM = "no-such-program-anywhere"
TESTS = f"""
import pytest

@pytest.mark.external("{PROGRAM}")
@pytest.mark.parametrize("number", [1, 2])
def test_needs_it(number):
    raise AssertionError

def test_needs_nothing():
    pass
"""


def run_pytest(folder: Path, *words: str, **environment: str) -> tuple[int, list[str]]:
    """Run pytest with this project's settings and plugin; return its status and the lines that it printed."""
    folder.joinpath("test_lacking.py").write_text(TESTS)
    result = subprocess.run(
        [*PYTEST, "-c", ROOT / "pyproject.toml", "-p", "tests.support.needs", f"--rootdir={folder}", *words],
        cwd=folder,
        env={key: value for key, value in os.environ.items() if key != "CI"}
        | {"PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    return result.returncode, result.stdout.splitlines() + result.stderr.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_what_lacks_is_skipped_counted_and_named_before_the_last_line(workers: str, tmp_path: Path):
    status, lines = run_pytest(tmp_path, workers, "test_lacking.py")
    assert status == 0, lines
    assert lines[-1].startswith("1 passed, 2 skipped in ")
    (title,) = [index for index, line in enumerate(lines) if "2 tests were not run here" in line]
    assert lines[title + 1].split()[:5] == ["2", "need", "the", "program", PROGRAM]
    assert lines[title + 2].strip() == "test_lacking.py"
    assert sum(PROGRAM in line for line in lines) == 1


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_what_lacks_fails_if_ci_is_set(workers: str, tmp_path: Path):
    status, lines = run_pytest(tmp_path, workers, "test_lacking.py", CI="true")
    assert status == 1, lines
    assert lines[-1].startswith("1 passed, 2 errors in ")


@pytest.mark.parametrize(("count", "verb"), [(1, "needs"), (2, "need")])
def test_the_verb_agrees_with_the_number_of_tests(count: int, verb: str):
    report = pytest.TestReport(
        *("tests/test_any.py::test_it", ("", 0, ""), {}, "skipped", None, "setup"),
        user_properties=[(NOT_RUN, PROGRAM)],
    )
    assert next(describe_skipped([report] * count)).split()[:2] == [str(count), verb]


@pytest.mark.slow
def test_a_persons_own_settings_reach_no_test():
    result = subprocess.run(
        [*PYTEST, "-n0", "-m", "not e2e", "-k", "key", "tests/daemon/app/test_journal_files.py"],
        cwd=ROOT,
        env=os.environ | {"PLACET_NONSENSE": "1", "HTTP_PROXY": "http://127.0.0.1:9"},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert " passed" in result.stdout
