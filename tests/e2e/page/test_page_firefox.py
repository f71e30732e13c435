"""The page in Firefox: signing in, deciding by mouse and by key, and news of another face.

Never repeats the flows that tests of Chromium take one by one: what differs between browsers is asked here.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.browser import propose, sign_in_address
from tests.support.devices import Device
from tests.support.firefox import PROGRAM, firefox_tab

pytestmark = [pytest.mark.e2e, pytest.mark.external(PROGRAM)]

ITEMS = "document.querySelectorAll('.item:not(.gone)').length"


def test_a_person_signs_in_decides_and_hears_of_others(laptop: Device, tmp_path: Path):
    count = len(propose(laptop, "Renew the passport", 4))

    async def story() -> None:
        async with firefox_tab(tmp_path) as tab:
            await tab.go(sign_in_address(laptop))
            await tab.wait_for("document.querySelector('.card')")
            assert await tab.evaluate("location.hash + location.pathname + document.cookie") == "/"
            await tab.press("g", "i")
            await tab.wait_for("location.pathname == '/inbox'")
            await tab.wait_for("document.querySelector('.card')")
            assert await tab.evaluate(ITEMS) == count
            await tab.click("button.yes")
            await tab.wait_for(f"{ITEMS} == {count - 1}")
            await tab.press("n")
            await tab.wait_for(f"{ITEMS} == {count - 2}")
            assert len(laptop.do("pending")) == count - 2
            await tab.press("u")
            await tab.wait_for(f"{ITEMS} == {count - 1}")
            laptop.do("reject", laptop.do("pending")[0]["item_id"])
            await tab.wait_for("document.querySelector('.item.gone')")
            await tab.press("g", "b")
            await tab.wait_for("location.pathname == '/board'")
            assert tab.complaints == []

    # In a thread: the browser of the other tests of the page has an event loop in this one.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, story()).result()
