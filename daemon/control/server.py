"""The control API's server: the table of routes on one Unix socket.

Never replaces a socket that may be in use: whoever starts it holds the lock of the data folder.
"""

import errno
import os
import socket
from collections.abc import Sequence
from pathlib import Path

from aiohttp import web

from daemon import paths
from daemon.control.dispatcher import Dispatcher
from daemon.control.middleware import refusal_middleware, single_user_middleware
from daemon.control.route import Route
from daemon.control.routes import self_description
from daemon.control.routes.events import EventStreams
from daemon.peers.transport.software_name import hide_versions

SOCKET_MODE = 0o600
BACKLOG = 128
hide_versions()
STOP_WITHIN_S = 1.0
"""How long requests under way may take once the daemon stops; streams are cut."""


class ControlServer:
    """A running control API. `stop` leaves no socket of its own (at `own`) behind, and a passed one alone."""

    def __init__(self, own: Path | None, runner: web.AppRunner, events: EventStreams) -> None:
        self._own = own
        self._runner = runner
        self._events = events

    @classmethod
    async def start(
        cls,
        path: Path,
        routes: Sequence[Route],
        dispatch: Dispatcher,
        events: EventStreams,
        *,
        uid: int | None = None,
        passed: socket.socket | None = None,
    ) -> "ControlServer":
        """Listen on `path` for processes of one user (default: this process's). Raises OSError.

        A socket that listens there already is `passed`; whoever made it keeps it in place.
        `routes` are those of the use cases; the API's own come with it.
        """
        middlewares = [refusal_middleware(), single_user_middleware(os.getuid() if uid is None else uid)]
        # Each route limits the size of its bodies itself.
        app = web.Application(middlewares=middlewares, client_max_size=0)
        for route in [*self_description.routes(events, routes), *routes]:
            # By itself, the router matches no braces, and names that people give may have them.
            pattern = route.path.replace("{ref}", "{ref:[^/]+}")
            app.router.add_route(route.method, pattern, dispatch.handler(route))
        runner = web.AppRunner(
            app,
            access_log=None,
            handle_signals=False,
            auto_decompress=False,
            shutdown_timeout=STOP_WITHIN_S,
        )
        await runner.setup()
        try:
            await web.SockSite(runner, passed or open_socket(path), backlog=BACKLOG).start()
        except BaseException:
            await runner.cleanup()
            raise
        return cls(None if passed else path, runner, events)

    async def stop(self) -> None:
        """Accept no more requests, let the current ones end, remove the socket if it was made here."""
        if self._own is not None:
            self._own.unlink(missing_ok=True)
        self._events.close()
        await self._runner.cleanup()


def open_socket(path: Path) -> socket.socket:
    """Open the socket at `path` for its owner alone, in place of one that a killed daemon left.

    Raises OSError, also if another daemon answers there: a daemon with another data folder has another lock.
    """
    # A socket file outlives a daemon that was killed, so its existence proves nothing.
    if _is_answered(path):
        raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE), str(path))
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    try:
        with paths.short_address(str(path)) as address:
            listener.bind(address)
        path.chmod(SOCKET_MODE)
    except BaseException:
        listener.close()
        raise
    listener.setblocking(False)
    return listener


def _is_answered(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC) as caller:
        caller.setblocking(False)
        try:
            with paths.short_address(str(path)) as address:
                caller.connect(address)
        except BlockingIOError:
            # Its queue of callers is full: somebody listens, and is busy.
            return True
        except OSError:
            return False
    return True
