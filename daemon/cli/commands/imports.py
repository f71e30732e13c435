"""Import: tasks from a file of another program.

Never reads a format itself: the daemon does, and says which lines it could not.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import click

from daemon.cli import client
from daemon.cli.grammar import command, pass_output
from daemon.cli.refusals import DONE, FAILED, PARTLY, Refusal
from daemon.cli.stdin import decoded, piped
from daemon.cli.views.imports import import_lines, import_rows

if TYPE_CHECKING:
    from daemon.cli.output import Output

_FORMATS: Final = ("markdown", "taskwarrior")
_WAIT_S: Final = 600.0
_TAKEN: Final = ("tasks", "entries", "checklist_items", "updated", "unchanged")


@command("import")
@click.argument("format", type=click.Choice(_FORMATS, case_sensitive=False))
@click.argument("file", metavar="FILE")
@click.option("--dry-run", is_flag=True, help="Say what would be taken, and take nothing.")
@pass_output
def import_command(output: Output, format: str, file: str, dry_run: bool) -> int:  # noqa: A002 - the argument's name
    """Take tasks from a file, or from standard input where FILE is -.

    The same file again takes nothing twice; a changed one updates.
    """
    text = piped("file") if file == "-" else _read(file)
    # The whole path names the file: two lists that are both called TODO.md must not become one.
    body = {"format": format, "name": os.path.realpath(file) if file != "-" else "stdin", "text": text}
    answer = client.post("/v1/import", body | ({"dry_run": True} if dry_run else {}), _WAIT_S)
    output.show(answer, lambda report, look: import_lines(report, dry_run, look), import_rows)
    return exit_status(answer.json)


def _read(file: str) -> str:
    try:
        with open(file, "rb") as opened:
            text = opened.read()
    except OSError as error:
        seen = f"{file} cannot be read: {error.strerror}"
        raise Refusal("usage", seen, "give a file, or - for standard input") from error
    return decoded(text, file)


def exit_status(report: dict[str, Any]) -> int:
    """0 where every line was read, 8 where some were, 1 where none was."""
    if not report.get("errors"):
        return DONE
    return PARTLY if any(report.get(key) for key in _TAKEN) else FAILED
