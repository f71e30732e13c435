"""`placet rule`: what is sent of what a person writes, and how a rule and its uses are shown."""

from typing import Any

import pytest

from tests.daemon.cli.commands.proposals.test_asks import ASK
from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import Placet

PATH = "/v1/standing-rules"
RULE: dict[str, Any] = {
    "rule_id": "8ddbbbe15f9d3f01a2076c628b8ed981",
    "agent_id": "69c3f3a564113e01a2076c628b82f3a2",
    "agent_name": "Claude",
    "name": "run",
    "exact": {"in": "/srv\u202e"},
    "begins": {"command": "npm test"},
    "lets_through": {"in": "/srv\u202e", "command": "npm test docs"},
    "still_asks": {"in": "/srv\u202e", "command": "npm test && rm docs"},
    "until": "2026-04-03T12:00:00Z",
    "uses_a_day": 5,
    "uses_today": 2,
    "state": "stands",
    "made_at": "2026-03-04T11:00:00Z",
    "device": "d0a4",
    "device_name": "laptop",
    "uses": [{"decision_id": "aa" * 16, "ask_id": "bb" * 16, "at": "2026-03-04T11:30:00Z"}],
}
ADD = ("rule", "add", "Claude", "run", "--until", "in 30 days", "--a-day", "5")


def test_a_rule_is_sent_as_it_was_written(placet: Placet, control: FakeControl):
    control.answers(f"POST {PATH}", RULE, status=201)
    result = placet(*ADD, "--arg", "in=/srv=x", "--begins", "command=npm test", "--args", '{"times": 2}')
    assert result.status == 0
    assert control.asked(f"POST {PATH}")[-1].body == {
        "agent": "Claude",
        "name": "run",
        "exact": {"in": "/srv=x", "times": 2},
        "begins": {"command": "npm test"},
        "until": "in 30 days",
        "uses_a_day": 5,
    }
    assert result.out.startswith("Added rule 8ddb\n")
    assert 'for example: {"command": "npm test docs"' in result.out
    assert 'still asks you, for example: {"command": "npm test && rm docs"' in result.out


@pytest.mark.parametrize(
    "wrong",
    [
        ("--arg", "to"),
        ("--arg", "=x"),
        ("--begins", "to"),
        ("--arg", "to=a", "--arg", "to=b"),
        ("--arg", "to=a", "--args", '{"to": 1}'),
        ("--args", "[]"),
    ],
)
def test_what_is_no_argument_is_refused_before_anything_is_sent(
    placet: Placet, control: FakeControl, wrong: tuple[str, ...]
):
    result = placet(*ADD, *wrong)
    assert result.status != 0
    assert "Traceback" not in result.err
    assert control.requests == []


def test_rules_are_listed_with_all_that_they_allow_and_nothing_hides_in_it(
    placet: Placet, control: FakeControl
):
    control.answers(f"GET {PATH}", [RULE, RULE | {"rule_id": "9e" * 16, "state": "idle"}])
    result = placet("rule", "list")
    words = " ".join(result.out.split())
    assert "\u202e" not in result.out
    assert "Claude may run" in words
    assert 'command begins with "npm test"' in words
    assert "2 of 5 uses today" in words
    assert "written on laptop, 1 h ago" in words
    assert "permits nothing: the agent was moved" in words
    assert placet("rule", "list", "--plain").out.splitlines()[0].split("\t")[-3:] == ["5", "2", "stands"]


def test_no_rule_stands(placet: Placet, control: FakeControl):
    control.answers(f"GET {PATH}", [])
    assert placet("rule", "list").err == "No rule is in effect: every permission waits for you.\n"


def test_one_rule_is_shown_with_its_uses_and_can_be_revoked(placet: Placet, control: FakeControl):
    control.answers(f"GET {PATH}/8ddb", RULE)
    assert f"used 30 min ago: ask {'bb' * 16}" in placet("rule", "show", "8ddb").out
    revoked = {"state": "revoked", "revoked_at": "2026-03-04T11:59:00Z", "revoked_on": "phone"}
    control.answers(f"POST {PATH}/8ddb/revoke", RULE | revoked)
    result = placet("rule", "revoke", "8ddb")
    assert result.out.startswith("Revoked rule 8ddb\n")
    assert "revoked on phone, 1 min ago" in result.out


def test_an_ask_names_the_rule_that_permitted_it(placet: Placet, control: FakeControl):
    verdict = {
        "at": "2026-03-04T11:00:00Z",
        "device_name": "laptop",
        "reason": None,
        "edited": False,
        "rule": RULE["rule_id"],
    }
    control.answers("GET /v1/asks", [ASK | {"state": "used", "verdict": verdict, "idle_verdicts": []}])
    assert "permitted by your rule 8ddbbbe1 on laptop, 1 h ago" in " ".join(
        placet("asks", "--all").out.split()
    )
