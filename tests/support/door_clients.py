"""Clients of the door by the protocol's own SDK, in both of its eras, which hear of changed resources.

Never looks behind the door: what a client cannot see, it cannot tell.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

import mcp_types as types
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.support.devices import Device
from tests.support.patience import LIMIT_S
from tests.support.starts.processes import PLACET

ERAS = ["legacy", "2026-07-28"]
Call = Callable[..., Awaitable[dict[str, Any]]]


class Heard:
    """The addresses of resources that were announced as changed, in their order."""

    def __init__(self, era: str) -> None:
        self.era = era
        self._addresses: asyncio.Queue[str] = asyncio.Queue()

    async def handle(self, message: Any) -> None:
        """Note a message of the era of 2025; in that of 2026, a stream has the same."""
        if self.era == "legacy" and isinstance(message, types.ResourceUpdatedNotification):
            self._addresses.put_nowait(str(message.params.uri))

    async def follow(self, events: Any) -> None:
        """Note the events of a stream."""
        async for event in events:
            self._addresses.put_nowait(event.uri)

    async def wait_for(self, *addresses: str) -> list[str]:
        """Wait until each of the addresses was announced; return all that were, each once."""
        announced: list[str] = []
        while not set(addresses) <= set(announced):
            announced.append(await self._addresses.get())
        return list(dict.fromkeys(announced))


@asynccontextmanager
async def subscribed(client: Client, heard: Heard, addresses: Sequence[str]) -> AsyncIterator[list[str]]:
    """Subscribe to resources for a while, as the era does it; give those that the server agreed to."""
    if heard.era == "legacy":
        for address in addresses:
            await client.subscribe_resource(address)
        yield list(addresses)
        for address in addresses:
            await client.unsubscribe_resource(address)
        return
    async with client.listen(resource_subscriptions=addresses) as events:
        following = asyncio.create_task(heard.follow(events))
        try:
            yield list(events.honored.resource_subscriptions or ())
        finally:
            following.cancel()


def speak(
    device: Device,
    era: str,
    story: Callable[[Call], Awaitable[Any]],
    *,
    name: str = "Claude",
    heard: Heard | None = None,
) -> Any:
    """Start the door and a client of the SDK for one story, and end both; return the story's answer."""

    async def main() -> Any:
        server = StdioServerParameters(
            command=str(PLACET), args=["mcp", "--as", name], env=device.environment
        )
        handler = None if heard is None else heard.handle
        async with Client(stdio_client(server), mode=era, message_handler=handler) as client:

            async def call(tool: str, **args: Any) -> dict[str, Any]:
                result = await client.call_tool(tool, args)
                assert result.structured_content is not None
                answer = dict(result.structured_content)
                # A malformed call is an error, and a state that does not allow it is none.
                assert result.is_error == (answer.get("refused", {}).get("code") == "usage")
                return answer

            call.client = client  # type: ignore[attr-defined]
            return await story(call)

    # In a thread: a test that drives a browser has an event loop already.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(asyncio.wait_for(main(), LIMIT_S))).result()
