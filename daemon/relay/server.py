"""The relay's face: puts, lists, gets and deletes the blobs of a box, and answers when something was put.

Never answers without the secret of the box, and never logs a secret, a name or a vault.
"""

import asyncio
import ssl
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path

import structlog
from aiohttp import web

from daemon.clock import Clock
from daemon.connections import ConnectionLimits, Connections
from daemon.peers.mailboxes.carrier import CarrierFault
from daemon.peers.transport.addresses import caller_network
from daemon.peers.transport.software_name import hide_versions
from daemon.relay import blob_keeper
from daemon.relay.blob_keeper import BlobKeeper, QuotaExceeded
from daemon.relay.boxes import BLOBS_FOLDER, Box, BoxFile
from daemon.relay.request_limits import RateLimit, RelayLimits
from daemon.relay.vault_news import VaultNews
from syncproto.mailboxes.envelope import ENVELOPE_BYTES_MAX

NAME_CHARS_MAX = 300
READER_CHARS_MAX = 64
NEWS_EACH_MAX = 64
"""More vaults than may keep something in a box, and more than may be waited for there."""
STOP_WITHIN_S = 1.0
UNKNOWN_CALLER = "::"
AFTER_HEADER = "Retry-After"

Serve = Callable[[web.Request, Box], Awaitable[web.StreamResponse]]

hide_versions()
log = structlog.get_logger("relay")


