"""Receipts: makes one of a decision, and checks one again.

Never asks the daemon whether a receipt is right: whoever has only the file can check it.
"""

from __future__ import annotations

import json
import os
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import click

from daemon.cli.api import client
from daemon.cli.api.client import ApiAnswer, percent_encode
from daemon.cli.api.command_error import CommandError
from daemon.cli.framework.declaration import command, pass_output
from daemon.cli.terminal.output import key_value_rows
from daemon.cli.views.proposals.receipts import checked_lines
from daemon.files import replace_file
from daemon.words.sentences import sentence_words
from daemon.words.translation import _

if TYPE_CHECKING:
    from daemon.cli.terminal.output import Output

_CHECKER: Final = "daemon.agents.receipts.receipt_check"
"""A program of its own: it needs no daemon, and other commands do not import it."""
_FORM: Final = "daemon.agents.receipts.receipt_form"


@command("receipt")
@click.argument("ref", metavar="ITEM|ASK")
@click.option("--output", "file", metavar="FILE", help="Write to FILE, which only you can read.")
@pass_output
def receipt_command(output: Output, ref: str, file: str | None) -> None:
    """Print a receipt: what was asked or proposed, what was decided, and the signatures that show it.

    It contains the whole commits, with short values of whatever else is in them, and the arguments. placet
    verify-receipt checks it on any machine.
    """
    answer = client.get(f"/v1/receipts/{percent_encode(ref)}")
    # As ASCII: nothing in it can drive a terminal.
    text = json.dumps(answer.json, indent=1, sort_keys=True) + "\n"
    if file is None:
        click.echo(text, nl=False)
        return
    try:
        replace_file(os.path.realpath(file), text.encode())
    except OSError as error:
        message = _("{file} cannot be written: {reason}").format(file=file, reason=error.strerror)
        raise CommandError("failed", message) from error
    output.write_remark(_("Wrote {file}").format(file=file))


@command("verify-receipt")
@click.argument("file")
@pass_output
def verify_receipt_command(output: Output, file: str) -> None:
    """Check a receipt again, without a daemon and without a journal.

    It shows which device signed what. It cannot show whose devices these are, or that nothing was decided
    later: placet devices lists yours.
    """
    checker: Any = import_module(_CHECKER)
    form: Any = import_module(_FORM)
    try:
        with open(file, "rb") as opened:
            statement = checker.check_receipt(opened.read(form.BYTES_MAX + 1))
    except OSError as error:
        message = _("{file} cannot be read: {reason}").format(file=file, reason=error.strerror)
        raise CommandError("not_found", message) from error
    except form.ReceiptFault as fault:
        reason = sentence_words({"id": fault.sentence.id, "params": dict(fault.sentence.params)}, str(fault))
        words = _("{file} proves nothing: {reason}").format(file=file, reason=reason)
        raise CommandError("conflict", words, _("ask for another one: placet receipt")) from fault
    output.write_answer(ApiAnswer(statement, ""), checked_lines, key_value_rows)
