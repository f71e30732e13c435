"""Commands that pair devices: pair, join.

Never accepts a code or token as an argument, which other users of the machine can read, and never leaves an
invitation open after the person has left.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import click

from daemon.cli.api import client
from daemon.cli.api.client import percent_encode
from daemon.cli.api.command_error import CommandError
from daemon.cli.framework.declaration import command, pass_output
from daemon.cli.terminal.standard_input import can_prompt, prompted_secret, prompted_text
from daemon.cli.views.devices.pairing import (
    cancelled_line,
    invitation_row,
    joined_line,
    joined_rows,
    pairing_line,
    qr_lines,
    secret_line,
)
from daemon.words.dates import relative_time
from daemon.words.devices import asked_words, failed_try_words, invitation_end_words, joined_words
from daemon.words.terminal_text import escape
from daemon.words.translation import _

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from daemon.cli.api.client import ApiAnswer
    from daemon.cli.terminal.display import Display
    from daemon.cli.terminal.output import Output

# Joining needs a handshake and a first exchange, and the other machine may be far away.
_JOIN_S: Final = 90.0
# The daemon answers as soon as something happens, or after this long.
_WATCH_S: Final = 20
_GOES_ON: Final = ("open", "proved")
# The ends of an invitation whose secret was right.
_PROVED: Final = ("away", "failed")


@command("pair")
@click.option("--invite", is_flag=True, help="Print a token, for scripts and far devices, and do not wait.")
@click.option(
    "--mailbox",
    metavar="NAME",
    help="With --invite: for a device that joins through a mailbox, within a week.",
)
@pass_output
def pair_command(output: Output, invite: bool, mailbox: str | None) -> None:
    """Invite a device: shows a code to type there, waits, and says who joined.

    The code is valid for five minutes, three tries and one device. With --plain a second line gives the id
    and name of who joined; --json prints the invitation and does not wait.
    """
    if mailbox is not None and not invite:
        raise CommandError("usage", _("a mailbox needs a token: placet pair --invite --mailbox NAME"))
    body: dict[str, Any] = {"by": "token" if invite else "code"}
    body |= {"mailbox": mailbox} if mailbox is not None else {}
    answer = client.post("/v1/invitations", body)
    output.write_answer(answer, secret_line, invitation_row)
    sys.stdout.flush()
    until = relative_time(answer.json.get("expires_at"), output.display(answer).now_s) or _("soon")
    if mailbox is not None:
        output.write_remark(_through_mailbox_words(until))
        _draw(output, answer)
        return
    if invite:
        output.write_remark(
            _("Run `placet join` on the other device and paste this; it ends {when}.").format(when=until)
        )
        _draw(output, answer)
        return
    message = _("Run `placet join` on the other device and type this code; it ends {when}.").format(
        when=until
    )
    output.write_remark(message)
    place = answer.json.get("address")
    output.write_remark(
        _("If this device is not found there: placet join --addr {address}").format(address=place)
    )
    if output.form != "json":
        _wait(output, answer.json)


def _through_mailbox_words(until: str) -> str:
    return _(
        "Run `placet join --mailbox FOLDER` on the other device and paste this, without --mailbox for the "
        "box of a relay; it ends {when}."
    ).format(when=until)


def _draw(output: Output, answer: ApiAnswer) -> None:
    if not output.is_for_people or not sys.stderr.isatty():
        return
    for line in qr_lines(answer.json.get("token") or "", output.display(answer)):
        output.write_remark(line)


def _wait(output: Output, invitation: dict[str, Any]) -> None:
    """Wait until the invitation is over; a person who leaves earlier cancels it."""
    path = f"/v1/invitations/{percent_encode(str(invitation.get('id')))}"
    try:
        ended = _watch_invitation(output, path)
    except BaseException:
        # If the daemon is gone, the invitation is gone too.
        with suppress(CommandError):
            output.write_remark(cancelled_line(client.send_once("DELETE", path, {}).json))
        raise
    stage = str(ended.json.get("stage"))
    if stage != "joined":
        message, hint = invitation_end_words(stage, ended.json.get("device"))
        raise CommandError("failed" if stage in _PROVED else "forbidden", message, hint)
    output.write_answer(ended, joined_line, joined_rows)


def _watch_invitation(output: Output, path: str) -> ApiAnswer:
    """Follow an invitation to its end, and report the tries that failed."""
    tries: int | None = None
    while True:
        wait_s = 0 if tries is None else _WATCH_S
        answer = client.get(path, {"wait": wait_s}, wait_s + client.ANSWER_TIMEOUT_S)
        stage, left = answer.json.get("stage"), answer.json.get("tries_left")
        if stage == "open" and isinstance(left, int) and tries is not None and left < tries:
            output.write_remark(failed_try_words(left))
        tries = left
        if stage not in _GOES_ON:
            return answer


@command("join")
@click.option("--addr", metavar="HOST:PORT", help="Where the inviting device is, if it is not found.")
@click.option(
    "--mailbox", metavar="FOLDER", help="The folder in which both devices look, to join through it."
)
@click.option("--name", metavar="NAME", help="What this device is called from then on.")
@click.option("--unite", is_flag=True, help="Bring this device's own tasks into the vault.")
@pass_output
def join_command(
    output: Output, addr: str | None, mailbox: str | None, name: str | None, unite: bool
) -> None:
    """Accept an invitation. It asks for the code or token without showing it, or reads it from a pipe.

    On a terminal it also asks what this device is called, if --name does not say so.

    A code or token is never an argument: every user of a machine can read the arguments of all commands.
    """
    if click.get_current_context().args:
        message = _("a code or token is no argument, because other users of this machine can read it")
        raise CommandError("usage", message, _("make a new one, run `placet join`, and type or pipe it"))
    body: dict[str, Any] = {"token": prompted_secret("code or token", "Code or token")}
    if name is None and can_prompt():
        name = prompted_text(_("Name of this device"), _own_name())
    body |= {"name": name} if name is not None else {}
    body |= {"address": addr} if addr else {}
    body |= {"unite": True} if unite else {}
    body |= {"mailbox": os.path.realpath(os.path.expanduser(mailbox))} if mailbox is not None else {}
    answer = client.post("/v1/join", body, _JOIN_S)
    output.write_answer(answer, _joined_line, device_row)


def _own_name() -> str:
    """Return the name that this device has so far."""
    devices = client.get("/v1/devices").json
    return next((str(device.get("name") or "") for device in devices if device.get("this")), "")


# So that a code given as an argument is refused with the reason, in words that do not repeat it.
join_command.allow_extra_args = True


def device_row(device: dict[str, Any]) -> Iterator[Sequence[object]]:
    """Return the plain columns of a device that this one just joined: id, name."""
    yield device.get("device_id"), device.get("name")


def _joined_line(device: dict[str, Any], display: Display) -> Iterator[str]:
    if waits_for := device.get("waits_for"):
        yield from asked_words(escape(waits_for))
        return
    name = escape(device.get("name") or device.get("device_id") or "")
    yield pairing_line(joined_words(name, linked=bool(device.get("linked"))), display, device)
