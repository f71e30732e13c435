"""The script by which a shell completes `placet`.

Never touches a shell's own files: the script is printed, and where it goes is said.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import click

from daemon.cli.client import Answer
from daemon.cli.grammar import COMPLETE, command, pass_output
from daemon.cli.words import _

if TYPE_CHECKING:
    from daemon.cli.output import Output

_PLACES: Final = {
    "bash": "~/.local/share/bash-completion/completions/placet",
    "zsh": "~/.zfunc/_placet",
    "fish": "~/.config/fish/completions/placet.fish",
}


@command("completion")
@click.argument("shell", type=click.Choice(tuple(_PLACES)))
@pass_output
def completion_command(output: Output, shell: str) -> None:
    """Print the script that completes commands, options, ids and names in a shell.

    bash: placet completion bash > ~/.local/share/bash-completion/completions/placet
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(click.Command("placet"), {}, "placet", COMPLETE).source()
    output.show(
        Answer({"shell": shell, "script": script}, ""),
        lambda told, _: [told["script"]],
        lambda told: [[told["script"]]],
    )
    if sys.stdout.isatty():
        place = _PLACES[shell]
        output.say(_("To keep it: placet completion {shell} > {place}").format(shell=shell, place=place))
