"""Commands on the page in a browser: open it, print where it is, list and end the browsers' sessions.

Never gives the one-time secret to another program as an argument, which other users of the machine can read.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import click

from daemon.cli.api import client
from daemon.cli.api.client import percent_encode
from daemon.cli.api.command_error import CommandError
from daemon.cli.framework.declaration import command, group, pass_output
from daemon.cli.views.devices.pairing import qr_lines
from daemon.files import Durability, replace_file
from daemon.paths import find_paths
from daemon.words.dates import relative_time
from daemon.words.short_ids import short_ids_of
from daemon.words.terminal_text import escape, pad_right
from daemon.words.translation import _

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from daemon.cli.api.client import ApiAnswer
    from daemon.cli.terminal.display import Display
    from daemon.cli.terminal.output import Output

_FILE: Final = "open-page.html"
_BROWSER_WIDTH: Final = 60
_SIGN_INS: Final = "/v1/browsers/sign-ins"
_BROWSERS: Final = "/v1/browsers"


@group("web", alone=True)
@click.option("--print", "prints", is_flag=True, help="Print the address and its code, and open nothing.")
@pass_output
def web_command(output: Output, prints: bool) -> None:
    """Open the page in a browser, and sign that browser in.

    The code in the address is valid for five minutes, and once. `--print` shows it, with a QR code for each
    name in web.hosts. With --plain: an address per line.
    """
    if click.get_current_context().invoked_subcommand is not None:
        return
    answer = client.post(_SIGN_INS, {})
    if prints or not output.is_for_people or not _has_desktop():
        output.write_answer(
            answer, _address_lines, lambda sign_in: [(text,) for text in sign_in["addresses"]]
        )
        return
    _open(str(answer.json["address"]))
    output.write_remark(_("Opened in your browser. If nothing shows: placet web --print"))


def _has_desktop() -> bool:
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _open(address: str) -> None:
    """Open a file that only this user can read, and that leads to the address: no argument contains it."""
    import webbrowser
    from urllib.parse import quote

    file = os.path.join(find_paths().runtime, _FILE)
    text = f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={address}">\n'
    replace_file(file, text.encode(), durability=Durability.NONE)
    if not webbrowser.open(f"file://{quote(file)}"):
        raise CommandError("failed", _("no browser could be started"), "placet web --print")


def _address_lines(sign_in: dict[str, Any], display: Display) -> Iterator[str]:
    for address in sign_in["addresses"]:
        yield address
    yield _("Code: {code}").format(code=sign_in["secret"])
    words = _("It signs one browser in, and ends {when}.")
    yield display.paint(words.format(when=relative_time(sign_in["expires_at"], display.now_s)), "dim")
    for address in sign_in["addresses"][1:]:
        yield from ("", *qr_lines(address, display))


@command("sessions")
@pass_output
def sessions_command(output: Output) -> None:
    """List the browsers that are signed in. With --plain: id, browser, begin, last use."""
    answer = client.get(_BROWSERS)
    output.write_answer(answer, _session_lines, _session_rows)
    if not answer.json:
        output.write_remark(_("No browser is signed in."))


@command("end")
@click.argument("session", required=False, metavar="[SESSION]")
@click.option("--all", "ends_all", is_flag=True, help="End every session.")
@pass_output
def end_command(output: Output, session: str | None, ends_all: bool) -> None:
    """End a session, or all with --all: the browser has to sign in again."""
    if bool(session) == ends_all:
        raise click.UsageError(_("name a session, or give --all"), click.get_current_context())
    path = _BROWSERS if ends_all else f"{_BROWSERS}/{percent_encode(session or '')}"
    answer = client.send_once("DELETE", path, {})
    ended: list[dict[str, Any]] = answer.json if ends_all else [answer.json]
    output.write_answer(_with_json(answer, ended), _session_lines, _session_rows)


def _with_json(answer: ApiAnswer, sessions: list[dict[str, Any]]) -> ApiAnswer:
    return answer._replace(json=sessions)


def _session_rows(sessions: Sequence[dict[str, Any]]) -> Iterator[Sequence[object]]:
    for session in sessions:
        yield session["id"], session["browser"], session["began_at"], session["used_at"]


def _session_lines(sessions: Sequence[dict[str, Any]], display: Display) -> Iterator[str]:
    ids = short_ids_of(sessions)
    for session in sessions:
        since = relative_time(session["began_at"], display.now_s)
        yield (
            f"{display.paint(ids[session['id']], 'cyan')}  {pad_right(since, 12)}  "
            f"{escape(session['browser'])[:_BROWSER_WIDTH]}"
        )


web_command.add_command(sessions_command)
web_command.add_command(end_command)
