"""The check of the whole journal on the page: one at a time, how far it is, and what came of it."""

import asyncio
import html
import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from daemon.journal.verification import CheckProgress, Verified
from daemon.web import page_job
from tests.daemon.peers.fleet import Device, fleet_in
from tests.daemon.web.device_page import DevicePage, page_of

INTACT = Verified(True, 3, 3, 2, [], 0)


@pytest.fixture
async def laptop(tmp_path: Path) -> AsyncIterator[Device]:
    async with fleet_in(tmp_path) as fleet:
        yield await fleet.start("laptop")


class HeldCheck:
    """A check that goes on until the test lets it end."""

    def __init__(self) -> None:
        self.begun = 0
        self.may_end = asyncio.Event()

    async def run(self, report: Callable[[CheckProgress], None]) -> Verified:
        self.begun += 1
        report(CheckProgress("reading the log", 30, 120))
        await self.may_end.wait()
        return INTACT


async def until_ended(page: DevicePage) -> str:
    while True:
        text = (await page.ask("/health/verify?wait=1")).text
        if "data-job" not in text:
            return html.unescape(text)


async def test_the_journal_is_checked_and_the_outcome_stands_on_health_too(laptop: Device):
    await laptop.add("task", count=3)
    async with page_of(laptop) as page:
        assert 'action="/health/verify"' in (await page.ask("/health")).text
        answer = await page.ask("/health/verify", {})
        assert answer.status == 303
        text = await until_ended(page)
        assert "Everything is intact." in text
        assert re.search(r"[1-9]\d* commits · [1-9]\d* entities · [1-9]\d* signatures checked", text)
        assert "Everything is intact." in (await page.ask("/health")).text


async def test_what_is_wrong_is_named_with_its_remedy(laptop: Device):
    await laptop.add("task")
    await laptop.execute("INSERT INTO history VALUES (zeroblob(16), 4)")
    async with page_of(laptop) as page:
        await page.ask("/health/verify", {})
        text = await until_ended(page)
        assert re.search(r"[1-9]\d* things? (is|are) wrong", text)
        assert "placet verify --rebuild" in text


async def test_a_check_that_cannot_be_made_says_why(laptop: Device, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sys.executable", "/bin/false")
    async with page_of(laptop) as page:
        await page.ask("/health/verify", {})
        assert "the check ended before it was through; run it in a terminal" in await until_ended(page)


async def test_two_tabs_that_begin_at_once_share_one_check(laptop: Device, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(page_job, "WAIT_S", 0.01)
    async with page_of(laptop) as page:
        held_check = HeldCheck()
        page.check._verify = held_check.run
        first, second = await asyncio.gather(page.ask("/health/verify", {}), page.ask("/health/verify", {}))
        assert first.headers["Location"] == second.headers["Location"]
        shown = [(await page.ask(first.headers["Location"])).text for _tab in range(2)]
        for text in shown:
            assert 'value="25"' in text
            assert "reading the log 25 %" in text
            assert '<noscript><meta http-equiv="refresh"' in text
            assert "Look again" in text
        assert "Look how far it is" in (await page.ask("/health")).text
        held_check.may_end.set()
        assert "Everything is intact." in await until_ended(page)
        assert held_check.begun == 1


async def test_a_page_that_follows_a_check_of_an_earlier_daemon_is_told(laptop: Device):
    async with page_of(laptop) as page:
        mark = page.check.job.mark
    laptop.clock.ahead_s += 5
    async with page_of(laptop) as page:
        text = (await page.ask(f"/health/verify?wait=1&job={mark}")).text
        assert "started again before the check ended" in text
        assert "data-job" not in text
        own = (await page.ask(f"/health/verify?job={page.check.job.mark}")).text
        assert "started again" not in own


async def test_a_check_is_begun_only_by_the_page_itself(laptop: Device):
    async with page_of(laptop) as page:
        headers: dict[str, str | None] = {"Sec-Fetch-Site": "cross-site"}
        assert (await page.ask("/health/verify", {}, headers=headers)).status == 403
        assert (await page.ask("/health/verify")).status == 200
        assert page.check.job.stage is None