class RelayServer:
    """One relay on one folder. `start` it, then `stop` it."""

    def __init__(
        self,
        folder: Path,
        clock: Clock,
        *,
        limits: RelayLimits | None = None,
        connections: ConnectionLimits | None = None,
    ) -> None:
        self._folder = folder
        self._clock = clock
        self._limits = limits = limits or RelayLimits()
        self._boxes = BoxFile(str(folder))
        self._keepers: dict[Box, BlobKeeper] = {}
        self._news: dict[str, dict[str, VaultNews]] = {}
        self._waiting: Counter[str] = Counter()
        self._asked = RateLimit(limits.rate, limits.burst, clock.monotonic_s)
        self._wrong = RateLimit(limits.wrong_rate, limits.wrong_burst, clock.monotonic_s)
        self._connection_limits = connections or ConnectionLimits()
        self._connections = Connections(self._connection_limits)
        self._stopping = asyncio.Event()
        self._runner: web.AppRunner | None = None
        self._listener: asyncio.Server | None = None

    # -- life -----------------------------------------------------------------------------------------

    async def start(self, host: str, port: int, tls: ssl.SSLContext | None) -> int:
        """Listen, and return the port. Raises OSError, and ValueError if the boxes cannot be read."""
        await asyncio.to_thread(self._boxes.boxes)
        self._runner = web.AppRunner(
            self._application(),
            access_log=None,
            handle_signals=False,
            shutdown_timeout=STOP_WITHIN_S,
            keepalive_timeout=self._connection_limits.idle_s,
            auto_decompress=False,
        )
        await self._runner.setup()
        protocol = self._runner.server
        assert protocol is not None
        try:
            self._listener = await asyncio.get_running_loop().create_server(
                lambda: self._connections.guard(protocol), host, port, ssl=tls
            )
        except BaseException:
            await self._runner.cleanup()
            raise
        bound_port = int(self._listener.sockets[0].getsockname()[1])
        log.info("the relay listens", port=bound_port, tls=tls is not None)
        return bound_port

    async def stop(self) -> None:
        """Accept no more requests, answer those that wait, and end."""
        self._stopping.set()
        if self._listener is not None:
            self._listener.close()
        if self._runner is not None:
            await self._runner.cleanup()

    def _application(self) -> web.Application:
        app = web.Application(client_max_size=ENVELOPE_BYTES_MAX)
        vault = "/{box}/{vault}"
        app.router.add_get(vault, self._admit_to(self._list))
        app.router.add_get(f"{vault}/news", self._admit_to(self._wait_for_news))
        app.router.add_put(f"{vault}/blobs/{{name:.+}}", self._admit_to(self._put))
        app.router.add_get(f"{vault}/blobs/{{name:.+}}", self._admit_to(self._get), allow_head=False)
        app.router.add_delete(f"{vault}/blobs/{{name:.+}}", self._admit_to(self._delete))
        return app

    # -- who asks -------------------------------------------------------------------------------------

    def _admit_to(self, serve: Serve) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        """Serve a request that shows the secret of its box, within its rate."""

        async def handle(request: web.Request) -> web.StreamResponse:
            scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
            try:
                box = self._boxes.admit(request.match_info["box"], secret)
            except (OSError, ValueError) as fault:
                log.warning("the boxes cannot be read", fault=type(fault).__name__)
                return _refusal(503)
            if box is None or scheme != "Bearer":
                # Whoever has the secret is let in, also beside a stranger at the same address.
                network = caller_network(request.remote or UNKNOWN_CALLER)
                if not self._wrong.count(network):
                    return _refusal(429, "60")
                log.warning("a request without the secret of a box was refused", network=network)
                return _refusal(401)
            if request.transport is not None:
                self._connections.keep_place(request.transport)
            if not self._asked.count(box.name):
                return _refusal(429, "1")
            if not blob_keeper.is_vault_tag(request.match_info["vault"]):
                return _refusal(400)
            try:
                return await serve(request, box)
            except CarrierFault as fault:
                log.exception("the relay's disk refuses")
                return _refusal(507 if fault.is_full else 503)

        return handle

    def _keeper(self, box: Box) -> BlobKeeper:
        if box not in self._keepers:
            # A box that was made anew, or with another quota, is counted anew.
            for other in [kept for kept in self._keepers if kept.name == box.name]:
                del self._keepers[other]
            self._keepers[box] = BlobKeeper(self._folder / BLOBS_FOLDER / box.name)
        return self._keepers[box]

    def _news_of(self, request: web.Request, box: Box) -> VaultNews:
        """Return the news of a vault; a box forgets its oldest, but none for which somebody waits."""
        vault, of_box = request.match_info["vault"], self._news.setdefault(box.name, {})
        if vault not in of_box:
            if len(of_box) >= NEWS_EACH_MAX:
                idle = next((tag for tag, news in of_box.items() if not news.waiting), None)
                of_box.pop(idle or next(iter(of_box)))
            of_box[vault] = VaultNews(self._clock.now_ms())
        return of_box[vault]

    # -- what is asked --------------------------------------------------------------------------------

    async def _list(self, request: web.Request, box: Box) -> web.StreamResponse:
        after = request.query.get("after", "")
        if len(after) > NAME_CHARS_MAX:
            return _refusal(400)
        blobs, more = await self._keeper(box).list_page(request.match_info["vault"], after)
        return web.json_response({"blobs": [list(blob) for blob in blobs], "more": more})

    async def _put(self, request: web.Request, box: Box) -> web.StreamResponse:
        name = request.match_info["name"]
        if not blob_keeper.is_name(name) or request.headers.get("Content-Encoding"):
            return _refusal(400)
        try:
            async with asyncio.timeout(self._limits.body_s):
                content = await request.read()
        except TimeoutError:
            return _refusal(408)
        try:
            await self._keeper(box).put(box, request.match_info["vault"], name, content)
        except QuotaExceeded:
            return _refusal(507)
        if box.name not in self._boxes.boxes():
            # The box was removed meanwhile: what came after that is not kept.
            await asyncio.to_thread(self._boxes.delete_blobs, box.name)
            return _refusal(401)
        self._news_of(request, box).note_put(_reader(request))
        return web.Response(status=204)

    async def _get(self, request: web.Request, box: Box) -> web.StreamResponse:
        name = request.match_info["name"]
        if not blob_keeper.is_name(name):
            return _refusal(404)
        content = await self._keeper(box).get(request.match_info["vault"], name, ENVELOPE_BYTES_MAX)
        if content is None:
            return _refusal(404)
        return web.Response(body=content, content_type="application/octet-stream")

    async def _delete(self, request: web.Request, box: Box) -> web.StreamResponse:
        if not blob_keeper.is_name(request.match_info["name"]):
            return _refusal(404)
        await self._keeper(box).delete(request.match_info["vault"], request.match_info["name"])
        return web.Response(status=204)

    async def _wait_for_news(self, request: web.Request, box: Box) -> web.StreamResponse:
        """Answer when somebody else has put something after the turn in the question, or after a while."""
        turn = request.query.get("after", "")
        if not (turn.isascii() and turn.isdigit() and len(turn) <= 15):
            return _refusal(400)
        if self._waiting[box.name] >= self._limits.waits_each_max:
            return _refusal(429, "5")
        news, after = self._news_of(request, box), int(turn)
        self._waiting[box.name] += 1
        waits = [
            asyncio.create_task(news.wait(_reader(request), after)),
            asyncio.create_task(self._stopping.wait()),
        ]
        try:
            await asyncio.wait(waits, timeout=self._limits.wait_s, return_when=asyncio.FIRST_COMPLETED)
            is_new = waits[0].done()
        finally:
            for wait in waits:
                wait.cancel()
            self._waiting[box.name] -= 1
        return web.json_response({"turn": news.turn, "new": is_new})


def _reader(request: web.Request) -> str:
    return request.headers.get("Placet-Reader", "")[:READER_CHARS_MAX]


def _refusal(status: int, retry_after: str | None = None) -> web.Response:
    headers = {} if retry_after is None else {AFTER_HEADER: retry_after}
    return web.Response(status=status, headers=headers, text="")
