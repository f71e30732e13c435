"""The real `placet` in a process of its own, beside a scripted control server.

Never replaces a part of the command line: what is tested is what a person runs.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import COMMAND_S, CommandResult, Placet, command_environment
from tests.support.starts import processes


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def control(home: Path) -> Iterator[FakeControl]:
    with FakeControl(home) as control:
        yield control


@pytest.fixture
def placet(home: Path) -> Placet:
    """Run `placet WORDS`; `typed` is its standard input, other keywords its environment."""

    def run(*words: str, typed: str | bytes = b"", **environment: str) -> CommandResult:
        result = processes.run(
            [sys.executable, "-m", "daemon", *words],
            env=command_environment(home, **environment),
            input=typed.encode() if isinstance(typed, str) else typed,
            capture_output=True,
            timeout=COMMAND_S,
            check=False,
        )
        assert b"Traceback" not in result.stderr, result.stderr.decode()
        return CommandResult(result.returncode, result.stdout.decode(), result.stderr.decode())

    return run
