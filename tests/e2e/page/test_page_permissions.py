"""A program asks for a permission, and a person gives it in a browser on another device.

Never repeats what tests/daemon/web asks without a browser.
"""

from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.e2e.programs.test_mcp import MAIL
from tests.support.browser import WEB, signed_in, unscripted
from tests.support.devices import Device, MakeDevice, pair
from tests.support.door_clients import Call, speak
from tests.support.patience import LIMIT_S, wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.external("chromium")]


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
        # It comes up on the open inbox; what is not chosen is not permitted.
        tab.page.wait_for_selector(".asked dd :text('ana@example.org')")
        tab.page.click("[value^='confirmed:'][value$=':later']")
        tab.outcome("Permitted, once")
        tab.page.wait_for_selector(f"#i-{new_ask['ask_id']}", state="detached")
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


def test_keys_choose_permit_take_back_and_refuse(device: MakeDevice, chromium: Browser):
    laptop = device("laptop", **WEB)
    laptop.do("agent", "add", "Claude", "--scope", "none")
    with signed_in(chromium, laptop) as tab:
        page, name = tab.page, speak(laptop, "legacy", ask)["ask_id"]
        page.wait_for_selector(f"#i-{name}")
        # "Confirm everything on this card" is not about what lies outside the journal.
        page.keyboard.press("a")
        page.keyboard.press("y")
        assert state_of(laptop, name) == "pending"
        page.keyboard.press("2")
        tab.outcome("Permitted, once")
        page.keyboard.press("u")
        tab.outcome("Open again")
        page.wait_for_selector(f"#i-{name}")
        page.focus(f"#i-{name}")
        page.keyboard.press("Shift+N")
        page.keyboard.type("not yet")
        page.click("#why [value=reject]")
        tab.outcome("Refused")
        assert tab.complaints == []
    (decision, *_rest) = laptop.do("decisions")
    assert (decision["verdict"], decision["reason"]) == ("rejected", "not yet")


def test_what_is_changed_in_the_details_is_what_is_granted(device: MakeDevice, chromium: Browser):
    laptop = device("laptop", **WEB)
    laptop.do("agent", "add", "Claude", "--scope", "none")
    name = speak(laptop, "legacy", ask)["ask_id"]
    with signed_in(chromium, laptop) as tab:
        page = tab.page
        page.focus(f"#i-{name}")
        page.keyboard.press("e")
        page.wait_for_selector(f"#e-{name}[open] :focus")
        field = page.locator(f"#e-{name} label", has_text="to").locator("textarea").first
        field.fill("bo@example.org")
        # What another device does elsewhere brings the page up to date, and leaves what is typed.
        laptop.do("add", "Another task")
        laptop.do("agent", "add", "Codex", "--scope", "none")
        page.click("[value^='confirmed:'][value$=':now']")
        tab.outcome("Permitted, once")
        assert tab.complaints == []
    (listed,) = laptop.do("asks", "--all")
    assert (listed["args"]["to"], listed["verdict"]["edited"]) == ("bo@example.org", True)


def test_without_a_script_an_ask_is_changed_and_decided(device: MakeDevice, chromium: Browser):
    laptop = device("laptop", **WEB)
    laptop.do("agent", "add", "Claude", "--scope", "none")
    name = speak(laptop, "legacy", ask)["ask_id"]
    with unscripted(chromium, laptop) as page:
        page.click("a:text('Review details')")
        page.click(f"#e-{name} summary")
        page.locator(f"#e-{name} textarea").last.fill("bo@example.org")
        page.click("[value^='confirmed:'][value$=':now']")
        assert "Permitted, once" in page.inner_text("#outcome")
        page.click("#outcome button")
        assert "Open again" in page.inner_text("#outcome")
    assert state_of(laptop, name) == "pending"
