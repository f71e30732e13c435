"""Commands that need no running daemon: up, demo, paths, version.

Never starts the daemon in the background.
"""

from __future__ import annotations

import gc
import os
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

import click

from daemon import __version__
from daemon.cli.api.client import ApiAnswer
from daemon.cli.api.command_error import EXIT_DONE, CommandError
from daemon.cli.framework.declaration import command, pass_output
from daemon.cli.terminal.output import key_value_rows
from daemon.paths import find_paths
from daemon.words.terminal_text import escape, pad_right
from daemon.words.translation import _, gettext_noop

if TYPE_CHECKING:
    from collections.abc import Iterator

    from daemon.cli.terminal.display import Display
    from daemon.cli.terminal.output import Output


@command("up")
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE", help="A setting, such as listen.port=4433."
)
def up_command(settings: tuple[str, ...]) -> int:
    """Run the daemon in the foreground, until it is stopped.

    On a terminal it shows the address of the page, which signs one browser in.
    """
    pairs = [setting.partition("=") for setting in settings]
    if wrong := [setting for setting, (_, text, _) in zip(settings, pairs, strict=True) if not text]:
        raise click.UsageError(
            _("{text!r} is not KEY=VALUE").format(text=wrong[0]), click.get_current_context()
        )
    # The address holds a secret, which belongs into no log.
    welcome = _print_welcome if sys.stdout.isatty() else None
    return _main_of("daemon.app", {key: value for key, _, value in pairs}, welcome)


def _print_welcome(address: str) -> None:
    """Say on a terminal that the daemon serves, and what to do next. Without an address no page is served."""
    lines = [_("Placet is running. Ctrl-C ends it.")]
    if address:
        lines.append(_("The page: {address}").format(address=address))
        later = _("This address signs one browser in, within five minutes. Later, type: {command}")
        lines.append(later.format(command=f"{_own_command()} web"))
    print("", *lines, "", sep="\n", flush=True)


def _own_command() -> str:
    """Return what a shell calls this command: its name, or its path if the shell would not find it."""
    from shutil import which

    name = os.path.basename(sys.argv[0])
    return name if which(name) else sys.argv[0]


@command("demo")
def demo_command() -> int:
    """Play the main story: two devices on this machine, one proposal, one confirmation."""
    return _main_of("daemon.demo.story")


def _main_of(module: str, *arguments: object) -> int:
    """Run a module of Placet that is a program of its own; other commands do not import it."""
    from importlib import import_module

    if find_spec(module.rpartition(".")[0]) is None or find_spec(module) is None:
        raise CommandError("failed", _("this installation has no {module}").format(module=module))
    program = import_module(module)
    # The command line disables garbage collection, since it ends soon; a program that keeps running needs it.
    gc.enable()
    status = program.main(*arguments)
    return status if isinstance(status, int) else EXIT_DONE


_NAMES: Final = {
    "config": gettext_noop("config"),
    "data": gettext_noop("data"),
    "runtime": gettext_noop("runtime"),
    "config_file": gettext_noop("config file"),
    "database": gettext_noop("database"),
    "socket": gettext_noop("socket"),
}


@command("paths")
@pass_output
def paths_command(output: Output) -> None:
    """Show where files are. With --plain: a name and a path per line."""
    paths = find_paths()
    fields = paths._asdict() | {
        "config_file": paths.config_file,
        "database": paths.database,
        "socket": paths.socket,
    }
    output.write_answer(ApiAnswer(fields, ""), _paths, key_value_rows)


def _paths(paths_by_name: dict[str, str], display: Display) -> Iterator[str]:
    for name, path in paths_by_name.items():
        yield f"{display.paint(pad_right(_(_NAMES[name]), 12), 'dim')} {escape(path)}"


@command("version")
@pass_output
def version_command(output: Output) -> None:
    """Show the version."""
    output.write_answer(
        ApiAnswer({"version": __version__}, ""), lambda document, _: [f"placet {document['version']}"], _row
    )


def _row(fields: dict[str, Any]) -> list[tuple[Any]]:
    return [(fields["version"],)]
