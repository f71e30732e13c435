"""Tells what a process finds when it begins, and ends as it is told; for tests of how processes are started.

Never imports more than it needs before it has looked.
"""

import atexit
import gc
import json
import locale
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def _stream(stream: Any) -> list[Any]:
    return [
        *(stream.name, stream.mode, stream.encoding, stream.errors, stream.newlines, stream.isatty()),
        *(stream.line_buffering, stream.write_through, type(stream.buffer).__name__, stream.fileno()),
    ]


def _facts() -> dict[str, Any]:
    status = dict(
        line.split(":\t", 1) for line in Path("/proc/self/status").read_text().splitlines() if "\t" in line
    )
    flags = {name: getattr(sys.flags, name) for name in dir(sys.flags) if name[0] != "_"}
    return {
        "command": [sys.argv, sys.orig_argv, sys.executable, sys.path, __name__, __file__],
        # C as the locale also makes this flag, which says the same once the locale is one of UTF-8.
        "flags": {
            name: value
            for name, value in flags.items()
            if name not in {"utf8_mode", "n_fields", "unbuffered"} and not callable(value)
        },
        "environment": dict(os.environ),
        "locale": [
            locale.setlocale(locale.LC_CTYPE),
            locale.setlocale(locale.LC_TIME),
            sys.getfilesystemencoding(),
        ],
        "time zone": [time.tzname, time.localtime(0)[:6]],
        "folder": os.getcwd(),  # noqa: PTH109 - as the process sees it
        "streams": [_stream(stream) for stream in (sys.stdin, sys.stdout, sys.stderr)],
        "standard": [sys.stdin is sys.__stdin__, sys.stdout is sys.__stdout__, sys.stderr is sys.__stderr__],
        "descriptors": [int(name) for name in os.listdir("/proc/self/fd")][:-1],  # noqa: PTH208 - the last lists them
        "signals": [str(signal.getsignal(number)) for number in sorted(signal.valid_signals())],
        "garbage": [gc.isenabled(), gc.get_threshold()],
        "threads": [
            threading.active_count(),
            threading.current_thread() is threading.main_thread(),
            threading.current_thread().native_id == os.getpid(),
        ],
        "kernel": {
            name: status[name].strip()
            for name in ("Name", "Umask", "SigBlk", "SigIgn", "SigCgt", "CapEff", "Threads")
        },
        "family": [
            os.getppid(),
            os.getsid(0) == os.getpid() or os.getsid(0),
            os.getpgid(0) == os.getpid() or os.getpgid(0),
        ],
        "network": [str(Path("/proc/self/ns/net").readlink()), sorted(os.listdir("/sys/class/net"))],  # noqa: PTH208 - likewise
        "limits": Path("/proc/self/limits").read_text(),
    }


def _chance() -> list[Any]:
    import apsw
    from aiohttp._websocket.writer import WebSocketWriter

    kept = WebSocketWriter.__init__.__kwdefaults__ or {}
    values = [*kept.values(), *(WebSocketWriter.__init__.__defaults__ or ())]
    generators = [value for value in values if isinstance(value, random.Random)]
    row = apsw.Connection(":memory:").execute("select hex(randomblob(8))").fetchone()
    # The one that Python seeds by itself is meant.
    return [random.random(), *(generator.random() for generator in generators), *(row or ())]  # noqa: TID251


def _raise(error: BaseException) -> None:
    raise error


def _fill() -> None:
    sys.stdout = open("/dev/full", "w", encoding="utf-8")  # noqa: SIM115, PTH123 - open until the end
    print("lost")


def _wait_in_a_thread() -> None:
    threading.Thread(target=lambda: print("thread", sys.stdin.read())).start()


_ENDS: dict[str, Callable[[], object]] = {
    "status": lambda: sys.exit(259),
    "words": lambda: sys.exit("ended for a reason"),
    "nothing": sys.exit,
    "fault": lambda: _raise(ValueError("a fault on purpose")),
    "interrupt": lambda: _raise(KeyboardInterrupt()),
    "signal": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "pipe": lambda: os.write(1, b"more\n"),
    "full": _fill,
    "thread": _wait_in_a_thread,
    "at once": lambda: os._exit(7),
    "fall through": lambda: None,
}

if __name__ == "__main__":
    if sys.argv[1] == "facts":
        print(json.dumps(_facts()))
    elif sys.argv[1] in ("up", "chance"):
        print(json.dumps(_chance()))
    elif sys.argv[1] == "forked":
        print(json.dumps(b"fork_server" in Path("/proc/self/cmdline").read_bytes()))
    elif sys.argv[1] == "wait":
        print("waits", os.getppid(), flush=True)
        sys.stdin.read()
    else:
        atexit.register(print, "at exit")
        print("begun")
        _ENDS[sys.argv[1]]()
