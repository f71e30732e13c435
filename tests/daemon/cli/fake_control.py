"""A control server with scripted answers, on a real Unix socket: what the command line is tested against.

Never imports the daemon's server: it speaks the documented API, in documented shapes, and records what came.

Use it as `FakeControl(home)` in a `with` block, script answers with `answers`, `breaks` and `streams`,
run the real `placet` with `PLACET_HOME=home`, then read `requests`. What was not scripted is a 404, but for
the reading of a line: then all of the line is the title, and the request is not recorded.
"""

import asyncio
import json
import threading
from collections import defaultdict, deque
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from aiohttp import web

from daemon.paths import short_address
from tests.support.patience import LIMIT_S

READ_LINE = "GET /v1/captured-line"
# Every answer was given at this moment, so that relative times are the same for ever.
DATE = "Wed, 04 Mar 2026 12:00:00 GMT"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that came."""

    method: str
    target: str
    headers: dict[str, str]
    body: Any

    @property
    def line(self) -> str:
        return f"{self.method} {self.target}"


@dataclass(slots=True)
class Scripted:
    """What to answer: JSON with a status, raw bytes, nothing at all, or a stream of chunks."""

    status: int = 200
    body: bytes = b""
    chunks: list[bytes] = field(default_factory=list)
    breaks: bool = False
    hangs: bool = False
    headers: dict[str, str] = field(default_factory=dict)


class FakeControl:
    """The server, in a thread of its own, for as long as the `with` block lasts."""

    def __init__(self, home: Path) -> None:
        self.socket = home / "control.sock"
        self.requests: list[Asked] = []
        self._scripts: dict[str, deque[Scripted]] = defaultdict(deque)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._end = asyncio.Event()

    def answers(self, line: str, body: Any, status: int = 200, **headers: str) -> None:
        """Answer `METHOD /path` with JSON; several calls are answered in turn, the last for ever.

        A header is named with `_` for `-`.
        """
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        text = json.dumps(body, ensure_ascii=False).encode()
        self._scripts[line].append(Scripted(status, text, headers=named))

    def forgets(self, line: str) -> None:
        """Forget what was scripted for `METHOD /path`."""
        self._scripts.pop(line, None)

    def refuses(self, line: str, status: int, code: str, message: str, hint: str = "", **more: Any) -> None:
        """Answer with an error object."""
        self.answers(line, {"error": {"code": code, "message": message, "hint": hint, **more}}, status)

    def says(self, line: str, body: bytes, status: int = 200) -> None:
        """Answer with these bytes, whatever they are."""
        self._scripts[line].append(Scripted(status, body))

    def breaks(self, line: str) -> None:
        """Take the request and close the connection without an answer, as a killed daemon does."""
        self._scripts[line].append(Scripted(breaks=True))

    def cuts(self, line: str, body: bytes) -> None:
        """Promise more than this body, send it, and close the connection."""
        self._scripts[line].append(Scripted(body=body, breaks=True))

    def hangs(self, line: str) -> None:
        """Take the request and never answer."""
        self._scripts[line].append(Scripted(hangs=True))

    def streams(self, line: str, *chunks: bytes) -> None:
        """Answer with server-sent events, then end the stream."""
        self._scripts[line].append(Scripted(chunks=list(chunks)))

    def asked(self, line: str) -> list[Asked]:
        return [request for request in self.requests if request.line.partition("?")[0] == line]

    def __enter__(self) -> Self:
        self._thread.start()
        self._run(self._start())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._run(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, work: Any) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=LIMIT_S)

    async def _start(self) -> None:
        app = web.Application()
        app.router.add_route("*", "/{tail:.*}", self._handle)
        self._runner = web.AppRunner(app, handle_signals=False, shutdown_timeout=1)
        await self._runner.setup()
        with short_address(str(self.socket)) as address:
            server = self._runner.server
            assert server is not None
            self._listener = await self._loop.create_unix_server(server, address)

    async def _stop(self) -> None:
        self._end.set()
        server = self._runner.server
        assert server is not None
        # A connection that asyncio has just accepted is lost, unclosed, if the listener ends before its first
        # step: so no more are accepted, and then the listener ends.
        for listening in self._listener.sockets:
            self._loop.remove_reader(listening.fileno())
        await asyncio.sleep(0)
        self._listener.close()
        transports = [connection.transport for connection in server.connections]
        await self._runner.cleanup()
        # A connection that was being accepted at that moment is known only now.
        if accepting := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(accepting, timeout=LIMIT_S)
        transports += [connection.transport for connection in server.connections]
        await server.shutdown(1)
        # A command that was ended while it read leaves an answer behind that nobody takes.
        for transport in transports:
            if transport is not None:
                transport.abort()
        await asyncio.sleep(0)

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        text = await request.text()
        if request.path == READ_LINE.split()[1] and READ_LINE not in self._scripts:
            return web.json_response({"title": request.query["line"], "readings": []})
        requested_request = Asked(
            request.method, request.raw_path, dict(request.headers), json.loads(text) if text else None
        )
        self.requests.append(requested_request)
        scripts = self._scripts.get(f"{request.method} {request.path}")
        if not scripts:
            missing = {"error": {"code": "not_found", "message": f"nothing at {request.path}", "hint": ""}}
            return web.json_response(missing, status=404, headers={"Date": DATE})
        return await self._play(scripts.popleft() if len(scripts) > 1 else scripts[0], request)

    async def _play(self, script: Scripted, request: web.Request) -> web.StreamResponse:
        if script.hangs:
            await self._end.wait()
        if script.breaks or script.hangs:
            assert request.transport is not None
            if script.body:
                request.transport.write(b"HTTP/1.0 200 OK\r\nContent-Length: 999\r\n\r\n" + script.body)
                request.transport.close()
                return web.Response()
            request.transport.abort()
            return web.Response()
        if not script.chunks:
            return web.Response(
                status=script.status,
                body=script.body,
                headers={"Date": DATE, **script.headers},
                content_type="application/json",
            )
        stream = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Date": DATE})
        await stream.prepare(request)
        for chunk in script.chunks:
            await stream.write(chunk)
        await stream.write_eof()
        return stream
