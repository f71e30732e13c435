"""Tells a client that resources changed to which it subscribed, in both eras of the protocol.

Never sends what changed, only its address; never tells of a resource that the agent could not read; and never
outlives the client: a subscription is nowhere but in this process.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ResourceUpdated

from daemon.cli.api.command_error import CommandError
from daemon.cli.mcp.resources import read_resource
from daemon.cli.mcp.task_handles import require_tasks
from daemon.cli.mcp.tool_calls import Door, DoorRefusal

SUBSCRIPTIONS_MAX: Final = 32
STREAMS_MAX: Final = 8
_RECHECK_S: Final = 60.0
"""What runs out changes without a write, and is noticed after so long."""
_BETWEEN_ROUNDS_S: Final = 0.2
_AWAY_S: Final = 5.0
_GONE: Final = frozenset({"not_found", "forbidden", "conflict", "usage", "ambiguous"})
"""Refusals that say something of the resource. Any other one says that the daemon is away."""


class ResourceNotices:
    """The subscriptions of the door's client: by resource in the era of 2025, by stream in that of 2026.

    Whenever the feed has grown, each resource that has a subscription is read again, and a notice is sent if
    it reads differently. So a notice is about what the agent may read, whatever was written.
    """

    def __init__(self, door: Door) -> None:
        self._door = door
        self._holders: Counter[str] = Counter()
        self._digests: dict[str, str] = {}
        self._has_subscriptions = anyio.Event()
        self._session: ServerSession | None = None
        self._subscribed: set[str] = set()
        self._bus = InMemorySubscriptionBus()
        self._streams = ListenHandler(self._bus, max_subscriptions=STREAMS_MAX)

    @asynccontextmanager
    async def watch_while_served(self, _server: object) -> AsyncIterator[None]:
        """Watch for as long as a client is served."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._run)
            yield
            tasks.cancel_scope.cancel()

    # -- subscriptions --------------------------------------------------------------------------------

    async def subscribe(self, context: Any, params: types.SubscribeRequestParams) -> types.EmptyResult:
        """Serve `resources/subscribe`. Raises `MCPError` for what cannot be read, and for one too many."""
        uri = str(params.uri)
        if uri not in self._subscribed:
            await self._add(uri)
            self._subscribed.add(uri)
        self._session = context.session
        return types.EmptyResult()

    async def unsubscribe(self, _context: Any, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        """Serve `resources/unsubscribe`; to end what never was is no fault."""
        uri = str(params.uri)
        if uri in self._subscribed:
            self._subscribed.remove(uri)
            self._release(uri)
        return types.EmptyResult()

    async def listen(
        self, context: Any, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Serve `subscriptions/listen`: its acknowledgement names the resources that can be read."""
        if "taskIds" in (params.notifications.model_extra or {}):
            require_tasks(context)
        wanted = dict.fromkeys(params.notifications.resource_subscriptions or ())
        watched: list[str] = []
        try:
            for uri in list(wanted)[:SUBSCRIPTIONS_MAX]:
                try:
                    await self._add(uri)
                except MCPError:
                    continue
                watched.append(uri)
            granted = types.SubscriptionFilter(resource_subscriptions=watched or None)
            return await self._streams(context, params.model_copy(update={"notifications": granted}))
        finally:
            for uri in watched:
                self._release(uri)

    async def _add(self, uri: str) -> None:
        if uri not in self._holders and len(self._holders) >= SUBSCRIPTIONS_MAX:
            message = f"there are {SUBSCRIPTIONS_MAX} subscriptions, which is the most"
            raise MCPError(code=types.INVALID_PARAMS, message=message)
        self._holders[uri] += 1
        try:
            text = await anyio.to_thread.run_sync(partial(read_resource, self._door, uri))
        except (CommandError, DoorRefusal) as error:
            self._release(uri)
            raise MCPError(code=types.INVALID_PARAMS, message=error.message) from error
        except BaseException:
            self._release(uri)
            raise
        self._digests.setdefault(uri, _digest(text))
        self._has_subscriptions.set()

    def _release(self, uri: str) -> None:
        self._holders[uri] -= 1
        if self._holders[uri] <= 0:
            del self._holders[uri]
            self._digests.pop(uri, None)

    # -- notices --------------------------------------------------------------------------------------

    async def _run(self) -> None:
        while True:
            await self._has_subscriptions.wait()
            try:
                await self._watch()
            except (CommandError, DoorRefusal):
                await anyio.sleep(_AWAY_S)

    async def _watch(self) -> None:
        """Send notices until there is no subscription. Raises `CommandError` if the daemon is away."""
        position: int | None = None
        compared_s = 0.0
        while self._digests:
            end = await anyio.to_thread.run_sync(self._door.position_after, position)
            if end != position or anyio.current_time() - compared_s >= _RECHECK_S:
                begun_s = anyio.current_time()
                await self._compare()
                compared_s = anyio.current_time()
                await anyio.sleep(pause_after(compared_s - begun_s))
            position = end
        self._has_subscriptions = anyio.Event()

    async def _compare(self) -> None:
        for uri in list(self._digests):
            digest = await anyio.to_thread.run_sync(self._current_digest, uri)
            if self._digests.get(uri, digest) != digest:
                self._digests[uri] = digest
                await self._send(uri)

    def _current_digest(self, uri: str) -> str:
        try:
            return _digest(read_resource(self._door, uri))
        except (CommandError, DoorRefusal) as error:
            if error.code not in _GONE:
                raise
            return error.code

    async def _send(self, uri: str) -> None:
        await self._bus.publish(ResourceUpdated(uri))
        if uri in self._subscribed and self._session is not None:
            await self._session.send_resource_updated(uri)


def pause_after(round_s: float) -> float:
    """Return how long to wait after a round of so many seconds: rounds take a fifth of the time at most."""
    return max(_BETWEEN_ROUNDS_S, 4 * round_s)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
