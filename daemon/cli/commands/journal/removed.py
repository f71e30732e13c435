"""The command on what was removed: it lists it, and brings it back.

Never deletes anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from daemon.cli.api import client
from daemon.cli.api.client import ApiAnswer, percent_encode
from daemon.cli.api.command_error import EXIT_DONE
from daemon.cli.framework.batch import run_for_each
from daemon.cli.framework.declaration import command, pass_output
from daemon.cli.views.journal.removed import (
    brought_back_lines,
    brought_back_rows,
    removed_lines,
    removed_rows,
)
from daemon.words.translation import _

if TYPE_CHECKING:
    from daemon.cli.terminal.output import Output

_LIMIT: Final = 50


@command("removed")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--restore", is_flag=True, help="Bring back what has these ids.")
@click.option(
    "--limit",
    type=click.IntRange(1, 100_000),
    default=_LIMIT,
    show_default=True,
    help="At most this many of them.",
)
@pass_output
def removed_command(output: Output, ids: tuple[str, ...], restore: bool, limit: int) -> int:
    """List what was removed, the newest first, or bring some of it back: tasks, notes, items, times, ...

    With --plain: id, kind, title, time, author, device, task, name of the removal.
    """
    if restore is not bool(ids):
        words = _("name what to bring back") if restore else _("ids are for --restore")
        raise click.UsageError(words, click.get_current_context())
    if restore:
        return run_for_each(output, ids, _restore, brought_back_lines, brought_back_rows)
    answer = client.get_pages("/v1/removed", {}, limit)
    output.write_answer(answer, removed_lines, removed_rows)
    if not answer.json:
        output.write_remark(_("Nothing removed."))
    else:
        output.write_remark(_("Bring something back: placet removed --restore ID"))
    return EXIT_DONE


def _restore(ref: str) -> ApiAnswer:
    return client.post(f"/v1/removed/{percent_encode(ref)}/restore", {})
