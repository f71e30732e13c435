"""The event stream.

Never waits for time to pass: each test ends when what it waits for has come.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import aiohttp
import msgspec
import pytest

from daemon.agents.asks import ask_requests
from daemon.agents.asks.ask_requests import NewAsk
from daemon.agents.person import external_agents
from daemon.control.routes import events
from daemon.control.routes.events import StateEvent
from daemon.peers.mailboxes.mailbox_state import MailboxActivity
from daemon.timestamps import iso_utc
from store.sentence import foreign_text, sentence_fields
from syncproto.ids import DeviceId, id_to_text
from tests.daemon.control.conftest import Api
from tests.support.patience import LIMIT_S

HOUR_MS = 3_600_000


class Stream:
    """An open stream; its comments are told apart from its events."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response
        self.comments = 0

    async def next(self) -> tuple[int, Any]:
        """Return the next event, which is a commit: its id and its data."""
        fields = await self.fields()
        assert fields["event"] == "commit"
        return int(fields["id"]), json.loads(fields["data"])

    async def fields(self) -> dict[str, str]:
        """Return the fields of the next event."""
        fields: dict[str, str] = {}
        async for raw in self._response.content:
            line = raw.decode().rstrip("\n")
            if line.startswith(":"):
                self.comments += 1
            elif line:
                name, _, value = line.partition(": ")
                fields[name] = value
            elif fields:
                return fields
        raise EOFError

    async def comment(self) -> bytes:
        return (await self._response.content.readuntil(b"\n\n")).strip()


@asynccontextmanager
async def stream(api: Api, query: str = "", **headers: str) -> AsyncIterator[Stream]:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    async with api.session.get(f"/v1/events{query}", headers=sent) as response:
        assert (response.status, response.content_type) == (200, "text/event-stream")
        yield Stream(response)


async def add(api: Api, title: str) -> None:
    assert (await api.ask("POST", "/v1/tasks", {"title": title})).status == 201


def web_runner(api: Api) -> Any:
    assert api.control is not None
    return api.control._runner


def titles(event: Any) -> list[str]:
    return [change["after"] for change in event["changes"] if change["field"] == "title"]


async def test_a_commit_is_told_as_it_lands(api: Api):
    async with stream(api) as open_stream:
        assert await open_stream.comment() == b": open"
        await add(api, "One")
        position, event = await open_stream.next()
        assert (position, event["seq"], titles(event)) == (1, 1, ["One"])
        assert event["by"] == "user"
        assert {change["kind"] for change in event["touched"]} == {"task"}


async def test_a_client_that_was_away_misses_nothing(api: Api):
    for title in ("One", "Two", "Three"):
        await add(api, title)
    async with stream(api, Last_Event_ID="1") as open_stream:
        assert titles((await open_stream.next())[1]) == ["Two"]
        position, event = await open_stream.next()
        assert (position, titles(event)) == (3, ["Three"])


async def test_a_place_to_begin_may_stand_in_the_query_but_the_header_comes_first(api: Api):
    for title in ("One", "Two"):
        await add(api, title)
    async with stream(api, "?after=0") as open_stream:
        assert titles((await open_stream.next())[1]) == ["One"]
    async with stream(api, "?after=0", Last_Event_ID="1") as open_stream:
        assert titles((await open_stream.next())[1]) == ["Two"]


PHONE = DeviceId(bytes([7]) * 32)


async def state(stream: Stream) -> tuple[str, bool]:
    """Return the next event, which is of a state: the device's name, and whether it differs."""
    fields = await stream.fields()
    assert set(fields) == {"event", "data"}, "it has no place in the feed"
    assert fields["event"] == "state"
    state_event = msgspec.json.decode(fields["data"], type=StateEvent)
    assert state_event.device == PHONE.hex()
    return state_event.device_name, state_event.differs


async def test_a_device_that_shows_another_state_is_told_until_it_agrees_again(api: Api):
    async with stream(api) as open_stream:
        assert await open_stream.comment() == b": open"
        api.differing = {PHONE: "phone"}
        api.notifier.notify()
        assert await state(open_stream) == ("phone", True)
        await add(api, "One")
        assert (await open_stream.next())[0] == 1
        async with stream(api, Last_Event_ID="0") as later:
            assert await state(later) == ("phone", True)
            assert (await later.next())[0] == 1
        api.differing, api.agreeing = {}, {PHONE}
        api.notifier.notify()
        assert await state(open_stream) == ("phone", False)


async def test_a_device_that_was_removed_is_not_told_of_as_healed(api: Api):
    """It shows what it showed; only a comparison says that it is well, and it may come back."""
    async with stream(api) as open_stream:
        assert await open_stream.comment() == b": open"
        api.differing = {PHONE: "phone"}
        api.notifier.notify()
        assert await state(open_stream) == ("phone", True)
        api.differing = {}
        await add(api, "One")
        assert (await open_stream.next())[0] == 1, "nothing was told of the phone"
        api.agreeing = {PHONE}
        await add(api, "Two")
        assert await state(open_stream) == ("phone", False)


