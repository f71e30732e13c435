"""Undo in a real browser, with a real daemon: the notice after each form, with and without scripts.

Never repeats what tests/daemon/web asks without a browser.
"""

import pytest
from playwright.sync_api import Browser

from tests.support.browser import signed_in, unscripted
from tests.support.devices import Device
from tests.support.page_faults import axe_findings

pytestmark = [pytest.mark.e2e, pytest.mark.external("chromium")]


def test_what_was_done_is_said_in_place_and_undone_and_what_was_removed_comes_back(
    laptop: Device, chromium: Browser
):
    ref = laptop.do("add", "Renew the passport")["id"]
    laptop.do("check", "add", "passport", "Two photos")
    laptop.do("note", "passport", "In the drawer.")
    with signed_in(chromium, laptop, f"/tasks/{ref}") as tab:
        page = tab.page
        page.click("[aria-label='Tick: Two photos']")
        page.wait_for_selector("#deed :text('Ticked: Two photos')")
        assert axe_findings(page) == []
        page.click("#deed button:text('Undo')")
        page.wait_for_selector("#deed :text('Undone: Two photos')")
        page.wait_for_selector("[aria-label='Tick: Two photos']")
        page.click("#deed :text('Dismiss')")
        page.wait_for_selector("#deed", state="detached")
        page.click("[aria-label='Remove: In the drawer.']")
        page.wait_for_selector("#deed :text('Removed: In the drawer.')")
        page.wait_for_selector("#notes ~ ul :text('In the drawer.')", state="detached")
        page.click("[aria-label='What to do with: Renew the passport']")
        page.click("#row-menu [value=remove]")
        page.wait_for_selector("#deed :text('Removed: Renew the passport')")
        page.click("#deed button:text('Undo')")
        page.wait_for_selector(".task :text('Renew the passport')")
        page.click("a:text('Removed')")
        page.click("[aria-label='Bring back: In the drawer.']")
        page.wait_for_selector("h2:text('Nothing is removed')")
        assert axe_findings(page) == []
        assert tab.complaints == []
    task = laptop.do("show", "passport")
    assert [note["text"] for note in task["entries"]] == ["In the drawer."]


def test_undo_works_without_scripts(laptop: Device, chromium: Browser):
    ref = laptop.do("add", "Renew the passport")["id"]
    with unscripted(chromium, laptop, f"/tasks/{ref}") as page:
        page.click("[aria-label='Done: Renew the passport']")
        page.wait_for_selector("#deed :text('Done: Renew the passport')")
        page.click("#deed button:text('Undo')")
        page.click("#deed button:text('Redo')")
        page.wait_for_selector("#deed :text('Done: Renew the passport')")
    assert laptop.do("show", "passport")["status"] == "DONE"
