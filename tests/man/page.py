"""The man page and the completion scripts of the package, made of the commands themselves.

`make man` writes them. Never says of a command what its own help does not.
"""

import inspect
import sys
from collections.abc import Iterator
from typing import Final

import click

from daemon import __version__
from daemon.cli.commands.operation.completion import completion_script
from daemon.cli.framework.declaration import LazyGroup
from daemon.cli.framework.examples import example_of
from daemon.cli.main import program
from tests.support import command_tree
from tests.support.command_tree import Leaf
from tests.support.source_tree import ROOT

FILE: Final = ROOT / "man" / "placet.1"
COMPLETIONS: Final = {
    "bash": ROOT / "completions" / "placet.bash",
    "zsh": ROOT / "completions" / "_placet",
    "fish": ROOT / "completions" / "placet.fish",
}
"""The script of each shell that the package installs."""

EXIT: Final = {
    "0": "Done, also if it already was so.",
    "1": "Failed.",
    "2": "The command line could not be understood, or what it names is ambiguous.",
    "3": "No daemon runs.",
    "4": "Nothing is called so.",
    "5": "It needs a confirmation.",
    "6": "A conflict, or what was shown has changed since.",
    "7": "Not allowed, or pairing failed.",
    "8": "Partly done.",
    "9": "It took too long.",
}
ENVIRONMENT: Final = {
    "PLACET_HOME": "One folder for settings, journal and socket, instead of the XDG folders.",
    "PLACET_SECTION_NAME": "A setting: PLACET_LISTEN_PORT is listen.port.",
    "PLACET_LANGUAGE, LC_ALL, LC_MESSAGES, LANG": "The language that is spoken, the first that is set.",
    "NO_COLOR, FORCE_COLOR": "Whether colours are used.",
    "VISUAL, EDITOR": "What texts and settings are written in.",
}
_FILES: Final = {
    "~/.config/placet/config.toml": "The settings; see placet config.",
    "~/.local/share/placet/": "The journal and this device's key.",
    "$XDG_RUNTIME_DIR/placet/control.sock": "The socket on which the daemon answers.",
}


def page() -> str:
    """Return the man page in the man macros."""
    return "\n".join(_lines(program())) + "\n"


def _lines(root: LazyGroup) -> Iterator[str]:
    context = click.Context(root, info_name="placet")
    yield f'.TH PLACET 1 "" "Placet {__version__}" "User Commands"'
    yield from (".SH NAME", r"placet \- a task journal on all your devices")
    yield from (".SH SYNOPSIS", r"\fBplacet\fR [\fIOPTIONS\fR] \fICOMMAND\fR [\fIARGUMENTS\fR]")
    yield from (".SH DESCRIPTION", *_text(root.help or ""), ".PP", *_text(root.epilog or ""))
    yield from (".SH OPTIONS", *_options(root, context))
    yield ".SH COMMANDS"
    for title, leaves in command_tree.sections(root, context):
        yield f".SS {_plain(title)}"
        for leaf in leaves:
            yield from _command(leaf)
    for title, table in (("EXIT STATUS", EXIT), ("ENVIRONMENT", ENVIRONMENT), ("FILES", _FILES)):
        yield f".SH {title}"
        for name, about in table.items():
            yield from (".TP", f"\\fB{_plain(name)}\\fR", *_text(about))


def _command(leaf: Leaf) -> Iterator[str]:
    yield from (".TP", f"\\fB{_plain(leaf.path)}\\fR {' '.join(map(_plain, leaf.arguments))}".rstrip())
    yield from _text(inspect.cleandoc(leaf.command.help or ""))
    yield from (".sp", *_text(f"Example: {example_of(leaf.path.removeprefix('placet '))}"))
    options = list(_options(leaf.command, leaf.context, own=True))
    if options:
        yield from (".RS", *options, ".RE")


def _options(command: click.Command, context: click.Context, own: bool = False) -> Iterator[str]:
    """Tell a command's options; `own` leaves out those that every command takes."""
    shared = {"--json", "--plain", "--no-color", "--help"} if own else set()
    for option in command_tree.options(command, context):
        if shared.isdisjoint(option.names):
            yield from (".TP", f"\\fB{_plain(option.shown)}\\fR", *_text(option.meaning))


def _text(text: str) -> Iterator[str]:
    """Tell paragraphs, so that nothing in them is taken for a request of roff's."""
    for index, paragraph in enumerate(text.strip().split("\n\n")):
        if index:
            yield ".sp"
        plain = _plain(" ".join(paragraph.split()))
        yield f"\\&{plain}" if plain.startswith((".", "'")) else plain


def _plain(text: str) -> str:
    return text.replace("\\", "\\e").replace("-", "\\-")


def completion_text(shell: str) -> str:
    """Return a completion script as it stands in its file."""
    return completion_script(shell).strip() + "\n"


def main() -> int:
    """Write the page and the scripts."""
    FILE.write_text(page(), encoding="utf-8")
    for shell, file in COMPLETIONS.items():
        file.parent.mkdir(exist_ok=True)
        file.write_text(completion_text(shell), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
