"""Lists the versions that are in conflict, and keeps one of them.

Never settles a conflict that the person did not name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from daemon.cli.api import client
from daemon.cli.framework.declaration import command, pass_output
from daemon.cli.views.journal.conflicts import conflict_list, conflict_rows, kept_lines, kept_rows
from daemon.words.translation import _

if TYPE_CHECKING:
    from daemon.cli.terminal.output import Output

_KEEP = "keep"
_KEEP_WORDS = 4


@command("conflicts")
@click.argument("words", nargs=-1, metavar="[TASK] | keep ENTITY FIELD N")
@pass_output
def conflicts_command(output: Output, words: tuple[str, ...]) -> None:
    """Show what is in conflict, everywhere or on a task; or keep the version N of a field.

    With --plain: entity, field, number, value, author, device, time, kind, task.
    """
    if words[:1] == (_KEEP,) and (len(words) == _KEEP_WORDS or len(words) == 1):
        _keep(output, words)
        return
    answer = client.get("/v1/conflicts", {"task": " ".join(words) or None})
    output.write_answer(answer, conflict_list, conflict_rows)
    if not answer.json:
        output.write_remark(_("No conflicts."))


def _keep(output: Output, words: tuple[str, ...]) -> None:
    if len(words) != _KEEP_WORDS or not words[-1].isdecimal():
        needs = _("keep needs the entity, the field and the number of a version")
        raise click.UsageError(needs, click.get_current_context())
    _keep_word, entity, field, number = words
    answer = client.post("/v1/conflicts/keep", {"entity": entity, "field": field, "n": int(number)})
    output.write_answer(answer, kept_lines, kept_rows)