async def test_more_than_a_page_comes_in_order_without_a_gap(api: Api, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(events, "PAGE_COMMITS", 3)
    for n in range(8):
        await add(api, f"Task {n}")
    async with stream(api, "?after=0") as open_stream:
        observed = [titles((await open_stream.next())[1]) for _ in range(8)]
    assert observed == [[f"Task {n}"] for n in range(8)]


async def test_a_quiet_stream_is_kept_alive(api: Api, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(events, "HEARTBEAT_S", 0.001)
    async with stream(api) as open_stream:
        assert await open_stream.comment() == b": open"
        assert await open_stream.comment() == b": still here"


@pytest.mark.parametrize("position", ["99", "-1", "one", "1" * 40, "²"])
async def test_a_position_that_was_never_told_is_refused(api: Api, position):
    async with api.session.get("/v1/events", headers={"Last-Event-ID": position}) as response:
        assert response.status == 400


async def test_streams_are_bounded(api: Api, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(events, "STREAMS_MAX", 1)
    async with stream(api):
        assert (await api.ask("GET", "/v1/events")).code == "failed"


async def test_a_client_that_has_gone_keeps_no_other_out(api: Api, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(events, "STREAMS_MAX", 1)
    async with stream(api) as closed_stream:
        await closed_stream.comment()
    # Nothing was committed since, and the next sign of life is not due.
    async with stream(api) as another:
        await another.comment()


async def test_streams_end_when_the_daemon_stops(api: Api, monkeypatch: pytest.MonkeyPatch):
    # They are cut at once, not when requests under way have had their time.
    monkeypatch.setattr(web_runner(api), "_shutdown_timeout", 3600.0)
    async with stream(api) as open_stream:
        await open_stream.comment()
        assert api.control is not None
        async with asyncio.timeout(LIMIT_S):
            await api.control.stop()
        with pytest.raises((EOFError, aiohttp.ClientError, asyncio.IncompleteReadError)):
            await open_stream.next()


async def test_a_client_that_went_away_leaves_nothing_behind(api: Api, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(events, "HEARTBEAT_S", 0.001)
    async with stream(api) as open_stream:
        await open_stream.comment()
        (served,) = api.events._open
    async with asyncio.timeout(LIMIT_S):
        await asyncio.wait({served})
    assert not api.events._open


async def test_a_stream_warns_once_of_each_proposal_that_expires_soon(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    expiring = [SimpleNamespace(item_id="aa", expires_at="2026-03-27T09:46:40.000Z")]
    monkeypatch.setattr(events, "list_expiring_items", lambda _snapshot, _now_ms: list(expiring))
    monkeypatch.setattr(events, "HEARTBEAT_S", 0.0)
    async with asyncio.timeout(LIMIT_S), stream(api) as events_stream:
        for item, expires_at in (("aa", "2026-03-27T09:46:40.000Z"), ("bb", "2026-03-28T09:46:40.000Z")):
            fields = await events_stream.fields()
            assert (fields["event"], "id" in fields) == ("expiring", False)
            assert json.loads(fields["data"]) == {"item_ids": [item], "expires_at": expires_at, "ask_ids": []}
            await events_stream.comment()
            expiring.append(SimpleNamespace(item_id="bb", expires_at="2026-03-28T09:46:40.000Z"))


async def test_a_stream_warns_once_of_each_permission_that_runs_out_soon(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "HEARTBEAT_S", 0.0)
    agent = await api.store.write(lambda tx: external_agents.add_external_agent(tx, "Claude", "none"))

    async def ask(key: str, hours: int) -> str:
        not_after = api.now_ms + hours * HOUR_MS
        request = NewAsk(agent="x", name="run", args={}, title="Run", key=key, not_after=not_after)
        return id_to_text(await api.store.write(lambda tx: ask_requests.make_ask(tx, agent, request)))

    late, first, second = await ask("late", 48), await ask("first", 2), await ask("second", 3)
    async with asyncio.timeout(LIMIT_S), stream(api) as events_stream:
        warning = json.loads((await events_stream.fields())["data"])
        ends = iso_utc(api.now_ms + 2 * HOUR_MS)
        assert warning == {"item_ids": [], "expires_at": ends, "ask_ids": [first, second]}
        await events_stream.comment()
        third = await ask("third", 1)
        while (fields := await events_stream.fields())["event"] != "expiring":
            continue
        assert json.loads(fields["data"])["ask_ids"] == [third]
    assert late not in (first, second, third)


async def test_a_stream_begins_with_mailboxes_in_trouble_and_goes_on_with_what_is_done_there(
    api: Api,
) -> None:
    def activity(
        name: str, trouble: str | None = None, *, visits: int = 0, taken: int = 0
    ) -> MailboxActivity:
        words = sentence_fields("trouble", None if trouble is None else foreign_text(trouble))
        return MailboxActivity(name, None, visits, taken, 0, 0, 0, **words)

    api.activities = [activity("box"), activity("stick", "gone")]
    async with asyncio.timeout(LIMIT_S), stream(api) as events_stream:
        fields = await events_stream.fields()
        assert (fields["event"], "id" in fields) == ("mailbox", False)
        assert msgspec.json.decode(fields["data"], type=MailboxActivity) == api.activities[1]
        # A look that found nothing is no news.
        for visits, taken in ((1, 0), (2, 1)):
            api.activities = [activity("box", visits=visits, taken=taken), api.activities[1]]
            api.notifier.notify()
        fields = await events_stream.fields()
        assert msgspec.json.decode(fields["data"], type=MailboxActivity) == api.activities[0]
        api.activities = [api.activities[0], activity("stick")]
        api.notifier.notify()
        fields = await events_stream.fields()
        assert json.loads(fields["data"])["trouble"] is None
