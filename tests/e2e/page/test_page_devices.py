"""Devices and pairing in a real browser, with two real daemons.

Never repeats what tests/daemon/web asks without a browser.
"""

import pytest
from playwright.sync_api import Browser

from tests.support.browser import WEB, Tab, signed_in, unscripted
from tests.support.devices import Device, MakeDevice
from tests.support.page_faults import axe_findings

pytestmark = [pytest.mark.e2e, pytest.mark.external("chromium")]


@pytest.fixture
def phone(device: MakeDevice) -> Device:
    return device("phone", **WEB)


def open_page(tab: Tab, path: str) -> None:
    origin = tab.page.evaluate("location.origin")
    tab.page.goto(f"{origin}{path}")


def test_two_browsers_pair_two_devices_in_place(laptop: Device, phone: Device, chromium: Browser):
    path = "/devices/pair"
    phone.do("add", "Own task")
    with signed_in(chromium, laptop, path) as inviting, signed_in(chromium, phone, path) as joining:
        inviting.page.click("[value=code]")
        code = inviting.page.inner_text("output")
        joining.page.fill("#secret", "000-000" if code != "000-000" else "111-111")
        joining.page.click("#more summary")
        joining.page.fill("#address", f"127.0.0.1:{laptop.port}")
        joining.page.fill("#name", "telephone")
        joining.page.click("[value=join]")
        # The phone has a task of its own: that is asked before any code is tried.
        joining.page.click("[value=unite]")
        joining.page.wait_for_selector("#join-fault:not(:has-text('tasks of its own'))")
        inviting.page.wait_for_selector("#words :text('2 tries are left')")
        assert joining.page.input_value("#address") == f"127.0.0.1:{laptop.port}"
        joining.page.fill("#secret", code)
        joining.page.click("[value=unite]")
        joining.page.wait_for_selector("#joins h2:has-text('Joined laptop')")
        assert axe_findings(joining.page) == []
        inviting.page.wait_for_selector("#words :text('telephone joined')")
        assert inviting.complaints == []
        open_page(inviting, "/devices")
        inviting.page.wait_for_selector(".item :text('telephone')")
        # A refused form is a 409, which the browser's console mentions.
        assert all("409" in complaint for complaint in joining.complaints)


def test_a_device_is_paired_without_scripts(laptop: Device, phone: Device, chromium: Browser):
    token = phone.do("pair", "--invite")["token"]
    with unscripted(chromium, laptop, "/devices/pair") as page:
        page.fill("#secret", token)
        page.click("[value=join]")
        assert "Joined phone" in page.inner_text("#joins h2")


def test_the_journal_is_checked_in_place_and_without_scripts(laptop: Device, chromium: Browser):
    for number in range(30):
        laptop.do("add", f"Task {number}")
    with signed_in(chromium, laptop, "/health") as tab:
        assert tab.page.locator("#well").get_attribute("open") is None
        tab.page.click("form[action='/health/verify'] button")
        tab.page.wait_for_selector("#check .good:has-text('Everything is intact.')")
        assert axe_findings(tab.page) == []
        assert tab.complaints == []
        origin = tab.page.evaluate("location.origin")
        # A tab that followed a check of an earlier start of the daemon.
        open_page(tab, "/health/verify?job=1-1")
        laptop.stop()
        laptop.start()
        tab.page.goto(f"{origin}/health/verify?wait=1&job=1-1")
        tab.page.wait_for_selector("#check .fault:has-text('started again before the check ended')")
    with unscripted(chromium, laptop, "/health") as page:
        page.click("form[action='/health/verify'] button")
        page.wait_for_selector("#check .good:has-text('Everything is intact.')")
        page.goto(f"{origin}/health")
        page.wait_for_selector("a.good:has-text('Everything is intact.')")
