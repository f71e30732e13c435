"""Keeping the journal: backup, restore, verify, compact.

Never judges a file itself, and never asks for a passphrase where no person is there to type it.
"""

from __future__ import annotations

import errno
import gc
import os
import sys
from typing import TYPE_CHECKING, Any, Final

import click

from daemon.cli import client
from daemon.cli.client import Answer
from daemon.cli.grammar import command, pass_output
from daemon.cli.refusals import DONE, FAILED, Refusal, refusal_from
from daemon.cli.stdin import STANDARD_INPUT, decoded, piped_bytes
from daemon.cli.views.keeping import (
    backup_lines,
    compact_lines,
    compact_rows,
    restore_lines,
    verify_lines,
    verify_rows,
)
from daemon.cli.views.standing import named_rows
from daemon.cli.words import _, later, said_of
from daemon.paths import find_paths

if TYPE_CHECKING:
    from collections.abc import Callable

    from daemon.cli.output import Output

_COMPACT_S: Final = 600.0
_PASSPHRASE_BYTES_MAX: Final = 4096
_STAGES: Final = (
    later("writing"),
    later("reading"),
    later("checking"),
    later("looking at the file's pages"),
    later("reading the log"),
    later("folding the log again"),
    later("comparing the tables with the log"),
    later("comparing the index of words"),
)
"""What the work on the files tells of how far it is."""


def _passphrase_option(words: str) -> Callable[[Callable[..., object]], Callable[..., object]]:
    return click.option("--passphrase-file", metavar="FILE", help=words)


@command("backup")
@click.argument("file", metavar="FILE")
@click.option("--force", is_flag=True, help="Replace FILE where it exists.")
@click.option("--with-key", is_flag=True, help="Put this device's key in too, under a passphrase.")
@_passphrase_option(later("Where the passphrase is, instead of asking for it (- for standard input)."))
@pass_output
def backup_command(
    output: Output, file: str, force: bool, with_key: bool, passphrase_file: str | None
) -> None:
    """Write the whole journal to FILE, while the daemon goes on.

    The file is a database by itself, checked before it gets its name. It holds the words of the journal: keep
    it as safe as the journal. With --with-key it also brings back who this device is, on another machine.
    """
    if passphrase_file and not with_key:
        raise click.UsageError(_("--passphrase-file needs --with-key"), click.get_current_context())
    _require_target(os.path.abspath(file), force)
    passphrase = _passphrase(passphrase_file, twice=True) if with_key else None
    told = keeping("backup", output, os.path.abspath(file), force=force, passphrase=passphrase)
    output.show(Answer(told, ""), backup_lines, named_rows)


@command("restore")
@click.argument("file", metavar="FILE")
@_passphrase_option(later("Where the passphrase of the key in FILE is (- for standard input)."))
@click.option("--as-this-device", is_flag=True, help="Go on here with another device's journal.")
@pass_output
def restore_command(output: Output, file: str, passphrase_file: str | None, as_this_device: bool) -> None:
    """Put a backup in place of the journal. The daemon must not run.

    The journal that was here is kept beside it, under another name. This device goes on as a new replica:
    what it had written since the backup, and other devices hold, comes back from them.
    """
    told = keeping(
        "restore",
        output,
        os.path.abspath(file),
        passphrase=lambda: _passphrase(passphrase_file, twice=False),
        as_this_device=as_this_device,
    )
    output.show(Answer(told, ""), restore_lines, named_rows)


@command("verify")
@click.argument("file", metavar="[FILE]", required=False)
@click.option("--rebuild", is_flag=True, help="First make anew what follows from the log; no daemon may run.")
@pass_output
def verify_command(output: Output, file: str | None, rebuild: bool) -> int:
    """Check the journal, or a backup of it, down to the last signature.

    Reads the whole log again and holds everything that is shown against it. The daemon may go on meanwhile.
    """
    if file is not None and rebuild:
        clash = _("--rebuild is for the journal, not for FILE")
        raise click.UsageError(clash, click.get_current_context())
    path = None if file is None else os.path.abspath(file)
    if path is not None and not os.path.isfile(path):
        hint = _("name a backup, or no file to check the journal itself")
        raise Refusal("not_found", said_of("refusal", "there is no backup {file}").format(file=path), hint)
    told = keeping("verify", output, path, rebuild=rebuild)
    output.show(Answer(told, ""), verify_lines, verify_rows)
    return DONE if told["sound"] else FAILED


