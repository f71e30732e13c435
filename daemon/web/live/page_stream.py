"""The event stream of the page: how far the feed goes, which kinds each step touched, and network news.

Never keeps anything for a browser: the last id that it saw is its watermark, and the log is the queue.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

import msgspec
from aiohttp import web
from msgspec import Struct

from daemon.browser_access import COOKIE, BrowserAccess
from daemon.notifier import Notifier, wait_for_any_growth
from store.snapshot import Snapshot
from store.threads import StoreThreads

WRITE_WITHIN_S: Final = 30.0
STREAMS_MAX: Final = 32
COMMITS_READ_MAX: Final = 100
RETRY_MS: Final = 1000
_POSITION_CHARS_MAX: Final = 18
SINCE: Final = "since"
"""A kind of each news of the surroundings but the first of a stream, which says how they are already."""


class Changed(Struct, frozen=True):
    """What the feed has grown by: the kinds of what was touched; `all` if it is too much to name."""

    kinds: list[str]
    all: bool = False


class Surroundings(NamedTuple):
    """What a page shows beside the journal: `look` returns it by kind; `changed` notifies of a change."""

    changed: Notifier
    look: Callable[[], Mapping[str, object]]


class PageStreams:
    """All open streams. A browser has one for all its tabs, so a few streams are enough.

    A stream says something after `quiet_s` seconds at the latest.
    """

    def __init__(
        self,
        store: StoreThreads,
        notifier: Notifier,
        access: BrowserAccess,
        surroundings: Surroundings,
        quiet_s: float,
    ) -> None:
        self._store = store
        self._notifier = notifier
        self._access = access
        self._surroundings = surroundings
        self._quiet_s = quiet_s
        self._open: dict[asyncio.Task[object], web.Request] = {}

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Send an event per step of the feed, from the last id that the browser saw, and of the surroundings.

        Their news has no position in the feed. So a new stream begins with it: a link may have changed since
        the page was made. The stream ends when the browser goes or its session ends, at the
        next event or heartbeat.
        """
        if sum(open_request.transport is not None for open_request in self._open.values()) >= STREAMS_MAX:
            raise web.HTTPServiceUnavailable(text="too many event streams are open\n")
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
            return await self._send_events(request, response)
        except (ConnectionError, TimeoutError):
            return response
        finally:
            del self._open[task]

    async def _send_events(self, request: web.Request, response: web.StreamResponse) -> web.StreamResponse:
        token, loop = request.cookies.get(COOKIE, ""), asyncio.get_running_loop()
        watches = [self._notifier.watch(), self._surroundings.changed.watch()]
        after = min(_requested_position(request, self._store.feed_end), self._store.feed_end)
        await response.prepare(request)
        event, sent_s = b"retry: %d\nid: %d\nevent: open\ndata: {}\n\n" % (RETRY_MS, after), loop.time()
        known_look: Mapping[str, object] = {}
        while self._access.session_of(token) is not None:
            if event:
                await _send(response, event)
                sent_s, event = loop.time(), b""
            if (end := self._store.feed_end) > after:
                event, after = _encode(end, await self._find_change(after)), end
            elif (look := self._surroundings.look()) != known_look:
                kinds = sorted(
                    kind for kind in look if kind not in known_look or look[kind] != known_look[kind]
                )
                # The bar of a page that was just made shows what the first look sees.
                kinds += [SINCE] if known_look else []
                event, known_look = b"event: around\ndata: %s\n\n" % msgspec.json.encode(Changed(kinds)), look
            # The network may notify without end, and show nothing new: a browser gets a sign of life then.
            elif (rest_s := sent_s + self._quiet_s - loop.time()) <= 0 or not await wait_for_any_growth(
                watches, rest_s
            ):
                event = b"event: alive\ndata: {}\n\n"
        return response

    def close(self) -> None:
        """End all streams; the browsers come back with the last id that they saw."""
        for task in self._open:
            task.cancel()

    async def _find_change(self, after: int) -> Changed:
        if self._store.feed_end - after > COMMITS_READ_MAX:
            return Changed([], all=True)
        return Changed(sorted(await self._store.read(lambda snapshot: _kinds_after(snapshot, after))))


def _kinds_after(snapshot: Snapshot, after: int) -> set[str]:
    feed = snapshot.read_feed(after, COMMITS_READ_MAX)
    return {operation.kind for _seq, decoded in feed for operation in decoded.commit.operations}


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
