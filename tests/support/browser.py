"""A real browser for tests of the page: Debian's Chromium, driven by Playwright, on one device's page.

Never downloads a browser: a test that uses this is marked `external("chromium")`.
The build without windows is preferred, since a page costs a third of the processor's time in it.
"""

import http.client
import os
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlencode, urlsplit

from playwright.sync_api import Browser, BrowserContext, sync_playwright
from playwright.sync_api import Page as BrowserPage

from tests.support.control_requests import control
from tests.support.devices import Device
from tests.support.needs import chromium_path
from tests.support.patience import LIMIT_S, wait_until

WEB = {"PLACET_WEB_ENABLED": "true"}
_OWN_WORDS = {"Service Worker registration blocked by Playwright"}
"""What the browser is told to do by the test itself."""
_FORM = "application/x-www-form-urlencoded"


@contextmanager
def browser(program: str | None = None) -> Iterator[Browser]:
    """Start a browser without a window, and end it. Without a program it is the build that costs least."""
    path = shutil.which(program) if program else chromium_path()
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
        self.page.on("console", lambda message: self._hear(message.text))
        self.page.on("pageerror", lambda fault: self.complaints.append(str(fault)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(address)
        self.page.wait_for_selector("#main h1")

    def _hear(self, words: str) -> None:
        if words not in _OWN_WORDS:
            self.complaints.append(words)

    def outcome(self, words: str) -> None:
        """Wait until the toast says something."""
        self.page.wait_for_selector(f"#outcome :text({words!r})")


def sign_in_address(device: Device) -> str:
    """Return an address that signs a browser in, once."""
    return str(control(device, "POST", "/v1/browsers/sign-ins", {})["address"])


def _sign_in(device: Device) -> tuple[str, dict[str, Any]]:
    """Sign in as the form does; return the page's origin, and the cookie of the session."""
    address = urlsplit(sign_in_address(device))
    origin = f"{address.scheme}://{address.netloc}"
    # A browser finds names below `localhost` by itself, but the system may not.
    with closing(http.client.HTTPConnection("127.0.0.1", address.port)) as connection:
        headers = {"Host": address.netloc, "Origin": origin, "Content-Type": _FORM}
        connection.request("POST", "/in", urlencode({"secret": address.fragment}), headers)
        answer = connection.getresponse()
        assert answer.status == http.client.SEE_OTHER
        ((name, morsel),) = SimpleCookie(answer.headers["Set-Cookie"]).items()
    return origin, {
        "name": name,
        "value": morsel.value,
        "url": origin,
        "httpOnly": True,
        "sameSite": "Strict",
    }


@contextmanager
def _profile(chromium: Browser, device: Device, **options: Any) -> Iterator[tuple[BrowserContext, str]]:
    """Make a browser profile that is signed in; yield it and the page's origin."""
    origin, cookie = _sign_in(device)
    # A worker fetches what a page asks for, and Playwright's routes see none of that.
    options.setdefault("service_workers", "block")
    with chromium.new_context(**options) as context:
        context.set_default_timeout(LIMIT_S * 1000)
        context.add_cookies([cookie])  # type: ignore[list-item]
        yield context, origin


@contextmanager
def signed_in(chromium: Browser, device: Device, path: str = "/inbox", **options: Any) -> Iterator[Tab]:
    """Open a page in a browser profile of its own that is signed in."""
    with _profile(chromium, device, **options) as (context, origin):
        yield Tab(context, f"{origin}{path}")


@contextmanager
def unscripted(chromium: Browser, device: Device, path: str = "/inbox") -> Iterator[BrowserPage]:
    """Open a page in a browser profile of its own that is signed in and runs no scripts."""
    with _profile(chromium, device, java_script_enabled=False) as (context, origin):
        page = context.new_page()
        page.goto(f"{origin}{path}")
        yield page


NOTE = "We need: two photos, the old passport and the form. It takes about 2 hours. Due 12 December 2026."


def propose(device: Device, title: str, count: int = 3) -> list[dict[str, Any]]:
    """Add a task with a note and an agent; return what the agent proposes, at least `count` items."""
    task = control(device, "POST", "/v1/tasks", {"title": title})["id"]
    control(device, "POST", f"/v1/tasks/{task}/entries", {"text": NOTE})
    control(device, "POST", "/v1/agents", {"task": task})

    def waiting() -> list[dict[str, Any]]:
        return [item for item in control(device, "GET", "/v1/pending") if item["task_id"] == task]

    wait_until("the agent proposes", lambda: len(waiting()) >= count, LIMIT_S)
    return waiting()
