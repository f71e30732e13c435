"""One run of the daemon, from its start to its end, and what the service manager is told of it.

Never says that it is ready before it serves, and never feeds the watchdog of a daemon that is ending. A run
that is to read its settings again makes the parts anew: no part has to know how it would change meanwhile. It
never opens the store while a write of the parts before goes on: both would number the same commits.
"""

import asyncio
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from socket import socket
from typing import Final

import structlog

from daemon import config, sd_notify
from daemon.agents.models.openai.endpoint import CREDENTIAL_NAME, CREDENTIALS_VARIABLE, KEY_VARIABLE
from daemon.app.composition import CLOSE_WITHIN_S, CannotListen, Daemon, check_settings
from daemon.app.watchdog import feed_watchdog
from daemon.clock import Clock
from daemon.config import ConfigError, LoadedSettings
from daemon.control.passed_socket import take_passed_socket
from daemon.paths import Paths
from daemon.peers.transport.identity import IdentityError
from daemon.sd_notify import notify_systemd
from store.file.errors import StoreError

log = structlog.get_logger("daemon")

Welcome = Callable[[str], None]
"""Greets whoever started the daemon, with an address that signs one browser in to the page, or none."""
ReadSettings = Callable[[], LoadedSettings]
"""Reads the settings as they are now. Raises ConfigError or OSError."""

_CANNOT_START: Final = (ConfigError, StoreError, IdentityError, CannotListen, OSError)


class Wishes:
    """What is asked of a run from outside: that it ends, or that it reads its settings again."""

    def __init__(self) -> None:
        self.wait_for_one = asyncio.Event()
        self.is_end_asked = False

    def ask_end(self) -> None:
        """Ask that the run ends."""
        self.is_end_asked = True
        self.wait_for_one.set()

    def ask_reload(self) -> None:
        """Ask that the run reads its settings again, once for all who ask meanwhile."""
        self.wait_for_one.set()


async def run_daemon(
    paths: Paths,
    read_settings: ReadSettings,
    clock: Clock,
    wishes: Wishes,
    welcome: Welcome | None = None,
) -> None:
    """Run a daemon until its end is asked; once it serves, call `welcome`.

    Raises StoreError, IdentityError, CannotListen or OSError if it cannot start. Raises ConfigError for a
    setting that only its component can check, and UnusableSocket for what a service manager passed.
    """
    loaded = read_settings()
    run = Run(paths, clock, take_passed_socket(Path(paths.socket)))
    await run.start(loaded)
    notify_systemd(sd_notify.READY)
    if welcome is not None:
        welcome(run.daemon.sign_in_address())
    while not await run.wait_for_end(wishes):
        newer = _read_again(read_settings)
        if newer is None:
            continue
        notify_systemd(sd_notify.reload_state())
        await run.stop_for_next()
        try:
            await run.start(newer)
            _tell_of_reload(loaded, newer, Path(paths.config_file))
            loaded = newer
        except _CANNOT_START as fault:
            log.warning("the new settings cannot be used, those before count", reason=_reason(fault))
            await run.start(loaded)
        notify_systemd(sd_notify.READY)
    notify_systemd(sd_notify.STOPPING)
    await run.stop()
    log.info("stopped")


class Run:
    """One daemon after the other, in one process, on one socket if it was passed."""

    def __init__(self, paths: Paths, clock: Clock, passed: socket | None) -> None:
        self._paths = paths
        self._clock = clock
        self._passed = passed
        self._feeding: asyncio.Task[None] | None = None
        self.daemon: Daemon

    async def start(self, loaded: LoadedSettings) -> None:
        """Start a daemon with these settings, whole or not at all."""
        # Each daemon closes what it serves.
        passed = None if self._passed is None else self._passed.dup()
        self.daemon = Daemon(self._paths, loaded.settings, self._clock, passed)
        try:
            await self.daemon.start()
        except BaseException:
            # Another may be started in its place.
            await self.daemon.stop(None)
            raise
        limit_s = sd_notify.watchdog_limit_s()
        self._end_feeding()
        if limit_s is not None:
            self._feeding = asyncio.create_task(feed_watchdog(self.daemon.store, limit_s, notify_systemd))

    async def wait_for_end(self, wishes: Wishes) -> bool:
        """Wait for a wish; return whether it is the end. A daemon that fails meanwhile is stopped."""
        try:
            await self.daemon.wait_until_ended(wishes.wait_for_one)
        except BaseException:
            await self.stop()
            raise
        wishes.wait_for_one.clear()
        return wishes.is_end_asked

    async def stop(self) -> None:
        """Stop the daemon that runs; the process ends next, which undoes a write that goes on."""
        self._end_feeding()
        await self.daemon.stop(CLOSE_WITHIN_S)

    async def stop_for_next(self) -> None:
        """Stop the daemon that runs, and wait for its last write however long that takes.

        The watchdog is fed meanwhile, and until the next has started.
        """
        await self.daemon.stop(None)

    def _end_feeding(self) -> None:
        if self._feeding is not None:
            self._feeding.cancel()
            self._feeding = None


def _read_again(read_settings: ReadSettings) -> LoadedSettings | None:
    """Return the settings as they are now, None if they cannot be used: then nothing is stopped for them."""
    try:
        newer = read_settings()
        check_settings(newer.settings)
    except (ConfigError, OSError) as fault:
        log.warning("the settings cannot be used, those before count", reason=_reason(fault))
        return None
    return newer


def _tell_of_reload(before: LoadedSettings, now: LoadedSettings, file: Path) -> None:
    """Log which settings changed, and which no file can change: they were given when the process began."""
    changed = [
        key
        for key in dict.fromkeys((*config.keys(), "models"))
        if config.value_of(before.settings, key) != config.value_of(now.settings, key)
    ]
    fixed = sorted(key for key, origin in now.origins.items() if origin != str(file))
    log.info(
        "the settings were read again",
        changed=" ".join(changed) or "none",
        fixed_at_start=" ".join([*fixed, *_fixed_key(os.environ)]) or "none",
    )


def _fixed_key(environment: Mapping[str, str]) -> list[str]:
    """Name the model's key if it came with the process: a variable or a credential stays what it was."""
    credential = Path(environment.get(CREDENTIALS_VARIABLE, ""), CREDENTIAL_NAME)
    is_given = environment.get(KEY_VARIABLE) or (CREDENTIALS_VARIABLE in environment and credential.exists())
    return [CREDENTIAL_NAME] if is_given else []


def _reason(fault: Exception) -> str:
    sentence = getattr(fault, "sentence", None)
    return str(fault) if sentence is None else str(sentence.text)
