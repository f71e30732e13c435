"""Devices: devices, sync.

Never calls devices in step on its own account: the daemon says so.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import click

from daemon.cli import client
from daemon.cli.client import WAIT_S, Answer, quoted
from daemon.cli.grammar import Seconds, command, group, joined, pass_output
from daemon.cli.refusals import DONE, FAILED, NO_DAEMON, Refusal
from daemon.cli.views.pairing import goodbye_lines, goodbye_rows, left_lines
from daemon.cli.views.standing import (
    device_line,
    device_rows,
    device_screen,
    named_rows,
    sync_lines,
    sync_rows,
)
from daemon.cli.words import _, ngettext

if TYPE_CHECKING:
    from daemon.cli.output import Output

_SYNC_S: Final = 30.0


@group("devices", alone=True)
@pass_output
def devices_command(output: Output) -> None:
    """List the devices; rename or remove one.

    With --plain: id, name, this, connected, lag, last seen, address, removed, let in by, when, differs.
    """
    if click.get_current_context().invoked_subcommand is None:
        output.show(client.get("/v1/devices"), device_screen, device_rows)


@devices_command.command("rename")
@click.argument("device")
@click.argument("name", nargs=-1, required=True)
@pass_output
def rename(output: Output, device: str, name: tuple[str, ...]) -> None:
    """Give a device another name, on every device."""
    path = f"/v1/devices/{quoted(device)}"
    answer = client.send("PATCH", path, {"name": joined(name, "a name")})
    output.show(
        answer, lambda one, look: device_line(_("Renamed"), one, look), lambda one: device_rows([one])
    )


@devices_command.command("remove")
@click.argument("device")
@pass_output
def remove(output: Output, device: str) -> None:
    """Close the door to a device: it gets nothing new, and keeps what it has."""
    answer = client.send("DELETE", f"/v1/devices/{quoted(device)}", {})
    output.show(
        answer, lambda one, look: device_line(_("Removed"), one, look), lambda one: device_rows([one])
    )
    output.say(_("It keeps what it had. To let it in again: placet pair"))
    if output.for_people:
        _tell_of_agents(output, answer.json)


def _tell_of_agents(output: Output, device: dict[str, Any]) -> None:
    """Say which agents nobody runs any more."""
    at_home = [one for one in client.get("/v1/agents").json if _lives_on(one, device)]
    if at_home:
        words = ngettext(
            "{count} agent has its home there: placet agent move AGENT",
            "{count} agents have their home there: placet agent move AGENT",
            len(at_home),
        )
        output.say(words.format(count=len(at_home)))


@devices_command.command("leave")
@click.option("--empty", is_flag=True, help="Take no tasks along.")
@click.option("--force", is_flag=True, help="Once it is stopped: although the others have not been told.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_output
def leave(output: Output, empty: bool, force: bool, yes: bool) -> None:
    """Take this device out of its vault: say goodbye while placet runs, begin anew once it is stopped.

    The other devices keep what they have. This one goes on alone with what it shows now, and may join another
    vault. The journal that it had is kept beside the new one.
    """
    if _runs(force):
        _ask_whether_to_leave(output, yes)
        output.show(client.post("/v1/leave", {}), goodbye_lines, goodbye_rows)
        again = "placet devices leave --empty" if empty else "placet devices leave"
        output.say(_("Now stop placet, then run `{command}` again.").format(command=again))
        return
    from daemon.cli.commands.keep import keeping  # imported here: listing devices needs none of it

    told = keeping("leave", output, None, module="leaving", empty=empty, force=force)
    output.show(Answer(told, ""), left_lines, named_rows)


def _runs(force: bool) -> bool:
    """Say whether placet runs here; refuse to leave without a word where it can say one."""
    try:
        client.get("/v1/status")
    except Refusal as refusal:
        if refusal.status != NO_DAEMON:
            raise
        return False
    if force:
        early = _("--force is for when placet is stopped: it runs, and can tell the others")
        raise click.UsageError(early, click.get_current_context())
    return True


def _ask_whether_to_leave(output: Output, yes: bool) -> None:
    if not yes and output.for_people and sys.stdin.isatty() and sys.stdout.isatty():
        asked = _("This device is removed from its vault on all the others. Go on?")
        click.confirm(asked, abort=True, err=True)


def _lives_on(agent: dict[str, Any], device: dict[str, Any]) -> bool:
    return agent.get("home_device_id") == device.get("device_id") and agent.get("lifecycle") != "destroyed"


@command("sync")
@click.option(
    "--wait",
    "wait_s",
    type=Seconds(0, 600),
    is_flag=False,
    flag_value=_SYNC_S,
    metavar="[SECONDS]",
    help="Wait until the others hold the same; 30 s if no time is given.",
)
@click.option("--pause", is_flag=True, help="Stop exchanging, until --resume.")
@click.option("--resume", is_flag=True, help="Exchange again.")
@pass_output
def sync_command(output: Output, wait_s: float | None, pause: bool, resume: bool) -> int:
    """Exchange with the other devices now.

    It fails where a device showed another state when it last held the same changes, and waits for nobody
    while that one is connected.
    """
    if pause and resume:
        clash = _("--{one} and --{other} exclude each other").format(one="pause", other="resume")
        raise click.UsageError(clash, click.get_current_context())
    body: dict[str, Any] = {} if wait_s is None else {"wait": wait_s}
    body |= {"pause": pause} if pause or resume else {}
    answer = client.post("/v1/sync", body, (wait_s or 0.0) + WAIT_S)
    output.show(answer, sync_lines, sync_rows)
    if resume and answer.json.get("peers"):
        output.say(_("The others are called again; `placet sync --wait` tells when all agree."))
    if wait_s is None and (pause or resume):
        return DONE
    return FAILED if any(peer.get("differs") for peer in answer.json.get("peers") or ()) else DONE
