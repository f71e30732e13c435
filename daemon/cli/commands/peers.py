"""Devices: devices, sync.

Never calls devices in step on its own account: the daemon says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from daemon.cli import client
from daemon.cli.client import WAIT_S
from daemon.cli.grammar import Seconds, command, pass_output
from daemon.cli.views.standing import device_list, device_rows, sync_lines, sync_rows
from daemon.cli.words import _

if TYPE_CHECKING:
    from daemon.cli.output import Output

_SYNC_S: Final = 30.0


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
