"""Whether a beginning lets an agent choose what is run: plain words are enough after `sh -c` or `sudo`.

Never knows whether a shell reads the text: it is judged as if one did. Knows the usual programs, and not all.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

_SEPARATORS: Final = re.compile(r"[;&|(){}`\n\r]+")
_REDIRECTION: Final = re.compile(r"\d*[<>]+[&|]?[ \t]*([^ \t<>]+)")
_OPEN_FILE: Final = re.compile(
    r"""[<>][&|]?[ \t]*(?:"[^"]*+"?+|'[^']*+'?+|\\.|[^\s<>;&|"'\\])*+(?<=[<>&| \t@:=/])$"""
)
_ADDRESS: Final = re.compile(r"[A-Za-z][A-Za-z\d+.-]*://[\w.,:/?&=%@+~#-]*")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*\+?=")
_VERSION: Final = re.compile(r"[\d.]+$")
_OPEN_ENDS: Final = ("@", ":", "=", "/")
_BEFORE_A_COMMAND: Final = frozenset({"!", "if", "then", "elif", "else", "while", "until", "do", "coproc"})

_PROGRAMS_THAT_RUN_WORDS: Final = """
    sh bash rbash dash ash zsh fish ksh mksh csh tcsh busybox toybox pwsh powershell cmd
    python pypy ipython perl ruby irb node nodejs deno bun tsx lua luajit php tclsh expect Rscript R julia
    awk gawk mawk nawk sed gsed ed ex vi vim view nvim emacs gdb psql mysql mariadb sqlite osascript
    env sudo doas su runuser pkexec xargs parallel nohup nice ionice chrt taskset time timeout setsid stdbuf
    unbuffer unshare nsenter chroot fakeroot proot bwrap firejail watch strace ltrace script flock systemd-run
    elixir iex erl scala groovy raku racket guile clojure clj ocaml octave gnuplot ghc jshell mongosh duckdb
    alacritty kitty konsole gnome-terminal urxvt wezterm nc ncat netcat socat lldb rlwrap sshpass xvfb-run
    numactl valgrind perf hyperfine chronic nodemon watchexec cross-env dotenv
    ssh mosh rsh rsync exec eval command builtin source . trap alias at batch crontab find fd fdfind entr
    screen tmux xterm npx bunx uvx pipx direnv dbus-run-session setarch linux32 linux64 ld.so
"""
"""Interpreters, and what runs another program."""
_RUNNERS: Final = frozenset(_PROGRAMS_THAT_RUN_WORDS.split())
_IN_CONTAINERS: Final = frozenset(
    {"builder", "buildx", "compose", "container", "create", "debug", "exec", "machine", "plugin", "pod"}
    | {"rsh", "run", "service", "unshare"}
)
_IN_PACKAGES: Final = frozenset(
    {"config", "create", "dlx", "exec", "explore", "init", "node", "set", "workspace", "workspaces", "x"}
)
_IN_ENVIRONMENTS: Final = frozenset({"env", "run", "shell", "tool", "tools", "x"})
_SUBCOMMANDS_THAT_RUN: Final[Mapping[str, frozenset[str]]] = {
    "git": frozenset({"bisect", "config", "difftool", "filter-branch", "mergetool", "rebase", "submodule"}),
    **dict.fromkeys(
        ("docker", "podman", "nerdctl", "kubectl", "oc", "docker-compose", "podman-compose"), _IN_CONTAINERS
    ),
    **dict.fromkeys(("npm", "pnpm", "yarn"), _IN_PACKAGES),
    **dict.fromkeys(("uv", "poetry", "pipenv", "pdm", "hatch", "rye"), _IN_ENVIRONMENTS),
    "go": frozenset({"env", "generate", "run", "tool"}),
    "cargo": frozenset({"run"}),
    "systemctl": frozenset({"edit"}),
    "pip": frozenset({"config"}),
}
"""Programs whose first word says what they do; with these words, they run what follows."""
_OPTIONS_WITHOUT_VALUES: Final = frozenset({"--no-pager", "--quiet", "--silent", "--verbose"})
_ARGUMENTS_OF_SHELLS: Final = frozenset({"bash", "cmd", "code", "command", "exec", "script", "shell"})
_OPTIONS_THAT_RUN: Final = frozenset({"--eval", "--exec", "--command", "-exec", "-execdir", "-ok", "-okdir"})


def leaves_the_command_open(argument: str, beginning: str) -> bool:
    """Report whether words after the beginning of an argument may choose which program runs, or a file."""
    is_run = any(name in argument.lower() for name in _ARGUMENTS_OF_SHELLS | {"run"})
    if not is_run and _ADDRESS.fullmatch(beginning):
        return False
    if _OPEN_FILE.search(beginning):
        return True
    segments = _SEPARATORS.split(beginning)
    if (
        argument.lower() in _ARGUMENTS_OF_SHELLS
        and beginning.endswith("/")
        and len(_words_of(segments[-1])) == 1
    ):
        return True
    return any(_runs_its_words(segment) for segment in segments if segment.strip()) or not _words_of(
        segments[-1]
    )


def _words_of(segment: str) -> list[str]:
    """Return the words of one command, from its program on, without signs that a shell takes away."""
    words = re.sub(r"[\"'\\]", "", _REDIRECTION.sub(" ", segment)).split()
    while words and (_ASSIGNMENT.match(words[0]) or words[0] in _BEFORE_A_COMMAND):
        del words[0]
    return words


def _runs_its_words(segment: str) -> bool:
    words = _words_of(segment)
    if not words:
        return False
    program = words[0].rpartition("/")[2]
    names = {program, _VERSION.sub("", program)}
    if words[0].startswith("$") or names & _RUNNERS:
        return True
    if words[-1] in _OPTIONS_THAT_RUN:
        return True
    return any(_lacks_a_harmless_subcommand(name, words[1:]) for name in names & _SUBCOMMANDS_THAT_RUN.keys())


def _lacks_a_harmless_subcommand(program: str, words: Sequence[str]) -> bool:
    """Report whether the word that says what a program does is one that runs others, or still to come.

    Nobody here knows which option takes the next word for its value, so both readings have to be harmless.
    """
    may_be_value = False
    for place, word in enumerate(words, start=1):
        if not word.startswith(("-", "+")):
            is_open = place == len(words) and word.endswith(_OPEN_ENDS)
            if is_open or word in _SUBCOMMANDS_THAT_RUN[program]:
                return True
            if not may_be_value:
                return False
        may_be_value = word.startswith("-") and "=" not in word and word not in _OPTIONS_WITHOUT_VALUES
    return True
