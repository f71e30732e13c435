"""The event stream: the feed as server-sent events, from where the client left off.

Never keeps anything for a client: its Last-Event-ID is its watermark, and the log is the queue.
"""

import asyncio
from collections.abc import Callable, Container, Mapping
from typing import Annotated

import msgspec
from aiohttp import web
from msgspec import Meta, Struct

from daemon.control.routes import Call, Nothing
from daemon.journal import log
from daemon.journal.errors import Code, Refused, usage
from daemon.journal.views import Event
from daemon.notifier import Notifier
from store.threads import StoreThreads
from syncproto.ids import DeviceId

MEDIA = "text/event-stream"
HEARTBEAT_S = 15.0
WRITE_WITHIN_S = 30.0
PAGE_COMMITS = 100
STREAMS_MAX = 64
_POSITION_MAX = (1 << 63) - 1


class From(Struct, frozen=True, forbid_unknown_fields=True):
    """Where to begin: after a feed position; the header Last-Event-ID says the same, and comes first."""

    after: Annotated[int, Meta(ge=0, le=_POSITION_MAX)] | None = None


class StateEvent(Struct, frozen=True):
    """A device that holds the same commits as this one shows another state (`differs`), or the same again.

    It comes without an id, since it has no place in the feed: where a stream begins, what stands is told.
    """

    device: str
    device_name: str
    differs: bool


class Events:
    """All open streams of one daemon.

    `differing` are the devices, by name, that show another state, `agreeing` those that were seen to show the
    same; `notifier` must be told when they change.
    """

    def __init__(
        self,
        store: StoreThreads,
        notifier: Notifier,
        differing: Callable[[], Mapping[DeviceId, str]] = dict,
        agreeing: Callable[[], Container[DeviceId]] = frozenset,
    ) -> None:
        self._store = store
        self._notifier = notifier
        self._differing = differing
        self._agreeing = agreeing
        self._open: dict[asyncio.Task[object], web.Request] = {}

    async def stream(self, request: web.Request, call: Call[Nothing, From]) -> web.StreamResponse:
        """Send each commit as it becomes durable, until the client goes; without a place, from now on."""
        # A client that has gone is seen to when there is something to tell it; until then it takes no place.
        if sum(one.transport is not None for one in self._open.values()) >= STREAMS_MAX:
            raise Refused(Code.FAILED, f"{STREAMS_MAX} event streams are open already", "close one")
        watch = self._notifier.watch()
        after = await self._begin(_asked(request, call.query))
        response = web.StreamResponse(headers={"Content-Type": MEDIA, "Cache-Control": "no-store"})
        task = asyncio.current_task()
        assert task is not None
        self._open[task] = request
        try:
            await response.prepare(request)
            await _send(response, b": open\n\n")
            told: Mapping[DeviceId, str] = {}
            while True:
                told = await self._tell_of_states(response, told)
                page = await self._page(after) if after < self._store.feed_end else []
                for event in page:
                    await _send(response, _written(event))
                    after = event.seq
                if not page and not await watch.grown(HEARTBEAT_S):
                    await _send(response, b": still here\n\n")
        except (ConnectionError, TimeoutError):
            return response
        finally:
            del self._open[task]

    def close(self) -> None:
        """End all streams; their clients come back with the last position that they saw."""
        for task in self._open:
            task.cancel()

    async def _tell_of_states(
        self, response: web.StreamResponse, told: Mapping[DeviceId, str]
    ) -> Mapping[DeviceId, str]:
        """Tell what has changed about states that differ since it was told; return what the client knows.

        That one does no longer is told of a comparison alone, and not where a device was removed.
        """
        now, agreeing = dict(self._differing()), self._agreeing()
        left = {one: name for one, name in told.items() if one not in now}
        changed = [StateEvent(one.hex(), name, False) for one, name in left.items() if one in agreeing]
        changed += [StateEvent(one.hex(), now[one], True) for one in now if one not in told]
        for event in changed:
            await _send(response, b"event: state\ndata: %s\n\n" % msgspec.json.encode(event))
        return now | {one: name for one, name in left.items() if one not in agreeing}

    async def _begin(self, asked: int | None) -> int:
        end = await self._store.read(lambda snapshot: snapshot.feed_end())
        if asked is not None and asked > end:
            raise usage(f"position {asked} is beyond the end of the feed, {end}", "begin without a position")
        return end if asked is None else asked

    async def _page(self, after: int) -> list[Event]:
        if self._store.feed_end - after <= log.SHORT_COMMITS:
            # Asking a thread takes as long as the reading itself.
            short = self._store.read_now(lambda snapshot: log.short_events(snapshot, after))
            if short is not None:
                return short
        return await self._store.read(lambda snapshot: log.events(snapshot, after, PAGE_COMMITS))


def _asked(request: web.Request, query: From) -> int | None:
    header = request.headers.get("Last-Event-ID")
    if header is None:
        return query.after
    if not (header.isascii() and header.isdigit()) or int(header[:20]) > _POSITION_MAX:
        raise usage(f"Last-Event-ID is no feed position: {header[:40]!r}")
    return int(header)


async def _send(response: web.StreamResponse, raw: bytes) -> None:
    async with asyncio.timeout(WRITE_WITHIN_S):
        await response.write(raw)


def _written(event: Event) -> bytes:
    return b"id: %d\nevent: commit\ndata: %s\n\n" % (event.seq, msgspec.json.encode(event))
