"""One browser for all tests of the page that follow each other, and the device whose page it shows.

Never shares what a browser keeps: each test opens profiles of its own, which end with it.
"""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.support.browser import WEB, browser
from tests.support.devices import Device, MakeDevice


@pytest.fixture(scope="package")
def shared_chromium() -> Iterator[Browser]:
    with browser() as running:
        yield running


@pytest.fixture
def chromium(shared_chromium: Browser) -> Iterator[Browser]:
    yield shared_chromium
    for context in shared_chromium.contexts:
        context.close()


@pytest.fixture
def laptop(device: MakeDevice) -> Device:
    return device("laptop", **WEB)
