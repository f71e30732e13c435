"""The event stream of the page: it names kinds, resumes after the last id, and ends with the page."""

import asyncio
import json
from typing import Self

from daemon.connections import ConnectionLimits
from daemon.web.gate import HEADERS
from daemon.web.live.page_stream import SINCE
from tests.daemon.web.conftest import CHANGES, Page, Serve
from tests.support.patience import LIMIT_S

NETWORK_NEWS = ("around", "", {"kinds": ["network"], "all": False})


class Stream:
    """An open stream, read event by event."""

    def __init__(self, page: Page, after: str = "") -> None:
        headers = {"Host": page.host, "Cookie": f"placet={page.token}"} | (
            {"Last-Event-ID": after} if after else {}
        )
        self._request = page.session.get(f"http://127.0.0.1:{page.port}/live", headers=headers)

    async def __aenter__(self) -> Self:
        self._response = await self._request.__aenter__()
        return self

    async def __aexit__(self, *fault: object) -> None:
        await self._request.__aexit__(None, None, None)

    @property
    def headers(self) -> dict[str, str]:
        return dict(self._response.headers)

    async def end(self) -> None:
        """Wait for the end of the stream; fail if an event comes first."""
        async with asyncio.timeout(LIMIT_S):
            assert await self._response.content.read() == b""

    async def event(self) -> tuple[str, str, dict[str, object]]:
        """Return the next event: its name, its id, its content."""
        async with asyncio.timeout(LIMIT_S):
            raw = await self._response.content.readuntil(b"\n\n")
        fields = dict(line.split(": ", 1) for line in raw.decode().strip().split("\n"))
        return fields["event"], fields.get("id", ""), json.loads(fields["data"])


async def test_the_stream_names_what_changed_and_resumes(page: Page):
    async with Stream(page) as stream:
        name, first, _ = await stream.event()
        assert name == "open"
        assert await stream.event() == NETWORK_NEWS
        await page.propose(*CHANGES)
        name, second, content = await stream.event()
        assert (name, content["all"]) == ("changed", False)
        assert int(second) > int(first)
    async with Stream(page, after=first) as stream:
        assert (await stream.event())[:2] == ("open", first)
        name, _, content = await stream.event()
        assert name == "changed"
        assert content["kinds"] == ["change_set", "task"]


async def test_a_stream_tells_once_that_the_network_looks_otherwise(page: Page):
    async with Stream(page) as stream:
        assert [(await stream.event())[0] for _ in range(2)] == ["open", "around"]
        page.network.changed.notify()
        page.network.links = 1
        page.network.changed.notify()
        # The bar of every page follows what came since, and not how things are as the stream begins.
        assert await stream.event() == ("around", "", {"kinds": ["network", SINCE], "all": False})
        await page.propose(*CHANGES)
        assert "task" in str((await stream.event())[2]["kinds"])


async def test_a_browser_hears_something_though_the_network_never_rests(serve: Serve):
    async with serve(ConnectionLimits(quiet_s=0.05)) as page:
        await page.sign_in()
        restless = asyncio.create_task(page.network.notify_for_ever())
        try:
            async with Stream(page) as stream:
                events = [(await stream.event())[0] for _ in range(4)]
            assert events == ["open", "around", "alive", "alive"]
        finally:
            restless.cancel()


async def test_the_bar_alone_shows_what_waits(page: Page):
    await page.propose(*CHANGES)
    text = (await page.ask("/bar?room=devices")).text
    assert '<a href="/devices" aria-current="page"' in text
    assert f'<span class="count">{len(CHANGES)}</span>' in text
    assert (await page.ask("/bar?room=%3Cb%3E")).status == 200


async def test_an_id_that_nobody_was_given_begins_at_the_end(page: Page):
    for wrong in ("999999999", "-1", "١", "9" * 400):
        async with Stream(page, after=wrong) as stream:
            assert (await stream.event())[:2] == ("open", str(page.store.feed_end))


async def test_open_streams_end_with_the_page(page: Page):
    async with Stream(page) as stream:
        await stream.event()
        async with asyncio.timeout(LIMIT_S):
            await page.server.stop()


async def test_a_stream_has_the_headers_and_ends_with_its_session(page: Page):
    async with Stream(page) as stream:
        assert {name: stream.headers.get(name) for name in HEADERS} == dict(HEADERS)
        assert [(await stream.event())[0] for _ in range(2)] == ["open", "around"]
        page.access.end_all_sessions()
        await page.propose(*CHANGES)
        await stream.end()
