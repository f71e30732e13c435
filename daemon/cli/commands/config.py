"""The settings: get, set, unset, show, edit. No daemon is needed.

Never reads or writes the file itself: the daemon's own reader and writer do, so that both agree.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from daemon.cli import client
from daemon.cli.client import Answer
from daemon.cli.grammar import command, group, joined, pass_output
from daemon.cli.output import plain_cell
from daemon.cli.refusals import Refusal
from daemon.cli.table import Cell, Column, table
from daemon.cli.text import shown
from daemon.cli.unit import unit_file
from daemon.cli.words import _, later
from daemon.paths import find_paths

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from daemon.cli.look import Look
    from daemon.cli.output import Output

_AT_ONCE = "language"
"""The one setting that the command line reads itself."""


def _asked(ask: Callable[[Any, str], Any]) -> Any:
    """Ask the part of Placet that knows the settings; imported here, as it is heavier than all the rest."""
    part = import_module("daemon.settings")
    try:
        return ask(part, find_paths().config_file)
    except part.ConfigError as error:
        raise Refusal(
            "usage", str(error), _("see `{command}`").format(command="placet config show")
        ) from error


@command("get")
@click.argument("key")
@pass_output
def get_command(output: Output, key: str) -> None:
    """Show the value of a setting."""
    setting = _asked(lambda part, file: part.one(file, os.environ, key))
    output.show(Answer(setting._asdict(), ""), _worded, _value)


def _worded(told: dict[str, Any], look: Look) -> Iterator[str]:
    yield plain_cell(told["value"]) or look.paint(_("not set"), "dim")


def _value(told: dict[str, Any]) -> Iterator[Sequence[object]]:
    yield (told["value"],)


@command("set")
@click.argument("key")
@click.argument("value", nargs=-1, required=True)
@pass_output
def set_command(output: Output, key: str, value: tuple[str, ...]) -> None:
    """Set a setting; several values are separated by commas."""
    _change(output, key, joined(value, "a value") if value != ("",) else "")


@command("unset")
@click.argument("key")
@pass_output
def unset_command(output: Output, key: str) -> None:
    """Take a setting out of the file, so that its default counts."""
    _change(output, key, None)


def _change(output: Output, key: str, text: str | None) -> None:
    changed = _asked(lambda part, file: part.change(file, key, text))
    setting = _asked(lambda part, file: part.one(file, os.environ, key))
    output.show(Answer(setting._asdict(), ""), _line, lambda told: [_row(told)])
    if not changed:
        output.say(_("It was so already."))
    elif setting.origin not in (find_paths().config_file, "default"):
        output.say(_("It does not count as long as {origin} is set.").format(origin=setting.origin))
    elif key != _AT_ONCE or _runs():
        _tell_restart(output)


def _tell_restart(output: Output) -> None:
    if _runs():
        by_hand = _("The daemon takes it up when it is restarted.")
        unit = _("The daemon takes it up when it is restarted: systemctl --user restart placet")
        output.say(unit if os.path.exists(unit_file()) else by_hand)


def _runs() -> bool:
    try:
        client.get("/healthz")
    except Refusal:
        return False
    return True


def _line(told: dict[str, Any], _look: Look) -> Iterator[str]:
    value = plain_cell(told["value"])
    yield f"{shown(told['key'])} = {value}" if value else f"{shown(told['key'])}: {_('not set')}"


def _row(told: dict[str, Any]) -> tuple[object, ...]:
    return told["key"], told["value"], told["origin"]


@command("show")
@click.option("--origin", is_flag=True, help="Also what set each: a file, a variable, or the default.")
@pass_output
def show_command(output: Output, origin: bool) -> None:
    """Show all settings. With --plain: key, value, origin."""
    found = _asked(lambda part, file: part.settings(file, os.environ))
    told = [setting._asdict() for setting in found]
    output.show(
        Answer(told, ""),
        lambda settings, look: _settings(settings, look, origin),
        lambda all_: map(_row, all_),
    )


def _settings(settings: Sequence[dict[str, Any]], look: Look, origin: bool) -> Iterator[str]:
    columns = [
        Column(later("SETTING")),
        Column(later("VALUE"), gives=True),
        Column(later("SET BY"), gives=True),
    ]
    rows = []
    for one in settings:
        own = one["origin"] != "default"
        value = Cell(plain_cell(one["value"]) or "-", ("bold",) if own else ("dim",))
        rows.append([Cell(one["key"]), value, Cell(shown(one["origin"]), ("dim",))])
    width = len(columns) if origin else 2
    return table(columns[:width], [row[:width] for row in rows], look)


@command("edit")
@pass_output
def edit_command(output: Output) -> None:
    """Open the settings in your editor; what cannot be used is not kept."""
    from daemon.cli.editor import written

    file = find_paths().config_file
    try:
        with open(file, encoding="utf-8") as opened:
            before = opened.read()
    except FileNotFoundError:
        before = ""
    with written(before, "config", ".toml") as text:
        changed = _asked(lambda part, _file: part.replace(file, text))
    output.say(_("Written.") if changed else _("It was so already."))
    if changed:
        _tell_restart(output)


@group("config")
def config_command() -> None:
    """Settings: get, set, unset, show, edit."""


for _verb in (get_command, set_command, unset_command, show_command, edit_command):
    config_command.add_command(_verb)
