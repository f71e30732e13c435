"""What needs no running daemon: up, demo, paths, version.

Never starts the daemon in the background.
"""

from __future__ import annotations

import gc
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

import click

from daemon import __version__
from daemon.cli.client import Answer
from daemon.cli.grammar import command, pass_output
from daemon.cli.refusals import DONE, Refusal
from daemon.cli.text import padded, shown
from daemon.cli.views.standing import named_rows
from daemon.cli.words import _, later
from daemon.paths import find_paths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from daemon.cli.look import Look
    from daemon.cli.output import Output


@command("up")
@click.option(
    "--set", "settings", multiple=True, metavar="KEY=VALUE", help="A setting, such as listen.port=4433."
)
def up_command(settings: tuple[str, ...]) -> int:
    """Run the daemon in the foreground, until it is told to end."""
    pairs = [setting.partition("=") for setting in settings]
    if wrong := [setting for setting, (_, found, _) in zip(settings, pairs, strict=True) if not found]:
        raise click.UsageError(
            _("{text!r} is not KEY=VALUE").format(text=wrong[0]), click.get_current_context()
        )
    return _main_of("daemon.app", {key: value for key, _, value in pairs})


@command("demo")
def demo_command() -> int:
    """Play the main story: two devices on this machine, one proposal, one confirmation."""
    return _main_of("daemon.demo.story")


def _main_of(module: str, *arguments: object) -> int:
    """Run a part of Placet that is a program of its own; the rest of the time it is not even imported."""
    from importlib import import_module

    if find_spec(module.rpartition(".")[0]) is None or find_spec(module) is None:
        raise Refusal("failed", _("this installation has no {module}").format(module=module))
    program = import_module(module)
    # The command line runs without collecting garbage, and imports make none; a program that stays does not.
    gc.enable()
    status = program.main(*arguments)
    return status if isinstance(status, int) else DONE


_NAMES: Final = {
    "config": later("config"),
    "data": later("data"),
    "runtime": later("runtime"),
    "config_file": later("config file"),
    "database": later("database"),
    "socket": later("socket"),
}


@command("paths")
@pass_output
def paths_command(output: Output) -> None:
    """Show where files are. With --plain: a name and a path a line."""
    paths = find_paths()
    told = paths._asdict() | {
        "config_file": paths.config_file,
        "database": paths.database,
        "socket": paths.socket,
    }
    output.show(Answer(told, ""), _paths, named_rows)


def _paths(told: dict[str, str], look: Look) -> Iterator[str]:
    for name, path in told.items():
        yield f"{look.paint(padded(_(_NAMES[name]), 12), 'dim')} {shown(path)}"


@command("web")
def web_command() -> None:
    """Open the journal in a browser; this version has no page yet."""
    raise Refusal(
        "failed",
        _("this version has no page for a browser"),
        _("everything is in the command line: `placet --help`"),
    )


@command("version")
@pass_output
def version_command(output: Output) -> None:
    """Show the version."""
    output.show(Answer({"version": __version__}, ""), lambda told, _: [f"placet {told['version']}"], _row)


def _row(told: dict[str, Any]) -> list[tuple[Any]]:
    return [(told["version"],)]
