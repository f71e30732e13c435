"""One run of the daemon, from its start to its end, and what the service manager is told of it.

Never says that it is ready before it serves, and never feeds the watchdog of a daemon that is ending.
"""

import asyncio
from collections.abc import Callable

import structlog

from daemon import sd_notify
from daemon.app.composition import Daemon
from daemon.app.watchdog import feed_watchdog
from daemon.clock import Clock
from daemon.config import Settings
from daemon.paths import Paths

log = structlog.get_logger("daemon")

Welcome = Callable[[str], None]
"""Greets whoever started the daemon, with an address that signs one browser in to the page, or none."""


async def run_daemon(
    paths: Paths,
    settings: Settings,
    clock: Clock,
    end_requested: asyncio.Event,
    welcome: Welcome | None = None,
) -> None:
    """Run a daemon until the event `end_requested`; once it serves, call `welcome`.

    Raises StoreError, IdentityError, CannotListen or OSError if it cannot start. Raises ConfigError for a
    setting that only its component can check.
    """
    daemon = Daemon(paths, settings, clock)
    feeding: asyncio.Task[None] | None = None
    try:
        await daemon.start()
        sd_notify.notify_systemd(sd_notify.READY)
        limit_s = sd_notify.watchdog_limit_s()
        if limit_s is not None:
            feeding = asyncio.create_task(feed_watchdog(daemon.store, limit_s))
        if welcome is not None:
            welcome(daemon.sign_in_address())
        await daemon.wait_until_ended(end_requested)
    except BaseException:
        await _stop(daemon, feeding)
        raise
    sd_notify.notify_systemd(sd_notify.STOPPING)
    await _stop(daemon, feeding)
    log.info("stopped")


async def _stop(daemon: Daemon, feeding: "asyncio.Task[None] | None") -> None:
    if feeding is not None:
        feeding.cancel()
    await daemon.stop()
