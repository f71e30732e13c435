"""Exports the whole journal, or writes it as a file of another program.

Never leaves half a file: it receives its name only after all of it is on the disk.
"""

from __future__ import annotations

import os
import sys
from codecs import getincrementaldecoder
from typing import TYPE_CHECKING, Final

import click

from daemon.cli.api import client
from daemon.cli.api.command_error import CommandError
from daemon.cli.framework.declaration import command, pass_output
from daemon.cli.views.files.exports import export_lines, export_rows, progress_line
from daemon.file_formats import format_names
from daemon.files import Durability, replacement
from daemon.words.terminal_text import escape
from daemon.words.translation import _, ngettext

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from daemon.cli.terminal.output import Output

_WAIT_S: Final = 600.0
_WHOLE: Final = "jsonl"


@command("export")
@click.argument("format", type=click.Choice(format_names(), case_sensitive=False))
@click.option("--output", "file", metavar="FILE", help="Write to FILE, and replace it if it exists.")
@pass_output
def export_command(output: Output, format: str, file: str | None) -> None:  # noqa: A002 - the argument's name
    """Write the journal to standard output, or to a file that only you can read.

    jsonl is all of it: ids, values with who wrote them and when, conflicts, and what was removed. If it is
    imported into an empty journal and exported again, the bytes are the same. The history is not in it: see
    `placet backup`. markdown is what the importer of Markdown reads back.

    taskwarrior, icalendar and todotxt are for those programs, with the ids and times that tasks had there.
    taskwarrior also contains removed tasks, as deleted. todotxt contains neither notes nor checklists.
    """
    pieces = client.download("/v1/export", {"format": format}, _WAIT_S)
    if file is None:
        write = _terminal_writer() if sys.stdout.isatty() else sys.stdout.buffer.write
        for piece, _whole in pieces:
            write(piece)
        _tell_series(output, format)
        return
    report = {"file": file, "format": format, "bytes": _write_file(file, _with_progress(pieces))}
    output.write_answer(client.ApiAnswer(report, ""), export_lines, export_rows)
    _tell_series(output, format)


def _tell_series(output: Output, format_: str) -> None:
    """Say that what comes again is not in the file; JSON lines have it."""
    if format_ == _WHOLE:
        return
    count = len(client.get_pages("/v1/series", {}, None, client.PAGE_SIZE).json)
    if count:
        words = ngettext(
            "{count} series is left out, but for what was touched; `placet export jsonl` has it.",
            "{count} series are left out, but for what was touched; `placet export jsonl` has them.",
            count,
        )
        output.write_remark(words.format(count=count))


def _terminal_writer() -> Callable[[bytes], object]:
    """Return what writes pieces of a file to the terminal, with escapes for what could drive it."""
    decoder = getincrementaldecoder("utf-8")(errors="replace")

    def write(piece: bytes) -> None:
        lines = decoder.decode(piece).split("\n")
        sys.stdout.write("\n".join("\t".join(map(escape, line.split("\t"))) for line in lines))

    return write


def _write_file(file: str, pieces: Iterator[bytes]) -> int:
    """Write a file under a temporary name, and rename it when all of it is on the disk."""
    target = os.path.realpath(file)
    if os.path.exists(target) and not os.path.isfile(target):
        # Renaming would replace a device or a pipe by a file.
        message = _("{file} cannot be written: {reason}").format(file=file, reason="not a regular file")
        raise CommandError("usage", message)
    size = 0
    try:
        with replacement(target, durability=Durability.CONTENT) as opened:
            for piece in pieces:
                size += opened.write(piece)
    except OSError as error:
        message = _("{file} cannot be written: {reason}").format(file=file, reason=error.strerror)
        raise CommandError("failed", message, _("nothing was kept")) from error
    return size


def _with_progress(pieces: Iterator[tuple[bytes, int]]) -> Iterator[bytes]:
    """Pass the pieces on; on a terminal show the progress."""
    watched = sys.stderr.isatty()
    came = 0
    for piece, total in pieces:
        came += len(piece)
        if watched:
            sys.stderr.write(progress_line(came, total))
            sys.stderr.flush()
        yield piece
    if watched:
        sys.stderr.write("\r\x1b[K")
