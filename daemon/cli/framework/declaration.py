"""How commands are declared: click, with the options that every command takes.

Never imports a command before it is called by name.
"""

from __future__ import annotations

import os
from functools import wraps
from importlib import import_module
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from daemon.cli.terminal.output import HUMAN, JSON, JSONL, PLAIN
from daemon.words.translation import _

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from click.shell_completion import CompletionItem

COMPLETION_VARIABLE: Final = "_PLACET_COMPLETE"
"""The variable by which a shell asks what may come next."""
_HAS_LITERAL_WORDS: Final = f"{__name__}.has_literal_words"
CONTEXT_SETTINGS: Final = {"help_option_names": ["-h", "--help"], "max_content_width": 88}


class SecondsType(click.FloatRange):
    """A number of seconds, of which a person need not know how a computer keeps it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        self.name = _("number of seconds")
        return super().convert(value, param, ctx)


class CommandEntry(NamedTuple):
    """Where a command is found, and the line of the help that names it."""

    module: str
    summary: str


def _set_form(context: click.Context, option: click.Parameter, wanted: bool) -> None:
    if not wanted:
        return
    output, form = context.find_root().obj, str(option.name)
    if output.form not in (HUMAN, form):
        clash = _("--{one} and --{other} exclude each other").format(one=output.form, other=form)
        raise click.UsageError(clash, context)
    output.form = form


def _set_colourless(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted:
        context.find_root().obj.coloured = False


def _form(name: str, words: str) -> click.Option:
    return click.Option(
        [f"--{name}"], is_flag=True, expose_value=False, callback=_set_form, is_eager=True, help=words
    )


def make_output_options() -> list[click.Parameter]:
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
            help="Use no colours.",
        ),
    ]


class _Speaks(click.Command):
    """Help in the language of the person; it is written in English, and translated as it is shown."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        context.meta[_HAS_LITERAL_WORDS] = "--" in args
        try:
            return super().parse_args(context, args)
        except click.UsageError as error:
            # The parser of options names no command of its own, and so `--help` would be the program's.
            error.ctx = error.ctx or context
            raise

    def get_short_help_str(self, limit: int = 45) -> str:
        text = cleandoc(self.short_help or self.help or "")
        first = _(text).partition("\n\n")[0].replace("\n", " ")
        return first if len(first) <= limit else first[: limit - 1] + "…"

    def format_help_text(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        if self.help:
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(_(cleandoc(self.help)))
        from daemon.cli.framework.examples import example_of

        if example := example_of(" ".join(context.command_path.split()[1:])):
            # As it is typed: a line that the formatter broke could not be copied.
            with formatter.section(_("Example")):
                formatter.write(f"{'':{formatter.current_indent}}{example}\n")

    def format_epilog(self, _context: click.Context, formatter: click.HelpFormatter) -> None:
        if self.epilog:
            formatter.write_paragraph()
            with formatter.indentation():
                formatter.write_text(_(self.epilog))

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        described = [
            (record[0], _option_words(param, record[1]))
            for param in self.get_params(context)
            if isinstance(param, click.Option) and (record := param.get_help_record(context)) is not None
        ]
        with formatter.section(_("Options")):
            formatter.write_dl(described)


def _option_words(option: click.Option, described: str) -> str:
    """Translate an option's help, and leave what click adds to it (a default, that it is required)."""
    own = cleandoc(option.help or "")
    return described.replace(own, _(own), 1) if own else described


class Command(_Speaks):
    """A command that takes the output options."""

    streams = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("context_settings", CONTEXT_SETTINGS)
        super().__init__(*args, **kwargs)
        if COMPLETION_VARIABLE in os.environ:
            from daemon.cli.framework.value_completion import enable_value_completion

            enable_value_completion(self.name, self.params)
        self.params += [
            _form(JSONL, "Print one JSON object per line.")
        ] * self.streams + make_output_options()


class StreamCommand(Command):
    """A command whose answer may also be read line by line, as JSON."""

    streams = True


class Group(_Speaks, click.Group):
    """A noun whose verbs are in the same module."""

    command_class = Command

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("context_settings", CONTEXT_SETTINGS)
        kwargs.setdefault("no_args_is_help", False)
        super().__init__(*args, **kwargs)
        self.params += make_output_options()

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_options(context, formatter)
        self.format_commands(context, formatter)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        verbs = ((name, self.get_command(context, name)) for name in self.list_commands(context))
        with formatter.section(_("Commands")):
            formatter.write_dl([(name, verb.get_short_help_str(200)) for name, verb in verbs if verb])

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        if not args and not self.invoke_without_command and not context.resilient_parsing:
            verbs = ", ".join(self.list_commands(context))
            needs = _("{noun} needs a verb: {verbs}").format(noun=context.info_name, verbs=verbs)
            raise click.UsageError(needs, context)
        return super().parse_args(context, args)

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if self.get_command(context, name) is None and not name.startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(name, self.list_commands(context), n=1)
            unknown = _("no command is called {name!r}").format(name=name)
            meant = _(", did you mean {name!r}?").format(name=near[0]) if near else ""
            raise click.UsageError(unknown + meant, context)
        return super().resolve_command(context, args)


class LazyGroup(Group):
    """The program itself: sections of commands, each imported when it is called."""

    def __init__(self, sections: Mapping[str, Mapping[str, CommandEntry]], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.sections = sections

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        # The bare name is a question, and the help is its answer.
        return super().parse_args(context, args or ["--help"])

    def list_commands(self, _context: click.Context) -> list[str]:
        return [name for section in self.sections.values() for name in section]

    def shell_complete(self, context: click.Context, incomplete: str) -> list[CompletionItem[Any]]:
        from click.shell_completion import CompletionItem

        if incomplete[:1] == "-":
            return super().shell_complete(context, incomplete)
        # Not by asking each command, which would import them all.
        listed = {
            name: command_entry
            for section in self.sections.values()
            for name, command_entry in section.items()
        }
        return [
            CompletionItem(name, help=_(command_entry.summary))
            for name, command_entry in listed.items()
            if name.startswith(incomplete)
        ]

    def get_command(self, _context: click.Context, name: str) -> click.Command | None:
        for section in self.sections.values():
            if name in section:
                module = import_module(f"daemon.cli.commands.{section[name].module}")
                declared = getattr(module, name.replace("-", "_") + "_command")
                assert isinstance(declared, click.Command)
                return declared
        return None

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_commands(context, formatter)
        _Speaks.format_options(self, context, formatter)

    def format_commands(self, _context: click.Context, formatter: click.HelpFormatter) -> None:
        """Show the commands of a day, each as it is typed; `placet help` shows all."""
        from daemon.cli.framework.examples import DAY, example_of

        with formatter.section(_("Every day")):
            formatter.write_dl(
                [
                    (example_of(path), _(words) if words else self.summary_of(path))
                    for path, words in DAY.items()
                ],
                col_max=40,
            )
        formatter.write_paragraph()
        formatter.write_text(_("All commands: {command}").format(command="placet help"))

    def format_all_commands(self, formatter: click.HelpFormatter) -> None:
        """Show every command by its section, without importing one."""
        for title, section in self.sections.items():
            with formatter.section(_(title)):
                formatter.write_dl([(name, _(listed.summary)) for name, listed in section.items()])

    def summary_of(self, name: str) -> str:
        """Return the line that names a command, without importing it."""
        return next(_(section[name].summary) for section in self.sections.values() if name in section)


def command(
    name: str, *, summary: str = "", streams: bool = False
) -> Callable[[Callable[..., object]], click.Command]:
    """Declare a command; its docstring is its help."""
    kind = StreamCommand if streams else Command
    return click.command(name, cls=kind, short_help=summary or None)


def group(name: str, *, alone: bool = False) -> Callable[[Callable[..., object]], click.Group]:
    """Declare a noun; its docstring is its help. `alone`: without a verb it does something itself."""
    return click.group(name, cls=Group, invoke_without_command=alone)


def joined_words(words: tuple[str, ...], what: str) -> str:
    """Join what a shell took apart, so that a title needs no quotes; `what` names it if nothing is left."""
    text = " ".join(words).strip()
    if not text:
        empty = _("{what} cannot be empty").format(what=_(what))
        raise click.UsageError(empty, click.get_current_context())
    return text


def has_literal_words() -> bool:
    """Return whether the words of the command stand behind `--`: then they mean nothing but themselves."""
    return bool(click.get_current_context().meta[_HAS_LITERAL_WORDS])


def pass_output(run: Callable[..., object]) -> Callable[..., object]:
    """Hand the command its `Output` as first argument."""

    @wraps(run)
    def call(*args: Any, **kwargs: Any) -> object:
        return run(click.get_current_context().find_root().obj, *args, **kwargs)

    return call
