"""What `make quick` leaves out, what begins first, and the table that both go by.

Never runs a test of Placet: the tests that run here are made for it.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.distribution import ALL_BYTES_MIN, DURATIONS, MEMORY, is_suitable_memory
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


WRITING = """
def test_where(tmp_path):
    print(f"written to {tmp_path.resolve()}")
"""


def run_pytest(folder: Path, *words: str, tests: str = TESTS) -> list[str]:
    """Run pytest with this project's settings and plugin on these tests; return the lines it printed."""
    folder.joinpath("tests").mkdir(exist_ok=True)
    folder.joinpath("tests/test_any.py").write_text(tests)
    plugin = ["-c", str(ROOT / "pyproject.toml"), "-p", "tests.support.distribution", f"--rootdir={folder}"]
    finished = subprocess.run(
        [*PYTEST, *plugin, *words, "tests/test_any.py"],
        cwd=folder,
        env={key: value for key, value in os.environ.items() if key != "PYTEST_DEBUG_TEMPROOT"}
        | {"PYTHONPATH": str(ROOT)},
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


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["-n0", "-n2"])
def test_the_end_says_how_many_quick_tests_had_no_time_to_begin(workers: str, tmp_path: Path):
    in_time = "\n".join(run_pytest(tmp_path, workers, "--quick"))
    assert re.search(r"^ +0 quick tests", in_time, re.MULTILINE)
    assert "4 passed" in in_time
    late = "\n".join(run_pytest(tmp_path, workers, "--quick", "--quick-s=0"))
    assert re.search(r"^ +4 quick tests", late, re.MULTILINE)
    assert re.search(r"^ +3 tests that take long", late, re.MULTILINE)
    assert "passed" not in late


@pytest.mark.slow
def test_what_is_known_of_tests_that_did_not_run_stays_in_the_table(tmp_path: Path):
    other = "tests/test_other.py::test_it"
    tmp_path.joinpath("tests").mkdir()
    tmp_path.joinpath(DURATIONS).write_text(json.dumps({other: 7.0, "tests/test_any.py::test_last": 5.0}))
    run_pytest(tmp_path, "-n0", "--write-durations", "-k", "long or last")
    table = json.loads(tmp_path.joinpath(DURATIONS).read_text("utf-8"))
    assert table[other] == 7.0
    assert table[LONG] >= 0.2
    assert table.get("tests/test_any.py::test_last", 0.0) < 5.0


def test_each_duration_is_of_a_test_that_exists():
    """A test that was renamed or moved would count as quick: rename it in the table too."""
    names_by_file: dict[str, list[str]] = {}
    for test in json.loads((ROOT / DURATIONS).read_text("utf-8")):
        names_by_file.setdefault(test.partition("::")[0], []).append(test.rpartition("::")[2])
    texts = {file: (ROOT / file).read_text("utf-8") for file in names_by_file if (ROOT / file).exists()}
    assert not [
        f"{file}::{name}"
        for file, names in names_by_file.items()
        for name in names
        if not re.search(rf"\b{name}\b", texts.get(file, ""))
    ]


@pytest.mark.slow
@pytest.mark.skipif(not is_suitable_memory(MEMORY, ALL_BYTES_MIN), reason=f"no room in {MEMORY}")
def test_tests_write_to_memory_and_leave_nothing_there(tmp_path: Path):
    for words in (["--quick"], []):
        lines = run_pytest(tmp_path, "-n0", "-s", *words, tests=WRITING)
        (line,) = [line for line in lines if "written to " in line]
        written = Path(line.partition("written to ")[2])
        assert written.is_relative_to(MEMORY)
        assert not written.exists()


def test_a_folder_without_room_or_rights_is_no_place_to_write(tmp_path: Path):
    assert is_suitable_memory(tmp_path, 0)
    assert not is_suitable_memory(tmp_path, 1 << 62)
    assert not is_suitable_memory(tmp_path / "missing", 0)
