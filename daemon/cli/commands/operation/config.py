"""Commands on the settings: get, set, unset, show, edit. They need no daemon.

Never reads or writes the file itself: the daemon's own reader and writer do, so that both agree.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from daemon.cli.api import client
from daemon.cli.api.client import ApiAnswer
from daemon.cli.api.command_error import CommandError
from daemon.cli.commands.operation.systemd_unit import unit_file
from daemon.cli.framework.declaration import command, group, joined_words, pass_output
from daemon.cli.terminal.output import plain_cell
from daemon.cli.terminal.table import Cell, Column, table_lines
from daemon.paths import find_paths
from daemon.words.terminal_text import escape
from daemon.words.translation import _, gettext_noop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from daemon.cli.terminal.display import Display
    from daemon.cli.terminal.output import Output

_AT_ONCE = "language"
"""The one setting that the command line reads itself."""


def _use_settings(ask: Callable[[Any, str], Any]) -> Any:
    """Ask the module that knows the settings; it is imported here, since it is slow to import."""
    part = import_module("daemon.config_file")
    try:
        return ask(part, find_paths().config_file)
    except part.ConfigError as error:
        raise CommandError(
            "usage",
            str(error),
            _("see `{command}`").format(command="placet config show"),
            sentence=error.sentence_json(),
        ) from error


@command("get")
@click.argument("key")
@pass_output
def get_command(output: Output, key: str) -> None:
    """Show the value of a setting."""
    setting = _use_settings(lambda part, file: part.find_setting(file, os.environ, key))
    output.write_answer(ApiAnswer(setting._asdict(), ""), _value_line, _value)


def _value_line(fields: dict[str, Any], display: Display) -> Iterator[str]:
    yield plain_cell(fields["value"]) or display.paint(_("not set"), "dim")


def _value(fields: dict[str, Any]) -> Iterator[Sequence[object]]:
    yield (fields["value"],)


@command("set")
@click.argument("key")
@click.argument("value", nargs=-1, required=True)
@pass_output
def set_command(output: Output, key: str, value: tuple[str, ...]) -> None:
    """Set a setting; several values are separated by commas."""
    _change(output, key, joined_words(value, "a value") if value != ("",) else "")


@command("unset")
@click.argument("key")
@pass_output
def unset_command(output: Output, key: str) -> None:
    """Remove a setting from the file, so that its default applies."""
    _change(output, key, None)


def _change(output: Output, key: str, text: str | None) -> None:
    changed = _use_settings(lambda part, file: part.change_setting(file, key, text))
    setting = _use_settings(lambda part, file: part.find_setting(file, os.environ, key))
    output.write_answer(ApiAnswer(setting._asdict(), ""), _line, lambda setting_json: [_row(setting_json)])
    if not changed:
        output.write_remark(_("It was so already."))
    elif setting.origin not in (find_paths().config_file, "default"):
        output.write_remark(_("It does not count as long as {origin} is set.").format(origin=setting.origin))
    elif key != _AT_ONCE or _runs():
        _tell_restart(output)


def _tell_restart(output: Output) -> None:
    if _runs():
        by_hand = _("The daemon uses it after a restart.")
        unit = _("The daemon uses it after a restart: systemctl --user restart placet")
        output.write_remark(unit if os.path.exists(unit_file()) else by_hand)


def _runs() -> bool:
    try:
        client.get("/healthz")
    except CommandError:
        return False
    return True


def _line(fields: dict[str, Any], _display: Display) -> Iterator[str]:
    value = plain_cell(fields["value"])
    yield f"{escape(fields['key'])} = {value}" if value else f"{escape(fields['key'])}: {_('not set')}"


def _row(fields: dict[str, Any]) -> tuple[object, ...]:
    return fields["key"], fields["value"], fields["origin"]


@command("show")
@click.option("--origin", is_flag=True, help="Also what set each: a file, a variable, or the default.")
@pass_output
def show_command(output: Output, origin: bool) -> None:
    """Show all settings. With --plain: key, value, origin."""
    all_settings = _use_settings(lambda part, file: part.all_settings(file, os.environ))
    documents = [setting._asdict() for setting in all_settings]
    output.write_answer(
        ApiAnswer(documents, ""),
        lambda settings, display: _settings(settings, display, origin),
        lambda all_: map(_row, all_),
    )


def _settings(settings: Sequence[dict[str, Any]], display: Display, origin: bool) -> Iterator[str]:
    columns = [
        Column(gettext_noop("SETTING")),
        Column(gettext_noop("VALUE"), shrinks=True),
        Column(gettext_noop("SET BY"), shrinks=True),
    ]
    rows = []
    for setting in settings:
        own = setting["origin"] != "default"
        value = Cell(plain_cell(setting["value"]) or "-", ("bold",) if own else ("dim",))
        rows.append([Cell(setting["key"]), value, Cell(escape(setting["origin"]), ("dim",))])
    width = len(columns) if origin else 2
    return table_lines(columns[:width], [row[:width] for row in rows], display)


@command("edit")
@pass_output
def edit_command(output: Output) -> None:
    """Open the settings in your editor; settings that are not valid are not saved."""
    from daemon.cli.terminal.editor import edit_text

    file = find_paths().config_file
    before = _use_settings(lambda part, _file: part.read_settings(file))
    with edit_text(before, "config", ".toml") as text:
        changed = _use_settings(lambda part, _file: part.replace_text(file, text))
    output.write_remark(_("Written.") if changed else _("It was so already."))
    if changed:
        _tell_restart(output)


@group("config")
def config_command() -> None:
    """Settings: get, set, unset, show, edit."""


for _verb in (get_command, set_command, unset_command, show_command, edit_command):
    config_command.add_command(_verb)