@command("compact")
@click.option(
    "--older-than",
    "days",
    type=click.IntRange(min=1),
    metavar="DAYS",
    help="What is older may go; else as history.retention_days says.",
)
@click.option("--dry-run", is_flag=True, help="Say what would go, and keep it.")
@pass_output
def compact_command(output: Output, days: int | None, dry_run: bool) -> None:
    """Let long texts leave the history that were overwritten long ago.

    Only what you have overwritten yourself, and every other device holds too. What is shown stays as it is.
    """
    body: dict[str, Any] = ({} if days is None else {"older_than_days": days}) | (
        {"dry_run": True} if dry_run else {}
    )
    answer = client.post("/v1/compact", body, wait_s=_COMPACT_S)
    output.show(answer, lambda freed, look: compact_lines(freed, dry_run, look), compact_rows)


def _require_target(file: str, force: bool) -> None:
    """Refuse what is seen at a glance before the part is loaded that does the work, which takes a while."""
    if not os.path.isdir(os.path.dirname(file)):
        seen = _("{file} cannot be written: {reason}").format(file=file, reason=os.strerror(errno.ENOENT))
        raise Refusal("failed", seen, _("nothing was kept"))
    own = os.path.realpath(os.path.dirname(file)) == os.path.realpath(find_paths().data)
    # Of what is in the journal's own folder, some may not be replaced at all.
    if os.path.isfile(file) and not force and not own:
        seen = said_of("refusal", "{file} exists").format(file=file)
        raise Refusal("needs_confirmation", seen, said_of("refusal", "add --force to replace it"))


def keeping(
    name: str, output: Output, file: str | None, *, module: str = "keeping", **arguments: object
) -> dict[str, Any]:
    """Run a part of Placet that works on the files themselves; raises `Refusal`."""
    from importlib import import_module

    gc.enable()
    progress = _Progress(output)
    try:
        told: dict[str, Any] = getattr(import_module(f"daemon.app.{module}"), name)(
            file, progress.told, **arguments
        )
    finally:
        progress.end()
    if "error" in told:
        raise refusal_from(0, told)
    return told


class _Progress:
    """One line that is written over, for a person at a terminal."""

    def __init__(self, output: Output) -> None:
        self._drawn = output.for_people and sys.stderr.isatty()
        self._width = 0

    def told(self, stage: str, done: int, whole: int) -> None:
        if self._drawn:
            words = f"{_(stage)} {done * 100 // whole} %" if whole else _(stage)
            print(f"\r{words:<{self._width}}", end="", file=sys.stderr, flush=True)
            self._width = len(words)

    def end(self) -> None:
        if self._width:
            print(f"\r{'':<{self._width}}\r", end="", file=sys.stderr, flush=True)


def _passphrase(file: str | None, *, twice: bool) -> str:
    """Read the passphrase from where it was said to be, else ask for it on the terminal."""
    if file == "-":
        return _first_line(piped_bytes("passphrase"), STANDARD_INPUT)
    if file is not None:
        return _first_line(_read(file), file)
    if sys.stdin is None or not sys.stdin.isatty():
        seen = _("a passphrase is needed, and nobody is there to type it")
        raise Refusal("usage", seen, _("name a file with --passphrase-file, or - for standard input"))
    typed: str = click.prompt(_("Passphrase"), hide_input=True, confirmation_prompt=twice, err=True)
    return typed


def _read(file: str) -> bytes:
    try:
        with open(file, "rb") as opened:
            return opened.read(_PASSPHRASE_BYTES_MAX)
    except OSError as error:
        seen = _("{file} cannot be read: {reason}").format(file=file, reason=error.strerror)
        raise Refusal("usage", seen, _("name a file that holds the passphrase")) from error


def _first_line(text: bytes, where: str) -> str:
    """Return the first line as it stands, spaces too: wherever it came from, it opens the same key."""
    return (decoded(text, where).splitlines() or [""])[0]
