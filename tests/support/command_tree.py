"""All commands of the program with what click knows of them, in the order of the help.

Never words anything: the man page and the reference do.
"""

from collections.abc import Iterator
from typing import NamedTuple

import click

from daemon.cli.framework.declaration import LazyGroup


class Leaf(NamedTuple):
    """A command that is no group, by the words with which it is called, and what it takes behind them."""

    path: str
    command: click.Command
    context: click.Context
    arguments: list[str]


class OptionHelp(NamedTuple):
    """What the help says of an option: its names as they are typed, how it is shown, its meaning."""

    names: frozenset[str]
    shown: str
    meaning: str


def sections(root: LazyGroup, context: click.Context) -> Iterator[tuple[str, list[Leaf]]]:
    """Yield each section of the program's help with its commands, those of groups in their places."""
    for title, names in root.sections.items():
        yield title, [leaf for name in names for leaf in _leaves(root, name, "placet", context)]


def _leaves(group: click.Group, name: str, path: str, parent: click.Context) -> Iterator[Leaf]:
    command = group.get_command(parent, name)
    assert command is not None
    context = click.Context(command, parent=parent, info_name=name)
    path = f"{path} {name}"
    if isinstance(command, click.Group):
        for verb in command.list_commands(context):
            yield from _leaves(command, verb, path, context)
        return
    pieces = [piece for piece in command.collect_usage_pieces(context) if piece != "[OPTIONS]"]
    yield Leaf(path, command, context, pieces)


def commands(root: click.Group, context: click.Context) -> Iterator[tuple[str, click.Command]]:
    """Yield every command, groups too, by the words with which it is called."""
    for name in root.list_commands(context):
        command = root.get_command(context, name)
        assert command is not None
        yield name, command
        if isinstance(command, click.Group):
            beneath = click.Context(command, parent=context, info_name=name)
            yield from ((f"{name} {path}", verb) for path, verb in commands(command, beneath))


def options(command: click.Command, context: click.Context) -> Iterator[OptionHelp]:
    """Yield what the help says of the options of a command."""
    for option in command.get_params(context):
        record = option.get_help_record(context) if isinstance(option, click.Option) else None
        if record is not None:
            yield OptionHelp(frozenset(option.opts), *record)
