"""Where things stand, and whether all is well.

Never repairs: each finding carries its remedy.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any, Final

from daemon.cli import client
from daemon.cli.client import Answer
from daemon.cli.grammar import command, pass_output
from daemon.cli.refusals import DONE, FAILED, Refusal
from daemon.cli.views.findings import finding_words
from daemon.cli.views.standing import Check, check_lines, status_rows, status_screen
from daemon.cli.words import _, later
from daemon.paths import find_paths

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from daemon.cli.look import Look
    from daemon.cli.output import Output


_CHECKS: Final = (later("disk"), later("lease"), later("clock"), later("devices"), later("checks"))
"""What the daemon looks at itself, and its state."""


@command("status")
@pass_output
def status_command(output: Output) -> None:
    """Show where things stand. With --plain: a name and a value a line."""
    output.show(client.get("/v1/status"), status_screen, status_rows)


@command("doctor")
@pass_output
def doctor_command(output: Output) -> int:
    """Check that all is well, with a remedy for what is not."""
    checks = list(_checks())
    told = [check._asdict() for check in checks]
    output.show(Answer(told, ""), lambda _, look: _view(checks, look), _rows)
    return DONE if all(check.well for check in checks) else FAILED


def _view(checks: Sequence[Check], look: Look) -> Iterator[str]:
    return check_lines(checks, look)


def _rows(told: list[dict[str, Any]]) -> Iterator[Sequence[object]]:
    return (tuple(check.values()) for check in told)


def _checks() -> Iterator[Check]:
    for folder in find_paths().folders():
        yield _folder(folder)
    try:
        status = client.get("/v1/status").json
    except Refusal as refusal:
        yield Check(later("daemon"), False, refusal.message, refusal.hint)
        return
    yield Check(later("daemon"), True, _("answers as {name}").format(name=status.get("name")))
    yield from _daemons_own()


def _daemons_own() -> Iterator[Check]:
    try:
        told = client.get("/v1/checks").json
    except Refusal as refusal:
        yield Check("checks", False, refusal.message, refusal.hint)
        return
    for one in told:
        yield Check(one["name"], bool(one["well"]), *finding_words(one))


def _folder(folder: str) -> Check:
    try:
        mode = stat.S_IMODE(os.stat(folder).st_mode)
    except FileNotFoundError:
        return Check(later("folder"), True, _("{folder} is made at the first start").format(folder=folder))
    if mode & 0o077:
        return Check(
            "folder",
            False,
            _("{folder} is open to others (mode {mode})").format(folder=folder, mode=f"{mode:o}"),
            f"chmod 700 {folder}",
        )
    return Check("folder", True, _("{folder} is yours alone").format(folder=folder))
