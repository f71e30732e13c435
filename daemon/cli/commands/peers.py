"""Devices: pair, join, devices, sync.

Never takes a code or token as an argument where it can be asked for, and never shows it again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from daemon.cli import client
from daemon.cli.client import WAIT_S
from daemon.cli.grammar import Seconds, command, pass_output
from daemon.cli.stdin import typed
from daemon.cli.text import shown
from daemon.cli.views.standing import device_list, device_rows, sync_lines, sync_rows
from daemon.cli.when import ago
from daemon.cli.words import _

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from daemon.cli.look import Look
    from daemon.cli.output import Output

# Joining takes a handshake and the first exchange with a machine that may be far.
_JOIN_S: Final = 90.0
_SYNC_S: Final = 30.0


@command("pair")
@click.option("--invite", is_flag=True, help="Print an invitation for `placet join`.")
@pass_output
def pair_command(output: Output, invite: bool) -> None:
    """Invite a device: prints a token on a line of its own, good once and for a short time."""
    if not invite:
        raise click.UsageError(_("pairing takes --invite"), click.get_current_context())
    answer = client.post("/v1/invitations", {})
    output.show(answer, _token, _invitation_row)
    until = ago(answer.json.get("expires_at"), output.look(answer).now_s)
    paste = _("Run `placet join` on the other device and paste this; it ends {when}.")
    output.say(paste.format(when=until or _("soon")))


def _token(invitation: dict[str, Any], _look: Look) -> Iterator[str]:
    yield shown(invitation.get("token") or "")


def _invitation_row(invitation: dict[str, Any]) -> Iterator[Sequence[object]]:
    yield invitation.get("token"), invitation.get("address"), invitation.get("expires_at")


@command("join")
@click.argument("token", required=False, metavar="[CODE or TOKEN]")
@click.option("--addr", metavar="HOST:PORT", help="Where the inviting device is, if it is not found.")
@click.option("--unite", is_flag=True, help="Bring this device's own tasks along.")
@pass_output
def join_command(output: Output, token: str | None, addr: str | None, unite: bool) -> None:
    """Accept an invitation; the token is asked for, or read from standard input."""
    body: dict[str, Any] = {"token": token or typed("code or token", "Invitation:")}
    body |= {"address": addr} if addr else {}
    body |= {"unite": True} if unite else {}
    answer = client.post("/v1/join", body, _JOIN_S)
    output.show(answer, _joined, named_row)


def named_row(device: dict[str, Any]) -> Iterator[Sequence[object]]:
    """Give the plain columns of a device that was just joined: id, name."""
    yield device.get("device_id"), device.get("name")


def _joined(device: dict[str, Any], look: Look) -> Iterator[str]:
    name = shown(device.get("name") or device.get("device_id") or "")
    yield f"{look.paint(look.sign('✓'), 'green')} {_('Joined {name}').format(name=name)}"


@command("devices")
@pass_output
def devices_command(output: Output) -> None:
    """List the devices. With --plain: id, name, this, connected, lag, last seen, address, removed."""
    output.show(client.get("/v1/devices"), device_list, device_rows)


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
def sync_command(output: Output, wait_s: float | None, pause: bool, resume: bool) -> None:
    """Exchange with the other devices now."""
    if pause and resume:
        clash = _("--{one} and --{other} exclude each other").format(one="pause", other="resume")
        raise click.UsageError(clash, click.get_current_context())
    body: dict[str, Any] = {} if wait_s is None else {"wait": wait_s}
    body |= {"pause": pause} if pause or resume else {}
    answer = client.post("/v1/sync", body, (wait_s or 0.0) + WAIT_S)
    output.show(answer, sync_lines, sync_rows)
    if resume and answer.json.get("peers"):
        output.say(_("The others are called again; `placet sync --wait` tells when all agree."))
