"""`make demo`'s story runs as a newcomer would run it, and leaves nothing behind."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.patience import LIMIT_S
from tests.support.starts.processes import PLACET


def environment_of(process: Path) -> str:
    """Return what a process was started with; empty if it has ended or is somebody else's."""
    try:
        return process.joinpath("environ").read_text("utf-8", "replace")
    except OSError:
        return ""


@pytest.mark.slow
@pytest.mark.xdist_group("demonstration")  # two at once would find each other's devices by mDNS
def test_the_demonstration_tells_its_whole_story_and_leaves_nothing_running(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "daemon.demo"],
        env=os.environ | {"TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=2 * LIMIT_S,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    for scene in (
        "The devices pair",
        "An agent reads the notes",
        "is not proposed again",
        "The link is cut",
        "Proof that both hold the same",
    ):
        assert scene in result.stdout
    assert "equal" in result.stdout
    assert list(tmp_path.iterdir()) == []
    assert not [
        process for process in Path("/proc").glob("[0-9]*") if str(tmp_path) in environment_of(process)
    ]


def test_the_installed_command_says_its_version() -> None:
    result = subprocess.run([PLACET, "version"], capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert result.returncode == 0
    assert result.stdout.strip()
