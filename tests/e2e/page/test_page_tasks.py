"""Tasks in a real browser, with real daemons: a new one by keys alone, and what a person does to it.

Never repeats what tests/daemon/web asks without a browser.
"""

from urllib.parse import urljoin

import pytest
from playwright.sync_api import Browser, Dialog, Route

from tests.support.browser import NOTE, propose, signed_in, unscripted
from tests.support.devices import Device, MakeDevice, pair
from tests.support.page_faults import axe_findings

pytestmark = [pytest.mark.e2e, pytest.mark.external("chromium")]


def test_a_task_is_made_noted_and_finished_by_keys_alone(laptop: Device, chromium: Browser):
    with signed_in(chromium, laptop) as tab:
        keyboard = tab.page.keyboard
        keyboard.press("c")
        tab.page.wait_for_selector("[name=line]:focus")
        keyboard.type("Renew the passport 2030-12-24")
        keyboard.press("Enter")
        tab.outcome("Added: Renew the passport, due Tue 24 Dec 2030")
        tab.page.click("#outcome a")
        tab.page.wait_for_selector("h1 :text('Renew the passport')")
        tab.page.focus("[name=note]")
        keyboard.type("Two photos.")
        keyboard.press("Tab")
        keyboard.press("Enter")
        tab.page.wait_for_selector(".item :text('Two photos.')")
        tab.page.focus("#f-item [name=title]")
        for item in ("Old one", "Money"):
            keyboard.type(item)
            keyboard.press("Enter")
            tab.page.wait_for_selector(f".item :text('{item}')")
        # Without a card on it, the keys of a row are about the task; the first focuses it.
        tab.page.focus(".one")
        keyboard.press("e")
        tab.page.wait_for_selector(".rename input:focus")
        keyboard.type("Renew the card")
        # What comes from elsewhere meanwhile takes away neither the field nor what is typed.
        laptop.do("check", "add", "passport", "Envelope")
        tab.page.wait_for_selector(".item :text('Envelope')")
        assert tab.page.input_value(".rename input:focus") == "Renew the card"
        keyboard.press("Escape")
        keyboard.press("e")
        keyboard.type("Renew both passports")
        keyboard.press("Enter")
        tab.page.wait_for_selector("h1 :text('Renew both passports')")
        tab.page.wait_for_selector(".one:focus")
        keyboard.press("s")
        tab.page.wait_for_selector("#row-menu :focus")
        assert tab.page.locator("#row-menu fieldset:visible").count() == 1
        tab.page.click("#row-menu [data-reason] >> nth=0")
        tab.page.wait_for_selector("#row-menu [name=reason]:invalid")
        keyboard.type("No photos")
        tab.page.click("#row-menu [data-reason] >> nth=0")
        tab.page.wait_for_selector(".one > .why :text('No photos')")
        keyboard.press("x")
        tab.page.wait_for_selector(".chip:has-text('done')")
        # What the daemon has taken is typed no more: the browser asks nobody whether to leave it.
        tab.page.goto(tab.page.evaluate("location.origin") + "/tasks/new")
        tab.page.wait_for_selector("[name=title]:focus")
        questions: list[str] = []

        def stay(question: Dialog) -> None:
            questions.append(question.type)
            question.dismiss()

        tab.page.on("dialog", stay)
        keyboard.type("Call Ana")
        keyboard.press("Enter")
        tab.page.wait_for_selector("h1:has-text('Call Ana')")
        assert (questions, tab.complaints) == ([], [])
    task = laptop.do("show", "passport")
    assert (task["title"], task["status"], task["due"]) == ("Renew both passports", "DONE", "2030-12-24")
    assert task["entries"][0]["text"] == "Two photos."
    assert [item["title"] for item in task["checklists"][0]["items"]] == ["Old one", "Money", "Envelope"]


