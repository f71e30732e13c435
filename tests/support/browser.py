"""A real browser for tests of the page: Debian's Chromium, driven by Playwright, on one device's page.

Never downloads a browser: a test that uses this is marked `external("chromium")`.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, sync_playwright
from playwright.sync_api import Page as BrowserPage

from tests.support.devices import Device
from tests.support.patience import LIMIT_S, wait_until

WEB = {"PLACET_WEB_ENABLED": "true"}


@contextmanager
def browser() -> Iterator[Browser]:
    """Start a browser without a window, and end it."""
    path = shutil.which("chromium")
    assert path
    # Chromium's own sandbox does not start for root.
    args = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=path, args=args)
        try:
            yield chromium
        finally:
            chromium.close()


class Tab:
    """A tab that is signed in, and all that it asked for and complained about."""

    def __init__(self, context: BrowserContext, address: str) -> None:
        context.set_default_timeout(LIMIT_S * 1000)
        self.page: BrowserPage = context.new_page()
        self.complaints: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda fault: self.complaints.append(str(fault)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(address)
        self.page.wait_for_selector("#main h1")

    def outcome(self, words: str) -> None:
        """Wait until the toast says something."""
        self.page.wait_for_selector(f"#outcome :text({words!r})")


def sign_in_address(device: Device) -> str:
    """Return an address that signs a browser in, once."""
    return str(device.do("web", "--print")["address"])


@contextmanager
def signed_in(chromium: Browser, device: Device, **options: Any) -> Iterator[Tab]:
    """Open a tab in a browser profile of its own, and sign it in."""
    context = chromium.new_context(**options)
    try:
        yield Tab(context, sign_in_address(device))
    finally:
        context.close()


@contextmanager
def unscripted(chromium: Browser, device: Device) -> Iterator[BrowserPage]:
    """Open a page in a browser profile of its own that runs no scripts, and sign it in."""
    address = urlsplit(sign_in_address(device))
    with chromium.new_context(java_script_enabled=False) as context:
        context.set_default_timeout(LIMIT_S * 1000)
        page = context.new_page()
        page.goto(address._replace(fragment="").geturl())
        page.fill("#secret", address.fragment)
        page.click("button")
        page.wait_for_selector("#main h1")
        yield page


NOTE = "We need: two photos, the old passport and the form. It takes about 2 hours. Due 12 December 2026."


def propose(device: Device, title: str, count: int = 3) -> list[dict[str, Any]]:
    """Add a task with a note and an agent; return what the agent proposes, at least `count` items."""
    task = device.do("add", title)["id"]
    device.do("note", task, NOTE)
    device.do("agent", "create", task)

    def waiting() -> list[dict[str, Any]]:
        return [item for item in device.do("pending") if item["task_id"] == task]

    wait_until("the agent proposes", lambda: len(waiting()) >= count, LIMIT_S)
    return waiting()
