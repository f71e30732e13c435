"""Commands on mailboxes: add, list, check, remove.

Never looks into a mailbox itself: the daemon does.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from daemon.cli.api import client
from daemon.cli.api.client import percent_encode
from daemon.cli.framework.declaration import group, pass_output
from daemon.cli.translation import _
from daemon.cli.views.devices.mailboxes import mailbox_line, mailbox_rows, mailbox_screen

if TYPE_CHECKING:
    from daemon.cli.terminal.output import Output


@group("mailbox")
def mailbox_command() -> None:
    """Mailboxes: places where devices that are never online together leave changes for each other.

    What lies there is sealed. Whoever keeps the place sees how many devices there are, sizes and
    times, and can delete: that delays, and loses nothing. A device that is always on passes everything on
    without a mailbox.
    """


@mailbox_command.command("add")
@click.argument("folder")
@click.option("--name", help="What to call it here; its last part otherwise.")
@pass_output
def add(output: Output, folder: str, name: str | None) -> None:
    """Look into a folder from now on: one of Syncthing, Dropbox or Nextcloud, or on a stick.

    Add the folder on each device, under whatever name it has there.
    """
    place = os.path.abspath(os.path.expanduser(folder))
    body = {"kind": "folder", "place": place, "name": name or os.path.basename(place) or place}
    output.write_answer(
        client.post("/v1/mailboxes", body),
        lambda mailbox, display: mailbox_line(_("Added"), mailbox, display),
        lambda mailbox: mailbox_rows([mailbox]),
    )


@mailbox_command.command("list")
@pass_output
def show_list(output: Output) -> None:
    """List the mailboxes, and who was noticed there when.

    With --plain: name, kind, place, last look, trouble, blobs, bytes, unreadable, gaps.
    """
    output.write_answer(client.get("/v1/mailboxes"), mailbox_screen, mailbox_rows)


@mailbox_command.command("check")
@click.argument("name")
@pass_output
def check(output: Output, name: str) -> None:
    """Look into a mailbox now, and write what waits."""
    answer = client.post(f"/v1/mailboxes/{percent_encode(name)}/check", {})
    output.write_answer(
        answer,
        lambda mailbox, display: mailbox_screen([mailbox], display),
        lambda mailbox: mailbox_rows([mailbox]),
    )


@mailbox_command.command("remove")
@click.argument("name")
@pass_output
def remove(output: Output, name: str) -> None:
    """Look into a mailbox no more. What lies in it stays there for the others."""
    answer = client.send_once("DELETE", f"/v1/mailboxes/{percent_encode(name)}", {})
    output.write_answer(
        answer,
        lambda mailbox, display: mailbox_line(_("Removed"), mailbox, display),
        lambda mailbox: mailbox_rows([mailbox]),
    )
