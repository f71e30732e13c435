"""A standing rule from end to end: written on one device, used where the agent works, revoked on the other.

Never repeats what tests/daemon/agents/standing_rules asks of the rule itself.
"""

from typing import Any

import pytest

from tests.e2e.programs.test_mcp import MAIL
from tests.support.devices import Device, MakeDevice, have_equal_state, pair
from tests.support.door_clients import Call, speak
from tests.support.patience import LIMIT_S, wait_until

pytestmark = pytest.mark.e2e


def asks_to_mail(laptop: Device, key: str) -> dict[str, Any]:
    """Ask as the agent whether it may send the mail; return the answer, and what a use of it comes to."""

    async def ask(call: Call) -> dict[str, Any]:
        answer = await call(
            "ask_permission", action=MAIL, title="Mail Ana", why="She waits.", valid_minutes=60, key=key
        )
        used = await call(
            "use_permission", ask=answer["ask_id"], args_hash=answer["args_hash"], execution_id=key
        )
        return {**answer, "use": used["result"]}

    answer: dict[str, Any] = speak(laptop, "2026-07-28", ask)
    return answer


def test_a_rule_of_one_device_permits_on_another_until_it_is_revoked(device: MakeDevice):
    laptop, phone = device("laptop"), device("phone")
    pair(laptop, phone)
    laptop.do("agent", "add", "Claude", "--scope", "none")
    laptop.do("agent", "presence", "Claude", "all", "other_device")
    wait_until("the phone knows it", lambda: have_equal_state(laptop, phone), LIMIT_S)
    at_home = laptop.run("rule", "add", "Claude", "send_mail", "--until", "in 3 days", "--a-day", "2")
    assert at_home.status != 0
    assert "must come from another device" in at_home.err

    rule = phone.do(
        "rule", "add", "Claude", "send_mail", "--begins", "to=ana@", "--until", "in 3 days", "--a-day", "2"
    )
    wait_until("the laptop knows the rule", lambda: have_equal_state(laptop, phone), LIMIT_S)

    first = asks_to_mail(laptop, "mail 1")
    assert (first["state"], first["use"]) == ("permitted", "granted")
    wait_until("the phone knows the use", lambda: have_equal_state(laptop, phone), LIMIT_S)
    (listed,) = phone.do("asks", "--all")
    assert (listed["state"], listed["verdict"]["rule"]) == ("used", rule["rule_id"])
    assert phone.do("rule", "show", rule["rule_id"][:8])["uses_today"] == 1

    assert [listed["rule_id"] for listed in phone.do("rule", "list")] == [rule["rule_id"]]
    phone.do("rule", "revoke", rule["rule_id"][:8])
    wait_until("the laptop knows the end", lambda: have_equal_state(laptop, phone), LIMIT_S)
    later = asks_to_mail(laptop, "mail 2")
    assert (later["state"], later["use"]) == ("pending", "pending")
    assert laptop.do("rule", "list") == []
