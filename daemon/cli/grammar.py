"""How commands are declared: click, with the options that every command takes.

Never imports a command before it is called by name.
"""

from __future__ import annotations

from functools import wraps
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from daemon.cli.output import HUMAN, JSON, JSONL, PLAIN

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

CONTEXT: Final = {"help_option_names": ["-h", "--help"], "max_content_width": 88}


class Listed(NamedTuple):
    """Where a command is found, and the line of the help that names it."""

    module: str
    summary: str


def _set_form(context: click.Context, option: click.Parameter, wanted: bool) -> None:
    if not wanted:
        return
    output, form = context.find_root().obj, str(option.name)
    if output.form not in (HUMAN, form):
        raise click.UsageError(f"--{output.form} and --{form} exclude each other", context)
    output.form = form


def _set_colourless(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted:
        context.find_root().obj.coloured = False


def _form(name: str, words: str) -> click.Option:
    return click.Option(
        [f"--{name}"], is_flag=True, expose_value=False, callback=_set_form, is_eager=True, help=words
    )


def output_options() -> list[click.Parameter]:
    """Make the options that are accepted before and after every command's name."""
    return [
        _form(JSON, "Print JSON."),
        _form(PLAIN, "Print tab-separated columns, for scripts."),
        click.Option(
            ["--no-color"],
            is_flag=True,
            expose_value=False,
            callback=_set_colourless,
            is_eager=True,
            help="Do not colour.",
        ),
    ]


class Command(click.Command):
    """A command that takes the output options."""

    streams = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("context_settings", CONTEXT)
        super().__init__(*args, **kwargs)
        self.params += [_form(JSONL, "Print one JSON object a line.")] * self.streams + output_options()


class StreamCommand(Command):
    """A command whose answer may also be read line by line, as JSON."""

    streams = True


class Group(click.Group):
    """A noun whose verbs are in the same module."""

    command_class = Command

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("context_settings", CONTEXT)
        kwargs.setdefault("no_args_is_help", False)
        super().__init__(*args, **kwargs)
        self.params += output_options()

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        if not args and not context.resilient_parsing:
            verbs = ", ".join(self.list_commands(context))
            raise click.UsageError(f"{context.info_name} needs a verb: {verbs}", context)
        return super().parse_args(context, args)


class LazyGroup(Group):
    """The program itself: sections of commands, each imported when it is called."""

    def __init__(self, sections: Mapping[str, Mapping[str, Listed]], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.sections = sections

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        # The bare name is a question, and the help is its answer.
        return super().parse_args(context, args or ["--help"])

    def list_commands(self, _context: click.Context) -> list[str]:
        return [name for section in self.sections.values() for name in section]

    def get_command(self, _context: click.Context, name: str) -> click.Command | None:
        for section in self.sections.values():
            if name in section:
                module = import_module(f"daemon.cli.commands.{section[name].module}")
                found = getattr(module, f"{name}_command")
                assert isinstance(found, click.Command)
                return found
        return None

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if self.get_command(context, name) is None and not name.startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(name, self.list_commands(context), n=1)
            meant = f", did you mean {near[0]!r}?" if near else ""
            raise click.UsageError(f"no command is called {name!r}{meant}", context)
        return super().resolve_command(context, args)

    def format_commands(self, _context: click.Context, formatter: click.HelpFormatter) -> None:
        for title, section in self.sections.items():
            with formatter.section(title):
                formatter.write_dl([(name, listed.summary) for name, listed in section.items()])


def command(
    name: str, *, summary: str = "", streams: bool = False
) -> Callable[[Callable[..., object]], click.Command]:
    """Declare a command; its docstring is its help."""
    kind = StreamCommand if streams else Command
    return click.command(name, cls=kind, short_help=summary or None)


def group(name: str) -> Callable[[Callable[..., object]], click.Group]:
    """Declare a noun; its docstring is its help."""
    return click.group(name, cls=Group)


def joined(words: tuple[str, ...], what: str) -> str:
    """Join what a shell took apart, so that a title needs no quotes."""
    text = " ".join(words).strip()
    if not text:
        raise click.UsageError(f"{what} cannot be empty", click.get_current_context())
    return text


def pass_output(run: Callable[..., object]) -> Callable[..., object]:
    """Hand the command its `Output` as first argument."""

    @wraps(run)
    def call(*args: Any, **kwargs: Any) -> object:
        return run(click.get_current_context().find_root().obj, *args, **kwargs)

    return call
