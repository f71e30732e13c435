"""The page as an application in a real browser: while the daemon is away, after a sign-out, and on paper.

Never repeats what tests/daemon/web asks without a browser.
"""

import pytest
from playwright.sync_api import Browser

from tests.support.browser import WEB, signed_in
from tests.support.devices import Device, MakeDevice, free_port

pytestmark = [pytest.mark.e2e, pytest.mark.external("chromium")]

WORKERS = "navigator.serviceWorker.getRegistrations().then((workers) => workers.length)"
OTHER_WORKER = """navigator.serviceWorker.register(trustedTypes.createPolicy("placet", {
    createScriptURL: (address) => address }).createScriptURL("/worker.js?of=an-older-version"))"""


def test_a_page_opened_while_the_daemon_is_away_says_so_and_comes_by_itself(
    device: MakeDevice, chromium: Browser
):
    laptop = device("laptop", **WEB, PLACET_WEB_PORT=str(free_port()), PLACET_LANGUAGE="de")
    with signed_in(chromium, laptop, "/tasks", service_workers="allow") as tab:
        page = tab.page
        page.wait_for_function(
            "navigator.serviceWorker.ready.then((worker) => worker.active.state === 'activated')"
        )
        laptop.stop()
        page.goto(page.url)
        page.wait_for_selector("h1:has-text('Der Daemon ist nicht da')")
        assert page.evaluate("caches.keys().then((keys) => keys.length)") == 0
        laptop.start()
        laptop.do("add", "Call Ana")
        page.wait_for_selector(".task :text('Call Ana')")
        # What a form writes never passes through the worker, and signing out takes it away.
        page.evaluate("document.getElementById('sign-out').requestSubmit()")
        page.wait_for_selector("#secret")
        page.wait_for_function(f"{WORKERS}.then((count) => count === 0)")
        own = ("ERR_", "503", "Clear-Site-Data")
        assert [words for words in tab.complaints if not any(part in words for part in own)] == []


def test_a_worker_of_another_version_gives_way_to_that_of_the_page(laptop: Device, chromium: Browser):
    with signed_in(chromium, laptop, "/tasks", service_workers="allow") as tab:
        page = tab.page
        page.wait_for_function("navigator.serviceWorker.ready.then(() => true)")
        # Like a page of an older version: its worker has another address in the same place.
        page.goto(page.evaluate("location.origin") + "/in")
        page.evaluate(OTHER_WORKER)
        page.goto(page.evaluate("location.origin") + "/tasks")
        page.wait_for_function(
            """navigator.serviceWorker.getRegistration().then(({ installing, waiting, active }) =>
                (installing ?? waiting ?? active).scriptURL.endsWith("/worker.js"))"""
        )
        assert page.evaluate(WORKERS) == 1
        # A session that was ended elsewhere has no use for it either.
        laptop.do("web", "end", "--all")
        page.goto(page.url)
        page.wait_for_selector("h1:has-text('signed out')")
        page.wait_for_function(f"{WORKERS}.then((count) => count === 0)")


def test_a_list_and_a_task_are_printed_without_what_is_pressed(laptop: Device, chromium: Browser):
    ref = laptop.do("add", "Call Ana", "--due", "today")["id"]
    laptop.do("note", ref, "She has the keys.")
    with signed_in(chromium, laptop, "/") as tab:
        page = tab.page
        page.emulate_media(media="print")
        assert page.is_visible(".task .title")
        assert not page.is_visible(".bar")
        page.goto(page.evaluate("location.origin") + f"/tasks/{ref}")
        page.emulate_media(media="print")
        assert page.is_visible("main :text('She has the keys.')")
        for hidden in ("main textarea", ".bar", "main button:not(.tick)"):
            assert [part for part in page.query_selector_all(hidden) if part.is_visible()] == []
