"""What an open page fetches when something changes elsewhere, in a real browser with real daemons.

Never waits for a time to pass: what must not be fetched is looked for after what must.
"""

import pytest
from playwright.sync_api import Browser

from tests.support.browser import propose, signed_in
from tests.support.devices import Device, MakeDevice, pair

pytestmark = [pytest.mark.e2e, pytest.mark.external("chromium")]

HIDES = """(hidden) => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
    document.dispatchEvent(new Event("visibilitychange"));
}"""


def test_a_link_that_ends_and_comes_back_is_shown_at_once(
    laptop: Device, device: MakeDevice, chromium: Browser
):
    phone = device("phone")
    pair(laptop, phone)
    with signed_in(chromium, laptop, "/devices") as tab:
        row = tab.page.locator(".item", has_text="phone")
        row.locator(":text-is('connected')").wait_for()
        phone.stop()
        row.locator(":text-is('away')").wait_for()
        phone.start()
        row.locator(":text-is('connected')").wait_for()
        assert tab.complaints == []


def test_a_page_that_shows_none_of_it_fetches_the_bar_alone(laptop: Device, chromium: Browser):
    with signed_in(chromium, laptop, "/import") as tab:
        address = tab.page.url
        tab.page.wait_for_load_state()
        before = tab.asked.count(address)
        count = len(propose(laptop, "Renew the passport"))
        tab.page.wait_for_function(
            "(count) => Number(document.querySelector('nav .count')?.textContent) >= count", arg=count
        )
        assert tab.page.inner_text("nav [aria-current]") == "Tasks"
        assert tab.asked.count(address) == before
        assert tab.complaints == []


def test_a_hidden_tab_fetches_nothing_until_it_is_seen(laptop: Device, chromium: Browser):
    with signed_in(chromium, laptop) as tab:
        other_tab = tab.page.context.new_page()
        other_tab.goto(tab.page.url)
        tab.page.evaluate(HIDES, True)
        before = tab.asked.count(tab.page.url)
        propose(laptop, "Renew the passport")
        other_tab.wait_for_selector(".card :text('Renew the passport')")
        assert tab.asked.count(tab.page.url) == before
        assert tab.page.locator(".card :text('Renew the passport')").count() == 0
        tab.page.evaluate(HIDES, False)
        tab.page.wait_for_selector(".card :text('Renew the passport')")
