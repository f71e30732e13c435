"""The page's server: the rooms' routes behind the gate, on the loopback addresses.

Never ends the daemon: if the port cannot be had, the log says so, and the rest works.
"""

import asyncio
import gzip
import socket
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from http import HTTPStatus
from pathlib import Path

import structlog
from aiohttp import web
from msgspec import structs

from daemon.config import WebSettings
from daemon.connections import DEFAULT_LIMITS, ConnectionLimits, Connections
from daemon.web import gate, listening
from daemon.web.files import import_routes
from daemon.web.finder import finder_routes
from daemon.web.forms import FORM_BYTES_MAX, FORM_MEDIA, read_form
from daemon.web.frame.rendering import STATIC_PATH
from daemon.web.history import timeline_routes, undo_routes
from daemon.web.history.deed_notice import deed_middleware
from daemon.web.inbox import history_routes, inbox_routes, permission_routes
from daemon.web.install import install_routes
from daemon.web.live import bar_routes
from daemon.web.live.page_stream import PageStreams, Surroundings
from daemon.web.refusals import sentence_text
from daemon.web.services import PageServices
from daemon.web.settings import preference_routes
from daemon.web.sign_in import sign_in_routes
from daemon.web.tasks import board_routes
from daemon.web.typed_words import words_to_copy
from daemon.web.viewer import viewer_middleware

STOP_WITHIN_S = 1.0
_ROOMS = (
    sign_in_routes,
    inbox_routes,
    history_routes,
    permission_routes,
    board_routes,
    timeline_routes,
    bar_routes,
    finder_routes,
    install_routes,
    preference_routes,
    undo_routes,
)
STATIC_AGE_S = 31_536_000

_log = structlog.get_logger("web")


