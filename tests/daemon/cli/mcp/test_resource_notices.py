"""Notices of changed resources, with a client of the SDK in this process and a door without a daemon.

Never tests what the daemon lets an agent read: tests/daemon/control/routes/test_outside.py does.
"""

import asyncio
import threading
from typing import Any

import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

from daemon.cli.api.command_error import CommandError
from daemon.cli.mcp.resource_notices import SUBSCRIPTIONS_MAX, pause_after
from daemon.cli.mcp.server import make_server
from daemon.cli.mcp.tool_calls import Door
from tests.support.door_clients import ERAS, Heard, subscribed
from tests.support.patience import LIMIT_S, wait_until_async

pytestmark = pytest.mark.filterwarnings("ignore:resources/.*subscribe is removed")

INBOX, DECISIONS = "placet://inbox", "placet://decisions"


class PlainDoor(Door):
    """A door to a journal of texts by address; what has no text is refused."""

    def __init__(self) -> None:
        super().__init__("Claude")
        self.texts: dict[str, str] = {"inbox/": "empty", "decisions/": "none"}
        self.position = 1
        self.rounds = 0
        self.is_away = False
        self._grown = threading.Event()

    def write(self, name: str, text: str | None) -> None:
        """Let a resource read differently, None for a refusal, and the feed grow."""
        if text is None:
            del self.texts[name]
        else:
            self.texts[name] = text
        self.position += 1
        self._grown.set()

    def read(self, kind: str, name: str) -> dict[str, Any]:
        self._require_daemon()
        if f"{kind}/{name}" not in self.texts:
            raise CommandError("not_found", "this agent has no such thing")
        return {"text": self.texts[f"{kind}/{name}"]}

    def position_after(self, position: int | None) -> int:
        self._require_daemon()
        self.rounds += 1
        if position == self.position:
            self._grown.wait(0.05)
        self._grown.clear()
        return self.position

    def _require_daemon(self) -> None:
        if self.is_away:
            raise CommandError("no_daemon", "no daemon answers")


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def test_a_client_hears_of_what_it_subscribed_to_when_it_reads_differently(era: str) -> None:
    door, heard = PlainDoor(), Heard(era)
    door.texts["tasks/ab"] = "Write to Ana"
    async with (
        asyncio.timeout(LIMIT_S),
        Client(make_server(door), mode=era, message_handler=heard.handle) as client,
        subscribed(client, heard, [INBOX, "placet://tasks/ab"]),
    ):
        # Neither a write that leaves it as it was, nor one of a resource without a subscription.
        door.write("tasks/ab", "Write to Ana")
        door.write("decisions/", "one")
        door.write("inbox/", "one set")
        assert await heard.wait_for(INBOX) == [INBOX]
        (content,) = (await client.read_resource(INBOX)).contents
        assert isinstance(content, types.TextResourceContents)
        assert content.text == '{"text": "one set"}'
        # What a person removes, or puts beyond the agent's scope, has changed, too.
        door.write("tasks/ab", None)
        assert await heard.wait_for("placet://tasks/ab") == ["placet://tasks/ab"]


async def test_a_daemon_that_is_away_changes_nothing_and_its_return_is_noticed(
    era: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("daemon.cli.mcp.resource_notices._AWAY_S", 0.01)
    door, heard = PlainDoor(), Heard(era)
    async with (
        asyncio.timeout(LIMIT_S),
        Client(make_server(door), mode=era, message_handler=heard.handle) as client,
        subscribed(client, heard, [INBOX, DECISIONS]),
    ):
        await wait_until_async("the door watches", lambda: door.rounds > 1)
        door.is_away = True
        door.write("inbox/", "one set")
        door.is_away = False
        assert await heard.wait_for(INBOX) == [INBOX]


async def test_what_cannot_be_read_gets_no_subscription(era: str) -> None:
    unreadable = [
        "placet://tasks/ff",
        "placet://inbox/ff",
        "placet://sets",
        "https://example.org",
        "placet://",
    ]
    async with (
        asyncio.timeout(LIMIT_S),
        Client(make_server(PlainDoor()), mode=era) as client,
    ):
        if era == "legacy":
            for address in unreadable:
                with pytest.raises(MCPError):
                    await client.subscribe_resource(address)
        else:
            async with subscribed(client, Heard(era), [*unreadable, INBOX]) as watched:
                assert watched == [INBOX]


async def test_subscriptions_are_bounded_and_end_with_their_stream(era: str) -> None:
    door = PlainDoor()
    addresses = [f"placet://tasks/{number}" for number in range(2 * SUBSCRIPTIONS_MAX)]
    door.texts |= {f"tasks/{number}": "A task" for number in range(2 * SUBSCRIPTIONS_MAX)}
    first, second = addresses[:SUBSCRIPTIONS_MAX], addresses[SUBSCRIPTIONS_MAX:]
    async with asyncio.timeout(LIMIT_S), Client(make_server(door), mode=era) as client:
        async with subscribed(client, Heard(era), first) as watched:
            assert watched == first
            if era == "legacy":
                with pytest.raises(MCPError, match="most"):
                    await client.subscribe_resource(second[0])
            else:
                async with subscribed(client, Heard(era), second) as too_many:
                    assert too_many == []

        async def count_of_second() -> int:
            async with subscribed(client, Heard(era), second) as watched:
                return len(watched)

        # A stream is ended by a notice, which nothing answers.
        while await count_of_second() < SUBSCRIPTIONS_MAX:
            pass


async def test_without_subscriptions_the_door_does_not_look(era: str) -> None:
    door, heard = PlainDoor(), Heard(era)
    async with asyncio.timeout(LIMIT_S), Client(make_server(door), mode=era) as client:
        await client.list_resources()
        assert door.rounds == 0
        async with subscribed(client, heard, [INBOX]):
            await wait_until_async("the door looks", lambda: door.rounds > 1)

        async def is_quiet() -> bool:
            rounds = door.rounds
            await asyncio.sleep(0.5)
            return door.rounds == rounds

        while not await is_quiet():
            pass


@pytest.mark.parametrize("round_s", [0.0, 0.01, 0.5, 30.0])
def test_a_round_that_is_long_is_followed_by_a_longer_pause(round_s: float) -> None:
    assert round_s <= (round_s + pause_after(round_s)) / 5
    assert pause_after(round_s) > 0
