"""Commands on agents: make, list, show, log, edit, wake, ask, pause, resume, move, destroy, policy, presence.

Never decides about what an agent proposed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from daemon.cli.api import client
from daemon.cli.api.client import ANSWER_TIMEOUT_S, ApiAnswer, percent_encode
from daemon.cli.commands.proposals.external_agents import PATH, add, admit, limits
from daemon.cli.framework.declaration import SecondsType, command, group, joined_words, pass_output
from daemon.cli.terminal.output import HUMAN
from daemon.cli.views.proposals.activity import activity_list, activity_rows
from daemon.cli.views.proposals.agents import (
    agent_line,
    agent_list,
    agent_page,
    agent_row,
    agent_rows,
    asked_lines,
    paused_lines,
    policy_page,
    policy_rows,
    presence_page,
    presence_rows,
    timer_lines,
)
from daemon.cli.views.proposals.external_agents import external_agent_page
from daemon.words.translation import _, ngettext

if TYPE_CHECKING:
    from daemon.cli.terminal.output import Output

_LOG_LIMIT = 50
_LOG_LIMIT_MAX = 500
_WAKE_S = 60.0
_MODES = click.Choice(["autonomous", "interactive", "hybrid"])
_STATES = ("created", "active", "dormant", "destroyed")
_PERIODS = ("hour", "day", "weekday", "week")
_TOOL = re.compile(r"[a-z]+(_[a-z]+)+")
_POLICIES = ("deferred", "denied", "default")
_PRESENCES = ("any", "other_device", "passkey", "default")


@group("agent")
def agent_command() -> None:
    """Agents: create, add, show, wake, pause, move, destroy."""


@agent_command.command("create")
@click.argument("task", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Give each open task one that never had any.")
@click.option("--category", metavar="NAME", help="With --all: only tasks of this category.")
@click.option("--mode", type=_MODES, help="What wakes it; autonomous if none is given.")
@click.option("--model", metavar="NAME", help="The model; else the one of the settings.")
@click.option("--name", metavar="NAME", help="A name of its own.")
@click.option("--description", metavar="TEXT", help="What it is like, in a few words; models read it.")
@pass_output
def create(output: Output, task: tuple[str, ...], every: bool, **options: str | None) -> None:
    """Give a task its agent, and wake it once.

    An autonomous agent wakes when its task changes, by timers and when asked; a hybrid one by timers and
    when asked; an interactive one only when asked.
    """
    if every:
        _create_all(output, task, options)
        return
    if options.pop("category"):
        raise click.UsageError(_("--category is for --all"))
    answer = client.post("/v1/agents", {"task": joined_words(task, "a task")} | _without_empty(options))
    output.write_answer(
        answer, lambda agent, display: agent_line(_("Created agent"), agent, display), agent_row
    )


def _create_all(output: Output, task: tuple[str, ...], options: dict[str, str | None]) -> None:
    """Create agents part by part, until no task is left without one."""
    if task or options.pop("name") or options.pop("description"):
        raise click.UsageError(_("--all takes no task, no --name and no --description"))
    created: list[Any] = []
    while page := client.post("/v1/agents/all", _without_empty(options)).json:
        created += page
    output.write_answer(ApiAnswer(created, ""), agent_list, agent_rows)
    count = len(created)
    words = ngettext("{count} agent was created", "{count} agents were created", count)
    output.write_remark(words.format(count=count))


@agent_command.command("list")
@click.option("--state", type=click.Choice(_STATES), help="Only those in this state.")
@pass_output
def list_agents(output: Output, state: str | None) -> None:
    """List the agents, those of other makers last.

    With --plain: id, task, lifecycle, mode, home device, next wake.
    """
    external = [agent for agent in client.get(PATH).json if state in (None, agent.get("lifecycle"))]
    answer = client.get("/v1/agents", {"state": state})
    answer = ApiAnswer(answer.json + external, answer.date)
    output.write_answer(answer, agent_list, agent_rows)
    if not answer.json and state is None:
        output.write_remark(_("No agents yet. Give a task one: placet agent create TASK"))


@agent_command.command("show")
@click.argument("agent", nargs=-1, required=True)
@pass_output
def show(output: Output, agent: tuple[str, ...]) -> None:
    """Show an agent: its state, its next wake, its report."""
    external = client.find(_path_of_external(agent))
    if external is not None:
        output.write_answer(ApiAnswer(external, ""), external_agent_page, agent_row)
        return
    output.write_answer(client.get(_path(agent)), agent_page, agent_row)


@command("log", streams=True)
@click.argument("agent", nargs=-1, required=True)
@click.option("--tools", is_flag=True, help="Also show each call and its answer.")
@click.option("--calls", is_flag=True, help="Show calls and their answers alone, and what woke it.")
@click.option(
    "--limit",
    type=click.IntRange(1, _LOG_LIMIT_MAX),
    default=_LOG_LIMIT,
    show_default=True,
    help="At most this many messages, the last ones.",
)
@click.option("--before", metavar="ID", help="Before this message.")
@pass_output
def log(output: Output, agent: tuple[str, ...], limit: int, before: str | None, **flags: bool) -> None:
    """Show what an agent did: what woke it, what it said and noted, and what came of it.

    With --plain: message, time, run, kind, tool, outcome, item, what woke it, text.
    """
    query = {name: "true" for name, is_set in flags.items() if is_set} | {"limit": limit, "before": before}
    answer = client.get(f"/v1/agents/{percent_encode(joined_words(agent, 'an agent'))}/log", query)
    output.write_answer(answer, activity_list, activity_rows)
    if not answer.json:
        output.write_remark(
            _("It did nothing before that.") if before else _("It has not done anything yet.")
        )
    elif len(answer.json) >= limit:
        first = str(answer.json[0].get("id") or "")
        output.write_remark(_("Older messages: placet agent log … --before {id}").format(id=first))


agent_command.add_command(log)
for external_command in (add, admit, limits):
    agent_command.add_command(external_command)


@agent_command.command("wake")
@click.argument("agent", nargs=-1, required=True)
@click.option("--at", metavar="TIME", help="Set a timer instead: 17:30, tomorrow 9:00, in 2 hours.")
@click.option("--every", type=click.Choice(_PERIODS), help="With --at: again each day, each week, ...")
@click.option("--cancel", is_flag=True, help="Cancel its timers instead.")
@click.option(
    "--wait",
    "wait_s",
    type=SecondsType(0, 600),
    is_flag=False,
    flag_value=_WAKE_S,
    metavar="[SECONDS]",
    help="Wait until it has run; 60 s if no time is given.",
)
@click.option("--all-notes", "--again", is_flag=True, help="Let it read all notes anew, not only new ones.")
@pass_output
def wake(output: Output, agent: tuple[str, ...], at: str | None, wait_s: float | None, **flags: Any) -> None:
    """Wake an agent, now or at a time."""
    every = flags.pop("every")
    if every and at is None:
        raise click.UsageError(_("--every is for --at"))
    cancel = flags["cancel"]
    if (at is not None) + cancel + (wait_s is not None) > 1:
        raise click.UsageError(_("--at, --cancel and --wait exclude each other"))
    body: dict[str, Any] = {name: True for name, is_set in flags.items() if is_set}
    body |= ({} if wait_s is None else {"wait": wait_s}) | ({} if at is None else {"at": at})
    body |= {} if every is None else {"every": every}
    answer = client.post(f"{_path(agent)}/wake", body, wait_s=(wait_s or 0.0) + ANSWER_TIMEOUT_S)
    verb = (
        _("Set a timer for agent")
        if at
        else _("Cancelled the timers of agent")
        if cancel
        else _("Woke agent")
    )
    lines = timer_lines if at else agent_line
    output.write_answer(answer, lambda woken, display: lines(verb, woken, display), agent_row)


@agent_command.command("ask")
@click.argument("agent")
@click.argument("words", nargs=-1, required=True)
@click.option(
    "--wait",
    "wait_s",
    type=SecondsType(0, 600),
    is_flag=False,
    flag_value=_WAKE_S,
    metavar="[SECONDS]",
    help="Wait until it has run; 60 s if no time is given.",
)
@pass_output
def ask(output: Output, agent: str, words: tuple[str, ...], wait_s: float | None) -> None:
    """Put words to an agent, such as "break this down".

    It reads them in a run on its home device, as a note that decides nothing: what it proposes waits for you.
    """
    body: dict[str, Any] = {"text": " ".join(words)} | ({} if wait_s is None else {"wait": wait_s})
    answer = client.post(f"{_path((agent,))}/ask", body, wait_s=(wait_s or 0.0) + ANSWER_TIMEOUT_S)
    output.write_answer(answer, asked_lines, agent_row)


@agent_command.command("edit")
@click.argument("agent", nargs=-1, required=True)
@click.option("--mode", type=_MODES, help="What wakes it.")
@click.option("--model", metavar="NAME", help="The model that it asks.")
@click.option("--name", metavar="NAME", help="A name of its own; an empty one takes it away.")
@click.option("--description", metavar="TEXT", help="What it is like; an empty one takes it away.")
@pass_output
def edit(output: Output, agent: tuple[str, ...], **options: str | None) -> None:
    """Change what wakes an agent, its model, its name or its description."""
    body = {key: value for key, value in options.items() if value is not None}
    if not body:
        raise click.UsageError(_("nothing to change: give --mode, --model, --name or --description"))
    _tell(output, client.send_once("PATCH", _path(agent), body), _("Changed agent"))


@agent_command.command("pause")
@click.argument("agent", nargs=-1, required=True)
@click.option("--until", metavar="TIME", help="Let it work again by itself then: monday 9:00, in 3 days.")
@pass_output
def pause(output: Output, agent: tuple[str, ...], until: str | None) -> None:
    """Let an agent sleep until it is resumed, or until a time."""
    answer = client.post(f"{_path_of_any(agent)}/pause", _without_empty({"until": until}))
    output.write_answer(
        answer, lambda paused, display: paused_lines(_("Paused agent"), paused, display), agent_row
    )


@agent_command.command("resume")
@click.argument("agent", nargs=-1, required=True)
@pass_output
def resume(output: Output, agent: tuple[str, ...]) -> None:
    """Let a sleeping agent work again; its failures are forgotten."""
    _tell(output, client.post(f"{_path_of_any(agent)}/resume", {}), _("Resumed agent"))


@agent_command.command("move")
@click.argument("agent", nargs=-1, required=True)
@click.option("--to", "device", metavar="DEVICE", help="Its new home, by name or id; else this device.")
@pass_output
def move(output: Output, agent: tuple[str, ...], device: str | None) -> None:
    """Bring an agent to this device, or to another one."""
    body = {} if device is None else {"device": device}
    _tell(output, client.post(f"{_path(agent)}/move", body), _("Moved agent"))


@agent_command.command("destroy")
@click.argument("agent", nargs=-1, required=True)
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_output
def destroy(output: Output, agent: tuple[str, ...], yes: bool) -> None:
    """End an agent for good, and take back what it proposed."""
    import sys

    if not yes and output.form == HUMAN and sys.stdin.isatty() and sys.stdout.isatty():
        message = _("Destroying an agent is final: its task gets no other one. Go on?")
        click.confirm(message, abort=True, err=True)
    _tell(output, client.post(f"{_path_of_any(agent)}/destroy", {}), _("Destroyed agent"))


@agent_command.command("policy")
@click.argument("agent", nargs=-1, required=True, metavar="AGENT [TOOL|ACTION POLICY]")
@click.option("--allow", multiple=True, metavar="CATEGORY", help="Let it work on tasks of this category.")
@click.option("--disallow", multiple=True, metavar="CATEGORY", help="Keep it from tasks of this category.")
@pass_output
def policy(output: Output, agent: tuple[str, ...], allow: tuple[str, ...], disallow: tuple[str, ...]) -> None:
    """Show or tighten what an agent may do.

    A policy is deferred (the tool's calls wait for you), denied, or default (the tool's own way). An
    action is what an agent of another maker asks permission for, by its name, such as send_mail.
    """
    tools: dict[str, str] = {}
    if len(agent) > 2 and agent[-1].lower() in _POLICIES:
        *rest, tool, wanted = agent
        agent, tools = tuple(rest), {tool: wanted.lower()}
    elif any(_TOOL.fullmatch(word.lower()) for word in agent[-2:]):
        raise click.UsageError(_("after a tool, say what becomes of it: deferred, denied or default"))
    body = {"tools": tools, "allow": list(allow), "disallow": list(disallow)}
    changes = {key: value for key, value in body.items() if value}
    path = _path_of_any(agent)
    answer = client.send_once("PATCH", f"{path}/policy", changes) if changes else client.get(path)
    output.write_answer(answer, policy_page, policy_rows)


@agent_command.command("presence")
@click.argument("agent", nargs=-1, required=True, metavar="AGENT [TOOL|ACTION|all PRESENCE]")
@pass_output
def presence(output: Output, agent: tuple[str, ...]) -> None:
    """Show or set what verdicts on an agent's proposals need.

    PRESENCE is any (each verdict of yours counts), other_device (only one from another device than
    the agent's), passkey (only one with your passkey), or default. A verdict without it is kept, and
    changes nothing. An action is what an agent of another maker asks permission for, by its name.
    """
    changes: dict[str, Any] = {}
    if len(agent) > 2 and agent[-1].lower().replace("-", "_") in _PRESENCES:
        *rest, tool, wanted = agent
        agent, changes = tuple(rest), {"presence": {tool: wanted.lower().replace("-", "_")}}
    path = _path_of_any(agent)
    answer = client.send_once("PATCH", f"{path}/policy", changes) if changes else client.get(path)
    output.write_answer(answer, presence_page, presence_rows)


def _path(agent: tuple[str, ...]) -> str:
    return f"/v1/agents/{percent_encode(joined_words(agent, 'an agent'))}"


def _path_of_external(agent: tuple[str, ...]) -> str:
    return f"{PATH}/{percent_encode(joined_words(agent, 'an agent'))}"


def _path_of_any(agent: tuple[str, ...]) -> str:
    """Return the path of an agent of another maker if one has this name or id, else that of a task's own."""
    external = _path_of_external(agent)
    return _path(agent) if client.find(external) is None else external


def _without_empty(values: dict[str, str | None]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value}


def _tell(output: Output, answer: ApiAnswer, verb: str) -> None:
    output.write_answer(answer, lambda agent, display: agent_line(verb, agent, display), agent_row)