class PageServer:
    """The page while it is served. Sessions outlast it, in a file of the data folder.

    `more_routes` are those of the rooms that need more than the store: the composition root makes them.
    """

    def __init__(
        self,
        services: PageServices,
        settings: WebSettings,
        folder: Path,
        state: listening.PageState,
        randomness: Callable[[int], bytes],
        *,
        more_routes: Sequence[web.RouteDef] = (),
        surroundings: Surroundings | None = None,
        limits: ConnectionLimits = DEFAULT_LIMITS,
    ) -> None:
        self._services = services
        self._more_routes = more_routes
        self._settings = settings
        self._folder = folder
        self._state = state
        self._randomness = randomness
        services.access.take_over(state.sessions)
        self._streams = PageStreams(
            services.store,
            services.notifier,
            services.access,
            surroundings or Surroundings(services.notifier, dict),
            limits.quiet_s,
        )
        self._limits = limits
        self.connections = Connections(limits)
        self._runner: web.AppRunner | None = None
        self._listeners: list[asyncio.Server] = []

    async def start(self) -> None:
        """Listen on the port of the settings, else on that of the last start, else on any. Raises OSError."""
        sockets = self._bind()
        access, bound_port = self._services.access, int(sockets[0].getsockname()[1])
        self._state = structs.replace(self._state, port=bound_port)
        access.origins = (f"http://{self._state.host}:{bound_port}", *self._proxied_origins())
        access.on_change = self._store_sessions
        self._store_sessions()
        self._runner = web.AppRunner(
            self.application(),
            access_log=None,
            handle_signals=False,
            shutdown_timeout=STOP_WITHIN_S,
            keepalive_timeout=self._limits.idle_s,
        )
        try:
            await self._runner.setup()
            protocol = self._runner.server
            assert protocol is not None
            for listener in sockets:
                self._listeners.append(
                    await asyncio.get_running_loop().create_server(
                        lambda: self.connections.guard(protocol), sock=listener, backlog=listening.BACKLOG
                    )
                )
        except BaseException:
            listening.close_all(sockets)
            raise
        _log.info("page", port=bound_port)

    def application(self) -> web.Application:
        """Return the application that answers: the gate before the rooms."""
        services = self._services
        render = services.renderer.render
        app = web.Application(
            middlewares=[
                viewer_middleware(services.speech),
                gate.refusal_middleware(partial(render, "frame/no_page.html"), sentence_text),
                gate.origin_middleware(services.access.origins),
                gate.session_middleware(
                    services.access,
                    (sign_in_routes.PATH, "/healthz", *install_routes.OPEN_PATHS),
                    f"{STATIC_PATH}/",
                    self._render_signed_out,
                ),
                self.connections.middleware(services.access, {import_routes.FILE_PATH}),
                deed_middleware(services),
            ],
            client_max_size=FORM_BYTES_MAX,
        )
        app.on_response_prepare.append(gate.put_headers)
        app.router.add_get("/healthz", self._healthz)
        app.router.add_get(f"{services.renderer.static_root}/{{name}}", self._static)
        app.router.add_get("/live", self._streams.serve)
        for room in _ROOMS:
            app.router.add_routes(room.routes(services))
        app.router.add_routes(self._more_routes)
        return app

    async def _healthz(self, request: web.Request) -> web.Response:
        del request
        if (damage := self._services.store.damage) is not None:
            text = f"{damage.sentence.text}: {damage.hint}\n"
            return web.Response(status=HTTPStatus.SERVICE_UNAVAILABLE, text=text)
        return web.Response(status=HTTPStatus.OK, text="ok\n")

    async def stop(self) -> None:
        """Accept no more requests, end the streams, let the others end."""
        self._services.access.origins = ()
        self._streams.close()
        for listener in self._listeners:
            listener.close()
        if self._runner is not None:
            await self._runner.cleanup()

    def _bind(self) -> list[socket.socket]:
        if self._settings.port and self._state.port not in (0, self._settings.port):
            # Another process may have the port that is left, and get the cookies of this name.
            self._begin_under_another_name()
        port = self._settings.port or self._state.port
        try:
            return listening.bind_loopback(port)
        except OSError:
            if not port:
                raise
            # Whoever has the port may be another user, and browsers that were signed in have shown it their
            # cookie: no session outlives that, and the page has a name that nobody there has seen.
            self._begin_under_another_name()
            if self._settings.port:
                listening.store_state(self._folder, self._state)
                raise
            return listening.bind_loopback(0)

    def _begin_under_another_name(self) -> None:
        """End all sessions, and take a name to which no browser has ever sent a cookie."""
        self._services.access.end_all_sessions()
        self._state = listening.new_state(self._randomness)

    def _proxied_origins(self) -> list[str]:
        # A proxy on this machine ends TLS, with a real certificate: plain HTTP leads nowhere from outside.
        return [f"https://{host}" for host in self._settings.hosts]

    def _store_sessions(self) -> None:
        sessions = tuple(self._services.access.sessions())
        listening.store_state(self._folder, structs.replace(self._state, sessions=sessions))

    async def _render_signed_out(self, request: web.Request) -> str:
        """Render that a browser has no session; what was typed into the form that it sent is not lost."""
        is_sent = request.method == "POST"
        typed = await self._sent_form(request) if is_sent else {}
        return self._services.renderer.render(
            "sign_in/signed_out.html", is_sent=is_sent, to_copy=words_to_copy(typed)
        )

    async def _sent_form(self, request: web.Request) -> Mapping[str, str]:
        """Return the fields of a form that a browser without a session sent; none of what is no such form."""
        if request.content_type != FORM_MEDIA:
            return {}
        try:
            await self.connections.read_body(request)
            return await read_form(request)
        except (web.HTTPBadRequest, web.HTTPRequestEntityTooLarge):
            return {}

    async def _static(self, request: web.Request) -> web.Response:
        static_file = self._services.renderer.static_files.get(request.match_info["name"])
        if static_file is None:
            raise web.HTTPNotFound
        media, content = static_file
        headers = {"Cache-Control": f"public, max-age={STATIC_AGE_S}, immutable", "Vary": "Accept-Encoding"}
        if media.startswith("text/") and "gzip" in request.headers.get("Accept-Encoding", ""):
            content, headers["Content-Encoding"] = gzip.compress(content, mtime=0), "gzip"
        charset = "utf-8" if media.startswith("text/") else None
        return web.Response(body=content, content_type=media, charset=charset, headers=headers)
