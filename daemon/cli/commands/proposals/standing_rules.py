"""Commands on standing rules: what a person allows an agent beforehand.

Never makes a rule of what a person decided: each is written word by word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from daemon.cli.api import client
from daemon.cli.api.client import percent_encode
from daemon.cli.api.command_error import CommandError
from daemon.cli.commands.proposals.edited_arguments import parse_arguments
from daemon.cli.framework.declaration import group, pass_output
from daemon.cli.views.proposals.standing_rules import rule_line, rule_list, rule_rows
from daemon.words.translation import _

if TYPE_CHECKING:
    from daemon.cli.terminal.output import Output

_PATH = "/v1/standing-rules"


@group("rule")
def rule_command() -> None:
    """Standing rules: permissions that an agent gets without asking you each time.

    You write a rule yourself: which agent, which action, which arguments, until when, how often a day. What
    fits is permitted in the moment in which the agent asks, and each use is shown in placet asks --all. All
    else waits for you. A rule never decides on changes to your tasks.
    """


@rule_command.command("add")
@click.argument("agent")
@click.argument("action")
@click.option(
    "--arg", "texts", multiple=True, metavar="NAME=TEXT", help="An argument that must be this text."
)
@click.option("--begins", multiple=True, metavar="NAME=TEXT", help="An argument that must begin with it.")
@click.option("--args", "exact", metavar="JSON", help="An object of arguments that must be exactly so.")
@click.option(
    "--until", required=True, metavar="TIME", help="Until when, within 90 days: friday, in 30 days."
)
@click.option(
    "--a-day", type=click.IntRange(1, 100), required=True, metavar="N", help="How often it may be used a day."
)
@pass_output
def add(output: Output, agent: str, action: str, until: str, a_day: int, **written: Any) -> None:
    """Allow an agent an action beforehand, by the name and the arguments that its asks have.

    An ask with any other argument than those that you name waits for you. After a beginning, only whole
    words may follow that are no options and have neither "=" nor a sign of a shell. So "git status" lets
    "git status docs" through, and neither "git status -s", "git status && ls" nor "git statusx". Options
    that you want to allow belong into the beginning.
    """
    exact = {} if written["exact"] is None else parse_arguments(written["exact"], "--args")
    exact |= _pairs(written["texts"], "--arg", exact)
    body = {
        "agent": agent,
        "name": action,
        "exact": exact,
        "begins": _pairs(written["begins"], "--begins", {}),
    }
    answer = client.post(_PATH, body | {"until": until, "uses_a_day": a_day})
    output.write_answer(
        answer,
        lambda rule, display: rule_line(_("Added rule"), rule, display),
        lambda rule: rule_rows([rule]),
    )


def _pairs(texts: tuple[str, ...], option: str, given: dict[str, Any]) -> dict[str, str]:
    """Return NAME=TEXT as a map. Raises CommandError for one without a name, or whose name was given."""
    pairs: dict[str, str] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not name or not sign:
            message = _("{option} {text} is not NAME=TEXT").format(option=option, text=text[:80])
            raise CommandError("usage", message, _("such as {example}").format(example=f"{option} to=ana"))
        if name in pairs or name in given:
            raise CommandError("usage", _("the argument {name} is given twice").format(name=name[:80]))
        pairs[name] = value
    return pairs


@rule_command.command("list")
@click.option("--agent", metavar="AGENT", help="Only the rules on this agent.")
@click.option("--all", "every", is_flag=True, help="Show those too that are revoked or over.")
@pass_output
def show_list(output: Output, agent: str | None, every: bool) -> None:
    """List the rules in force, the one that ends first at the top.

    With --plain: rule, agent, action, exact arguments, beginnings, until when, uses a day, uses today, state.
    """
    answer = client.get(_PATH, {"agent": agent, "all": "true" if every else None})
    output.write_answer(answer, rule_list, rule_rows)
    if not answer.json:
        output.write_remark(_("No rule is in effect: every permission waits for you."))


@rule_command.command("show")
@click.argument("rule")
@pass_output
def show(output: Output, rule: str) -> None:
    """Show a rule, and what it permitted last.

    With --plain: the columns of placet rule list.
    """
    answer = client.get(f"{_PATH}/{percent_encode(rule)}")
    output.write_answer(
        answer,
        lambda stored, display: rule_list([stored], display, with_uses=True),
        lambda stored: rule_rows([stored]),
    )


@rule_command.command("revoke")
@click.argument("rule")
@pass_output
def revoke(output: Output, rule: str) -> None:
    """End a rule for good, on every device, also for what it permitted and nobody used yet."""
    answer = client.post(f"{_PATH}/{percent_encode(rule)}/revoke", {})
    output.write_answer(
        answer,
        lambda stored, display: rule_line(_("Revoked rule"), stored, display),
        lambda stored: rule_rows([stored]),
    )
