"""Import: tasks from a file of another program.

Never reads a format itself: the daemon does, and says which lines it could not.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

import click

from daemon.cli import client
from daemon.cli.grammar import command, pass_output
from daemon.cli.refusals import Refusal
from daemon.cli.stdin import STANDARD_INPUT, decoded, piped_bytes
from daemon.cli.views.imports import import_lines, import_rows

if TYPE_CHECKING:
    from daemon.cli.output import Output

_FORMATS: Final = ("markdown", "taskwarrior")
_WAIT_S: Final = 600.0
_PIPE: Final = "-"


@command("import")
@click.argument("format", type=click.Choice(_FORMATS, case_sensitive=False))
@click.argument("file", metavar="FILE")
@click.option("--name", metavar="NAME", help="What the list is called; needed where FILE is -.")
@click.option("--dry-run", is_flag=True, help="Say what would be taken, and take nothing.")
@pass_output
def import_command(output: Output, format: str, file: str, name: str | None, dry_run: bool) -> None:  # noqa: A002 - the argument's name
    """Take tasks from a file, or from standard input where FILE is -.

    The same file again takes nothing twice; a changed one updates. A Markdown list is known by its name: the
    same name is the same list, another name a new one. The name is the file's whole path, unless --name gives
    one. Tasks of Taskwarrior are known by their own ids.

    One line that cannot be read keeps the whole file out. A long file comes in parts, between which other
    work goes on; where something ends it half-way, the same import again takes the rest.
    """
    body = {"format": format, "name": _name(file, name), "text": _text(file)}
    answer = client.post("/v1/import", body | ({"dry_run": True} if dry_run else {}), _WAIT_S)
    output.show(answer, lambda report, look: import_lines(report, dry_run, look), import_rows)


def _name(file: str, name: str | None) -> str:
    if name is None and file == _PIPE:
        seen = "standard input has no name that tells one list from another"
        raise Refusal("usage", seen, "give it one, such as --name shopping")
    if name is not None and not name.strip():
        raise Refusal("usage", "--name is empty", "give a name, such as --name shopping")
    # The whole path names the file: two lists that are both called TODO.md must not become one.
    named = os.path.realpath(file) if name is None else name
    # A file's name may be any bytes; the daemon takes text.
    return os.fsencode(named).decode(errors="replace")


def _text(file: str) -> str:
    raw, where = (piped_bytes("file"), STANDARD_INPUT) if file == _PIPE else (_read(file), file)
    text = decoded(raw, where)
    if not text.strip():
        raise Refusal("usage", f"{where} is empty", "nothing was imported")
    return text


def _read(file: str) -> bytes:
    try:
        with open(file, "rb") as opened:
            return opened.read()
    except OSError as error:
        seen = f"{file} cannot be read: {error.strerror}"
        raise Refusal("usage", seen, "give a file, or - for standard input") from error
