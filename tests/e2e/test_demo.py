"""`make demo`'s story runs as a newcomer would run it, and leaves nothing behind."""

import subprocess
import sys

import pytest

from tests.e2e.devices import PLACET


@pytest.mark.timeout(180)
def test_the_demonstration_tells_its_whole_story_and_leaves_nothing_running() -> None:
    told = subprocess.run(
        [sys.executable, "-m", "daemon.demo"], capture_output=True, text=True, timeout=150, check=False
    )
    assert told.returncode == 0, told.stdout + told.stderr
    for scene in (
        "The devices pair",
        "An agent reads the notes",
        "is not proposed again",
        "The link is cut",
        "Proof that both hold the same",
    ):
        assert scene in told.stdout
    assert "equal" in told.stdout
    left = subprocess.run(["pgrep", "-f", "placet-demo-"], capture_output=True, text=True, check=False)
    assert left.stdout == ""


def test_the_installed_command_says_its_version() -> None:
    said = subprocess.run([PLACET, "version"], capture_output=True, text=True, timeout=30, check=False)
    assert said.returncode == 0
    assert said.stdout.strip()
