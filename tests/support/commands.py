"""Runs of the installed command: what they are given, and what came of them.

Never passes the caller's own Placet settings on to a command.
"""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.patience import LIMIT_S

COMMAND_S = LIMIT_S


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The exit status of a command, and what it printed."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Return what it printed, as JSON."""
        return json.loads(self.out)


Placet = Callable[..., CommandResult]


def command_environment(home: Path, **more: str) -> dict[str, str]:
    """Return the environment of a command: this one's, without what would change how its output looks."""
    dropped = ("PLACET_", "NO_COLOR", "FORCE_COLOR", "COLUMNS", "TERM", "LC_", "LANG")
    remaining = {key: value for key, value in os.environ.items() if not key.startswith(dropped)}
    return {**remaining, "PLACET_HOME": str(home), "LANG": "C.UTF-8", "TZ": "UTC", "TERM": "xterm", **more}
