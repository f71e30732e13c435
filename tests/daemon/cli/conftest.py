"""The real `placet` in a process of its own, beside a scripted control server.

Never replaces a part of the command line: what is tested is what a person runs.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.daemon.cli.fake_control import FakeControl

COMMAND_S = 30


@dataclass(frozen=True, slots=True)
class Done:
    """What a command came to."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Placet = Callable[..., Done]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def control(home: Path) -> Iterator[FakeControl]:
    with FakeControl(home) as control:
        yield control


def command_environment(home: Path, **more: str) -> dict[str, str]:
    """Make the environment of a command: this one's, without what would change how it looks."""
    dropped = ("PLACET_", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "TERM", "LC_", "LANG")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(dropped)}
    return {**kept, "PLACET_HOME": str(home), "LANG": "C.UTF-8", "TZ": "UTC", "TERM": "xterm", **more}


@pytest.fixture
def placet(home: Path) -> Placet:
    """Run `placet WORDS`; `typed` is its standard input, other keywords its environment."""

    def run(*words: str, typed: str | bytes = b"", **environment: str) -> Done:
        done = subprocess.run(
            [sys.executable, "-m", "daemon", *words],
            env=command_environment(home, **environment),
            input=typed.encode() if isinstance(typed, str) else typed,
            capture_output=True,
            timeout=COMMAND_S,
            check=False,
        )
        assert b"Traceback" not in done.stderr, done.stderr.decode()
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run
