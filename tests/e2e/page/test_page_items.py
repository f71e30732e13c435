"""The items of a checklist in a real browser: renamed and put in order by mouse, keys and without a script.

Never repeats what tests/daemon/web asks without a browser.
"""

import pytest
from playwright.sync_api import Browser

from tests.support.browser import signed_in, unscripted
from tests.support.devices import Device
from tests.support.page_faults import axe_findings

pytestmark = [pytest.mark.e2e, pytest.mark.external("chromium")]

FIRST = ".todo:first-child:has-text('{}')"


def test_items_are_put_in_order_renamed_and_archived(laptop: Device, chromium: Browser):
    ref = laptop.do("add", "Write to Ana")["id"]
    for title in ("Paper", "Stamps", "Ink"):
        laptop.do("check", "add", ref, title)
    with signed_in(chromium, laptop, f"/tasks/{ref}") as tab:
        page, keys = tab.page, tab.page.keyboard
        page.wait_for_function("navigator.locks.query().then((locks) => locks.held.length > 0)")
        page.drag_and_drop(".todo:has-text('Ink') .what", ".todo:has-text('Paper') .what")
        page.wait_for_selector(FIRST.format("Ink"))
        page.focus(".todo:has-text('Stamps') [value=tick]")
        keys.press("Alt+ArrowUp")
        page.wait_for_selector(".todo:nth-child(2):has-text('Stamps')")
        # The focus stays on what was moved.
        page.wait_for_selector(".todo:has-text('Stamps') [value=tick]:focus")
        page.click(".todo:has-text('Paper') .what")
        keys.type("Thick paper")
        keys.press("Enter")
        page.wait_for_selector(".todo:has-text('Thick paper')")
        page.hover(".todo:has-text('Ink')")
        page.click(".todo:has-text('Ink') [popovertarget]")
        page.wait_for_selector(".todo .menu:popover-open")
        assert axe_findings(page) == []
        page.click(".menu:popover-open [value=archive-item]")
        page.wait_for_selector("summary:has-text('1 archived item')")
        assert tab.complaints == []
    with unscripted(chromium, laptop, f"/tasks/{ref}") as page:
        page.hover(".todo:has-text('Thick')")
        page.click(".todo:has-text('Thick') [popovertarget]")
        page.click(".menu:popover-open [value='move-item:up']")
        page.wait_for_selector(FIRST.format("Thick"))
        page.hover(".todo:has-text('Stamps')")
        page.click(".todo:has-text('Stamps') [popovertarget]")
        page.fill(".menu:popover-open [name=checklist]", "At the post")
        page.click(".menu:popover-open [value='move-item:list']")
        page.wait_for_selector("h3:has-text('At the post')")
    lists = laptop.do("show", ref)["checklists"]
    first, second = ([item["title"] for item in row["items"]] for row in lists)
    # An archived item keeps its place, wherever the others go.
    assert (sorted(first), second) == (["Ink", "Thick paper"], ["Stamps"])
