"""Every command that a message names, and every example of the help, is taken by the program as written.

Never runs a command: its words are given to the parser alone.
"""

import re
import shlex
from collections.abc import Iterator

import click
import pytest

from daemon.cli.framework.examples import DAY, EXAMPLES, example_of
from daemon.cli.main import program
from tests.locale import catalogs
from tests.support import command_tree

_NAMED = re.compile(
    r"['`“](placet [^'`”]+)['`”]"  # in quotation marks, it is a command as a whole
    r"|(?:^|: | or )(placet (?:[^'`.:;,)\n]|\.(?! |$))+)"  # behind a colon, to the end of the sentence
)
_FILLED = re.compile(r"\{(\w+)(?:![rs])?\}|…")
_BEHIND = re.compile(
    r" (?:or|and|on|as|if|to|there|then|in|again|is|lists|says|begins|removes|shows|>) |  | \(|: "
)
"""Where the command ends: an alternative to it, the sentence around it, or what the shell reads."""


def named_commands(text: str) -> Iterator[str]:
    """Yield the commands that a message names, from the name of the program on."""
    for match in _NAMED.finditer(text):
        yield _BEHIND.split(f"{match[1] or match[2]} ")[0].strip()


def fault_of(line: str, whole: bool = False) -> str:
    """Return what the parser refuses of a command; unless it is `whole`, it may lack what it needs."""
    args = shlex.split(_FILLED.sub(lambda filled: {"shell": "bash"}.get(filled[1], "7"), line))[1:]
    command: click.Command = program()
    context = click.Context(command, info_name="placet")
    while isinstance(command, click.Group) and args and not args[0].startswith("-"):
        word = args.pop(0)
        if word == "COMMAND":
            return ""
        beneath = command.get_command(context, word)
        if beneath is None:
            return f"no command {word!r}"
        command, context = beneath, click.Context(beneath, parent=context, info_name=word)
    if (not args and not whole) or "--help" in args:
        return ""
    try:
        command.make_context(context.info_name, args, parent=context.parent)
    except click.MissingParameter as fault:
        return fault.format_message() if whole else ""
    except click.UsageError as error:
        return error.format_message()
    return ""


def test_every_command_that_a_message_names_is_taken_by_the_program(subtests: pytest.Subtests) -> None:
    texts = {
        text
        for message in catalogs.messages()
        for text in ([message.id] if isinstance(message.id, str) else message.id)
    }
    lines = {line: text for text in sorted(texts) for line in named_commands(text)}
    assert len(lines) > 50
    for line, text in lines.items():
        with subtests.test(line):
            assert not fault_of(line), text


def test_every_command_of_the_program_has_an_example_that_it_takes(subtests: pytest.Subtests) -> None:
    root = program()
    context = click.Context(root, info_name="placet")
    paths = {path for path, _command in command_tree.commands(root, context)}
    assert EXAMPLES.keys() == paths
    assert len(DAY) == 10
    assert paths >= set(DAY)
    for path in sorted(paths):
        with subtests.test(path):
            line = example_of(path)
            assert not fault_of(line, whole=True)
            # The help shows it behind two blanks, on one line of a terminal.
            assert len(line) <= 78
