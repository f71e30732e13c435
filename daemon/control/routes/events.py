"""The event stream: the feed as server-sent events, from the last position of the client.

Never keeps anything for a client: its Last-Event-ID is its watermark, and the log is the queue.
"""

import asyncio
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Annotated

import msgspec
from aiohttp import web
from msgspec import Meta, Struct

from daemon.agents.asks.ask_views import list_expiring_asks
from daemon.agents.deciding.waiting_items import list_expiring_items
from daemon.control.route import Call, Nothing
from daemon.journal import change_log
from daemon.journal.views.structures import Event
from daemon.notifier import Notifier
from daemon.peers.mailboxes.mailbox_state import MailboxActivity
from daemon.refusal import RefusalCode, Refused, usage_error
from daemon.timestamps import iso_utc
from store.sentence import sentence
from store.threads import StoreThreads
from syncproto.ids import DeviceId, id_to_text

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


class ExpiringEvent(Struct, frozen=True):
    """Proposals that expire within a day unless somebody decides, or permissions that run out so (`ask_ids`).

    `expires_at` is when the first one does; an event is about one of the two. It has no id, because it has no
    position in the feed. A new stream begins with all of them; later events name those that were not named
    before.
    """

    item_ids: list[str]
    expires_at: str
    ask_ids: list[str] = []


class EventStreams:
    """All open streams of one daemon.

    `differing` are the devices, by name, that show another state, `agreeing` those that were seen to show the
    same. `activities` is what was done in mailboxes. `notifier` must be told when any of these changes.
    `now_ms` is the wall clock, by which proposals expire.
    """

    def __init__(
        self,
        store: StoreThreads,
        notifier: Notifier,
        now_ms: Callable[[], int],
        differing: Callable[[], Mapping[DeviceId, str]] = dict,
        agreeing: Callable[[], Container[DeviceId]] = frozenset,
        *,
        activities: Callable[[], Sequence[MailboxActivity]] = tuple,
    ) -> None:
        self._store = store
        self._notifier = notifier
        self._now_ms = now_ms
        self._differing = differing
        self._agreeing = agreeing
        self._activities = activities
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
            expiry = _ExpiryWatch(self._store, self._now_ms)
            mailboxes = _MailboxWatch(self._activities)
            while True:
                tell = await self._tell_of_states(response, tell)
                for warning in await expiry.next_events():
                    await _send(response, b"event: expiring\ndata: %s\n\n" % msgspec.json.encode(warning))
                for activity in mailboxes.next_activities():
                    await _send(response, b"event: mailbox\ndata: %s\n\n" % msgspec.json.encode(activity))
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


class _ExpiryWatch:
    """What one stream was told of the proposals and permissions that run out within a day."""

    def __init__(self, store: StoreThreads, now_ms: Callable[[], int]) -> None:
        self._store = store
        self._now_ms = now_ms
        self._looked_ms: int | None = None
        self._reported: frozenset[str] = frozenset()

    async def next_events(self) -> list[ExpiringEvent]:
        """Return events on what was not reported yet; read the store every 15 s at most."""
        now_ms = self._now_ms()
        if self._looked_ms is not None and abs(now_ms - self._looked_ms) < HEARTBEAT_S * 1000:
            return []
        self._looked_ms = now_ms
        items, asks = await self._store.read(
            lambda snapshot: (list_expiring_items(snapshot, now_ms), list_expiring_asks(snapshot, now_ms))
        )
        end_of_item = {item.item_id: item.expires_at for item in items if item.expires_at is not None}
        end_of_ask = {id_to_text(ask.id): iso_utc(ask.not_after_ms) for ask in asks}
        new_items, new_asks = (
            [name for name in ends if name not in self._reported] for ends in (end_of_item, end_of_ask)
        )
        self._reported = frozenset({*end_of_item, *end_of_ask})
        events = [ExpiringEvent(new_items, end_of_item[new_items[0]])] if new_items else []
        return events + ([ExpiringEvent([], end_of_ask[new_asks[0]], new_asks)] if new_asks else [])


class _MailboxWatch:
    """What one stream was told of mailboxes, and what was there when it began."""

    def __init__(self, activities: Callable[[], Sequence[MailboxActivity]]) -> None:
        self._activities = activities
        self._sent: dict[str, MailboxActivity] = {}

    def next_activities(self) -> list[MailboxActivity]:
        """Return what has news since the last call; at the first one, what is in trouble."""
        activities = self._activities()
        news = [
            activity for activity in activities if activity.has_news_since(self._sent.get(activity.mailbox))
        ]
        self._sent = {activity.mailbox: activity for activity in activities}
        return news


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
