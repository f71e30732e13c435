"""Starts Placet for tests by forks of itself, since it has imported all of it: processes.py asks for them.

A program of its own: never imports anything that a start of Placet would not, never starts a thread, and
opens nothing that two starts could share.
"""

import atexit
import builtins
import ctypes
import gc
import importlib
import io
import locale
import marshal
import mmap
import os
import pkgutil
import runpy
import signal
import socket
import sys
import threading
import time
import types
from contextlib import suppress
from typing import Any, NoReturn

PR_SET_PDEATHSIG = 1
PR_SET_NAME = 15
CLONE_NEWNS, CLONE_NEWNET = 0x20000, 0x40000000
MNT_DETACH = 2
MS_REC, MS_SLAVE = 0x4000, 0x80000
HEAD = 8
"""How many bytes say how long a message is."""
_AT_WORK = (
    *("cryptography.hazmat.backends.openssl.backend", "daemon.formats", "encodings.ascii"),
    *("encodings.idna", "importlib.readers", "runpy", "stringprep"),
)
"""What every daemon imports once it serves."""
_UTF_8_LOCALES = ("C.UTF-8", "C.utf8", "UTF-8")
"""Those for which Python lets its standard streams carry bytes that are not UTF-8."""

KINDS = {
    "command": ("daemon.cli",),
    "daemon": ("daemon.cli.commands.operation", "daemon.app", "daemon.relay", *_AT_WORK),
    "door": ("daemon.cli.mcp",),
}
"""What a server of this kind has imported: modules, and those of packages. A smaller process forks sooner."""
_SELDOM = ("daemon.cli.mcp.", "daemon.cli.api.placet_asks")
"""What few commands import, and much else with it."""

_WITHOUT_EFFECT = frozenset(
    # A default of structlog, which the daemon replaces; words of click in other programs; where scripts go.
    {"NO_COLOR", "FORCE_COLOR", "LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG", "HOME"}
)
"""Variables that modules read when they are imported, to no effect on Placet."""

_libc = ctypes.CDLL(None, use_errno=True)


def _import_all(kind: str) -> set[str]:
    """Import what the kind is for; return the variables that decided how it was imported."""
    read, look_up = set(), os._Environ.__getitem__

    def see(environment: Any, name: Any) -> Any:
        read.add(name)
        return look_up(environment, name)

    os._Environ.__getitem__ = see  # type: ignore[method-assign]
    try:
        importlib.import_module("daemon.cli.main")
        for name in KINDS[kind]:
            module = importlib.import_module(name)
            for inner_module in pkgutil.walk_packages(getattr(module, "__path__", []), f"{name}."):
                if kind == "door" or not inner_module.name.startswith(_SELDOM):
                    importlib.import_module(inner_module.name)
    finally:
        os._Environ.__getitem__ = look_up  # type: ignore[method-assign]
    return read - _WITHOUT_EFFECT


def _generators() -> list[Any]:
    """Return the generators of random numbers that modules keep; Python itself seeds only its own anew."""
    kind = getattr(sys.modules.get("random"), "Random", None)
    return [element for element in gc.get_objects() if type(element) is kind]


def receive(channel: socket.socket) -> tuple[Any, list[int]] | None:
    """Return the next message and its descriptors, None if the other side is gone."""
    head, descriptors, _flags, _address = socket.recv_fds(channel, HEAD, 16)
    while head and len(head) < HEAD:
        head += channel.recv(HEAD - len(head))
    size, raw = int.from_bytes(head, "big"), b""
    while len(raw) < size:
        piece = channel.recv(size - len(raw))
        if not piece:
            return None
        raw += piece
    return (marshal.loads(raw), descriptors) if head else None


def send(channel: socket.socket, message: Any, descriptors: list[int]) -> None:
    """Send a message with its descriptors."""
    raw = marshal.dumps(message)
    head = len(raw).to_bytes(HEAD, "big")
    if descriptors:
        socket.send_fds(channel, [head], descriptors)
    else:
        channel.sendall(head)
    channel.sendall(raw)


def _fork_for(channel: socket.socket, descriptors: list[int], shared: mmap.mmap) -> int:
    """Fork a process whose parent is the one that asks; return its pid, and in itself 0 once that is so.

    The process between the two ends at once, and whoever asks adopts what it leaves (PR_SET_CHILD_SUBREAPER).
    """
    adopted, gate = os.pipe()
    between = os.fork()
    if between:
        os.waitpid(between, 0)
        os.close(gate)
        for descriptor in (adopted, *descriptors):
            os.close(descriptor)
        return int.from_bytes(shared[:HEAD], "big")
    pid = os.fork()
    if pid:
        shared[:HEAD] = pid.to_bytes(HEAD, "big")
        os._exit(0)
    os.close(gate)
    channel.close()
    os.read(adopted, 1)
    return 0


def _settle(request: dict[str, Any], descriptors: list[int]) -> None:
    """Become a process as a fresh start of the request would be, up to where Python begins."""
    if request["session"]:
        os.setsid()
    else:
        os.setpgid(0, request["group"])
    folder, *streams = descriptors
    os.fchdir(folder)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    os.umask(request["umask"])
    if request["network"]:
        _enter(request["network"])
    os.environ.clear()
    os.environb.update(request["environment"])
    time.tzset()
    locale.setlocale(locale.LC_CTYPE, request["locale"])
    _libc.prctl(PR_SET_NAME, request["name"], 0, 0, 0)


