"""The command `help`: all commands by their sections, or what `--help` says of one.

Never imports a command that nobody asked about.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from daemon.cli.api.client import ApiAnswer
from daemon.cli.framework.declaration import LazyGroup, command, pass_output
from daemon.cli.framework.examples import example_of
from daemon.words.translation import _

if TYPE_CHECKING:
    from daemon.cli.terminal.output import Output


@command("help")
@click.argument("words", nargs=-1, metavar="[COMMAND]...")
@pass_output
def help_command(output: Output, words: tuple[str, ...]) -> None:
    """List all commands, or show how one is used.

    With --plain: command, summary, example.
    """
    root = click.get_current_context().find_root()
    placet = root.command
    assert isinstance(placet, LazyGroup)
    if words:
        context = _context_of(words, root)
        summaries = {" ".join(words): context.command.get_short_help_str(200)}
        text = context.get_help()
    else:
        summaries = {name: placet.summary_of(name) for name in placet.list_commands(root)}
        text = _all_commands(placet, root)
    described = [
        {"command": path, "summary": summary, "example": example_of(path)}
        for path, summary in summaries.items()
    ]
    output.write_answer(ApiAnswer(described, ""), lambda *_shown: text.splitlines(), _rows)


def _context_of(words: tuple[str, ...], root: click.Context) -> click.Context:
    """Find a command by its words, as the program does when it is called by them."""
    context = root
    for word in words:
        if not isinstance(context.command, click.Group):
            unknown = _("no command is called {name!r}").format(name=" ".join(words))
            raise click.UsageError(unknown, root)
        _name, beneath, _behind = context.command.resolve_command(context, [word])
        assert beneath is not None
        context = click.Context(beneath, info_name=word, parent=context)
    return context


def _all_commands(placet: LazyGroup, root: click.Context) -> str:
    formatter = root.make_formatter()
    placet.format_help_text(root, formatter)
    placet.format_all_commands(formatter)
    placet.format_epilog(root, formatter)
    return formatter.getvalue().strip("\n")


def _rows(described: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    return [tuple(row.values()) for row in described]