def test_the_values_of_a_task_are_set_by_its_chips_also_without_a_script(laptop: Device, chromium: Browser):
    ref = laptop.do("add", "Write to Ana", "--label", "home")["id"]
    with signed_in(chromium, laptop, f"/tasks/{ref}") as tab:
        page = tab.page
        page.click(".chip[data-menu=due]")
        page.fill("#row-menu [name=due]", "2030-12-24")
        page.keyboard.press("Enter")
        page.wait_for_selector(".chip:has-text('due 24 Dec 2030')")
        page.click(".chip[data-menu=labels]")
        page.click("#row-menu [aria-pressed=true]:text('#home')")
        page.wait_for_selector(".chip.unset:has-text('Label')")
        page.click("#deed button:text('Undo')")
        page.wait_for_selector(".chip:has-text('#home')")
        page.click("h1")
        page.keyboard.type("Write to Bea")
        page.click(".one .group >> nth=0")
        page.wait_for_selector("h1 :text('Write to Bea')")
        assert tab.complaints == []
    with unscripted(chromium, laptop, f"/tasks/{ref}") as page:
        page.click(".chip[data-menu=priority]")
        page.click("#row-menu button:text('P0')")
        page.wait_for_selector(".chip:has-text('P0')")
        page.click(".chip[data-menu=labels]")
        page.click("#row-menu button:text('#home')")
        page.wait_for_selector(".chip.unset:has-text('Label')")
        page.click("#edit summary")
        page.fill("#f-edit [name=title]", "Write to Cleo")
        page.click("#f-edit button")
        page.wait_for_selector("h1 :text('Write to Cleo')")
    task = laptop.do("show", ref)
    assert (task["due"], task["priority"], task["labels"]) == ("2030-12-24", "P0", [])


def test_a_task_of_another_device_appears_and_what_is_typed_stays(
    laptop: Device, device: MakeDevice, chromium: Browser
):
    phone = device("phone")
    pair(laptop, phone)
    ref = laptop.do("add", "Write to Ana")["id"]
    with signed_in(chromium, laptop, f"/tasks/{ref}") as tab:
        tab.page.fill("#f-note textarea", "Half a sen")
        phone.do("sync", "--wait", "60")
        phone.do("note", "ana", "She answers on Monday.")
        tab.page.wait_for_selector(".item :text('She answers on Monday.')")
        assert tab.page.input_value("#f-note textarea") == "Half a sen"
        tab.page.goto(urljoin(tab.page.url, "/tasks"))
        phone.do("add", "Buy stamps")
        tab.page.wait_for_selector(".task :text('Buy stamps')")


def test_a_note_is_shown_as_markdown_and_fetches_nothing(laptop: Device, chromium: Browser):
    ref = laptop.do("add", "Renew the passport")["id"]
    image = "![map](https://example.org/map.png) <img src=https://example.org/other.png>"
    laptop.do("note", ref, f"# At the office\n\n* **two** photos\n\n| a |\n|:-|\n| b |\n\n{image}")
    with signed_in(chromium, laptop, f"/tasks/{ref}") as tab:
        tab.page.wait_for_selector(".text strong:text('At the office')")
        tab.page.wait_for_selector(".text li :text('two')")
        assert tab.page.get_attribute(".text a", "rel") == "noopener noreferrer"
        assert not [address for address in tab.asked if "example.org" in address]
        assert tab.complaints == []


def test_tasks_work_without_scripts(laptop: Device, chromium: Browser):
    with unscripted(chromium, laptop, "/tasks/new") as page:
        page.fill("[name=title]", "Renew the passport")
        page.fill("[name=due]", "some day")
        page.click("button.main")
        page.wait_for_selector("#e-new-due")
        assert page.input_value("[name=title]") == "Renew the passport"
        page.fill("[name=due]", "")
        page.click("button.main")
        page.wait_for_selector("h1 :text('Renew the passport')")


