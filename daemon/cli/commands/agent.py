"""Agents: create, list, show, wake.

Never decides about what an agent proposed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from daemon.cli import client
from daemon.cli.client import WAIT_S, quoted
from daemon.cli.grammar import Seconds, group, joined, pass_output
from daemon.cli.views.agents import agent_line, agent_list, agent_page, agent_row, agent_rows
from daemon.cli.words import _

if TYPE_CHECKING:
    from daemon.cli.output import Output

_WAKE_S = 60.0


@group("agent")
def agent_command() -> None:
    """Agents: create, list, show, wake."""


@agent_command.command("create")
@click.argument("task", nargs=-1, required=True)
@click.option("--model", metavar="NAME", help="The model; else the one of the settings.")
@pass_output
def create(output: Output, task: tuple[str, ...], model: str | None) -> None:
    """Give a task its agent, and wake it once."""
    body: dict[str, Any] = {"task": joined(task, "a task")} | ({"model": model} if model else {})
    answer = client.post("/v1/agents", body)
    output.show(answer, lambda agent, look: agent_line(_("Created agent"), agent, look), agent_row)


@agent_command.command("list")
@pass_output
def list_agents(output: Output) -> None:
    """List the agents. With --plain: id, task, lifecycle, mode, home device, next wake."""
    answer = client.get("/v1/agents")
    output.show(answer, agent_list, agent_rows)
    if not answer.json:
        output.say(_("No agents yet. Give a task one: placet agent create TASK"))


@agent_command.command("show")
@click.argument("agent", nargs=-1, required=True)
@pass_output
def show(output: Output, agent: tuple[str, ...]) -> None:
    """Show an agent: its state, its next wake, its report."""
    answer = client.get(f"/v1/agents/{quoted(joined(agent, 'an agent'))}")
    output.show(answer, agent_page, agent_row)


@agent_command.command("wake")
@click.argument("agent", nargs=-1, required=True)
@click.option(
    "--wait",
    "wait_s",
    type=Seconds(0, 600),
    is_flag=False,
    flag_value=_WAKE_S,
    metavar="[SECONDS]",
    help="Wait until it has run; 60 s if no time is given.",
)
@pass_output
def wake(output: Output, agent: tuple[str, ...], wait_s: float | None) -> None:
    """Wake an agent now."""
    body: dict[str, Any] = {} if wait_s is None else {"wait": wait_s}
    path = f"/v1/agents/{quoted(joined(agent, 'an agent'))}/wake"
    answer = client.post(path, body, wait_s=(wait_s or 0.0) + WAIT_S)
    output.show(answer, lambda woken, look: agent_line(_("Woke agent"), woken, look), agent_row)
