"""What a run keeps where it stops is found by a true retry, and by no other run."""

import subprocess
import sys
from pathlib import Path

import pytest

from daemon.cli.api.placet_asks import keep_stop, kept_stop, verdicts_on
from tests.support.patience import LIMIT_S


def test_a_stop_is_found_again_until_the_run_stops_anew(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    assert kept_stop(file) is None
    first = keep_stop(file, {"calls": ["call 1"]})
    assert kept_stop(file) == kept_stop(file) == first
    second = keep_stop(file, {"calls": ["call 1"]})
    assert second.state == first.state
    assert second.key != first.key
    assert kept_stop(file) == second


def test_of_two_processes_one_goes_on_from_a_stop_and_the_next_once_that_has_ended(tmp_path: Path) -> None:
    """Old: both had the key of the stop, and each used its yes."""
    program = (
        "import sys; from pathlib import Path; from daemon.cli.api.placet_asks import *\n"
        "print(kept_stop(Path(sys.argv[1])).key, flush=True); sys.stdin.read()"
    )
    file = tmp_path / "run.json"
    file.write_text('{"key": "k", "state": 1}')

    def start() -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-c", program, file],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    with start() as first:
        assert first.stdout is not None
        assert first.stdout.readline() == "k\n"
        with start() as second:
            assert second.communicate(timeout=LIMIT_S)[1].endswith(f"another process goes on from {file}\n")
        first.kill()
    assert kept_stop(file) is not None


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"key": "", "state": 1}', '{"key": "k"}'])
def test_another_file_is_no_stop(tmp_path: Path, content: str) -> None:
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(ValueError, match=r"not what a run|Expecting value"):
        kept_stop(tmp_path / "run.json")


def test_calls_at_once_that_a_framework_cannot_tell_apart_are_not_allowed() -> None:
    calls = [("call 1", "send_mail", {"to": name}) for name in ("ana", "bob")]
    verdicts = verdicts_on("Nobody", "key", calls)
    assert verdicts is not None
    assert [verdict["allowed"] for verdict in verdicts] == [False, False]
