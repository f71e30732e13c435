"""What `make quick` leaves out, what begins first, and the table that both go by.

Never runs a test of Placet: the tests that run here are made for it.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.distribution import DURATIONS
from tests.support.patience import LIMIT_S
from tests.support.source_tree import ROOT

PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]
LONG = "tests/test_any.py::test_long"
TESTS = """
import time
import pytest

@pytest.mark.parametrize("number", range(5))
def test_table(number):
    pass

def test_long():
    time.sleep(0.25)

def test_last():
    pass
"""


def run_pytest(folder: Path, *words: str) -> list[str]:
    """Run pytest with this project's settings and plugin on the tests above; return the lines it printed."""
    folder.joinpath("tests").mkdir(exist_ok=True)
    folder.joinpath("tests/test_any.py").write_text(TESTS)
    plugin = ["-c", str(ROOT / "pyproject.toml"), "-p", "tests.support.distribution", f"--rootdir={folder}"]
    finished = subprocess.run(
        [*PYTEST, *plugin, *words, "tests/test_any.py"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout.splitlines()


def collected(folder: Path, *words: str) -> list[str]:
    lines = run_pytest(folder, "-n0", "--collect-only", *words)
    return [line.partition("::")[2] for line in lines if "::" in line]


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_what_took_long_is_written_down_begins_first_and_is_left_out_of_the_quick_tests(
    workers: str, tmp_path: Path
):
    everything = [*(f"test_table[{number}]" for number in range(5)), "test_long", "test_last"]
    assert collected(tmp_path) == everything
    run_pytest(tmp_path, workers, "--write-durations")
    table = tmp_path / DURATIONS
    assert json.loads(table.read_text("utf-8"))[LONG] >= 0.2
    # On a busy machine, others may have taken long too.
    table.write_text(json.dumps({LONG: 0.3}), "utf-8")
    assert collected(tmp_path) == ["test_long", *(name for name in everything if name != "test_long")]
    assert collected(tmp_path, "--quick") == ["test_table[0]", "test_table[4]", "test_last"]
