"""Pairing: pair, join.

Never takes a code or token as an argument where it can be asked for, and leaves no invitation open that a
person has left.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import click

from daemon.cli import client
from daemon.cli.client import quoted
from daemon.cli.grammar import command, pass_output
from daemon.cli.refusals import Refusal
from daemon.cli.stdin import typed
from daemon.cli.text import shown
from daemon.cli.views.pairing import (
    called_off_line,
    invitation_row,
    joined_line,
    joined_row,
    qr_lines,
    secret_line,
    sent_away_words,
    tries_told,
)
from daemon.cli.when import ago
from daemon.cli.words import _

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from daemon.cli.client import Answer
    from daemon.cli.look import Look
    from daemon.cli.output import Output

# Joining takes a handshake and the first exchange with a machine that may be far.
_JOIN_S: Final = 90.0
# The daemon answers as soon as something happens, or after this long.
_WATCH_S: Final = 20
_GOES_ON: Final = ("open", "proved")


@command("pair")
@click.option("--invite", is_flag=True, help="Print a token, for scripts and far devices, and do not wait.")
@pass_output
def pair_command(output: Output, invite: bool) -> None:
    """Invite a device: shows a code to type there, waits, and says who joined.

    The code is good for five minutes, three tries and one device. With --plain a second line gives the id and
    name of who joined; --json prints the invitation and does not wait.
    """
    answer = client.post("/v1/invitations", {"by": "token" if invite else "code"})
    output.show(answer, secret_line, invitation_row)
    sys.stdout.flush()
    until = ago(answer.json.get("expires_at"), output.look(answer).now_s) or _("soon")
    if invite:
        output.say(
            _("Run `placet join` on the other device and paste this; it ends {when}.").format(when=until)
        )
        _draw(output, answer)
        return
    told = _("Run `placet join` on the other device and type this code; it ends {when}.").format(when=until)
    output.say(told)
    place = answer.json.get("address")
    output.say(_("If this device is not found there: placet join --addr {address}").format(address=place))
    if output.form != "json":
        _wait(output, answer.json)


def _draw(output: Output, answer: Answer) -> None:
    if not output.for_people or not sys.stderr.isatty():
        return
    for line in qr_lines(answer.json.get("token") or "", output.look(answer)):
        output.say(line)


def _wait(output: Output, invitation: dict[str, Any]) -> None:
    """Wait until the invitation is over; whoever leaves before calls it off."""
    path = f"/v1/invitations/{quoted(str(invitation.get('id')))}"
    try:
        ended = _watched(output, path)
    except BaseException:
        # Where the daemon is gone, the invitation is too.
        with suppress(Refusal):
            output.say(called_off_line(client.send("DELETE", path, {}).json))
        raise
    if ended.json.get("stage") == "away":
        seen = _("the code was typed right, but the other device did not come back")
        raise Refusal("failed", seen, _("it joins as soon as it reaches this one: see placet devices"))
    if ended.json.get("stage") == "failed":
        seen = _("the code was typed right, but this device could not store who came")
        raise Refusal("failed", seen, _("see to what `placet doctor` says, then make a new one: placet pair"))
    if ended.json.get("stage") != "joined":
        raise _without_device(str(ended.json.get("stage")), ended.json.get("device"))
    output.show(ended, joined_line, joined_row)


def _watched(output: Output, path: str) -> Answer:
    """Follow an invitation to its end, telling of tries that failed."""
    tries: int | None = None
    while True:
        wait_s = 0 if tries is None else _WATCH_S
        answer = client.get(path, {"wait": wait_s}, wait_s + client.WAIT_S)
        stage, left = answer.json.get("stage"), answer.json.get("tries_left")
        if stage == "open" and isinstance(left, int) and tries is not None and left < tries:
            output.say(tries_told(left))
        tries = left
        if stage not in _GOES_ON:
            return answer


def _without_device(stage: str, device: object) -> Refusal:
    seen = {
        "tried_out": _("the code was typed wrong three times, and is worth nothing now"),
        "called_off": sent_away_words() if device else _("the invitation was called off"),
    }.get(stage, _("nobody joined in time"))
    return Refusal("forbidden", seen, _("make a new one: placet pair"))


@command("join")
@click.argument("token", required=False, metavar="[CODE or TOKEN]")
@click.option("--addr", metavar="HOST:PORT", help="Where the inviting device is, if it is not found.")
@click.option("--unite", is_flag=True, help="Bring this device's own tasks along.")
@pass_output
def join_command(output: Output, token: str | None, addr: str | None, unite: bool) -> None:
    """Accept an invitation; its code or token is asked for, or read from standard input."""
    body: dict[str, Any] = {"token": token or typed("code or token", "Code or token:")}
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
