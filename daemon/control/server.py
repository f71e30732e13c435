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
from daemon.control import own_routes
from daemon.control.boundary import answer_refusals, only_user
from daemon.control.dispatch import Dispatch
from daemon.control.events import Events
from daemon.control.routes import Route

SOCKET_MODE = 0o600
BACKLOG = 128
STOP_WITHIN_S = 1.0
"""How long requests under way may take once the daemon stops; streams are cut."""


class Control:
    """A running control API. `stop` leaves no socket behind."""

    def __init__(self, path: Path, runner: web.AppRunner, events: Events) -> None:
        self._path = path
        self._runner = runner
        self._events = events

    @classmethod
    async def start(
        cls,
        path: Path,
        routes: Sequence[Route],
        dispatch: Dispatch,
        events: Events,
        *,
        uid: int | None = None,
    ) -> "Control":
        """Listen on `path` for processes of one user (default: this process's). Raises OSError.

        `routes` are those of the use cases; the API's own come with it.
        """
        middlewares = [answer_refusals(), only_user(os.getuid() if uid is None else uid)]
        # The routes bound what is read of a body themselves, each by its own limit.
        app = web.Application(middlewares=middlewares, client_max_size=0)
        for route in [*own_routes.routes(events, routes), *routes]:
            app.router.add_route(route.method, route.path, dispatch.handler(route))
        runner = web.AppRunner(
            app,
            access_log=None,
            handle_signals=False,
            shutdown_timeout=STOP_WITHIN_S,
        )
        await runner.setup()
        try:
            await web.SockSite(runner, listen(path), backlog=BACKLOG).start()
        except BaseException:
            await runner.cleanup()
            raise
        return cls(path, runner, events)

    async def stop(self) -> None:
        """Take no more requests, let those under way end, remove the socket."""
        self._path.unlink(missing_ok=True)
        self._events.close()
        await self._runner.cleanup()


def listen(path: Path) -> socket.socket:
    """Open the socket at `path` for its owner alone, in place of one that a killed daemon left.

    Raises OSError, also where another daemon answers there: one with data elsewhere holds another lock.
    """
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
            return True
        except OSError:
            return False
    return True
