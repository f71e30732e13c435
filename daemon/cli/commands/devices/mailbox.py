"""Commands on mailboxes and bundles: mailbox, bundle.

Never looks into a mailbox itself: the daemon does.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import click

from daemon.cli.api import client
from daemon.cli.api.client import percent_encode
from daemon.cli.api.command_error import CommandError
from daemon.cli.framework.declaration import group, pass_output
from daemon.cli.terminal.output import key_value_rows
from daemon.cli.terminal.standard_input import prompted_secret
from daemon.cli.views.devices.mailboxes import (
    mailbox_line,
    mailbox_rows,
    mailbox_screen,
    read_bundle_lines,
    written_bundle_lines,
)
from daemon.words.translation import _, gettext_noop

if TYPE_CHECKING:
    from daemon.cli.terminal.output import Output

_KINDS: Final = ("folder", "relay", "nats")
_SECRET: Final = gettext_noop("secret of the box"), gettext_noop("Secret of the box")


@group("mailbox")
def mailbox_command() -> None:
    """Mailboxes: places where devices that are never online together leave changes for each other.

    What lies there is sealed. Whoever keeps the place sees how many devices there are, sizes and
    times, and can delete: that delays, and loses nothing. A device that is always on passes everything on
    without a mailbox.
    """


@mailbox_command.command("add")
@click.argument("place", nargs=-1, required=True, metavar="[relay|nats] PLACE")
@click.option("--name", help="What to call it here; its last part otherwise.")
@click.option("--unencrypted", is_flag=True, help="Let the secret go to another machine without TLS.")
@pass_output
def add(output: Output, place: tuple[str, ...], name: str | None, unencrypted: bool) -> None:
    """Use a place as a mailbox: a folder, the box of a relay, or a stream of NATS.

    A folder may be one of Syncthing, Dropbox or Nextcloud, or on a stick. A box is named by its URL, such as
    https://relay.example:8484/home#sha256=PIN, and a stream by its servers, such as
    tls://a.example,b.example,c.example/home?replicas=3. The secret (for NATS: USER:PASSWORD, or a token) is
    asked for, or read from a pipe. Add the place on each device, under whatever name it has there.

    If the secret of a box or a stream changed, add its place once more, and give the new one. The mailbox
    keeps its name and all else.
    """
    kind, given = _kind_and_place(place)
    if kind == "folder":
        path = os.path.abspath(os.path.expanduser(given))
        # A link is followed now, while a person says so, and never later.
        place_now = os.path.realpath(path)
        body: dict[str, Any] = {
            "kind": kind,
            "place": place_now,
            "name": name or os.path.basename(path) or path,
        }
    else:
        box = given.partition("#")[0].partition("?")[0].rstrip("/").rpartition("/")[2]
        secret = prompted_secret(*_SECRET)
        body = {"kind": kind, "place": given, "name": name or box or given[:64], "secret": secret}
        body |= {"unencrypted": True} if unencrypted else {}
    output.write_answer(
        client.post("/v1/mailboxes", body),
        lambda mailbox, display: mailbox_line(
            _("Changed") if mailbox.get("changed") else _("Added"), mailbox, display
        ),
        lambda mailbox: mailbox_rows([mailbox]),
    )


def _kind_and_place(words: tuple[str, ...]) -> tuple[str, str]:
    """Return the kind of a mailbox and its place: a folder, unless it is called another kind or is a URL."""
    if len(words) == 2 and words[0] in _KINDS:
        return words[0], words[1]
    if len(words) != 1:
        raise CommandError("usage", _("a mailbox has one place: a folder, or the URL of a box or a stream"))
    if words[0].startswith(("tls://", "nats://")):
        return "nats", words[0]
    is_url = words[0].startswith(("https://", "http://"))
    return ("relay" if is_url else "folder"), words[0]


@mailbox_command.command("list")
@pass_output
def show_list(output: Output) -> None:
    """List the mailboxes, and who was noticed there when.

    With --plain: name, kind, place, last look, trouble, blobs, bytes, unreadable, gaps, foreign.
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
    """Stop using a mailbox. What lies in it stays there for the others."""
    answer = client.send_once("DELETE", f"/v1/mailboxes/{percent_encode(name)}", {})
    output.write_answer(
        answer,
        lambda mailbox, display: mailbox_line(_("Removed"), mailbox, display),
        lambda mailbox: mailbox_rows([mailbox]),
    )


@group("bundle")
def bundle_command() -> None:
    """Take changes along in a file, sealed: on a stick, or in a mail."""


@bundle_command.command("write")
@click.argument("file")
@click.option("--for", "device", help="Only for this device: its name, or the beginning of its id.")
@pass_output
def write_bundle(output: Output, file: str, device: str | None) -> None:
    """Write what the other devices are known to lack into a new file."""
    body = {"file": os.path.abspath(os.path.expanduser(file)), "device": device}
    output.write_answer(client.post("/v1/bundles", body), written_bundle_lines, key_value_rows)


@bundle_command.command("read")
@click.argument("file")
@pass_output
def read_bundle(output: Output, file: str) -> None:
    """Take what a file of another device brings. A second time changes nothing."""
    body = {"file": os.path.abspath(os.path.expanduser(file))}
    output.write_answer(client.post("/v1/bundles/read", body), read_bundle_lines, key_value_rows)
