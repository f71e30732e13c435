"""The event stream: the feed as server-sent events, from the last position of the client.

Never keeps anything for a client: its Last-Event-ID is its watermark, and the log is the queue.
"""

import asyncio
from collections.abc import Callable, Container, Mapping
from typing import Annotated

import msgspec
from aiohttp import web
from msgspec import Meta, Struct

from daemon.control.route import Call, Nothing
from daemon.journal import change_log
from daemon.journal.views.structures import Event
from daemon.notifier import Notifier
from daemon.refusal import RefusalCode, Refused, usage_error
from store.sentence import sentence
from store.threads import StoreThreads
from syncproto.ids import DeviceId

MEDIA = "text/event-stream"
HEARTBEAT_S = 15.0
WRITE_WITHIN_S = 30.0
PAGE_COMMITS = 100
STREAMS_MAX = 64
_POSITION_MAX = (1 << 63) - 1


class From(Struct, frozen=True, forbid_unknown_fields=True):
    """The feed position after which the stream begins; null: the present end.

    If the header Last-Event-ID is given, it counts in place of `after`.
    """

    after: Annotated[int, Meta(ge=0, le=_POSITION_MAX)] | None = None


class StateEvent(Struct, frozen=True):
    """Another device has the same commits as this one, and shows another state (`differs`) or the same again.

    The event has no id, because it has no position in the feed. A new stream begins with the present state.
    """

    device: str
    device_name: str
    differs: bool


class EventStreams:
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

    async def serve(self, request: web.Request, call: Call[Nothing, From]) -> web.StreamResponse:
        """Send each commit as it becomes durable, until the client goes; without a place, from now on."""
        # A client that has gone is seen to when there is something to tell it; until then it takes no place.
        if sum(open_request.transport is not None for open_request in self._open.values()) >= STREAMS_MAX:
            raise Refused(
                RefusalCode.FAILED,
                sentence("streams-open", "{count} event streams are open already", count=STREAMS_MAX),
                sentence("close-one", "close one"),
            )
        watch = self._notifier.watch()
        after = await self._begin(_requested_position(request, call.query))
        response = web.StreamResponse(headers={"Content-Type": MEDIA, "Cache-Control": "no-store"})
        task = asyncio.current_task()
        assert task is not None
        self._open[task] = request
        try:
            await response.prepare(request)
            await _send(response, b": open\n\n")
            tell: Mapping[DeviceId, str] = {}
            while True:
                tell = await self._tell_of_states(response, tell)
                page = await self._page(after) if after < self._store.feed_end else []
                for event in page:
                    await _send(response, _encode_event(event))
                    after = event.seq
                if not page and not await watch.wait_for_growth(HEARTBEAT_S):
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
        self, response: web.StreamResponse, known_states: Mapping[DeviceId, str]
    ) -> Mapping[DeviceId, str]:
        """Send what has changed in the differing states since the last call; return what the client knows.

        The end of a difference is sent only after a comparison, and not if the device was removed.
        """
        now, agreeing = dict(self._differing()), self._agreeing()
        left = {device: name for device, name in known_states.items() if device not in now}
        changed = [
            StateEvent(device.hex(), name, False) for device, name in left.items() if device in agreeing
        ]
        changed += [
            StateEvent(device.hex(), now[device], True) for device in now if device not in known_states
        ]
        for event in changed:
            await _send(response, b"event: state\ndata: %s\n\n" % msgspec.json.encode(event))
        return now | {device: name for device, name in left.items() if device not in agreeing}

    async def _begin(self, position: int | None) -> int:
        end = await self._store.read(lambda snapshot: snapshot.feed_end())
        if position is not None and position > end:
            raise usage_error(
                sentence(
                    "position-beyond-feed",
                    "position {position} is beyond the end of the feed, {end_position}",
                    position=position,
                    end_position=end,
                ),
                sentence("begin-without-position", "begin without a position"),
            )
        return end if position is None else position

    async def _page(self, after: int) -> list[Event]:
        if self._store.feed_end - after <= change_log.SMALL_COMMITS_MAX:
            # Asking a thread takes as long as the reading itself.
            short = self._store.read_now(lambda snapshot: change_log.small_feed_events(snapshot, after))
            if short is not None:
                return short
        return await self._store.read(lambda snapshot: change_log.feed_events(snapshot, after, PAGE_COMMITS))


def _requested_position(request: web.Request, query: From) -> int | None:
    header = request.headers.get("Last-Event-ID")
    if header is None:
        return query.after
    # Other scripts have digits too, and Python refuses to read very long numbers.
    if not (header.isascii() and header.isdigit()) or int(header[:20]) > _POSITION_MAX:
        raise usage_error(
            sentence("no-feed-position", "Last-Event-ID is no feed position: {text!r}", text=header[:40])
        )
    return int(header)


async def _send(response: web.StreamResponse, raw: bytes) -> None:
    async with asyncio.timeout(WRITE_WITHIN_S):
        await response.write(raw)


def _encode_event(event: Event) -> bytes:
    return b"id: %d\nevent: commit\ndata: %s\n\n" % (event.seq, msgspec.json.encode(event))
