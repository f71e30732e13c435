"""What an agent did: what woke it, what it said, called and noted, and how each run ended.

Never decides about any of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from daemon.cli import client
from daemon.cli.client import quoted
from daemon.cli.grammar import command, joined, pass_output
from daemon.cli.views.activity import activity_list, activity_rows
from daemon.cli.words import _

if TYPE_CHECKING:
    from daemon.cli.output import Output

_LIMIT: Final = 50
_LIMIT_MAX: Final = 500


@command("log", streams=True)
@click.argument("agent", nargs=-1, required=True)
@click.option("--tools", is_flag=True, help="Show each call and what it was answered, too.")
@click.option(
    "--limit",
    type=click.IntRange(1, _LIMIT_MAX),
    default=_LIMIT,
    show_default=True,
    help="At most so many messages, the last ones.",
)
@click.option("--before", metavar="ID", help="Before this message.")
@pass_output
def log(output: Output, agent: tuple[str, ...], tools: bool, limit: int, before: str | None) -> None:
    """Show what an agent did: what woke it, what it said and noted, and what came of it.

    With --plain: message, time, run, kind, tool, outcome, item, what woke it, text.
    """
    query = {"tools": "true" if tools else None, "limit": limit, "before": before}
    answer = client.get(f"/v1/agents/{quoted(joined(agent, 'an agent'))}/log", query)
    output.show(answer, activity_list, activity_rows)
    if not answer.json:
        output.say(_("It did nothing before that.") if before else _("It has not done anything yet."))
    elif len(answer.json) >= limit:
        first = str(answer.json[0].get("id") or "")
        output.say(_("Older messages: placet agent log … --before {id}").format(id=first))
