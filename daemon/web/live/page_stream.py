"""The event stream of the page: how far the feed goes, and which kinds of things each step touched.

Never keeps anything for a browser: the last id that it saw is its watermark, and the log is the queue.
"""

import asyncio
from typing import Final

import msgspec
from aiohttp import web
from msgspec import Struct

from daemon.browser_access import BrowserAccess
from daemon.journal import change_log
from daemon.notifier import Notifier
from daemon.web.gate import COOKIE
from store.threads import StoreThreads

HEARTBEAT_S: Final = 15.0
WRITE_WITHIN_S: Final = 30.0
STREAMS_MAX: Final = 32
COMMITS_READ_MAX: Final = 100
RETRY_MS: Final = 1000
_POSITION_CHARS_MAX: Final = 18


class Changed(Struct, frozen=True):
    """What the feed has grown by: the kinds of what was touched; `all` if it is too much to name."""

    kinds: list[str]
    all: bool = False


class PageStreams:
    """All open streams. A browser has one for all its tabs, so a few streams are enough."""

    def __init__(self, store: StoreThreads, notifier: Notifier, access: BrowserAccess) -> None:
        self._store = store
        self._notifier = notifier
        self._access = access
        self._open: dict[asyncio.Task[object], web.Request] = {}

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Send an event per step of the feed, from the last id that the browser saw.

        The stream ends when the browser goes or its session ends, at the next event or heartbeat.
        """
        token = request.cookies.get(COOKIE, "")
        if sum(open_request.transport is not None for open_request in self._open.values()) >= STREAMS_MAX:
            raise web.HTTPServiceUnavailable(text="too many event streams are open\n")
        watch = self._notifier.watch()
        after = min(_requested_position(request, self._store.feed_end), self._store.feed_end)
        response = web.StreamResponse(
            headers={
                "Content-Type": "text/event-stream",
                "Cache-Control": "no-store",
                "X-Accel-Buffering": "no",
            }
        )
        task = asyncio.current_task()
        assert task is not None
        self._open[task] = request
        try:
            await response.prepare(request)
            await _send(response, b"retry: %d\nid: %d\nevent: open\ndata: {}\n\n" % (RETRY_MS, after))
            while self._access.session_of(token) is not None:
                end = self._store.feed_end
                if end > after:
                    await _send(response, _encode(end, await self._kinds_after(after)))
                    after = end
                elif not await watch.wait_for_growth(HEARTBEAT_S):
                    await _send(response, b"event: alive\ndata: {}\n\n")
            return response
        except (ConnectionError, TimeoutError):
            return response
        finally:
            del self._open[task]

    def close(self) -> None:
        """End all streams; the browsers come back with the last id that they saw."""
        for task in self._open:
            task.cancel()

    async def _kinds_after(self, after: int) -> Changed:
        if self._store.feed_end - after > COMMITS_READ_MAX:
            return Changed([], all=True)
        events = await self._store.read(
            lambda snapshot: change_log.feed_events(snapshot, after, COMMITS_READ_MAX)
        )
        return Changed(sorted({touched.kind for event in events for touched in event.touched}))


def _requested_position(request: web.Request, end: int) -> int:
    """Return the position after which the stream begins; the end if the browser names none that can be."""
    text = request.headers.get("Last-Event-ID") or request.query.get("after", "")
    # Other scripts have digits too, and Python refuses to read very long numbers.
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _POSITION_CHARS_MAX else end


def _encode(position: int, changed: Changed) -> bytes:
    return b"id: %d\nevent: changed\ndata: %s\n\n" % (position, msgspec.json.encode(changed))


async def _send(response: web.StreamResponse, raw: bytes) -> None:
    async with asyncio.timeout(WRITE_WITHIN_S):
        await response.write(raw)
