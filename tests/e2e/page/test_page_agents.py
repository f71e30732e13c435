"""Agents of every make in a real browser: one is let in by keys alone, and what it may do is changed.

Never repeats what tests/daemon/web asks without a browser.
"""

import pytest
from playwright.sync_api import Browser

from tests.support.browser import propose, signed_in, unscripted
from tests.support.control_requests import control
from tests.support.devices import Device

pytestmark = [pytest.mark.e2e, pytest.mark.external("chromium")]

NAME = "Claude <b>"


def register(device: Device, name: str = NAME) -> str:
    """Name a program as it does itself; return the path of its page."""
    agent = control(device, "POST", "/v1/external-agents/register", {"name": name})
    return f"/external-agents/{agent['id']}"


def test_a_program_is_let_in_by_keys_alone(laptop: Device, chromium: Browser):
    path = register(laptop)
    with signed_in(chromium, laptop) as tab:
        page = tab.page
        page.focus("nav a[href='/agents']")
        page.keyboard.press("Enter")
        page.wait_for_selector(".mark:text('waits to be let in')")
        page.focus(f"a[href='{path}']")
        page.keyboard.press("Enter")
        page.wait_for_selector("h2:text('Let it in?')")
        page.focus("[value=admit]")
        page.keyboard.press("Enter")
        page.wait_for_selector("[value=limits]")
        assert tab.complaints == []
    (agent,) = laptop.do("agent", "list")
    assert (agent["name"], agent["lifecycle"]) == (NAME, "active")


def test_a_rule_is_written_and_revoked_without_a_script(laptop: Device, chromium: Browser):
    laptop.do("agent", "add", "Claude")
    with unscripted(chromium, laptop) as page:
        page.click("main a[href='/permissions']")
        page.click("a[href='/rules']")
        page.click("#add summary")
        page.fill("[name=name]", "send_mail")
        page.fill("[name=exact]", '{"to": "ana@example.org"}')
        page.fill("[name=until]", "in 30 days")
        page.fill("[name=uses]", "3")
        page.click("[value=add]")
        (rule,) = laptop.do("rule", "list")
        assert (rule["agent_name"], rule["exact"]) == ("Claude", {"to": "ana@example.org"})
        page.click("[value=revoke]")
        assert page.is_visible(".empty")
    assert laptop.do("rule", "list") == []


def test_what_it_may_do_is_changed_without_a_script(laptop: Device, chromium: Browser):
    laptop.do("agent", "add", "Claude")
    with unscripted(chromium, laptop) as page:
        page.click("nav a[href='/agents']")
        page.click("#others ~ ul a")
        page.fill("[name='limit/asks']", "3")
        page.click("[value=limits]")
        page.click("#rights summary")
        page.select_option("[name='policy/add_task']", "denied")
        page.click("[value=rights]")
        page.fill("[name=until]", "2099-01-02 09:00")
        page.click("[value=pause]")
        page.click("[value=resume]")
        page.click("#end summary")
        page.click("[value=destroy]")
        assert page.text_content("h1 .mark") == "destroyed"
    (agent,) = laptop.do("agent", "list")
    assert (agent["daily_limits"]["asks"], agent["policy"]["add_task"]) == (3, "denied")


def test_a_call_leads_to_what_it_proposed_without_a_script(laptop: Device, chromium: Browser):
    agent = propose(laptop, "Renew the passport")[0]["agent_id"]
    with unscripted(chromium, laptop, f"/agents/{agent}") as page:
        page.click("#log ~ ul summary >> nth=0")
        assert page.locator("#log ~ ul .why", has_text="→").count() > 1
        page.click("#log ~ ul a >> nth=0")
        assert "/reviews/" in page.url
        assert page.locator(".item").count() > 1