def test_an_agent_is_made_watched_paused_and_woken_on_the_page(laptop: Device, chromium: Browser):
    laptop.do("add", "Renew the passport")
    ref = laptop.do("show", "passport")["id"]
    laptop.do("note", "passport", NOTE)
    with signed_in(chromium, laptop, f"/tasks/{ref}") as tab:
        page = tab.page
        page.click("button:text('Create an agent')")
        # The page follows the run, and shows what it proposes.
        page.wait_for_selector("main .acts .yes")
        page.click("main a[href^='/agents/']")
        page.wait_for_selector("#log ~ ul :text('Proposed')")
        page.wait_for_selector("#report")
        assert axe_findings(tab.page) == []
        page.click("[value=pause]")
        page.click("[value=resume]")
        page.click("[value=wake]")
        page.wait_for_selector("[value=pause]")
        assert tab.complaints == []
    assert len(laptop.do("pending")) > 1


def test_a_line_notes_a_task_from_any_page_and_is_taken_back(laptop: Device, chromium: Browser):
    propose(laptop, "Renew the passport")
    with signed_in(chromium, laptop, viewport={"width": 360, "height": 700}) as tab:
        page = tab.page
        before = page.url
        page.keyboard.press("c")
        page.wait_for_selector("[name=line]:focus")
        assert axe_findings(tab.page) == []
        page.keyboard.type("y n a <b>stamps</b> tomorrow 45 min")
        page.keyboard.press("Enter")
        tab.outcome("Added: y n a <b>stamps</b>, due ")
        assert page.url == before
        assert not page.query_selector("#capture[open]")
        assert "45 min" in page.inner_text("#outcome")
        assert axe_findings(tab.page) == []
        assert [task["title"] for task in laptop.do("list") if "stamps" in task["title"]]
        page.keyboard.press("u")
        tab.outcome("Taken back: y n a")
        assert not [task for task in laptop.do("list") if "stamps" in task["title"]]
        page.keyboard.press("c")
        page.fill("[name=line]", "  ")
        page.keyboard.press("Enter")
        page.wait_for_selector("#capture .fault:not([hidden])")
        assert page.input_value("[name=line]") == "  "
        laptop.stop()
        page.fill("[name=line]", "While it is away")
        page.keyboard.press("Enter")
        page.wait_for_selector("#capture .fault:text('does not answer')")
        assert page.input_value("[name=line]") == "While it is away"


def test_what_is_typed_while_another_line_is_sent_stays(laptop: Device, chromium: Browser):
    """A slow answer is about what was sent, and closes no dialog in which a person goes on."""
    with signed_in(chromium, laptop) as tab:
        page = tab.page
        held_requests: list[Route] = []
        # Playwright sets an attribute of its handler, which a method of a list does not take.
        page.route("**/tasks/new", lambda route: held_requests.append(route))  # noqa: PLW0108
        page.keyboard.press("c")
        page.wait_for_selector("[name=line]:focus")
        page.keyboard.type("Buy stamps")
        with page.expect_request("**/tasks/new"):
            page.keyboard.press("Enter")
        page.fill("[name=line]", "Call Ana")
        held_requests.pop().continue_()
        tab.outcome("Added to the tasks, without a day: Buy stamps")
        assert page.input_value("#capture[open] [name=line]") == "Call Ana"
        page.keyboard.press("Escape")
        with page.expect_request("**/tasks/new"):
            page.click("#outcome button")
        page.keyboard.press("c")
        page.wait_for_selector("[name=line]:focus")
        held_requests.pop().continue_()
        tab.outcome("Taken back: Buy stamps")
        assert page.input_value("#capture[open] [name=line]") == "Call Ana"
        page.unroute("**/tasks/new")
        page.keyboard.press("Enter")
        tab.outcome("Added to the tasks, without a day: Call Ana")
        page.wait_for_selector("#capture:not([open])", state="attached")
    assert [task["title"] for task in laptop.do("list")] == ["Call Ana"]
