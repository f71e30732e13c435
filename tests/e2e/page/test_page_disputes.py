"""What is stale, disputed or decided elsewhere, in a real browser: all sides are shown, what was typed stays.

Never repeats what tests/daemon/web asks without a browser.
"""

import time
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.support.browser import WEB, propose, signed_in
from tests.support.control_requests import control
from tests.support.devices import Device, MakeDevice, pair
from tests.support.page_faults import axe_findings
from tests.support.patience import LIMIT_S, wait_until

HOUR_MS = 3_600_000

pytestmark = [pytest.mark.e2e, pytest.mark.external("chromium")]


def estimate_of(device: Device, title: str) -> dict[str, Any]:
    """Let an agent propose; return its proposal of a length."""
    items = propose(device, title)
    return next(item for item in items if item["tool"] == "update_task_estimate")


def ask(device: Device) -> str:
    """Ask for a permission as a program of this device; return the ask."""
    question = {
        "agent": "Claude",
        "name": "send_mail",
        "args": {"to": "ana@example.org"},
        "title": "Mail Ana",
        "why": "She waits.",
        "options": ["now", "later"],
        "not_after": int(time.time() * 1000) + HOUR_MS,  # noqa: TID251 - that of the daemon, which is real
        "key": "mail to Ana",
    }
    return str(control(device, "POST", "/v1/asks", question)["ask_id"])


def state_of_ask(device: Device) -> tuple[str, str | None]:
    """Return how the only ask stands on a device, and what was chosen."""
    (listed,) = device.do("asks", "--all")
    return listed["state"], listed.get("option")


def test_a_stale_proposal_shows_all_sides_and_is_applied_all_the_same(device: MakeDevice, chromium: Browser):
    laptop = device("laptop", **WEB)
    item = estimate_of(laptop, "Renew the passport")
    name = item["item_id"]
    laptop.do("task", "edit", item["task_id"], "--estimate", "4h")
    with signed_in(
        chromium, laptop, f"/reviews/{item['task_id']}", viewport={"width": 360, "height": 800}
    ) as tab:
        row = tab.page.locator(f"#i-{name} .sides")
        assert row.locator("thead th").all_inner_texts() == ["when it was proposed", "now", "proposed"]
        assert row.locator("td:not(:empty)").all_inner_texts() == ["nothing", "4 h", "2 h"]
        assert axe_findings(tab.page) == []
        tab.page.click(f"#yes-{name}")
        tab.page.click("#outcome button:text('Apply it all the same')")
        tab.outcome("Confirmed")
    assert laptop.do("task", "show", item["task_id"])["estimate_minutes"] == 120


def test_a_disputed_proposal_says_who_decided_what_and_a_key_settles_it(
    device: MakeDevice, chromium: Browser
):
    laptop, phone = device("laptop", **WEB), device("phone")
    pair(laptop, phone)
    item = estimate_of(laptop, "Renew the passport")
    name = item["item_id"]
    phone.do("sync", "--wait")
    phone.stop()
    laptop.do("confirm", name)
    laptop.stop()
    phone.start()
    phone.do("reject", name, "--reason", "too long")
    laptop.start()
    laptop.do("sync", "--wait")

    def is_disputed(seen_by: Device) -> bool:
        return any(item["item_id"] == name and item["disputed"] for item in seen_by.do("pending"))

    wait_until("the dispute arrives", lambda: is_disputed(laptop), LIMIT_S)
    with signed_in(chromium, laptop, f"/reviews/{item['task_id']}") as tab:
        words = tab.page.inner_text(f"#i-{name}")
        assert "your devices decided differently" in words
        assert "confirmed on laptop" in words
        assert "rejected on phone" in words
        assert "too long" in words
        assert tab.page.locator(f"#i-{name} .sides td").all_inner_texts()[-1] == "2 h"
        assert axe_findings(tab.page) == []
        tab.page.focus(f"#i-{name}")
        tab.page.keyboard.press("y")
        tab.outcome("Confirmed")
        assert tab.complaints == []
    wait_until("both devices agree", lambda: not is_disputed(phone) and not is_disputed(laptop), LIMIT_S)
    assert phone.do("task", "show", item["task_id"])["estimate_minutes"] == 120


def test_a_disputed_permission_is_decided_again_with_a_choice(device: MakeDevice, chromium: Browser):
    laptop, phone = device("laptop", **WEB), device("phone")
    pair(laptop, phone)
    laptop.do("agent", "add", "Claude", "--scope", "none")
    name = ask(laptop)
    phone.do("sync", "--wait")
    phone.stop()
    laptop.do("confirm", name, "--option", "now")
    laptop.stop()
    phone.start()
    phone.do("reject", name, "--reason", "ask her first")
    laptop.start()
    laptop.do("sync", "--wait")
    wait_until("the dispute arrives", lambda: state_of_ask(laptop) == ("disputed", None), LIMIT_S)
    with signed_in(chromium, laptop, viewport={"width": 360, "height": 800}) as tab:
        page = tab.page
        assert "your devices decided differently" in page.inner_text(f"#i-{name}")
        page.click(f"#p-{name} a:text('Review details')")
        page.wait_for_selector("#g-asks")
        words = page.inner_text(f"#i-{name}")
        for part in ("permitted on laptop", "refused on phone", "ask her first", "ana@example.org"):
            assert part in words
        assert axe_findings(tab.page) == []
        # A yes chooses anew: that of the first one is disputed with it.
        page.click("[value^='confirmed:'][value$=':later']")
        tab.outcome("Permitted, once")
        assert tab.complaints == []
    settled = ("permitted", "later")
    wait_until("both devices agree", lambda: state_of_ask(phone) == settled == state_of_ask(laptop), LIMIT_S)


def test_what_another_tab_decides_is_told_and_what_was_typed_is_kept(device: MakeDevice, chromium: Browser):
    laptop = device("laptop", **WEB)
    item = estimate_of(laptop, "Renew the passport")
    name = item["item_id"]
    with signed_in(chromium, laptop, f"/reviews/{item['task_id']}") as tab:
        tab.page.click(f"#e-{name} summary")
        tab.page.fill(f"#e-{name} [name='arg.minutes']", "95 min, with the way there")
        other = tab.page.context.new_page()
        other.goto(tab.page.url)
        other.click(f"#no-{name}")
        tab.page.wait_for_selector(f"#i-{name}.gone :text('rejected on laptop')")
        assert "95 min, with the way there" in tab.page.inner_text(f"#i-{name}.gone")
        assert tab.complaints == []
