"""What an open page fetches when something changes elsewhere, in a real browser with real daemons.

Never waits for a time to pass: what must not be fetched is looked for after what must.
"""

import pytest
from playwright.sync_api import Browser, Route

from tests.support.browser import propose, signed_in
from tests.support.devices import Device, MakeDevice, pair

pytestmark = [pytest.mark.e2e, pytest.mark.external("chromium")]

HIDES = """(hidden) => {
    Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
    document.dispatchEvent(new Event("visibilitychange"));
}"""
HEARS = """void (window.heard = new Promise((done) => {
    new BroadcastChannel("placet-live").onmessage = ({ data }) => data.type === "changed" && done();
}))"""


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


def test_news_that_a_refused_answer_did_not_bring_is_fetched_again(laptop: Device, chromium: Browser):
    """Old: the page forgot that it was stale before the answer came, and showed the task at the next news."""
    with signed_in(chromium, laptop, "/tasks") as tab:
        refusals = iter(["the database is busy", "the database is busy"])

        def refuse_first(route: Route) -> None:
            words = next(refusals, "")
            if words and route.request.headers.get("placet-refresh"):
                route.fulfill(status=503, body=words)
            else:
                route.continue_()

        tab.page.route("**/tasks", refuse_first)
        # One commit: nothing comes after it.
        laptop.do("add", "Call Ana")
        tab.page.wait_for_selector("#toast:text('the database is busy')")
        tab.page.wait_for_selector(".task :text('Call Ana')")
        assert tab.page.inner_text("#toast") == ""
        # With a dialog open the page waits, and asks for nothing that it would not show.
        before = tab.asked.count(tab.page.url)
        tab.page.keyboard.press("Control+k")
        for title in ("Pay rent", "Buy stamps"):
            tab.page.evaluate(HEARS)
            laptop.do("add", title)
            tab.page.evaluate("window.heard")
        assert tab.asked.count(tab.page.url) == before
        tab.page.keyboard.press("Escape")
        tab.page.wait_for_selector(".task :text('Pay rent')")


def test_a_press_while_the_daemon_is_away_says_so_on_its_line(laptop: Device, chromium: Browser):
    first, *_ = propose(laptop, "Renew the passport")
    line = f"#i-{first['item_id']}"
    with signed_in(chromium, laptop) as tab:
        page = tab.page
        waiting: list[Route] = []
        # A method of a list takes no attribute, which Playwright gives to a handler.
        page.route("**/inbox", lambda route: waiting.append(route))  # noqa: PLW0108
        with page.expect_request("**/inbox"):
            page.click(f"{line} .yes")
        # Nobody has answered: the line is busy all the same.
        page.wait_for_selector(f"{line}[aria-busy]")
        waiting[0].abort()
        page.wait_for_selector(f"{line}:not([aria-busy]) .unsent:text('Not sent')")
        page.wait_for_selector("#away:not([hidden])")
        page.unroute("**/inbox")
        # It comes back by itself, and the line is as it was.
        page.wait_for_selector("#away", state="hidden")
        page.click(f"{line} .yes")
        tab.outcome("Confirmed")
        assert page.locator(".unsent").count() == 0
    assert [decision["verdict"] for decision in laptop.do("decisions")] == ["confirmed"]
