"""The details of a review in a real browser: a selection, an edit, and what another device decides meanwhile.

Never repeats what tests/daemon/web asks without a browser.
"""

import pytest
from playwright.sync_api import Browser

from tests.support.browser import propose, signed_in
from tests.support.devices import Device
from tests.support.page_faults import axe_findings

pytestmark = [pytest.mark.e2e, pytest.mark.external("chromium")]


def test_a_key_opens_the_form_that_changes_a_proposal_first(laptop: Device, chromium: Browser):
    first, *_ = propose(laptop, "Write to Ana", 3)
    with signed_in(chromium, laptop) as tab:
        page = tab.page
        page.focus(f"#i-{first['item_id']}")
        page.keyboard.press("e")
        page.wait_for_url(f"**/reviews/{first['task_id']}#e-{first['item_id']}")
        field = f"#e-{first['item_id']}[open] :focus"
        page.wait_for_selector(field)
        page.reload()
        page.wait_for_selector(field)
        page.click("h1")
        page.evaluate("document.querySelectorAll('.item details').forEach((it) => (it.open = false))")
        page.focus(f"#i-{first['item_id']}")
        page.keyboard.press("e")
        page.wait_for_selector(field)
        page.keyboard.press("Escape")
        page.evaluate("document.activeElement.blur()")
        page.keyboard.type("ga")
        page.wait_for_url("**/agents")
        assert tab.complaints == []


def test_a_selection_is_confirmed_and_an_edit_stays_while_the_page_follows(laptop: Device, chromium: Browser):
    items = propose(laptop, "Write to Ana", 3)
    first, second, *rest = (item["item_id"] for item in items if item["tool"] != "answer_question")
    with signed_in(chromium, laptop) as tab:
        tab.page.click("text=Review details")
        tab.page.wait_for_selector("#verdicts", state="attached")
        assert axe_findings(tab.page) == []
        tab.page.uncheck(f"#i-{first} [type=checkbox]")
        tab.page.uncheck(f"#i-{second} [type=checkbox]")
        tab.page.click(f"#e-{second} summary")
        field = f"#e-{second} [name^='arg.']"
        typed = tab.page.locator(field).first
        name = typed.get_attribute("name")
        assert name is not None
        if typed.evaluate("field => field.localName") == "select":
            typed.select_option(index=1)
        else:
            typed.fill("90 min" if name == "arg.minutes" else "In my own words")
        # What the command line decides leaves the page; what is typed stays.
        laptop.do("reject", first)
        tab.page.wait_for_selector(f"#i-{first}.gone")
        tab.page.click("text=Confirm what is selected")
        tab.outcome("Confirmed")
        for item in rest:
            tab.page.wait_for_selector(f"#i-{item}", state="detached")
        tab.page.click(f"#e-{second} button")
        tab.page.wait_for_selector(f"#i-{second}", state="detached")
        assert axe_findings(tab.page) == []
        tab.page.goto(f"{tab.page.evaluate('location.origin')}/decisions")
        assert axe_findings(tab.page) == []
        tab.page.locator("button", has_text="Take back").first.click()
        tab.page.wait_for_selector("#outcome :text('waits again')")
        assert tab.complaints == []
    assert [item["item_id"] for item in laptop.do("pending")] == [second]
    decisions = {
        decision["item_id"]: decision
        for decision in laptop.do("decisions")
        if decision["verdict"] != "reopened"
    }
    verdicts = [decisions[item]["verdict"] for item in (first, second, *rest)]
    assert verdicts == ["rejected", "confirmed", *["confirmed"] * len(rest)]
    assert decisions[second]["edited_args"]
