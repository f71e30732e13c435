"""Passkeys in a real browser, with an authenticator of its own: added, asked for by a verdict, and refused.

Never repeats what tests/daemon/web asks without a browser.
"""

import pytest
from playwright.sync_api import Browser, CDPSession

from tests.e2e.page.test_page_permissions import ask, state_of
from tests.support.browser import Tab, propose, signed_in, unscripted
from tests.support.devices import Device, MakeDevice, pair
from tests.support.door_clients import speak
from tests.support.page_faults import axe_findings
from tests.support.patience import LIMIT_S, wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.external("chromium")]

OPTIONS = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


class Authenticator:
    """What stands for a finger on a sensor."""

    def __init__(self, tab: Tab) -> None:
        self.session: CDPSession = tab.page.context.new_cdp_session(tab.page)
        self.session.send("WebAuthn.enable")
        self.id = self.session.send("WebAuthn.addVirtualAuthenticator", {"options": OPTIONS})[
            "authenticatorId"
        ]

    def remove(self) -> None:
        self.session.send("WebAuthn.removeVirtualAuthenticator", {"authenticatorId": self.id})

    def refuse(self) -> None:
        """Let the person fail to show who they are."""
        wanted = {"authenticatorId": self.id, "isUserVerified": False}
        self.session.send("WebAuthn.setUserVerified", wanted)


def add_passkey(tab: Tab, name: str = "Finger") -> None:
    page = tab.page
    page.goto(f"{page.evaluate('location.origin')}/passkeys")
    page.fill("[name=name]", name)
    page.click("form[data-makes] button.main")


def status_of(device: Device, item: str) -> str:
    decided = device.do("decisions")
    return next((decision["status"] for decision in decided if decision["item_id"] == item), "pending")


def test_a_verdict_that_needs_a_passkey_counts_with_it_alone(
    device: MakeDevice, laptop: Device, chromium: Browser
):
    desk = device("desk")
    pair(laptop, desk)
    with signed_in(chromium, laptop) as tab:
        page = tab.page
        authenticator = Authenticator(tab)
        add_passkey(tab)
        page.wait_for_selector(".items :text('Finger')")
        assert axe_findings(tab.page) == []
        laptop.do("add", "Renew the passport")
        laptop.do("agent", "create", "passport")
        laptop.do("agent", "presence", "passport", "all", "passkey")
        items = propose(laptop, "Renew the visa")
        agent = items[0]["agent_id"]
        laptop.do("agent", "presence", agent, "all", "passkey")
        laptop.do("note", items[0]["task_id"], "It takes 3 hours. Due 1 March 2027. Bring: a pen, a form.")
        laptop.do("agent", "wake", agent, "--wait", "60")
        guarded = next(item for item in laptop.do("pending") if item.get("presence") == "passkey")["item_id"]
        # From the terminal it does not count.
        laptop.run("confirm", guarded)
        assert status_of(laptop, guarded) == "pending"
        page.goto(f"{page.evaluate('location.origin')}/inbox")
        page.click(f"#yes-{guarded}")
        page.click("#outcome button:text('Use your passkey')")
        tab.outcome("Confirmed")
        assert status_of(laptop, guarded) == "confirmed"
        wait_until("the other device agrees", lambda: status_of(desk, guarded) == "confirmed", LIMIT_S)
        # Taking it back needs the passkey as well; without a finger nothing is done, and the page says so.
        authenticator.refuse()
        page.click("#outcome .undo button")
        page.click("#outcome button:text('Use your passkey')")
        tab.outcome("The passkey was not used")
        assert status_of(laptop, guarded) == "confirmed"


def test_a_permission_that_needs_a_passkey_is_given_with_it(laptop: Device, chromium: Browser):
    with signed_in(chromium, laptop) as tab:
        page = tab.page
        Authenticator(tab)
        add_passkey(tab)
        page.wait_for_selector(".items :text('Finger')")
        laptop.do("agent", "add", "Claude", "--scope", "none")
        laptop.do("agent", "presence", "Claude", "all", "passkey")
        name = speak(laptop, "legacy", ask)["ask_id"]
        page.goto(f"{page.evaluate('location.origin')}/permissions")
        page.click("[value^='confirmed:'][value$=':later']")
        page.click("#outcome button:text('Use your passkey')")
        page.wait_for_selector(".empty")
    assert state_of(laptop, name) == "permitted"


def test_a_further_passkey_needs_an_earlier_one_on_the_home_of_a_guarded_agent(
    laptop: Device, chromium: Browser
):
    with signed_in(chromium, laptop) as tab:
        page = tab.page
        first = Authenticator(tab)
        add_passkey(tab)
        page.wait_for_selector(".items :text('Finger')")
        laptop.do("agent", "add", "Claude")
        laptop.do("agent", "presence", "Claude", "all", "passkey")
        add_passkey(tab, "Key in hand")
        page.click("#outcome button:text('Use your passkey')")
        page.wait_for_selector(".items :text('Key in hand')")
        # A program of this device has an authenticator too, but none that was let in.
        first.remove()
        Authenticator(tab)
        add_passkey(tab, "Thief")
        page.click("#outcome button:text('Use your passkey')")
        tab.outcome("The passkey was not used")
        page.goto(f"{page.evaluate('location.origin')}/passkeys")
        assert "Thief" not in page.content()


def test_without_a_script_the_page_says_what_is_lacking(laptop: Device, chromium: Browser):
    with unscripted(chromium, laptop, "/passkeys") as page:
        assert "needs JavaScript" in page.content()
        assert not page.is_visible("form[data-makes] button")
