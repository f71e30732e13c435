"""What a person types on the page of a task, in a real browser: it stays until the daemon has taken it.

Never repeats what tests/daemon/web asks without a browser.
"""

import pytest
from playwright.sync_api import Browser

from tests.support.browser import sign_in_address, signed_in, unscripted
from tests.support.devices import Device

pytestmark = [pytest.mark.e2e, pytest.mark.external("chromium")]

WORDS = "She answers on Monday.\nThen we post it."


def test_a_note_stays_while_the_daemon_is_away_and_while_the_session_is_over(
    laptop: Device, chromium: Browser
):
    ref = laptop.do("add", "Write to Ana")["id"]
    with signed_in(chromium, laptop, f"/tasks/{ref}") as tab:
        page = tab.page
        page.fill("#f-note [name=note]", WORDS)
        laptop.stop()
        page.click("#f-note button")
        page.wait_for_selector("#away:not([hidden])")
        assert page.input_value("#f-note [name=note]") == WORDS
        laptop.start()
        page.wait_for_selector("#away", state="hidden")
        laptop.do("web", "end", "--all")
        page.click("#f-note button")
        page.wait_for_selector("#over:not([hidden])")
        assert page.input_value("#f-note [name=note]") == WORDS
        other = page.context.new_page()
        other.goto(sign_in_address(laptop))
        other.wait_for_selector("#main h1")
        page.click("#f-note button")
        page.wait_for_selector(".item :text('Then we post it.')")
        page.wait_for_selector("#over", state="hidden")
        # What the daemon has is typed no more.
        assert page.input_value("#f-note [name=note]") == ""
    assert [entry["text"].replace("\r", "") for entry in laptop.do("show", ref)["entries"]] == [WORDS]


def test_a_note_that_is_edited_stays_typed_if_it_is_removed_elsewhere(laptop: Device, chromium: Browser):
    ref = laptop.do("add", "Write to Ana")["id"]
    note = laptop.do("note", ref, "She answers on Monday.")["id"]
    field, button = f"#f-note-{note} [name=note]", f"#f-note-{note} button"
    with signed_in(chromium, laptop, f"/tasks/{ref}") as tab:
        page = tab.page
        page.click(f"#edit-{note} summary")
        page.fill(field, WORDS)
        laptop.do("entry", "remove", note)
        laptop.do("note", ref, "Another note.")
        page.wait_for_selector(".item :text('Another note.')")
        assert page.input_value(field) == WORDS
        page.click(button)
        page.wait_for_selector("#typed textarea")
        assert (page.input_value("#typed textarea"), page.input_value(field)) == (WORDS, WORDS)
        laptop.do("entry", "restore", note)
        page.click(button)
        page.wait_for_selector(f"#n-{note} .text :text('Then we post it.')")
        page.wait_for_selector("#typed", state="detached")
        assert page.get_attribute(f"#edit-{note}", "open") is None
        assert [words for words in tab.complaints if "409" not in words] == []
    assert WORDS in [entry["text"] for entry in laptop.do("show", ref)["entries"]]


def test_a_value_that_is_refused_is_said_and_set_again(laptop: Device, chromium: Browser):
    ref = laptop.do("add", "Write to Ana")["id"]
    with signed_in(chromium, laptop, f"/tasks/{ref}", viewport={"width": 360, "height": 800}) as tab:
        page, keyboard = tab.page, tab.page.keyboard
        page.focus(".chip[data-menu=due]")
        keyboard.press("Enter")
        page.wait_for_selector("#row-menu [name=due]:focus")
        keyboard.type("some")
        # News from elsewhere takes nothing of it away, and closes nothing.
        laptop.do("note", ref, "News")
        page.wait_for_selector(".item :text('News')")
        keyboard.type("day")
        keyboard.press("Enter")
        tab.outcome("someday")
        page.focus(".chip[data-menu=due]")
        keyboard.press("Enter")
        keyboard.type("2030-12-24")
        keyboard.press("Enter")
        page.wait_for_selector(".chip:has-text('24 Dec 2030')")
        assert [words for words in tab.complaints if "409" not in words] == []
    assert laptop.do("show", ref)["due"] == "2030-12-24"


def test_a_removed_task_is_told_in_place_and_comes_back(laptop: Device, chromium: Browser):
    ref = laptop.do("add", "Write to Ana")["id"]
    with signed_in(chromium, laptop, f"/tasks/{ref}") as tab:
        page = tab.page
        page.fill("#f-note [name=note]", WORDS)
        laptop.do("task", "remove", ref)
        page.wait_for_selector("#gone :text('was removed')")
        assert page.input_value("#f-note [name=note]") == WORDS
        page.click("#f-note button")
        page.wait_for_selector("#f-restore [name=again]", state="attached")
        assert page.input_value("#f-note [name=note]") == WORDS
        page.click("#f-restore button")
        page.wait_for_selector("#gone", state="detached")
        assert page.input_value("#f-note [name=note]") == WORDS
        page.click("#f-note button")
        page.wait_for_selector(".item :text('Then we post it.')")


def test_what_was_typed_counts_against_what_it_was_typed_on(laptop: Device, chromium: Browser):
    ref = laptop.do("add", "Write to Ana")["id"]
    with signed_in(chromium, laptop, f"/tasks/{ref}") as tab:
        page = tab.page
        page.click(".chip[data-menu=status]")
        page.fill("#row-menu [name=reason]", "No stamps")
        laptop.do("set", "status", ref, "in", "progress")
        page.wait_for_selector(".chip:has-text('in progress')")
        assert page.input_value("#row-menu [name=reason]") == "No stamps"
        page.click("#row-menu button:text('blocked')")
        page.wait_for_selector("#conflicts")
        page.click("[aria-label='Keep this: blocked']")
        page.wait_for_selector("#conflicts", state="detached")
    task = laptop.do("show", ref)
    assert (task["status"], task["reason"], task["conflicts"]) == ("BLOCKED", "No stamps", [])


def test_forms_say_what_is_wrong_and_keep_what_was_typed_without_scripts(laptop: Device, chromium: Browser):
    ref = laptop.do("add", "Write to Ana")["id"]
    with unscripted(chromium, laptop, f"/tasks/{ref}") as page:
        page.click("#edit summary")
        page.fill("#f-edit [name=title]", "x" * 401)
        page.fill("#f-edit [name=category]", "Post")
        page.click("#f-edit button")
        page.wait_for_selector("#e-edit-title :text('401 characters')")
        assert page.input_value("#f-edit [name=title]") == "x" * 401
        page.fill("#f-edit [name=title]", "Write to Bea")
        page.click("#f-edit button")
        page.wait_for_selector("h1 :text('Write to Bea')")
        page.fill("#f-note [name=note]", WORDS)
        laptop.do("task", "remove", ref)
        page.click("#f-note button")
        page.wait_for_selector("#gone")
        assert page.input_value("#typed textarea") == WORDS
        page.click("#f-restore button")
        page.wait_for_selector("h1 :text('Write to Bea')")
        assert page.input_value("#f-note [name=note]") == WORDS
        page.click("#f-note button")
        page.wait_for_selector(".item :text('Then we post it.')")
    task = laptop.do("show", ref)
    assert (task["category"], len(task["entries"])) == ("Post", 1)
