"""Shows the history of decisions.

Never decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from daemon.cli.api import client
from daemon.cli.framework.declaration import command, pass_output
from daemon.cli.views.proposals.decisions import decision_list, decision_rows
from daemon.words.translation import _

if TYPE_CHECKING:
    from daemon.cli.terminal.output import Output

_LIMIT: Final = 50
_LIMIT_MAX: Final = 500


@command("decisions", streams=True)
@click.argument("task", nargs=-1)
@click.option(
    "--limit",
    type=click.IntRange(1, _LIMIT_MAX),
    default=_LIMIT,
    show_default=True,
    help="At most this many.",
)
@click.option("--before", type=click.IntRange(0), metavar="N", help="Before this feed position.")
@pass_output
def decisions_command(output: Output, task: tuple[str, ...], limit: int, before: int | None) -> None:
    """Show what was decided, everywhere or on a task, the newest first: who, where, when, and why.

    With --plain: position, item, task, tool, verdict, author, device, time, reason, via, status, disputed,
    summary.
    """
    query = {"task": " ".join(task) or None, "before": before, "limit": limit}
    answer = client.get("/v1/decisions", query)
    output.write_answer(answer, decision_list, decision_rows)
    if not answer.json:
        output.write_remark(
            _("Nothing older was decided.") if before is not None else _("Nothing was decided yet.")
        )
    elif len(answer.json) >= limit:
        seq = answer.json[-1].get("seq")
        output.write_remark(_("Older decisions: placet decisions … --before {seq}").format(seq=seq))
