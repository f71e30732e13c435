"""The finder and the keys in a real browser: what is found as one types, and each key that the list names.

Never repeats what tests/daemon/web asks without a browser.
"""

import pytest
from playwright.sync_api import Browser, Route

from daemon.web.frame.entries import ENTRIES
from tests.support.browser import signed_in, unscripted
from tests.support.devices import Device
from tests.support.page_faults import axe_findings

pytestmark = [pytest.mark.e2e, pytest.mark.external("chromium")]

CHOSEN = "#finder [aria-selected] bdi"


def test_keys_find_tasks_and_actions_from_any_page(laptop: Device, chromium: Browser):
    for title in ("Renew the passport", "Pass the exam", "Call Ana"):
        laptop.do("add", title)
    with signed_in(chromium, laptop, "/settings") as tab:
        page, keys = tab.page, tab.page.keyboard
        keys.press("Control+k")
        page.wait_for_selector(f"{CHOSEN}:text('Add a task')")
        keys.type("pass")
        page.wait_for_selector("#finder [role=option]:has-text('Pass the exam')")
        assert axe_findings(page) == []
        # An action comes first; the arrows go round.
        assert page.inner_text(CHOSEN) == "Passkeys"
        keys.press("ArrowUp")
        assert page.inner_text(CHOSEN) == "Search all tasks for “pass”"
        keys.press("Escape")
        page.wait_for_selector("#finder[open]", state="detached")
        # Chromium takes the focus out of a dialog a moment after it is closed.
        page.wait_for_function("document.activeElement === document.body")
        # What is typed counts, also if its answer is still to come.
        keys.press("/")
        page.wait_for_selector("#finder[open]")
        keys.type("call an")
        keys.press("Enter")
        page.wait_for_selector("h1:has-text('Call Ana')")
        keys.press("ControlOrMeta+k")
        page.wait_for_selector("#finder[open]")
        keys.type("add a t")
        page.wait_for_selector(f"{CHOSEN}:text('Add a task')")
        keys.press("Enter")
        page.wait_for_selector("#capture[open]")
        keys.press("Escape")
        # The last change is undone from wherever one is.
        laptop.do("task", "edit", "Call Ana", "--title", "Call Bea")
        page.wait_for_selector("h1:has-text('Call Bea')")
        keys.press("Control+k")
        keys.type("undo the")
        page.wait_for_selector(f"{CHOSEN}:text('Undo the last change')")
        keys.press("Enter")
        page.wait_for_selector("h1:has-text('Call Ana')")
        # Colours change in place, for this browser.
        keys.press("Control+k")
        keys.type("dark")
        page.wait_for_selector(f"{CHOSEN}:text('Dark colours')")
        keys.press("Enter")
        page.wait_for_selector("html[data-colours=dark]")
        page.reload()
        page.wait_for_selector("html[data-colours=dark] h1:has-text('Call Ana')")
        assert tab.complaints == []


def test_an_old_answer_never_takes_the_place_of_a_newer_one(laptop: Device, chromium: Browser):
    laptop.do("add", "Renew the passport")
    laptop.do("add", "Call Ana")
    with signed_in(chromium, laptop) as tab:
        page = tab.page
        slow: list[Route] = []
        page.route("**/find?q=renew", lambda route: slow.append(route))  # noqa: PLW0108
        page.keyboard.press("/")
        with page.expect_request("**/find?q=renew"):
            page.fill("#finder input", "renew")
        page.fill("#finder input", "ana")
        page.wait_for_selector("#finder [role=option]:has-text('Call Ana')")
        with page.expect_response("**/find?q=renew"):
            slow[0].continue_()
        page.wait_for_timeout(100)
        assert page.locator("#finder [role=option]:has-text('passport')").count() == 0
        # The daemon is away: the finder says so, and finds again.
        page.route("**/find?*", lambda route: route.abort())
        page.fill("#finder input", "passport")
        page.wait_for_selector("#finder .fault:not([hidden])")
        page.unroute("**/find?*")
        page.fill("#finder input", "passpor")
        page.wait_for_selector("#finder [role=option]:has-text('passport')")
        page.wait_for_selector("#finder .fault", state="hidden")


def test_each_key_that_goes_somewhere_goes_there_also_from_a_row(laptop: Device, chromium: Browser):
    laptop.do("add", "Call Ana", "--due", "today")
    with signed_in(chromium, laptop, "/") as tab:
        page, keys = tab.page, tab.page.keyboard
        for entry in ENTRIES:
            if not entry.key:
                continue
            page.goto(page.evaluate("location.origin") + "/")
            page.wait_for_selector(".dots:not([hidden])", state="attached")
            keys.press("j")
            keys.press("g")
            with page.expect_navigation(url=f"**{entry.path}"):
                keys.press(entry.key)
        # The list opens on a page without a proposal, and its switch counts there too.
        page.goto(page.evaluate("location.origin") + "/settings")
        keys.press("?")
        page.wait_for_selector("#keys[open] dt:has-text('Ctrl K')")
        page.uncheck("#keys [type=checkbox]")
        page.click("#keys button")
        keys.press("c")
        keys.press("Control+k")
        page.wait_for_selector("#finder[open]")
        assert page.locator("#capture[open]").count() == 0
        assert tab.complaints == []


def test_without_a_script_find_leads_to_the_search_and_keys_have_a_page(laptop: Device, chromium: Browser):
    laptop.do("add", "Renew the passport")
    with unscripted(chromium, laptop, "/settings") as page:
        page.click("main a:text-is('Keys')")
        page.wait_for_selector("dt:has-text('Ctrl K')")
        page.click("nav a:has-text('Find')")
        page.fill("#q", "passp")
        page.press("#q", "Enter")
        page.wait_for_selector(".task :text('Renew the passport')")
