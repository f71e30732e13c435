"""The board in a real browser: dragging, the same by keys, and what another device moves meanwhile.

Never repeats what tests/daemon/web asks without a browser.
"""

import pytest
from playwright.sync_api import Browser

from tests.support.browser import propose, signed_in
from tests.support.devices import Device
from tests.support.page_faults import axe_findings

OWN_SCRIPT = """document.querySelector('script[src$="page.js"]').src"""

pytestmark = [pytest.mark.e2e, pytest.mark.external("chromium")]


def test_a_task_is_moved_by_dragging_and_by_keys_alone(laptop: Device, chromium: Browser):
    ref = laptop.do("add", "Write to Ana")["id"]
    with signed_in(chromium, laptop, "/board", viewport={"width": 1440, "height": 900}) as tab:
        page = tab.page
        assert axe_findings(tab.page) == []
        card = page.locator(f"#t-{ref}")
        card.drag_to(page.locator("[data-status='IN PROGRESS']"))
        page.wait_for_selector(f"[data-status='IN PROGRESS'] #t-{ref}")
        # A column that needs a reason opens the task's own menu.
        card.drag_to(page.locator("[data-status=BLOCKED]"))
        page.wait_for_selector(f"#m-{ref}[open] [name=reason]:focus")
        page.keyboard.type("No photo yet.")
        page.keyboard.press("Enter")
        page.wait_for_selector(f"[data-status=BLOCKED] #t-{ref}")
        page.focus(f"#m-{ref} summary")
        for key in ("Enter", "Tab"):
            page.keyboard.press(key)
        page.keyboard.type("Groomed")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.wait_for_selector(f"[data-status=GROOMED] #t-{ref}")
        laptop.do("done", ref)
        page.wait_for_selector(f"#t-{ref}", state="detached")
        assert tab.complaints == []


def test_two_keys_go_to_a_page_and_decide_nothing(laptop: Device, chromium: Browser):
    items = propose(laptop, "Write to Ana")
    with signed_in(chromium, laptop) as tab:
        page = tab.page
        page.wait_for_load_state()
        titles = {"t": "Tasks", "b": "Board", "h": "Decisions", "d": "Devices", "i": "Inbox"}
        for letter, title in titles.items():
            page.keyboard.press("g")
            page.keyboard.press(letter)
            page.wait_for_selector(f"h1:text('{title}')")
            page.wait_for_load_state()
        page.evaluate(f"import({OWN_SCRIPT}.replace('page.js', 'review.js')).then(() => null)")
        # No page has this letter: the key that would reject is not heard either.
        page.keyboard.press("g")
        page.keyboard.press("n")
        page.keyboard.press("?")
        page.wait_for_selector("#keys[open]")
        assert tab.complaints == []
    assert [item["status"] for item in laptop.do("pending")] == ["pending"] * len(items)