def _enter(network: bytes) -> None:
    """Enter a network namespace as `ip netns exec` does: with the /sys of that network."""
    with open(b"/run/netns/" + network, "rb") as namespace:  # noqa: PTH123 - a path in bytes
        _succeed(_libc.setns(namespace.fileno(), CLONE_NEWNET))
    _succeed(_libc.unshare(CLONE_NEWNS))
    _succeed(_libc.mount(b"", b"/", b"none", MS_SLAVE | MS_REC, None))
    _libc.umount2(b"/sys", MNT_DETACH)
    _succeed(_libc.mount(network, b"/sys", b"sysfs", 0, None))


def _succeed(result: int) -> None:
    if result:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _stream(number: int, mode: str, errors: str) -> io.TextIOWrapper | None:
    """Make a standard stream as Python does at a start (create_stdio in its pylifecycle.c)."""
    try:
        os.fstat(number)
    except OSError:
        return None
    unbuffered = bool(os.environ.get("PYTHONUNBUFFERED"))
    raw: Any = open(number, f"{mode}b", 0 if unbuffered and mode == "w" else -1, closefd=False)  # noqa: SIM115
    getattr(raw, "raw", raw).name = ("<stdin>", "<stdout>", "<stderr>")[number]
    by_line = not unbuffered and (number == 2 or os.isatty(number))
    text = io.TextIOWrapper(raw, "utf-8", errors, "\n", by_line, unbuffered)
    text.mode = mode  # type: ignore[misc]
    return text


def _open_streams() -> None:
    errors = "surrogateescape" if locale.setlocale(locale.LC_CTYPE) in _UTF_8_LOCALES else "strict"
    sys.stdin = sys.__stdin__ = _stream(0, "r", errors)  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = _stream(1, "w", errors)  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = _stream(2, "w", "backslashreplace")  # type: ignore[misc]


def _run(request: dict[str, Any]) -> None:
    """Run what the request names as the interpreter does: a script, or a module by `-m`."""
    words = [os.fsdecode(word) for word in request["words"]]
    sys.orig_argv[:] = [sys.executable, *(["-m"] if request["is_module"] else []), *words]
    folders = [os.fsdecode(folder) for folder in request["path"]]
    sys.path[:] = [*folders, *(folder for folder in sys.path if folder not in folders[1:])]
    sys.argv[:] = words
    if request["is_module"]:
        runpy._run_module_as_main(words[0])  # type: ignore[attr-defined]
    script = types.ModuleType("__main__")
    script.__file__ = words[0]
    vars(script)["__builtins__"] = builtins
    sys.modules["__main__"] = script
    with open(words[0], "rb") as file:  # noqa: PTH123 - as little as possible is imported here
        text = file.read()
    exec(compile(text, words[0], "exec"), vars(script))


def _end(request: dict[str, Any]) -> NoReturn:
    """Run what is asked for, and end as the interpreter ends, but without taking its modules apart."""
    status, interrupted = 0, False
    try:
        gc.enable()
        threading.current_thread()._set_native_id()  # type: ignore[attr-defined]
        _open_streams()
        _run(request)
    except SystemExit as leaving:
        if isinstance(leaving.code, int):
            status = leaving.code & 0xFF
        elif leaving.code is not None:
            print(leaving.code, file=sys.stderr)
            status = 1
    except BaseException as error:  # noqa: BLE001 - what nobody caught is told, and ends the process
        trace = error.__traceback__
        while trace and trace.tb_frame.f_code.co_filename == __file__:
            trace = trace.tb_next
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        status, interrupted = 1, isinstance(error, KeyboardInterrupt)
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    written = _flush()
    if interrupted:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(status if written else 120)


def _flush() -> bool:
    """Write what is still held back; return whether that was possible."""
    written = True
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except (OSError, ValueError) as error:
            written = False
            if stream is sys.stdout:
                print(f"Exception ignored in: {stream!r}\n{type(error).__name__}: {error}", file=sys.stderr)
    for stream in (sys.__stdout__, sys.__stderr__):
        with suppress(OSError, ValueError):
            if stream is not None:
                stream.flush()
    return written


def _main(kind: str, descriptor: int, *, dies_with_thread: bool) -> NoReturn:
    if dies_with_thread:
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    channel = socket.socket(fileno=descriptor)
    send(channel, sorted(_import_all(kind)), [])
    assert threading.active_count() == 1, threading.enumerate()
    generators = _generators()
    gc.disable()
    gc.collect()
    gc.freeze()
    shared = mmap.mmap(-1, HEAD)
    while (message := receive(channel)) is not None:
        request, descriptors = message
        pid = _fork_for(channel, descriptors, shared)
        if not pid:
            for generator in generators:
                generator.seed()
            _settle(request, descriptors)
            _end(request)
        send(channel, pid, [])
    os._exit(0)


if __name__ == "__main__":
    # The folder of this file is no place for modules of Placet.
    del sys.path[0]
    _main(sys.argv[1], int(sys.argv[2]), dies_with_thread=bool(int(sys.argv[3])))
