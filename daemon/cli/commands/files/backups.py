"""Commands that keep the journal safe: backup, restore, verify, compact.

Never judges a file itself, and never asks for a passphrase if no person is present to type it.
"""

from __future__ import annotations

import errno
import os
import sys
from typing import TYPE_CHECKING, Any, Final

import click

from daemon.cli.api import client
from daemon.cli.api.client import ApiAnswer
from daemon.cli.api.command_error import EXIT_DONE, EXIT_FAILED, CommandError
from daemon.cli.framework.declaration import command, pass_output
from daemon.cli.framework.offline import run_offline
from daemon.cli.terminal.output import key_value_rows
from daemon.cli.terminal.standard_input import STANDARD_INPUT, decode_utf8, piped_bytes
from daemon.cli.views.files.backups import (
    backup_lines,
    compact_lines,
    compact_rows,
    restore_lines,
    verify_lines,
    verify_rows,
)
from daemon.paths import find_paths
from daemon.words.translation import _, gettext_noop, pgettext

if TYPE_CHECKING:
    from collections.abc import Callable

    from daemon.cli.terminal.output import Output

_COMPACT_S: Final = 600.0
_PASSPHRASE_BYTES_MAX: Final = 4096


def _passphrase_option(words: str) -> Callable[[Callable[..., object]], Callable[..., object]]:
    return click.option("--passphrase-file", metavar="FILE", help=words)


@command("backup")
@click.argument("file", metavar="FILE")
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@click.option("--with-key", is_flag=True, help="Include this device's key, protected by a passphrase.")
@_passphrase_option(gettext_noop("Where the passphrase is, instead of asking for it (- for standard input)."))
@pass_output
def backup_command(
    output: Output, file: str, force: bool, with_key: bool, passphrase_file: str | None
) -> None:
    """Write the whole journal to FILE; the daemon may run meanwhile.

    The file is a database by itself, checked before it gets its name. It contains the words of the journal:
    keep it as safe as the journal. With --with-key it also restores this device's identity on another
    machine.
    """
    if passphrase_file and not with_key:
        raise click.UsageError(_("--passphrase-file needs --with-key"), click.get_current_context())
    _require_target(os.path.abspath(file), force)
    passphrase = _passphrase(passphrase_file, twice=True) if with_key else None
    report = run_offline("backup", output, os.path.abspath(file), force=force, passphrase=passphrase)
    output.write_answer(ApiAnswer(report, ""), backup_lines, key_value_rows)


@command("restore")
@click.argument("file", metavar="FILE")
@_passphrase_option(gettext_noop("Where the passphrase of the key in FILE is (- for standard input)."))
@click.option("--as-this-device", is_flag=True, help="Go on here with another device's journal.")
@pass_output
def restore_command(output: Output, file: str, passphrase_file: str | None, as_this_device: bool) -> None:
    """Replace the journal by a backup. The daemon must not run.

    The journal that was here is kept beside it, under another name. This device continues as a new replica.
    What it wrote since the backup comes back from the other devices that have it.
    """
    report = run_offline(
        "restore",
        output,
        os.path.abspath(file),
        passphrase=lambda: _passphrase(passphrase_file, twice=False),
        as_this_device=as_this_device,
    )
    output.write_answer(ApiAnswer(report, ""), restore_lines, key_value_rows)


@command("verify")
@click.argument("file", metavar="[FILE]", required=False)
@click.option("--rebuild", is_flag=True, help="First rebuild what follows from the log; no daemon may run.")
@pass_output
def verify_command(output: Output, file: str | None, rebuild: bool) -> int:
    """Check the journal, or a backup of it, down to the last signature.

    Reads the whole log again and compares everything that is shown with it. The daemon may run meanwhile.
    """
    if file is not None and rebuild:
        clash = _("--rebuild is for the journal, not for FILE")
        raise click.UsageError(clash, click.get_current_context())
    path = None if file is None else os.path.abspath(file)
    if path is not None and not os.path.isfile(path):
        hint = _("name a backup, or no file to check the journal itself")
        raise CommandError(
            "not_found", pgettext("refusal", "there is no backup {file}").format(file=path), hint
        )
    report = run_offline("verify", output, path, rebuild=rebuild)
    output.write_answer(ApiAnswer(report, ""), verify_lines, verify_rows)
    return EXIT_DONE if report["sound"] else EXIT_FAILED


@command("compact")
@click.option(
    "--older-than",
    "days",
    type=click.IntRange(min=1),
    metavar="DAYS",
    help="Drop what is older; without it, history.retention_days applies.",
)
@click.option(
    "--agent-texts",
    is_flag=True,
    help="Also let go of what agents said and called; history.agent_texts_days may say how old it is.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be dropped, and keep it.")
@pass_output
def compact_command(output: Output, days: int | None, agent_texts: bool, dry_run: bool) -> None:
    """Drop long texts from the history that were overwritten long ago.

    It drops only texts that you have overwritten yourself, in changes that every other device has. What is
    shown stays as it is.
    """
    body: dict[str, Any] = ({} if days is None else {"older_than_days": days}) | (
        {"dry_run": True} if dry_run else {}
    )
    body |= {"agent_texts": True} if agent_texts else {}
    answer = client.post("/v1/compact", body, wait_s=_COMPACT_S)
    output.write_answer(answer, lambda freed, display: compact_lines(freed, dry_run, display), compact_rows)


def _require_target(file: str, force: bool) -> None:
    """Refuse what is seen at a glance before the part is loaded that does the work, which takes a while."""
    if not os.path.isdir(os.path.dirname(file)):
        message = _("{file} cannot be written: {reason}").format(file=file, reason=os.strerror(errno.ENOENT))
        raise CommandError("failed", message, _("nothing was kept"))
    own = os.path.realpath(os.path.dirname(file)) == os.path.realpath(find_paths().data)
    # Some files in the journal's own folder may not be replaced at all.
    if os.path.isfile(file) and not force and not own:
        message = pgettext("refusal", "{file} exists").format(file=file)
        raise CommandError("needs_confirmation", message, pgettext("refusal", "add --force to replace it"))


def _passphrase(file: str | None, *, twice: bool) -> str:
    """Read the passphrase from the source that the options name, else ask for it on the terminal."""
    if file == "-":
        return _first_line(piped_bytes("passphrase"), STANDARD_INPUT)
    if file is not None:
        return _first_line(_read(file), file)
    if sys.stdin is None or not sys.stdin.isatty():
        message = _("a passphrase is needed, and nobody is there to type it")
        raise CommandError("usage", message, _("name a file with --passphrase-file, or - for standard input"))
    typed: str = click.prompt(_("Passphrase"), hide_input=True, confirmation_prompt=twice, err=True)
    return typed


def _read(file: str) -> bytes:
    try:
        with open(file, "rb") as opened:
            return opened.read(_PASSPHRASE_BYTES_MAX)
    except OSError as error:
        message = _("{file} cannot be read: {reason}").format(file=file, reason=error.strerror)
        raise CommandError("usage", message, _("name a file that holds the passphrase")) from error


def _first_line(text: bytes, where: str) -> str:
    """Return the first line unchanged, with its spaces, so that every source opens the same key."""
    return (decode_utf8(text, where).splitlines() or [""])[0]
