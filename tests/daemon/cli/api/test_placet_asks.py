"""What a run keeps where it stops is found by a true retry, and by no other run."""

import errno
import fcntl
import os
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


def test_neither_a_forked_child_nor_another_name_has_a_stop_too(tmp_path: Path) -> None:
    """Old: a child had the lock of its parent, and a link to the file had a lock of its own."""
    program = (
        "import os, sys; from pathlib import Path; from daemon.cli.api.placet_asks import *\n"
        "file, link = Path(sys.argv[1]), Path(sys.argv[2]); keep_stop(link, 1); kept_stop(file)\n"
        "def heard(name):\n"
        "    try: return kept_stop(name)\n"
        "    except RuntimeError as fault: return fault\n"
        "child = os.fork()\n"
        "if child: os.waitpid(child, 0)\n"
        "print(*map(heard, (file, link)), link.is_symlink(), sep='\\n', flush=True)"
    )
    file, link = tmp_path / "run.json", tmp_path / "link.json"
    file.write_text("")
    link.symlink_to(file)
    ran = subprocess.run(
        [sys.executable, "-c", program, file, link],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=True,
    )
    child, parent = ran.stdout.splitlines()[:3], ran.stdout.splitlines()[3:]
    assert child == [*(f"another process goes on from {name}" for name in (file, link)), "True"]
    assert parent[0] == parent[1]
    assert parent[0].startswith("Stop(")


def test_a_file_system_that_locks_nothing_is_no_other_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(OSError, match=os.strerror(errno.ENOLCK)):
        kept_stop(tmp_path / "run.json")


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
