"""Commands on agents of other makers: make one, let one in, say how much it may do. The rest is `agent`.

Never decides about what an agent proposed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from daemon.cli.api import client
from daemon.cli.api.client import percent_encode
from daemon.cli.framework.declaration import command, joined_words, pass_output
from daemon.cli.views.proposals.agents import agent_line, agent_row
from daemon.cli.views.proposals.external_agents import limits_page, limits_rows
from daemon.words.translation import _

if TYPE_CHECKING:
    from daemon.cli.terminal.output import Output

_SCOPES = click.Choice(["all", "categories", "none"])
_LIMIT = click.IntRange(0, 1 << 40)
PATH = "/v1/external-agents"


@command("add")
@click.argument("name", nargs=-1, required=True)
@click.option("--scope", type=_SCOPES, help="What it may work on: all tasks, categories, or none.")
@pass_output
def add(output: Output, name: tuple[str, ...], scope: str | None) -> None:
    """Make an agent of another maker, or let the one of this name in.

    A program then proposes and asks under this name on this device. With the scope none it may only ask for
    permissions. Its categories are those of placet agent policy NAME --allow CATEGORY.
    """
    body = {"name": joined_words(name, "a name")} | ({} if scope is None else {"scope": scope})
    answer = client.post(PATH, body)
    output.write_answer(
        answer, lambda agent, display: agent_line(_("Added agent"), agent, display), agent_row
    )


@command("admit")
@click.argument("agent", nargs=-1, required=True)
@click.option("--scope", type=_SCOPES, help="What it may work on; all tasks if none is given.")
@pass_output
def admit(output: Output, agent: tuple[str, ...], scope: str | None) -> None:
    """Let an agent in that named itself and waits."""
    body = {} if scope is None else {"scope": scope}
    answer = client.post(f"{PATH}/{percent_encode(joined_words(agent, 'an agent'))}/admit", body)
    output.write_answer(
        answer, lambda admitted, display: agent_line(_("Let in agent"), admitted, display), agent_row
    )


@command("limits")
@click.argument("agent", nargs=-1, required=True)
@click.option("--scope", type=_SCOPES, help="What it may work on: all tasks, categories, or none.")
@click.option("--proposals", type=_LIMIT, metavar="N", help="How many changes it may propose a day.")
@click.option("--asks", type=_LIMIT, metavar="N", help="How many permissions it may ask for a day.")
@click.option("--bytes", "size", type=_LIMIT, metavar="N", help="How many bytes it may send a day.")
@pass_output
def limits(output: Output, agent: tuple[str, ...], scope: str | None, **numbers: int | None) -> None:
    """Show or set what an agent of another maker may do in a day.

    With --plain: what, how much a day, how much of it today.
    """
    path = f"{PATH}/{percent_encode(joined_words(agent, 'an agent'))}"
    names = {"proposals": "proposals", "asks": "asks", "size": "bytes"}
    wanted = {names[name]: number for name, number in numbers.items() if number is not None}
    body = ({} if scope is None else {"scope": scope}) | ({"daily_limits": wanted} if wanted else {})
    answer = client.send_once("PATCH", path, body) if body else client.get(path)
    output.write_answer(answer, limits_page, limits_rows)
