"""A program asks for a permission, and a person gives it in a browser on another device.

Never repeats what tests/daemon/web asks without a browser.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser

from tests.e2e.test_mcp import MAIL
from tests.support.browser import WEB, browser, signed_in
from tests.support.devices import Device, MakeDevice, pair
from tests.support.door_clients import Call, speak
from tests.support.patience import LIMIT_S, wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.external("chromium")]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as running:
        yield running


async def ask(call: Call) -> dict[str, Any]:
    return await call(
        "ask_permission",
        action=MAIL,
        title="Mail Ana",
        why="She waits.",
        options=["now", "later"],
        valid_minutes=60,
        key="mail 1",
    )


def state_of(device: Device, name: str) -> str:
    return next((listed["state"] for listed in device.do("asks", "--all") if listed["ask_id"] == name), "")


def test_a_permission_is_given_in_the_browser_of_another_device(device: MakeDevice, chromium: Browser):
    laptop, phone = device("laptop"), device("phone", **WEB)
    pair(laptop, phone)
    laptop.do("agent", "add", "Claude", "--scope", "none")
    with signed_in(chromium, phone) as tab:
        new_ask = speak(laptop, "legacy", ask)
        tab.page.click("a:text('Agents ask for 1 permission')")
        tab.page.wait_for_selector("pre :text('ana@example.org')")
        tab.page.check("[value=later]")
        tab.page.click("[value=confirmed]")
        tab.page.wait_for_selector(".empty")
        assert tab.complaints == []
    name = new_ask["ask_id"]
    wait_until("the verdict arrives", lambda: state_of(laptop, name) == "permitted", LIMIT_S)

    async def use(call: Call) -> dict[str, Any]:
        (decided,) = (await call("get_decisions", asks=[name]))["asks"]
        return await call(
            "use_permission", ask=name, args_hash=decided["args_hash"], execution_id="the only one"
        )

    answer = speak(laptop, "legacy", use)
    assert (answer["result"], answer["option"]) == ("granted", "later")


@pytest.mark.parametrize("width", [360, 1440])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(device: MakeDevice, chromium: Browser, theme: str, width: int):
    laptop = device("laptop", **WEB)
    laptop.do("agent", "add", "Claude")
    options = {"color_scheme": theme, "viewport": {"width": width, "height": 900}}
    with signed_in(chromium, laptop, **options) as tab:
        page = tab.page
        page.goto(f"{page.evaluate('location.origin')}/permissions")
        findings = Axe().run(page).response["violations"]
        speak(laptop, "legacy", ask)
        page.wait_for_selector(".card")
        findings += Axe().run(page).response["violations"]
    assert [f"{finding['id']}: {finding['nodes'][0]['html']}" for finding in findings] == []
