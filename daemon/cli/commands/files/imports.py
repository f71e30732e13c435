"""Imports tasks from a file of another program.

Never reads a format itself: the daemon does, and reports the lines that it could not read.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

import click

from daemon.cli.api import client
from daemon.cli.api.command_error import EXIT_DONE, EXIT_PARTLY, CommandError
from daemon.cli.framework.declaration import command, pass_output
from daemon.cli.terminal.standard_input import (
    STANDARD_INPUT,
    decode_utf8,
    missing_input,
    piped_bytes,
    source_name,
)
from daemon.cli.views.files.exports import progress_line
from daemon.cli.views.files.imports import import_lines, import_rows, underway_line
from daemon.file_formats import JSON_LINES, endings, format_by_ending, format_names
from daemon.words.translation import _, gettext_noop

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from daemon.cli.terminal.output import Output

_AUTO: Final = "auto"
_WAIT_S: Final = 600.0
# A million lines need minutes, and the daemon answers only when it is done.
_LINES_WAIT_S: Final = 4 * 3600.0
# The daemon refuses a file from 64 MiB on; a file may have no end at all.
_FILE_BYTES_MAX: Final = (64 << 20) + 1
_PIECE_BYTES: Final = 1 << 18
_PIPE: Final = "-"
_UTF_8: Final = "utf-8"
_OTHERWISE: Final = gettext_noop("say how it is written, such as --encoding latin-1")
_WATCH_S: Final = 0.2


class _FormatOrFile(click.Choice[str]):
    """The name of a format; anything else is left as it is, because it may be the file."""

    def convert(self, value: str, _param: click.Parameter | None, _ctx: click.Context | None) -> str:
        return next((name for name in self.choices if name == value.lower()), value)


_FORMATS: Final = _FormatOrFile((_AUTO, *format_names()), case_sensitive=False)


@command("import")
@click.argument("format", type=_FORMATS, metavar=f"[{'|'.join(_FORMATS.choices)}]")
@click.argument("file", metavar="FILE", required=False)
@click.option("--name", metavar="NAME", help="What the list is called; needed if FILE is -.")
@click.option("--encoding", metavar="NAME", default=_UTF_8, help="How FILE is written, such as latin-1.")
@click.option("--skip-faulty", is_flag=True, help="Import what has no fault, and list what was left out.")
@click.option("--dry-run", is_flag=True, help="Show what would be imported, and import nothing.")
@pass_output
def import_command(
    output: Output,
    *,
    format: str,  # noqa: A002 - the argument's name
    file: str | None,
    name: str | None,
    encoding: str,
    skip_faulty: bool,
    dry_run: bool,
) -> int:
    """Import tasks from a file, or from standard input if FILE is -. Without a format, FILE's ending decides.

    If you import the same file again, nothing comes twice; if it has changed, the tasks are updated. A list
    of Markdown or todo.txt is recognised by its name: the same name is the same list, another name a new one.
    The name is the file's whole path, unless --name gives one. Tasks of Taskwarrior and iCalendar are
    recognised by their own ids.

    jsonl is what `placet export jsonl` writes. Everything keeps its id, and who wrote it, when and on which
    device. Proposals, verdicts and reports of agents come with it. An agent stays at home on its own device,
    and the list of devices is never imported. If a thing is here too, only what the file knows beyond it is
    imported. If both have changed a value, both values stay, as a conflict. Such a file has no history.

    If something of the file is left out, it is named, and the exit status is 8. A task that was made here is
    left out if a file of Taskwarrior or iCalendar says otherwise than the journal: change it here. It is 8
    too if something open is no longer in a list that has new things: they may be the same in other words.

    If one line cannot be read, nothing is imported, and each fault is named with its line. With --skip-faulty
    the rest is imported, and the exit status is 8 if anything was faulty. A long file is imported in parts,
    between which other work goes on. If something ends it half-way, the same import again brings the rest.
    """
    format, file = _format_and_file(format, file)  # noqa: A001 - likewise
    if format == JSON_LINES:
        with _open_file(file) as opened:
            size = os.fstat(opened.fileno()).st_size
            how = {"dry_run": dry_run, "skip_faulty": skip_faulty}
            answer = client.upload("/v1/import/jsonl", how, _pieces(opened, size), size, _LINES_WAIT_S)
    else:
        options = {"dry_run": dry_run, "skip_faulty": skip_faulty}
        body = {"format": format, "name": _name(file, name), "text": _text(file, encoding)}
        answer = _send_import(body | {key: True for key, is_set in options.items() if is_set})
    output.write_answer(answer, lambda report, display: import_lines(report, dry_run, display), import_rows)
    if answer.change:
        output.write_remark(_("Take that back: placet undo {change}").format(change=answer.change))
    is_partial = any(answer.json.get(name) for name in ("faulty", "skipped", "gone"))
    return EXIT_PARTLY if is_partial else EXIT_DONE


def _format_and_file(first: str, second: str | None) -> tuple[str, str]:
    """Return the format and the file that two words name, or one, which is the file."""
    if second is None and (first not in _FORMATS.choices or Path(first).exists()):
        return _format_of(first), first
    if second is None:
        raise click.MissingParameter(param_hint="'FILE'", param_type="argument")
    if first not in _FORMATS.choices:
        try:
            super(_FormatOrFile, _FORMATS).convert(first, None, None)
        except click.BadParameter as fault:
            fault.param_hint = "'FORMAT'"
            raise
    return (_format_of(second) if first == _AUTO else first), second


def _format_of(file: str) -> str:
    named_format = format_by_ending(file)
    if named_format is None:
        message = _("{file} has none of the endings {known}").format(file=file, known=endings())
        raise CommandError("usage", message, _("name the format: placet import FORMAT FILE"))
    return named_format


def _open_file(file: str) -> IO[bytes]:
    """Open a file to send; copy a pipe into a file first, since its length is unknown."""
    if file != _PIPE:
        try:
            return open(file, "rb")
        except OSError as error:
            raise _unreadable(file, error) from error
    if sys.stdin is None or sys.stdin.isatty():
        raise missing_input("file")
    buffered_random = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    while piece := sys.stdin.buffer.read(_PIECE_BYTES):
        buffered_random.write(piece)
    buffered_random.seek(0)
    return buffered_random


def _pieces(opened: IO[bytes], size: int) -> Iterator[bytes]:
    """Read a file in pieces; on a terminal show the progress."""
    watched, came = sys.stderr.isatty(), 0
    while piece := opened.read(min(_PIECE_BYTES, size - came)):
        came += len(piece)
        if watched:
            sys.stderr.write(progress_line(came, size))
            sys.stderr.flush()
        yield piece
    if watched:
        sys.stderr.write("\r\x1b[K")


def _name(file: str, name: str | None) -> str:
    if name is None and file == _PIPE:
        message = _("standard input has no name by which to recognise the list")
        raise CommandError("usage", message, _("give it one, such as --name shopping"))
    if name is not None and not name.strip():
        raise CommandError("usage", _("--name is empty"), _("give a name, such as --name shopping"))
    # The whole path identifies the file: two lists that are both called TODO.md must stay two.
    named_name = os.path.realpath(file) if name is None else name
    # A file's name may be any bytes; the daemon accepts only text.
    return os.fsencode(named_name).decode(errors="replace")


def _text(file: str, encoding: str) -> str:
    raw, where = (piped_bytes("file"), STANDARD_INPUT) if file == _PIPE else (_read(file), file)
    text = (
        decode_utf8(raw, where, _(_OTHERWISE)) if encoding == _UTF_8 else _decode_text(raw, where, encoding)
    )
    if not text.strip():
        raise CommandError(
            "usage", _("{where} is empty").format(where=source_name(where)), _("nothing was imported")
        )
    return text


def _decode_text(raw: bytes, where: str, encoding: str) -> str:
    try:
        return raw.decode(encoding)
    except LookupError as error:
        message = _("{encoding!r} is not an encoding of text").format(encoding=encoding[:40])
        raise CommandError("usage", message, _("one of utf-8, utf-16, latin-1, cp1252 and others")) from error
    except UnicodeError as error:
        message = _("{where} is not written in {encoding!r}").format(
            where=source_name(where), encoding=encoding[:40]
        )
        raise CommandError("usage", message, _("name another one")) from error


def _send_import(body: Mapping[str, object]) -> client.ApiAnswer:
    """Send a file; on a terminal show the progress, which a second request reads from the daemon."""
    if not sys.stderr.isatty():
        return client.post("/v1/import", body, _WAIT_S)
    import threading

    came: list[client.ApiAnswer | BaseException] = []

    def send() -> None:
        try:
            came.append(client.post("/v1/import", body, _WAIT_S))
        except BaseException as fault:  # noqa: BLE001 - raised below, in the thread that waits
            came.append(fault)

    # A daemon thread: a person who presses Ctrl-C need not wait for the answer.
    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    sender.join(_WATCH_S)
    while sender.is_alive():
        sys.stderr.write(underway_line(_underway(body["name"])))
        sys.stderr.flush()
        sender.join(_WATCH_S)
    sys.stderr.write("\r\x1b[K")
    if isinstance(came[0], BaseException):
        raise came[0]
    return came[0]


def _underway(name: object) -> dict[str, Any]:
    try:
        report = client.get("/v1/import").json
    except CommandError:
        return {}  # the answer to the import itself will report the fault
    return next((underway for underway in report if underway.get("name") == name), {})


def _read(file: str) -> bytes:
    try:
        with open(file, "rb") as opened:
            return opened.read(_FILE_BYTES_MAX)
    except OSError as error:
        raise _unreadable(file, error) from error


def _unreadable(file: str, error: OSError) -> CommandError:
    message = _("{file} cannot be read: {reason}").format(file=file, reason=error.strerror)
    return CommandError("usage", message, _("give a file, or - for standard input"))
