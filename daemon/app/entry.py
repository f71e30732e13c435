"""The way in: `placet up` runs this.

Never shows a traceback for what a person can put right: one line says what was seen, and what to do.
"""

import asyncio
import gc
import os
import signal
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

from daemon import config, paths
from daemon.app import logs
from daemon.app.lock import InUse, locked
from daemon.app.root import CannotListen, run
from daemon.clock import SystemClock
from daemon.config import ConfigError
from daemon.disk import in_words
from daemon.paths import Paths, UnsafeFolder
from daemon.peers.identity import IdentityError
from store.faults import StoreError

UMASK = 0o077
END_WITHIN_S = 4.0
"""Less than a service manager gives before it kills, by what a busy machine takes to notice."""

DONE, FAILED, USAGE, FORBIDDEN = 0, 1, 2, 7


def main(flags: Mapping[str, str] | None = None) -> int:
    """Run the daemon in the foreground until it is told to end; return the exit status.

    `flags` are settings given on the command line, by key.
    """
    os.umask(UMASK)
    logs.configure()
    try:
        where = paths.find_paths()
        settings = config.load(Path(where.config_file), os.environ, flags or {}).settings
        paths.make_folders(where)
        return _locked_run(where, settings)
    except ConfigError as fault:
        return _failed(USAGE, str(fault), "")
    except UnsafeFolder as fault:
        return _failed(FORBIDDEN, str(fault), "")
    except PermissionError as fault:
        return _failed(FORBIDDEN, *in_words(fault))
    except (StoreError, IdentityError, CannotListen) as fault:
        return _failed(FAILED, str(fault), fault.hint)
    except InUse as fault:
        return _failed(FAILED, str(fault), "stop it first, or name another folder in PLACET_HOME")
    except OSError as fault:
        return _failed(FAILED, *in_words(fault))


def _locked_run(where: Paths, settings: config.Settings) -> int:
    with locked(Path(where.data)):
        # What is loaded by now stays for ever: the collector need not look at it again.
        gc.freeze()
        asyncio.run(_until_asked(where, settings))
    return DONE


async def _until_asked(where: Paths, settings: config.Settings) -> None:
    """Run until SIGTERM or SIGINT, and from then on for no longer than `END_WITHIN_S`."""
    asked = asyncio.Event()

    def end() -> None:
        if not asked.is_set():
            asked.set()
            _end_in_time()

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, end)
    await run(where, settings, SystemClock(), asked)
    # All is written and closed. Nobody waits any more for a thread that still reads a long file, but the
    # loop's own end would.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(DONE)


def _end_in_time() -> None:
    """See to the end of the process even where a thread is in the middle of a long write.

    What such a write has done was never acknowledged, and the database takes it back at the next start.
    """
    timer = threading.Timer(END_WITHIN_S, os._exit, [DONE])
    timer.daemon = True
    timer.start()


def _failed(status: int, seen: str, hint: str) -> int:
    line = " ".join(seen.split())
    sys.stderr.write(f"placet: {line}{f'; {hint}' if hint else ''}\n")
    return status
