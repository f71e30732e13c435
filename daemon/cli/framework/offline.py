"""Runs the parts of Placet that work on the files themselves, without a daemon.

Never imports such a part before it is called: it loads the store, which takes longer than a request.
"""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING, Any, Final

from daemon.cli.api.command_error import error_from_response
from daemon.words.translation import _, gettext_noop

if TYPE_CHECKING:
    from daemon.cli.terminal.output import Output

_STAGES: Final = (
    gettext_noop("writing"),
    gettext_noop("reading"),
    gettext_noop("checking"),
    gettext_noop("looking at the file's pages"),
    gettext_noop("reading the log"),
    gettext_noop("folding the log again"),
    gettext_noop("comparing the tables with the log"),
    gettext_noop("comparing the index of words"),
)
"""The names of the steps that such a part reports."""


def run_offline(
    name: str, output: Output, file: str | None, *, module: str = "journal_files", **arguments: object
) -> dict[str, Any]:
    """Run a part of Placet that works on the files themselves; raises `CommandError`."""
    from importlib import import_module

    gc.enable()
    progress = _Progress(output)
    try:
        fields: dict[str, Any] = getattr(import_module(f"daemon.app.{module}"), name)(
            file, progress.report_stage, **arguments
        )
    finally:
        progress.end()
    if "error" in fields:
        raise error_from_response(0, fields)
    return fields


class _Progress:
    """One line that is written over, for a person at a terminal."""

    def __init__(self, output: Output) -> None:
        self._drawn = output.is_for_people and sys.stderr.isatty()
        self._width = 0

    def report_stage(self, stage: str, count: int, number: int) -> None:
        if self._drawn:
            words = f"{_(stage)} {count * 100 // number} %" if number else _(stage)
            print(f"\r{words:<{self._width}}", end="", file=sys.stderr, flush=True)
            self._width = len(words)

    def end(self) -> None:
        if self._width:
            print(f"\r{'':<{self._width}}\r", end="", file=sys.stderr, flush=True)
