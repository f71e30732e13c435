"""The event stream of the page: it names kinds, resumes after the last id, and ends with the page."""

import asyncio
import json
from typing import Self

from daemon.web.gate import HEADERS
from tests.daemon.web.conftest import CHANGES, Page
from tests.support.patience import LIMIT_S


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
        await page.propose(*CHANGES)
        name, second, content = await stream.event()
        assert (name, content["all"]) == ("changed", False)
        assert int(second) > int(first)
    async with Stream(page, after=first) as stream:
        assert (await stream.event())[:2] == ("open", first)
        name, _, content = await stream.event()
        assert name == "changed"
        assert "task" in str(content["kinds"])


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
        await stream.event()
        page.access.end_all_sessions()
        await page.propose(*CHANGES)
        await stream.end()
