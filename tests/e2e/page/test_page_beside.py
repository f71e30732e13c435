"""A list and a task side by side in a real browser: by mouse, by keys, with the history, on a smaller screen.

Never repeats what tests/daemon/web asks without a browser.
"""

import pytest
from playwright.sync_api import Browser, Route

from tests.support.browser import signed_in, unscripted
from tests.support.devices import Device

pytestmark = [pytest.mark.e2e, pytest.mark.external("chromium")]

WIDE = {"width": 1440, "height": 900}
FOCUSED = "document.querySelector(':focus .title')?.textContent"


def test_a_task_opens_beside_its_list_and_both_follow(laptop: Device, chromium: Browser):
    refs = [laptop.do("add", title)["id"] for title in ("Call Ana", "Pay rent", "Buy stamps")]
    with signed_in(chromium, laptop, "/tasks", viewport=WIDE) as tab:
        page, keys = tab.page, tab.page.keyboard
        page.wait_for_selector(".dots:not([hidden])", state="attached")
        page.click(".task:has-text('Call Ana') .title")
        page.wait_for_selector(".pane h1:has-text('Call Ana')")
        page.wait_for_selector(".one:focus")
        assert page.url.endswith(f"/tasks?task={refs[0]}")
        # j goes on in the list, and the task follows; Enter goes into it.
        keys.press("j")
        page.wait_for_selector(".pane h1:has-text('Pay rent')")
        assert page.evaluate(FOCUSED) == "Pay rent"
        keys.press("Enter")
        page.wait_for_selector(".one:focus")
        keys.press("e")
        page.wait_for_selector(".pane .rename input:focus")
        keys.type("Pay the rent")
        keys.press("Enter")
        page.wait_for_selector(".task.on:has-text('Pay the rent')")
        page.fill("#f-note textarea", "By transfer.")
        page.click("#f-note button")
        page.wait_for_selector(".pane .item:has-text('By transfer.')")
        # What comes from elsewhere is seen in both.
        laptop.do("task", "edit", refs[1], "--title", "Pay the landlord")
        page.wait_for_selector(".pane h1:has-text('Pay the landlord')")
        page.wait_for_selector(".task.on:has-text('Pay the landlord')")
        page.focus(".one")
        keys.press("Escape")
        page.wait_for_selector(".pane", state="detached")
        assert page.evaluate(FOCUSED) == "Pay the landlord"
        page.go_back()
        page.wait_for_selector(".pane h1:has-text('Pay the landlord')")
        page.click(".pane [data-menu='']")
        page.click("#row-menu button.red")
        page.wait_for_selector(".pane", state="detached")
        page.wait_for_selector("#deed :text('Removed: Pay the landlord')")
        assert page.url.endswith("/tasks")
        assert tab.complaints == []


def test_nobody_waits_for_an_answer_before_the_next_key_or_press(laptop: Device, chromium: Browser):
    for title in ("Call Ana", "Pay rent", "Buy stamps"):
        laptop.do("add", title)
    with signed_in(chromium, laptop, "/tasks", viewport=WIDE) as tab:
        page, keys = tab.page, tab.page.keyboard
        routes: list[Route] = []

        def hold(route: Route) -> None:
            if route.request.method == "POST":
                routes.append(route)
            else:
                route.continue_()

        def release() -> None:
            while not routes:
                page.evaluate("null")
            routes.pop().continue_()

        page.route("**/tasks*", hold)
        page.wait_for_selector(".dots:not([hidden])", state="attached")
        # Words in a menu that is closed are no reason to leave the list.
        page.hover(".task:has-text('Buy stamps')")
        page.click(".task:has-text('Buy stamps') .dots")
        page.fill("#row-menu [name=due]", "some")
        keys.press("Escape")
        page.click(".task:has-text('Call Ana') .title")
        page.wait_for_selector(".pane h1:has-text('Call Ana')")
        # What is opened before the answer is there stays open.
        page.focus(".task:has-text('Call Ana') .title")
        page.evaluate("document.activeElement.closest('.task').focus()")
        with page.expect_request(lambda request: request.method == "POST"):
            keys.press("x")
        keys.press("j")
        assert page.evaluate(FOCUSED) == "Pay rent"
        release()
        page.wait_for_selector(".pane h1:has-text('Pay rent')")
        page.wait_for_selector(".task:has-text('Call Ana')", state="detached")
        # A press on another row counts as well while the first is under way, and a second on the same once.
        with page.expect_request(lambda request: request.method == "POST"):
            page.hover(".task:has-text('Pay rent')")
            page.click(".task:has-text('Pay rent') .dots")
            page.click("#row-menu button.red")
        page.hover(".task:has-text('Buy stamps')")
        page.click(".task:has-text('Buy stamps') .dots")
        page.click("#row-menu button.red")
        with page.expect_request(lambda request: request.method == "POST"):
            release()
        release()
        page.wait_for_selector(".task", state="detached")
        assert tab.complaints == []


def test_a_task_is_alone_on_a_smaller_screen_and_without_a_script(laptop: Device, chromium: Browser):
    ref = laptop.do("add", "Call Ana", "--due", "today")["id"]
    with signed_in(chromium, laptop, f"/?task={ref}", viewport=WIDE) as tab:
        page = tab.page
        page.wait_for_selector(".list .title")
        page.set_viewport_size({"width": 900, "height": 900})
        page.wait_for_selector(".list", state="hidden")
        page.click(".pane .close")
        page.wait_for_selector(".list .title")
        page.click(".task .title")
        page.wait_for_url(f"**/tasks/{ref}")
        assert tab.complaints == []
    with unscripted(chromium, laptop, f"/?task={ref}") as page:
        page.click(".pane .tick")
        page.wait_for_selector(".pane .chip:has-text('done')")
        page.click(".pane .close")
        page.wait_for_selector(".nothing")
