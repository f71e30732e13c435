"""A newcomer in a real browser: from an empty inbox to a decided proposal, an import and a second device.

Never repeats what tests/daemon/web asks without a browser.
"""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from daemon.formats.importing import FILE_BYTES_MAX
from tests.support.browser import WEB, Tab, signed_in, unscripted
from tests.support.devices import Device, MakeDevice
from tests.support.page_faults import axe_findings

pytestmark = [pytest.mark.e2e, pytest.mark.external("chromium")]

LIST = "# Call Ana\n\nShe has the keys.\n\n# Rake\n\n- [ ] leaves\n"
LONG = "".join(f"# Task {n}\n\nwords\n\n" for n in range(12_000))
DROP = """([name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name));
  for (const type of ["dragover", "drop"]) {
    document.body.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
  }
}"""
READY = "document.querySelector('form[data-drop]').dataset.ready"


def drop(tab: Tab, name: str, text: str) -> None:
    """Drop a file on the page, once its script is ready to take it."""
    tab.page.wait_for_function(READY)
    tab.page.evaluate(DROP, [name, text])


def test_a_newcomer_decides_undoes_and_pairs_by_what_the_page_says(
    laptop: Device, device: MakeDevice, chromium: Browser
):
    phone = device("phone", **WEB)
    with signed_in(chromium, laptop) as tab, signed_in(chromium, phone) as other:
        page = tab.page
        page.click("button:text('Show me an example')")
        # The proposals come up on the task itself.
        page.click("button:text('Confirm all')")
        page.click("#outcome button:text('Undo')")
        page.click("nav a:has-text('Inbox')")
        page.wait_for_selector("h1:text('Inbox')")
        page.click("button:text('Confirm all')")
        page.wait_for_selector(".empty")
        page.click("a:text('Next: pair a second device')")
        page.click("#step-device button")
        code = page.inner_text(".secret output")
        other.page.click("#step-device a:text('Enter a code')")
        other.page.fill("#secret", code)
        other.page.click("[value=join]")
        # Nothing is announced here: the field for the address opens by itself.
        other.page.wait_for_selector("#more[open] #address:focus")
        other.page.fill("#address", f"127.0.0.1:{laptop.port}")
        other.page.click("[value=join]")
        page.wait_for_selector("#words.good")
        page.goto(f"{page.evaluate('location.origin')}/start")
        page.wait_for_selector(".head :text('3 of 3 done')")
        assert tab.complaints == []
        # A refused form is a 409, which the browser's console mentions.
        assert len(other.complaints) == 1
    task = laptop.do("show", "passport")
    assert (task["estimate_minutes"], len(task["checklists"][0]["items"])) == (120, 3)


def test_a_file_is_dropped_on_the_first_page_and_comes_in(laptop: Device, chromium: Browser):
    with signed_in(chromium, laptop) as tab:
        drop(tab, "TODO.md", LIST)
        tab.page.wait_for_selector("#shown :text('Would import 2 tasks')")
        tab.page.click("button:text('Import')")
        tab.page.wait_for_selector("#imported .good")
        tab.page.click("#imported a:text('First steps')")
        tab.page.select_option("[name=task]", label="Call Ana")
        tab.page.click("button:text('Create an agent')")
        tab.page.wait_for_selector("main a[href^='/agents/']")
        assert "Call Ana" in tab.page.inner_text("main")
        assert tab.complaints == []
    assert {task["title"] for task in laptop.do("list")} == {"Call Ana", "Rake"}


def test_a_file_that_is_too_large_is_told_before_it_is_sent(
    laptop: Device, chromium: Browser, tmp_path: Path
):
    large = tmp_path / "large.md"
    large.write_bytes(b"x" * (FILE_BYTES_MAX + 1))
    with signed_in(chromium, laptop) as tab:
        page = tab.page
        page.wait_for_function(READY)
        page.set_input_files("[type=file]", large)
        words = page.eval_on_selector("[type=file]", "field => field.validationMessage")
        assert "MiB; nothing was imported" in words
        before = len(tab.asked)
        page.click("button:text('Look at this file')")
        assert [address for address in tab.asked[before:] if address.endswith("/import/file")] == []
    with unscripted(chromium, laptop, "/import") as page:
        page.set_input_files("[type=file]", large)
        page.click("button:text('Look at this file')")
        page.wait_for_selector("#toast :text('nothing was imported')")


def test_a_long_import_shows_how_far_it_is(laptop: Device, chromium: Browser):
    with signed_in(chromium, laptop) as tab:
        drop(tab, "long.md", LONG)
        tab.page.wait_for_selector("#shown")
        tab.page.click("button:text('Import')")
        tab.page.wait_for_selector("#working progress[max]", state="attached")
        assert axe_findings(tab.page) == []
        tab.page.wait_for_selector("#imported .good")
        assert "12000 tasks" in tab.page.inner_text("#imported .good").replace(",", "")
        assert tab.complaints == []


def test_a_file_comes_in_without_scripts(laptop: Device, chromium: Browser, tmp_path: Path):
    list_file = tmp_path / "TODO.md"
    list_file.write_text(LIST)
    with unscripted(chromium, laptop) as page:
        page.set_input_files("[type=file]", list_file)
        page.click("button:text('Look at this file')")
        page.wait_for_selector("#shown")
        page.click("button:text('Import')")
        page.wait_for_selector("#imported .good")
