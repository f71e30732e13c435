"""The first page in a real browser: rows by mouse, by keys, by touch and without a script.

Never repeats what tests/daemon/web asks without a browser.
"""

import pytest
from playwright.sync_api import Browser

from tests.support.browser import propose, signed_in, unscripted
from tests.support.devices import Device
from tests.support.finger import PHONE

pytestmark = [pytest.mark.e2e, pytest.mark.external("chromium")]

FOCUSED = "document.querySelector(':focus .title')?.textContent"


def statuses(device: Device) -> dict[str, str]:
    return {task["title"]: task["status"] for task in device.do("list", "--all")}


def due_today(device: Device, *titles: str) -> None:
    for title in titles:
        device.do("add", title, "--due", "today")


def test_keys_move_tick_and_change_rows(laptop: Device, chromium: Browser):
    due_today(laptop, "Call Ana", "Pay rent", "Buy stamps")
    with signed_in(chromium, laptop, "/") as tab:
        page, keys = tab.page, tab.page.keyboard
        page.wait_for_selector(".dots:not([hidden])", state="attached")
        keys.press("j")
        assert page.evaluate(FOCUSED) == "Call Ana"
        keys.press("x")
        page.wait_for_selector("#deed :text('Done: Call Ana')")
        page.wait_for_selector(".task:not(.leaves):has-text('Call Ana')", state="detached")
        keys.press("j")
        keys.press("Shift+J")
        keys.press("p")
        page.wait_for_selector("#row-menu:popover-open [data-part=priority] button:focus")
        assert page.locator("#row-menu fieldset:visible").count() == 1
        keys.press("Enter")
        page.wait_for_selector("#deed :text('Changed: 2 things')")
        # A row above that goes elsewhere takes no focus along.
        page.focus(".task:has-text('Buy stamps')")
        laptop.do("task", "edit", "Pay rent", "--due", "2030-12-24")
        page.wait_for_selector(".task:has-text('Pay rent')", state="detached")
        assert page.evaluate(FOCUSED) == "Buy stamps"
        # Typing is no key: what is typed into the line stays there.
        page.fill("#add-task", "xdp")
        assert page.locator("#row-menu:popover-open").count() == 0
        assert tab.complaints == []
    assert statuses(laptop) == {"Call Ana": "DONE", "Pay rent": "OPEN", "Buy stamps": "OPEN"}
    assert {task["priority"] for task in laptop.do("list")} == {"P0"}


def test_a_mouse_ticks_opens_menus_and_adds_by_a_line(laptop: Device, chromium: Browser):
    due_today(laptop, "Call Ana", "Pay rent")
    with signed_in(chromium, laptop, "/") as tab:
        page = tab.page
        page.fill("#add-task", "Buy stamps today 45 min #post")
        page.wait_for_selector(".read .label:has-text('45 min')")
        page.click(".read .label:has-text('#post')")
        page.wait_for_selector(".read .label:has-text('#post')", state="detached")
        page.click(".add-line button")
        tab.outcome("Added: Buy stamps #post")
        page.wait_for_selector(".task :text('Buy stamps')")
        page.click(".task:has-text('Call Ana') .tick")
        page.wait_for_selector("#deed :text('Done: Call Ana')")
        page.click("#deed button:text('Undo')")
        page.wait_for_selector(".task:has-text('Call Ana'):not(.leaves)")
        page.click(".task:has-text('Pay rent') [data-menu=due]")
        page.click("#row-menu button:text('Tomorrow')")
        page.wait_for_selector("#deed :text('Changed: Pay rent')")
        page.wait_for_selector("section:has(h2:has-text('Tomorrow')) .task :text('Pay rent')")
        # The whole of a row leads to its task.
        page.locator(".task:has-text('Buy stamps')").click(position={"x": 300, "y": 30})
        page.wait_for_selector("h1 :text('Buy stamps')")
        assert tab.complaints == []


def test_a_finger_ticks_and_a_tick_that_is_not_sent_is_taken_back(laptop: Device, chromium: Browser):
    due_today(laptop, "Call Ana", "Pay rent")
    with signed_in(chromium, laptop, "/", **PHONE) as tab:
        page = tab.page
        page.tap(".task:has-text('Call Ana') .tick")
        page.wait_for_selector("#deed :text('Done: Call Ana')")
        page.route("**/*", lambda route: route.abort())
        page.tap(".task:has-text('Pay rent') .tick")
        page.wait_for_selector("#away:not([hidden])")
        page.wait_for_selector(".task:has-text('Pay rent'):not(.ticked)")
    assert statuses(laptop) == {"Call Ana": "DONE", "Pay rent": "OPEN"}


def test_a_day_is_worked_off_without_a_script(laptop: Device, chromium: Browser):
    due_today(laptop, "Call Ana")
    propose(laptop, "Renew the passport")
    with unscripted(chromium, laptop, "/") as page:
        page.fill("#add-task", "Buy stamps today")
        page.click(".add-line button")
        page.click(".brand")
        page.click(".task:has-text('Buy stamps') .tick")
        assert "Done: Buy stamps" in page.inner_text("#deed")
        page.click(".wait summary")
        page.click(".wait button.yes >> nth=0")
        assert "Confirmed" in page.inner_text("#outcome")
        page.click(".task:has-text('Call Ana') .title")
        page.wait_for_selector("h1 :text('Call Ana')")
    assert statuses(laptop)["Buy stamps"] == "DONE"
