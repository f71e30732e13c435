"""Export: the journal as a file of another program, or whole.

Never leaves half a file: it stands under its name only once all of it is there and on the disk.
"""

from __future__ import annotations

import os
import sys
import tempfile
from typing import TYPE_CHECKING, Final

import click

from daemon.cli import client
from daemon.cli.grammar import command, pass_output
from daemon.cli.refusals import Refusal
from daemon.cli.views.exports import export_lines, export_rows, progress_line
from daemon.cli.words import _

if TYPE_CHECKING:
    from collections.abc import Iterator

    from daemon.cli.output import Output

_FORMATS: Final = ("icalendar", "jsonl", "markdown", "taskwarrior", "todotxt")
_WAIT_S: Final = 600.0


@command("export")
@click.argument("format", type=click.Choice(_FORMATS, case_sensitive=False))
@click.option("--output", "file", metavar="FILE", help="Write to FILE, in place of one that is there.")
@pass_output
def export_command(output: Output, format: str, file: str | None) -> None:  # noqa: A002 - the argument's name
    """Write the journal to standard output, or to a file that only you can read.

    jsonl is all of it: ids, values with who wrote them and when, conflicts, and what was removed. Imported
    into an empty journal and exported again it is the same bytes. The history is not in it: see `placet
    backup`. markdown is what the importer of Markdown reads back.

    taskwarrior, icalendar and todotxt are for those programs, with the ids and times that tasks had there.
    taskwarrior has removed tasks too, as deleted; todotxt neither notes nor checklists.
    """
    pieces = client.download("/v1/export", {"format": format}, _WAIT_S)
    if file is None:
        for piece, _whole in pieces:
            sys.stdout.buffer.write(piece)
        return
    told = {"file": file, "format": format, "bytes": _kept(file, _with_progress(pieces))}
    output.show(client.Answer(told, ""), export_lines, export_rows)


def _kept(file: str, pieces: Iterator[bytes]) -> int:
    """Write a file under another name, and give it its own when it is whole and on the disk."""
    target = os.path.realpath(file)
    if os.path.exists(target) and not os.path.isfile(target):
        # A device or a pipe would be taken away, and a file put in its place.
        seen = _("{file} cannot be written: {reason}").format(file=file, reason="not a regular file")
        raise Refusal("usage", seen)
    size = 0
    try:
        # Made for its owner alone (0600), and beside the target, so that the renaming cannot fail half-way.
        handle, unfinished = tempfile.mkstemp(prefix=".placet-", dir=os.path.dirname(target))
        try:
            with open(handle, "wb") as opened:
                for piece in pieces:
                    size += opened.write(piece)
                opened.flush()
                os.fsync(handle)
            os.replace(unfinished, target)
        except BaseException:
            os.unlink(unfinished)
            raise
    except OSError as error:
        seen = _("{file} cannot be written: {reason}").format(file=file, reason=error.strerror)
        raise Refusal("failed", seen, _("nothing was kept")) from error
    return size


def _with_progress(pieces: Iterator[tuple[bytes, int]]) -> Iterator[bytes]:
    """Hand the pieces on; on a terminal say how far it is."""
    watched = sys.stderr.isatty()
    came = 0
    for piece, whole in pieces:
        came += len(piece)
        if watched:
            sys.stderr.write(progress_line(came, whole))
            sys.stderr.flush()
        yield piece
    if watched:
        sys.stderr.write("\r\x1b[K")
