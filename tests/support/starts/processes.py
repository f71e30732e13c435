"""Processes that tests start: real children, most of them forked from a process that has imported Placet.

Never forks what would not be the same as a fresh start; that is really started.
"""

import atexit
import ctypes
import functools
import locale
import os
import socket
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, AnyStr, NamedTuple

from tests.support.starts.fork_server import receive, send

ROOT = Path(__file__).parents[3]
PLACET = Path(sysconfig.get_path("scripts")) / "placet"
_SERVER = Path(__file__).with_name("fork_server.py")
_LIST = os.environ.get("TESTS_STARTS")
"""The file to which each start is added, if it is set."""
_PR_SET_CHILD_SUBREAPER = 36
_DAEMONS = frozenset(
    {b"up", b"relay", b"demo", b"backup", b"restore", b"verify", b"compact", b"verify-receipt"}
)
"""Commands that are daemons, or read the journal themselves."""


class Unlike(Exception):
    """A start that a fork would not do as a fresh process does; the message says why."""


@dataclass
class Choice:
    """Whether processes are forked: only pytest says so, since a benchmark measures the start, too."""

    forks: bool = False


choice = Choice()


# -- what is started ----------------------------------------------------------------------------------


class Program(NamedTuple):
    """What an argument list runs: a script or a module with its words, maybe in a network namespace."""

    words: list[bytes]
    folder: Path
    is_module: bool = False
    network: bytes = b""

    @property
    def kind(self) -> str:
        """Return the kind of server that has imported what this will."""
        first = self.words[1] if len(self.words) > 1 else b""
        if first == b"mcp":
            return "door"
        return "daemon" if first in _DAEMONS else "command"


def program_of(command: Sequence[str | bytes | os.PathLike[Any]], folder: Path) -> Program:
    """Return what a command runs that is started in `folder`.

    Raises `Unlike` for any but `placet`, `python -m daemon` and scripts of the tests that stand in for them.
    """
    words = [os.fsencode(word) for word in command]
    network = b""
    if words[:3] == [b"ip", b"netns", b"exec"]:
        network, words = words[3], words[4:]
    if words[:1] == [os.fsencode(PLACET)]:
        return Program(words, PLACET.parent, network=network)
    if words[:3] == [os.fsencode(sys.executable), b"-m", b"daemon"]:
        if folder != ROOT and (folder / "daemon").exists():
            raise Unlike("another package of this name")
        return Program(words[2:], folder, is_module=True, network=network)
    if words[:1] == [os.fsencode(sys.executable)] and len(words) > 1:
        script = Path(os.fsdecode(words[1]))
        if script.is_relative_to(ROOT / "tests"):
            return Program(words[1:], script.parent, network=network)
    raise Unlike(f"another program: {os.fsdecode(b' '.join(words[:2]))}")


# -- its environment ----------------------------------------------------------------------------------

_NEVER_SERVED = ("PYTHON", "COVERAGE", "COV_")
"""What changes the interpreter or measures it, and no server is started with."""
_AT_START = (
    *_NEVER_SERVED,
    *("LD_", "MALLOC_", "GLIBC_", "GCONV_", "LOCPATH", "OPENSSL_", "SSL_CERT_"),
)
"""What the interpreter or a library reads while it starts."""

_libc = ctypes.CDLL(None)
_libc.newlocale.restype = ctypes.c_void_p
_libc.newlocale.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p]
_libc.nl_langinfo_l.restype = ctypes.c_char_p
_libc.nl_langinfo_l.argtypes = [ctypes.c_int, ctypes.c_void_p]


@functools.cache
def _character_locale(name: str, *, is_forced: bool) -> str:
    """Return the locale of characters with which Python starts, empty if it makes C to UTF-8.

    It does so for C, and for what the system does not have, unless LC_ALL says it. Raises `Unlike` for those
    that are not in UTF-8.
    """
    named_locale = name not in {"", "C", "POSIX"} and _libc.newlocale(
        1 << locale.LC_CTYPE, name.encode(), None
    )
    if not named_locale and not is_forced:
        return ""
    if not named_locale or _libc.nl_langinfo_l(locale.CODESET, named_locale) != b"UTF-8":
        raise Unlike(f"locale {name}")
    return name


class Environment(NamedTuple):
    """The variables of a process, and what follows from them before it runs a line."""

    variables: dict[bytes, bytes]
    locale: str
    path: list[Path]

    def at_start(self, names: Iterable[str]) -> dict[str, str]:
        """Return the variables that count before it runs a line, and those of these names."""
        counted = {os.fsdecode(name): os.fsdecode(value) for name, value in self.variables.items()}
        # PYTHON itself is the choice of an interpreter for `make`, and says nothing to one.
        usual = {"PYTHON", "PYTHONUNBUFFERED"} | ({"PYTHONPATH"} if self.path else set())
        named = {name: counted.get(name, "") for name in names}
        return named | {name: counted[name] for name in counted.keys() - usual if name.startswith(_AT_START)}


