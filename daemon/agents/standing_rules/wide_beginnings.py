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
_PIECE: Final = re.compile(
    r"""(?P<separator>[;&|(){}`\n\r]+)|(?P<redirection>\d*[<>]+[&|]?)"""
    r"""|(?:"(?:\\.|[^"\\])*+"?+|'[^']*+'?+|\\.|[^\s"'\\;&|(){}`<>])++|\\""",
    re.DOTALL,
)
_SIGNS_IN_PATTERNS: Final = "$*?["
"""A shell makes another word of a word with one of them."""
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
_NAMES_OF_COMMANDS: Final = (
    *("argv", "bash", "cmd", "code", "command", "eval", "exec", "launch", "powershell", "process", "program"),
    *("run", "script", "shell", "spawn", "terminal"),
)
"""What is in the name of an argument that is run. In some other names it refuses too much."""
_OPTIONS_THAT_RUN: Final = frozenset({"--eval", "--exec", "--command", "-exec", "-execdir", "-ok", "-okdir"})


def leaves_the_command_open(argument: str, beginning: str) -> bool:
    """Report whether words after the beginning of an argument may choose which program runs, or a file."""
    if _is_run(argument):
        if any(_ends_within_a_program(segments[-1]) for segments in _readings_of(beginning)):
            return True
    elif _ADDRESS.fullmatch(beginning):
        return False
    if _OPEN_FILE.search(beginning):
        return True
    return any(
        any(_runs_its_words(words) for words in segments if words) or not segments[-1]
        for segments in _readings_of(beginning)
    )


def awaits_a_command(argument: str, value: object) -> bool:
    """Report whether the whole value of an argument names a program that runs what other arguments say.

    A value is a text, or a list of the words of a command, such as `["bash", "-c"]`.
    """
    if not _is_run(argument):
        return False
    words = value if isinstance(value, list) else [value]
    segments = _quoted_segments(" ".join(word for word in words if isinstance(word, str)))
    program, *rest = segments[-1] or [""]
    return _runs_its_words([program]) and all(word.startswith("-") for word in rest)


def _is_run(argument: str) -> bool:
    return any(name in argument.lower() for name in _NAMES_OF_COMMANDS)


def _readings_of(beginning: str) -> tuple[list[list[str]], list[list[str]]]:
    """Return the words of each command in a beginning, as a shell reads quotes, and as if there were none.

    A shell looks into some quotes, as in `"$(sh -c `, and not into others: both readings must be harmless.
    """
    plain = [
        re.sub(r"[\"'\\]", "", _REDIRECTION.sub(" ", text)).split() for text in _SEPARATORS.split(beginning)
    ]
    return [_from_program(words) for words in plain], _quoted_segments(beginning)


def _quoted_segments(text: str) -> list[list[str]]:
    """Return the words of each command in a text, where quotes keep blanks and signs together."""
    segments: list[list[str]] = [[]]
    is_file = False
    for piece in _PIECE.finditer(text):
        if piece["separator"]:
            segments.append([])
        elif not piece["redirection"] and not is_file:
            segments[-1].append(re.sub(r"[\"'\\]", "", piece[0]))
        is_file = bool(piece["redirection"])
    return [_from_program(words) for words in segments]


def _from_program(words: list[str]) -> list[str]:
    """Return the words of one command from its program on."""
    for place, word in enumerate(words):
        if not _ASSIGNMENT.match(word) and word not in _BEFORE_A_COMMAND:
            return words[place:]
    return []


def _ends_within_a_program(words: Sequence[str]) -> bool:
    return len(words) == 1 and words[0].endswith("/")


def _runs_its_words(words: Sequence[str]) -> bool:
    program = words[0].rpartition("/")[2].removesuffix(".exe")
    names = {program, _VERSION.sub("", program)}
    is_pattern = not _ADDRESS.fullmatch(words[0]) and any(sign in words[0] for sign in _SIGNS_IN_PATTERNS)
    if is_pattern or names & _RUNNERS:
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
