"""The way in: `placet up` runs this.

Never shows a traceback for what a person can put right: one line says what was seen, and what to do.
"""

import asyncio
import faulthandler
import gc
import os
import signal
import sys
import threading
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Final

from daemon import config, logs, paths
from daemon.app.composition import CannotListen
from daemon.app.run import ReadSettings, Welcome, Wishes, run_daemon
from daemon.clock import SystemClock
from daemon.config import ConfigError
from daemon.control.passed_socket import UnusableSocket
from daemon.disk import os_error_sentences
from daemon.folder_lock import DataFolderInUse, lock_folder, unsafe_folder_sentence
from daemon.paths import UMASK, Paths, UnsafeFolder
from daemon.peers.transport.identity import IdentityError
from store.file.errors import FREE_SOME_SPACE, StoreError
from store.sentence import Sentence, sentence

RESTART_S: Final = 10
"""After how many seconds the units in `systemd/` start what has failed again."""
END_WITHIN_S = 4.0
"""Less than a service manager gives before it kills, by what a busy machine takes to notice."""

DONE, FAILED, USAGE, FORBIDDEN = 0, 1, 2, 7

_ROOM_TO_START: Final = sentence(
    "free-space-and-start",
    "free some space, then start it again; the service is started again every {restart_s} s",
    restart_s=RESTART_S,
)


def main(flags: Mapping[str, str] | None = None, welcome: Welcome | None = None) -> int:
    """Run the daemon in the foreground until a signal ends it; return the exit status.

    `flags` are settings given on the command line, by key. `welcome` is called once the daemon serves.
    """
    os.umask(UMASK)
    logs.configure_logging()
    try:
        local_paths = paths.find_paths()
        read_settings = partial(config.load, Path(local_paths.config_file), os.environ, flags or {})
        read_settings()
        paths.make_folders(local_paths)
        return _run_with_lock(local_paths, read_settings, welcome)
    except ConfigError as fault:
        return _print_failure(USAGE, fault.sentence)
    except UnusableSocket as fault:
        return _print_failure(USAGE, fault.sentence, fault.hint_sentence)
    except UnsafeFolder as fault:
        return _print_failure(FORBIDDEN, unsafe_folder_sentence(fault))
    except PermissionError as fault:
        return _print_failure(FORBIDDEN, *os_error_sentences(fault))
    except (StoreError, IdentityError, CannotListen) as fault:
        return _print_failure(FAILED, fault.sentence, _hint_at_start(fault.hint_sentence))
    except DataFolderInUse as fault:
        hint = sentence("stop-it-or-other-folder", "stop it first, or name another folder in PLACET_HOME")
        return _print_failure(FAILED, fault.sentence, hint)
    except OSError as fault:
        text, remedy = os_error_sentences(fault)
        return _print_failure(FAILED, text, _hint_at_start(remedy))


def _run_with_lock(local_paths: Paths, read_settings: ReadSettings, welcome: Welcome | None) -> int:
    # A watchdog ends a daemon that hangs by SIGABRT: the log then names functions, and no values.
    faulthandler.enable()
    with lock_folder(Path(local_paths.data)):
        # All objects loaded by now live until the end: the garbage collector can skip them.
        gc.freeze()
        asyncio.run(_run_until_asked(local_paths, read_settings, welcome))
    return DONE


async def _run_until_asked(local_paths: Paths, read_settings: ReadSettings, welcome: Welcome | None) -> None:
    """Run until SIGTERM or SIGINT, and after that no longer than `END_WITHIN_S`; read settings on SIGHUP."""
    wishes = Wishes()

    def end() -> None:
        if not wishes.is_end_asked:
            wishes.ask_end()
            _end_in_time()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, end)
    # nohup(1) has it ignored; and a terminal that is closed sends it, which is no wish for other settings.
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        loop.add_signal_handler(signal.SIGHUP, end if sys.stderr.isatty() else wishes.ask_reload)
    await run_daemon(local_paths, read_settings, SystemClock(), wishes, welcome)
    # All is written and closed. The end of the loop would wait for a thread that still reads a long file;
    # nobody needs its result, so the process ends here.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(DONE)


def _end_in_time() -> None:
    """Ensure that the process ends even if a thread is in the middle of a long write.

    Such a write was never acknowledged, and the database rolls it back at the next start.
    """
    timer = threading.Timer(END_WITHIN_S, os._exit, [DONE])
    timer.daemon = True
    timer.start()


def _hint_at_start(hint: Sentence | None) -> Sentence | None:
    """Return what a person can do about a daemon that did not start."""
    return _ROOM_TO_START if hint is FREE_SOME_SPACE else hint


def _print_failure(status: int, text: Sentence, hint: Sentence | None = None) -> int:
    line = " ".join(text.text.split())
    words = f"placet: {line}{f'; {hint.text}' if hint else ''}"
    sys.stderr.write(f"{logs.with_priority(words, 'error') if logs.is_journal() else words}\n")
    return status
