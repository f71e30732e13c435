"""Health on the page: what needs somebody first, what is fine under one line, and the last days in words."""

import html
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from daemon.control.health.check import Check, make_check
from daemon.peers.exchange_days import ExchangeDay
from daemon.web.devices.health_rows import DAYS_SHOWN, day_rows
from store.local.exchange_days import ExchangeCounts
from store.sentence import sentence
from tests.daemon.peers.fleet import Device, Fleet, fleet_in
from tests.daemon.web.device_page import page_of

NOW_S = 1_774_180_800.0
TODAY = "2026-03-22"
WELL = make_check(
    "disk", sentence("disk-free", "{free_mib} MiB free", free_mib=5), well=True, code="disk_well"
)
PAUSED = make_check(
    "devices",
    sentence("exchange-is-paused", "Exchange is paused"),
    sentence("sync-resume", "placet sync --resume"),
    well=False,
    code="exchange_paused",
)


@pytest.fixture
async def fleet(tmp_path: Path) -> AsyncIterator[Fleet]:
    async with fleet_in(tmp_path) as new_fleet:
        yield new_fleet


@pytest.fixture
async def laptop(fleet: Fleet) -> Device:
    return await fleet.start("laptop")


def counted(day: str, **counts: int) -> ExchangeDay:
    return ExchangeDay(day, *ExchangeCounts(**counts))


def words_of(text: str) -> str:
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text)))


@pytest.mark.parametrize(
    ("findings", "words"),
    [
        (
            [WELL, PAUSED],
            "1 thing needs you devices Exchange is paused placet sync --resume 1 check is fine",
        ),
        ([WELL, WELL], "Nothing needs you 2 checks are fine"),
    ],
)
async def test_what_needs_somebody_comes_first_and_the_rest_is_folded(
    laptop: Device, findings: list[Check], words: str
):
    async with page_of(laptop) as page:
        page.findings = findings
        text = (await page.ask("/health")).text
    assert words in words_of(text)
    assert "5 MiB free" in text.partition('<details id="well">')[2].partition("</details>")[0]


async def test_the_last_days_are_shown_in_words(laptop: Device):
    async with page_of(laptop) as page:
        assert "Nothing was exchanged yet." in (await page.ask("/health")).text
        laptop.peers.exchange_days.count(ExchangeCounts(links=2, received=1, sent=14, failed_calls=3))
        text = (await page.ask("/health")).text
    assert "today 2 links opened · 1 commit received · 14 commits sent 3 calls got no answer" in words_of(
        text
    )
    assert 'id="older"' not in text


async def test_the_use_case_of_the_page_is_that_of_the_api(laptop: Device):
    laptop.peers.exchange_days.count(ExchangeCounts(links=1))
    (today,) = await laptop.peers.exchange_days.list_days()
    assert (today.day, today.links) == (laptop.peers.exchange_days.today(), 1)


def test_a_day_without_a_row_says_so_and_days_before_the_first_are_not_claimed():
    rows = day_rows([counted(TODAY, links=1), counted("2026-03-20", faults=1)], TODAY, NOW_S)
    assert [(row.name, row.done, row.failed) for row in rows.recent] == [
        ("today", "1 link opened", ""),
        ("yesterday", "nothing was exchanged", ""),
        ("20 Mar", "", "1 link ended by a fault"),
    ]
    assert rows.older == []


def test_days_before_the_last_week_are_folded():
    days = [counted(f"2026-03-{day:02}", visits=day, failed_visits=1, taken=1, put=2) for day in (22, 15, 2)]
    rows = day_rows(days, TODAY, NOW_S)
    assert len(rows.recent) == DAYS_SHOWN
    assert [row.name for row in rows.older] == ["15 Mar", "2 Mar"]
    assert rows.older[0].done == "15 looks into mailboxes · 1 file taken there · 2 files left there"
    assert rows.older[0].failed == "1 look into a mailbox failed"
