"""Prints the script by which a shell completes `placet`.

Never touches a shell's own files, and never completes a word that the shell would interpret: the name of a
label may come from an imported file.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import click

from daemon.cli.api.client import ApiAnswer
from daemon.cli.framework.declaration import COMPLETION_VARIABLE, command, pass_output
from daemon.words.translation import _

if TYPE_CHECKING:
    from daemon.cli.terminal.output import Output

_PLACES: Final = {
    "bash": "~/.local/share/bash-completion/completions/placet",
    "zsh": "~/.zfunc/_placet",
    "fish": "~/.config/fish/completions/placet.fish",
}

# click's own script passes the words to bash unquoted, and bash inserts them unquoted: it would run a label
# called `$(…)`. zsh and fish quote what they insert.
_BASH: Final = r"""
%(complete_func)s() {
    local IFS=$'\n' told type value
    told=$(env COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD="$COMP_CWORD" %(complete_var)s=bash_complete "$1")
    COMPREPLY=()
    while IFS=',' read -r type value; do
        case $type in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain) %(complete_func)s_quoted "${COMP_WORDS[COMP_CWORD]}" "$value" ;;
        esac
    done <<< "$told"
}

%(complete_func)s_quoted() {
    local value=$2
    case $1 in
        \'*) value=${value//\'/\'\\\'\'} ;;
        \"*)
            value=${value//\\/\\\\}
            value=${value//\"/\\\"}
            value=${value//\$/\\\$}
            value=${value//\`/\\\`}
            value=${value//!/\"\\!\"}
            ;;
        *) printf -v value '%%q' "$value" ;;
    esac
    COMPREPLY+=("$value")
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""
# click's own script cuts a name at its second comma.
_FISH: Final = r"""
function %(complete_func)s
    for line in (env %(complete_var)s=fish_complete COMP_WORDS=(commandline -cp) \
            COMP_CWORD=(commandline -t) %(prog_name)s)
        set -l told (string split -m 1 "," -- $line)
        switch $told[1]
            case dir
                __fish_complete_directories $told[2]
            case file
                __fish_complete_path $told[2]
            case plain
                printf '%%s\n' $told[2]
        end
    end
end

complete --no-files --command %(prog_name)s --arguments "(%(complete_func)s)"
"""
_SCRIPTS: Final = {"bash": _BASH, "fish": _FISH}


@command("completion")
@click.argument("shell", type=click.Choice(tuple(_PLACES)))
@pass_output
def completion_command(output: Output, shell: str) -> None:
    """Print the script that completes commands, options, ids and names in a shell.

    bash: placet completion bash > ~/.local/share/bash-completion/completions/placet
    """
    output.write_answer(
        ApiAnswer({"shell": shell, "script": completion_script(shell)}, ""),
        lambda document, _: [document["script"]],
        lambda document: [[document["script"]]],
    )
    if sys.stdout.isatty():
        place = _PLACES[shell]
        output.write_remark(
            _("To keep it: placet completion {shell} > {place}").format(shell=shell, place=place)
        )


def completion_script(shell: str) -> str:
    """Return the script by which a shell completes `placet`; the package installs the same ones."""
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    shell_complete = kind(click.Command("placet"), {}, "placet", COMPLETION_VARIABLE)
    return _SCRIPTS.get(shell, shell_complete.source_template) % shell_complete.source_vars()
