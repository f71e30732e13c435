"""Commands of whoever keeps a relay: relay up, relay add, change, list, remove.

Never asks the daemon: a relay is a process of its own, on a machine that may have no journal.
"""

from __future__ import annotations

import gc
import os
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import click

from daemon.cli.api.client import ApiAnswer
from daemon.cli.api.command_error import CommandError
from daemon.cli.framework.declaration import group, pass_output
from daemon.cli.terminal.output import key_value_rows
from daemon.paths import find_paths
from daemon.relay.boxes import QUOTA_MIB_MAX, BoxFault
from daemon.words.terminal_text import escape
from daemon.words.translation import _, gettext_noop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from daemon.cli.terminal.display import Display
    from daemon.cli.terminal.output import Output

_PROGRAM: Final = "daemon.relay.program"
_FOLDER: Final = "--folder"
_FOLDER_HELP: Final = gettext_noop("The folder of the relay; beside the journal otherwise.")
_FAULTS: Final = {
    "taken": gettext_noop("there is a box named {name} already"),
    "unknown": gettext_noop("there is no box named {name}"),
    "name": gettext_noop("{name} is no name of a box: letters from a to z, digits and hyphens"),
    "many": gettext_noop("there are too many boxes for {name}"),
}


@group("relay")
def relay_command() -> None:
    """A relay: a small server that keeps sealed blobs for devices that are never online together.

    It can read nothing of what it keeps. Each vault, or each household, has a box with a secret and a quota.
    """


@relay_command.command("up")
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Where to listen; 0.0.0.0 is everywhere."
)
@click.option("--port", type=click.IntRange(0, 65535), default=8484, show_default=True, help="Its port.")
@click.option(_FOLDER, help=_FOLDER_HELP)
@click.option(
    "--certificate",
    nargs=2,
    metavar="CHAIN KEY",
    help="The files (PEM) of a certificate and its key, instead of its own.",
)
@click.option("--unencrypted", is_flag=True, help="Plain HTTP, for a proxy that has the certificate.")
def run_relay(
    host: str, port: int, folder: str | None, certificate: tuple[str, str] | None, **how: bool
) -> int:
    """Run the relay in the foreground, until it is stopped.

    Without a certificate it makes its own, which devices know by the pin that `placet relay add` prints.
    """
    if how["unencrypted"] and certificate is not None:
        raise CommandError("usage", _("give --certificate or --unencrypted, not both"))
    program: Any = import_module(_PROGRAM)
    gc.enable()
    status: int = program.main(_folder(folder), host, port, certificate=certificate, **how)
    return status


@relay_command.command("add")
@click.argument("name")
@click.option(
    "--quota", type=click.IntRange(1, QUOTA_MIB_MAX), default=256, show_default=True, help="In MiB."
)
@click.option(_FOLDER, help=_FOLDER_HELP)
@pass_output
def add(output: Output, name: str, quota: int, folder: str | None) -> None:
    """Make a box, and print its secret, which is kept nowhere, and the pin of the relay's own certificate.

    With --plain: a name and a value per line.
    """
    made = _call(name, lambda program: program.add_box(_folder(folder), name, quota))
    output.write_answer(ApiAnswer(made, ""), _made_lines, key_value_rows)


@relay_command.command("change")
@click.argument("name")
@click.option("--quota", type=click.IntRange(1, QUOTA_MIB_MAX), help="Its quota from now on, in MiB.")
@click.option("--new-secret", is_flag=True, help="Make another secret; the old one is refused at once.")
@click.option(_FOLDER, help=_FOLDER_HELP)
@pass_output
def change(output: Output, name: str, quota: int | None, new_secret: bool, folder: str | None) -> None:
    """Give a box another quota or another secret. What it keeps stays.

    After a new secret, remove the mailbox on each device and add it again. With --plain: a name and a value
    per line.
    """
    if quota is None and not new_secret:
        raise CommandError("usage", _("say what to change: --quota MIB, --new-secret, or both"))
    changed = _call(
        name, lambda program: program.change_box(_folder(folder), name, quota, new_secret=new_secret)
    )
    output.write_answer(ApiAnswer(changed, ""), _changed_lines, key_value_rows)


@relay_command.command("list")
@click.option(_FOLDER, help=_FOLDER_HELP)
@pass_output
def show_list(output: Output, folder: str | None) -> None:
    """List the boxes. With --plain: name, quota in MiB, bytes kept."""
    boxes = _call("", lambda program: program.list_boxes(_folder(folder)))
    output.write_answer(ApiAnswer(boxes, ""), _box_lines, _box_rows)


@relay_command.command("remove")
@click.argument("name")
@click.option(_FOLDER, help=_FOLDER_HELP)
@pass_output
def remove(output: Output, name: str, folder: str | None) -> None:
    """Remove a box and what it keeps. Devices lose nothing: all that they wrote or read is on them."""
    _call(name, lambda program: program.remove_box(_folder(folder), name))
    output.write_answer(ApiAnswer({"box": name}, ""), _removed_lines, key_value_rows)


def _folder(given: str | None) -> str:
    return os.path.abspath(os.path.expanduser(given)) if given else os.path.join(find_paths().data, "relay")


def _call(name: str, call: Callable[[Any], Any]) -> Any:
    program = import_module(_PROGRAM)
    try:
        return call(program)
    except BoxFault as fault:
        code = {"unknown": "not_found", "taken": "conflict"}.get(fault.code, "usage")
        raise CommandError(code, _(_FAULTS[fault.code]).format(name=name)) from fault
    except (OSError, ValueError) as fault:
        reason = getattr(fault, "strerror", None) or str(fault)
        raise CommandError("failed", _("the boxes cannot be used: {reason}").format(reason=reason)) from fault


def _made_lines(made: dict[str, Any], display: Display) -> Iterator[str]:
    name = escape(made["box"])
    yield f"{display.paint(display.symbol('✓'), 'green')} {_('Added')} {display.paint(name, 'bold')}"
    yield f"  {_('secret')}: {made['secret']}"
    yield f"  {_('pin')}: {made['pin']}"


def _changed_lines(changed: dict[str, Any], display: Display) -> Iterator[str]:
    name = display.paint(escape(changed["box"]), "bold")
    yield f"{display.paint(display.symbol('✓'), 'green')} {_('Changed')} {name}"
    yield f"  {_('quota')}: {changed['quota_mib']} MiB"
    if "secret" in changed:
        yield f"  {_('secret')}: {changed['secret']}"


def _removed_lines(removed: dict[str, Any], display: Display) -> Iterator[str]:
    name = display.paint(escape(removed["box"]), "bold")
    yield f"{display.paint(display.symbol('✓'), 'green')} {_('Removed')} {name}"


def _box_lines(boxes: Sequence[dict[str, Any]], display: Display) -> Iterator[str]:
    if not boxes:
        yield display.paint(_("No box yet"), "dim")
    for box in boxes:
        size_kib = -(-box["bytes"] // 1024)
        words = _("{size} KiB of {quota} MiB").format(size=size_kib, quota=box["quota_mib"])
        yield f"{display.paint(escape(box['box']), 'bold')}  {words}"


def _box_rows(boxes: Sequence[dict[str, Any]]) -> Iterator[Sequence[object]]:
    for box in boxes:
        yield box["box"], box["quota_mib"], box["bytes"]