def _own_variables() -> dict[bytes, bytes]:
    """Return the variables that a child gets: libraries set some that `os.environ` does not know."""
    result: dict[bytes, bytes] = {}
    lines = ctypes.POINTER(ctypes.c_char_p).in_dll(_libc, "environ")
    while (line := lines[len(result)]) is not None:
        name, _, value = line.partition(b"=")
        result[name] = value
    return result


def environment_from(mapping: Mapping[Any, Any]) -> Environment:
    """Return a process's environment. Raises `Unlike` for a locale that is not in UTF-8."""
    variables = {os.fsencode(name): os.fsencode(value) for name, value in mapping.items()}
    path = [ROOT] if variables.get(b"PYTHONPATH") == os.fsencode(ROOT) else []
    forced = os.fsdecode(variables.get(b"LC_ALL", b""))
    chosen = forced or os.fsdecode(variables.get(b"LC_CTYPE", b"") or variables.get(b"LANG", b""))
    character_locale = _character_locale(chosen, is_forced=bool(forced))
    if not character_locale:
        character_locale = "C.UTF-8"
        variables[b"LC_CTYPE"] = b"C.UTF-8"
    return Environment(variables, character_locale, path)


# -- what it takes over from this process -------------------------------------------------------------

_THREAD = Path("/proc/thread-self")
_STATUS = frozenset(
    [
        "Uid",
        "Gid",
        "Groups",
        "NoNewPrivs",
        "Seccomp",
        "CapInh",
        "CapPrm",
        "CapEff",
        "CapBnd",
        "CapAmb",
        "Cpus_allowed",
        "SigBlk",
        "SigIgn",
    ]
)
_FILES = ("limits", "cgroup", "oom_score_adj")
_NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid_for_children", "user", "uts")


def inheritance() -> dict[str, str]:
    """Return what a child takes over from this thread, but a server from the time when it began."""
    lines = (line.partition(":\t") for line in (_THREAD / "status").read_text().splitlines())
    result = {name: value for name, _, value in lines if name in _STATUS}
    for name in _FILES:
        with suppress(OSError):
            result[name] = (_THREAD / name).read_text()
    for name in _NAMESPACES:
        with suppress(OSError):
            result[f"namespace {name}"] = str((_THREAD / "ns" / name).readlink())
    niceness = os.getpriority(os.PRIO_PROCESS, 0)
    return result | {
        "session": str(os.getsid(0)),
        "root": str(Path("/proc/self/root").readlink()),
        "nice": str(niceness),
    }


def _umask() -> int:
    """Return the umask of this process, which other threads go on using."""
    return int((_THREAD / "status").read_text().partition("\nUmask:\t")[2].split()[0], 8)


# -- who forks ----------------------------------------------------------------------------------------


class Server:
    """A process that forks when this one asks, and ends when this one does."""

    def __init__(self, kind: str) -> None:
        self._owner = os.getpid()
        self._inheritance = inheritance()
        self._channel, theirs = socket.socketpair()
        # A thread that ends would end the server with it: so only the first one may.
        dies_with_thread = threading.current_thread() is threading.main_thread()
        stripped = (*_NEVER_SERVED, "LC_", "LANG")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(stripped)}
        with theirs:
            words = [kind, str(theirs.fileno()), str(int(dies_with_thread))]
            self._process = subprocess.Popen(
                [sys.executable, _SERVER, *words],
                env=environment | {"LC_CTYPE": "C.UTF-8"},
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                # What kills the processes of a test does not kill it.
                process_group=0,
            )
        atexit.register(self.end)
        self._read_by_imports: list[str] = self._answer()
        self._at_start = environment_from(environment).at_start(self._read_by_imports)

    def check(self, inherited: dict[str, str], environment: Environment) -> None:
        """Raise `Unlike` for a child that would take over something else, or import modules otherwise."""
        if self._owner != os.getpid():
            raise Unlike("a copy of the process that runs the tests")
        at_start = environment.at_start(self._read_by_imports)
        for what, own, other in (
            ("another", self._inheritance, inherited),
            ("environment", self._at_start, at_start),
        ):
            for name in sorted(own | other):
                if own.get(name) != other.get(name):
                    raise Unlike(f"{what} {name}")

    def is_left_behind(self, inherited: dict[str, str]) -> bool:
        """Report whether this process has gone to another namespace since, as one does that mounts disks."""
        return any(
            value != self._inheritance.get(name) for name, value in inherited.items() if "namespace" in name
        )

    def fork(self, request: dict[str, Any], descriptors: list[int]) -> int:
        """Let it start a process; return the pid of what is then a child of this process."""
        _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        try:
            send(self._channel, request, descriptors)
            return int(self._answer())
        finally:
            _libc.prctl(_PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)

    def _answer(self) -> Any:
        answer = receive(self._channel)
        assert answer is not None, f"the fork server ended: {self._process.wait()}"
        return answer[0]

    def end(self) -> None:
        """End it."""
        if self._owner == os.getpid():
            self._channel.close()
            self._process.wait()


