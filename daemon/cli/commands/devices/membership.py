"""Commands on devices: devices, sync.

Never decides itself whether devices are in step: the daemon reports it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import click

from daemon.cli.api import client
from daemon.cli.api.client import ANSWER_TIMEOUT_S, PAGE_SIZE, ApiAnswer, percent_encode
from daemon.cli.api.command_error import EXIT_DONE, EXIT_FAILED, EXIT_NO_DAEMON, CommandError
from daemon.cli.framework.declaration import SecondsType, command, group, joined_words, pass_output
from daemon.cli.terminal.output import key_value_rows
from daemon.cli.views.devices.members import device_line, device_rows, device_screen, sync_lines, sync_rows
from daemon.cli.views.devices.pairing import goodbye_lines, goodbye_rows, left_lines
from daemon.words.terminal_text import escape
from daemon.words.translation import _, ngettext

if TYPE_CHECKING:
    from daemon.cli.terminal.output import Output

_SYNC_S: Final = 30.0


@group("devices", alone=True)
@pass_output
def devices_command(output: Output) -> None:
    """List the devices; rename or remove one.

    With --plain: id, name, this, connected, lag, last seen, address, removed, let in by, when, differs.
    """
    if click.get_current_context().invoked_subcommand is None:
        answer = client.get("/v1/devices")
        output.write_answer(answer, device_screen, device_rows)
        if len(answer.json) == PAGE_SIZE:
            message = _("The first {count} devices are shown. The others are left out, or removed.")
            output.write_remark(message.format(count=PAGE_SIZE))


@devices_command.command("rename")
@click.argument("device")
@click.argument("name", nargs=-1, required=True)
@pass_output
def rename(output: Output, device: str, name: tuple[str, ...]) -> None:
    """Give a device another name, on every device."""
    path = f"/v1/devices/{percent_encode(device)}"
    answer = client.send_once("PATCH", path, {"name": joined_words(name, "a name")})
    output.write_answer(
        answer,
        lambda listed_device, display: device_line(_("Renamed"), listed_device, display),
        lambda listed_device: device_rows([listed_device]),
    )


@devices_command.command("remove")
@click.argument("device")
@click.option("--with-admitted", is_flag=True, help="Also remove the devices that it alone has let in.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_output
def remove(output: Output, device: str, with_admitted: bool, yes: bool) -> None:
    """Remove a device: it gets nothing new, and keeps what it has."""
    if with_admitted and not yes:
        _ask_whether_to_remove_all(output, device)
    query = "?with_admitted=true" if with_admitted else ""
    answer = client.send_once("DELETE", f"/v1/devices/{percent_encode(device)}{query}", {})
    output.write_answer(
        answer,
        lambda listed_device, display: device_line(_("Removed"), listed_device, display),
        lambda listed_device: device_rows([listed_device]),
    )
    output.write_remark(_("It keeps what it had. To let it in again: placet pair"))
    if output.is_for_people:
        _tell_of_agents(output, answer.json)


def _ask_whether_to_remove_all(output: Output, device: str) -> None:
    """Show a person which devices go with one, and ask."""
    if not (output.is_for_people and sys.stdin.isatty() and sys.stdout.isatty()):
        return
    admitted = client.get("/v1/admitted", {"by": device}).json
    names, count = [escape(name) for name in admitted.get("names") or ()], int(admitted.get("count") or 0)
    if count:
        message = ngettext(
            "{count} device goes with it: {devices}. Go on?",
            "{count} devices go with it: {devices}. Go on?",
            count,
        ).format(count=count, devices=", ".join(names) + (" …" if count > len(names) else ""))
        click.confirm(message, abort=True, err=True)


def _tell_of_agents(output: Output, device: dict[str, Any]) -> None:
    """Tell the person which agents no device runs any more."""
    at_home = [agent for agent in client.get("/v1/agents").json if _lives_on(agent, device)]
    if at_home:
        words = ngettext(
            "{count} agent has its home there: placet agent move AGENT",
            "{count} agents have their home there: placet agent move AGENT",
            len(at_home),
        )
        output.write_remark(words.format(count=len(at_home)))


@devices_command.command("leave")
@click.option("--empty", is_flag=True, help="Start with an empty journal, without the tasks of this one.")
@click.option(
    "--force",
    is_flag=True,
    help="Leave although the others have not been told; only while placet is stopped.",
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_output
def leave(output: Output, empty: bool, force: bool, yes: bool) -> None:
    """Take this device out of its vault: say goodbye while placet runs, begin anew once it is stopped.

    The other devices keep what they have. This one goes on alone with what it shows now, and may join another
    vault. The journal that it had is kept beside the new one.
    """
    if _runs(force):
        _ask_whether_to_leave(output, yes)
        output.write_answer(client.post("/v1/leave", {}), goodbye_lines, goodbye_rows)
        again = "placet devices leave --empty" if empty else "placet devices leave"
        output.write_remark(_("Now stop placet, then run `{command}` again.").format(command=again))
        return
    from daemon.cli.framework.offline import run_offline  # imported here: listing devices does not need it

    status = run_offline("leave", output, None, module="departure", empty=empty, force=force)
    output.write_answer(ApiAnswer(status, ""), left_lines, key_value_rows)


def _runs(force: bool) -> bool:
    """Return whether placet runs here. If it does, --force is refused: the others can be told."""
    try:
        client.get("/v1/status")
    except CommandError as refusal:
        if refusal.exit_status != EXIT_NO_DAEMON:
            raise
        return False
    if force:
        early = _("--force works only while placet is stopped: it is running, and can tell the others")
        raise click.UsageError(early, click.get_current_context())
    return True


def _ask_whether_to_leave(output: Output, yes: bool) -> None:
    if not yes and output.is_for_people and sys.stdin.isatty() and sys.stdout.isatty():
        message = _("This device is removed from its vault on all the others. Go on?")
        click.confirm(message, abort=True, err=True)


def _lives_on(agent: dict[str, Any], device: dict[str, Any]) -> bool:
    return agent.get("home_device_id") == device.get("device_id") and agent.get("lifecycle") != "destroyed"


@command("sync")
@click.option(
    "--wait",
    "wait_s",
    type=SecondsType(0, 600),
    is_flag=False,
    flag_value=_SYNC_S,
    metavar="[SECONDS]",
    help="Wait until the others have the same; 30 s if no time is given.",
)
@click.option("--pause", is_flag=True, help="Stop exchanging, until --resume.")
@click.option("--resume", is_flag=True, help="Exchange again.")
@pass_output
def sync_command(output: Output, wait_s: float | None, pause: bool, resume: bool) -> int:
    """Exchange with the other devices now.

    It fails if a device showed another state when it last had the same changes, or if the last link to it
    ended by a fault. It does not wait for such a device.
    """
    if pause and resume:
        clash = _("--{one} and --{other} exclude each other").format(one="pause", other="resume")
        raise click.UsageError(clash, click.get_current_context())
    body: dict[str, Any] = {} if wait_s is None else {"wait": wait_s}
    body |= {"pause": pause} if pause or resume else {}
    answer = client.post("/v1/sync", body, (wait_s or 0.0) + ANSWER_TIMEOUT_S)
    output.write_answer(answer, sync_lines, sync_rows)
    if resume and answer.json.get("peers"):
        output.write_remark(_("The others are called again; `placet sync --wait` says when all agree."))
    if wait_s is None and (pause or resume):
        return EXIT_DONE
    peers = answer.json.get("peers") or ()
    failed = any(peer.get("differs") or peer.get("link_fault") for peer in peers)
    # After a wait there is nothing more to come. Without one, exchanging goes on.
    failed = failed or (bool(wait_s) and answer.json.get("complete") is False)
    return EXIT_FAILED if failed else EXIT_DONE
