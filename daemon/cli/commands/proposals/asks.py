"""Lists the permissions that agents ask for.

Never decides: `placet confirm` and `placet reject` do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from daemon.cli.api import client
from daemon.cli.framework.declaration import command, pass_output
from daemon.cli.views.proposals.asks import ask_list, ask_rows
from daemon.words.translation import _

if TYPE_CHECKING:
    from daemon.cli.terminal.output import Output


@command("asks")
@click.option("--all", "every", is_flag=True, help="Show those too that are decided, used or over.")
@pass_output
def asks_command(output: Output, every: bool) -> None:
    """Show the permissions that agents ask for, the first to expire at the top.

    With --plain: ask, agent, state, action, title, until when it may be used, what verdicts need, arguments.
    """
    answer = client.get("/v1/asks", {"all": "true"} if every else {})
    output.write_answer(answer, ask_list, ask_rows)
    if answer.json:
        output.write_remark(_("Decide: placet confirm ASK, or placet reject ASK --reason WHY"))
    else:
        output.write_remark(_("No agent asks for a permission."))