_servers: dict[str, Server] = {}
_lock = threading.Lock()


def _fork(kind: str, environment: Environment, request: dict[str, Any], descriptors: list[int]) -> int:
    """Let the server of this kind start a process; return its pid. Raises `Unlike` if it cannot."""
    inherited = inheritance()
    with _lock:
        if kind in _servers and _servers[kind].is_left_behind(inherited):
            _servers.pop(kind).end()
        if kind not in _servers:
            _servers[kind] = Server(kind)
        _servers[kind].check(inherited, environment)
        return _servers[kind].fork(request, descriptors)


# -- processes, as `subprocess` has them --------------------------------------------------------------


class _Start(NamedTuple):
    """What `subprocess.Popen` passes on to what makes the process, in this order."""

    args: Any
    executable: Any
    preexec_fn: Any
    close_fds: bool
    pass_fds: Any
    cwd: Any
    env: Any
    startupinfo: Any
    creationflags: int
    shell: bool
    p2cread: int
    p2cwrite: int
    c2pread: int
    c2pwrite: int
    errread: int
    errwrite: int
    restore_signals: bool
    gid: Any
    gids: Any
    uid: Any
    umask: int
    start_new_session: bool
    process_group: int

    def check(self) -> None:
        """Raise `Unlike` for options that only a fresh process is given."""
        plain = self.close_fds and self.restore_signals and self.process_group == -1
        is_text = isinstance(self.args, str | bytes | os.PathLike)
        unusual = (self.executable, self.preexec_fn, self.pass_fds, self.shell, is_text)
        if not plain or any(unusual) or (self.gid, self.gids, self.uid) != (None, None, None):
            raise Unlike("an unusual way to start")

    def fork(self) -> int:
        """Let a server start the process; return its pid. Raises `Unlike` if it has to be started really."""
        if not choice.forks:
            raise Unlike("forks are turned off")
        self.check()
        environment = environment_from(_own_variables() if self.env is None else self.env)
        folder = os.open(os.curdir if self.cwd is None else self.cwd, os.O_PATH | os.O_DIRECTORY)
        try:
            program = program_of(self.args, Path(f"/proc/self/fd/{folder}").readlink())
            request = {
                "words": program.words,
                "is_module": program.is_module,
                "network": program.network,
                "path": [os.fsencode(path) for path in (program.folder, *environment.path)],
                "name": b"placet" if program.words[0] == os.fsencode(PLACET) else b"python",
                "environment": environment.variables,
                "locale": environment.locale,
                "umask": self.umask if self.umask >= 0 else _umask(),
                "session": self.start_new_session,
                "group": os.getpgid(0),
            }
            streams = [self.p2cread, self.c2pwrite, self.errwrite]
            passed = [number if stream == -1 else stream for number, stream in enumerate(streams)]
            return _fork(program.kind, environment, request, [folder, *passed])
        finally:
            os.close(folder)


class _Process(subprocess.Popen[AnyStr]):
    """A child of this process, as `subprocess` makes one; if it is Placet, mostly by a fork."""

    def _execute_child(self, *fields: Any) -> None:
        start = _Start(*fields)
        try:
            self.pid = start.fork()
        except Unlike as why:
            _list(f"exec: {why}", start.args)
            super()._execute_child(*fields)  # type: ignore[misc]
            return
        _list("fork", start.args)
        self._child_created = True
        self._close_pipe_fds(*fields[10:16])  # type: ignore[attr-defined]


Popen: "type[subprocess.Popen[Any]]" = _Process
"""Starts a process as `subprocess.Popen` does."""


def _list(how: str, command: object) -> None:
    if _LIST:
        test = os.environ.get("PYTEST_CURRENT_TEST", "").partition("::")[0]
        with Path(_LIST).open("a") as file:
            file.write(f"{how}\t{test}\t{command!r:.200}\n")


def run(
    command: Sequence[str | Path],
    *,
    input: Any = None,  # noqa: A002 - as subprocess names it
    capture_output: bool = False,
    timeout: float | None = None,
    check: bool = False,
    **options: Any,
) -> "subprocess.CompletedProcess[Any]":
    """Run a command to its end, as `subprocess.run` does."""
    if input is not None:
        options["stdin"] = subprocess.PIPE
    if capture_output:
        options["stdout"] = options["stderr"] = subprocess.PIPE
    with Popen(command, **options) as process:
        try:
            out, err = process.communicate(input, timeout)
        except BaseException:
            process.kill()
            raise
    result = subprocess.CompletedProcess(command, process.returncode, out, err)
    if check:
        result.check_returncode()
    return result
