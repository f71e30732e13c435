"""`placet asks`: what agents ask permission for, verbatim, and how it stands."""

from typing import Any

from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import Placet

ASK: dict[str, Any] = {
    "ask_id": "8ddbbbe15f9d3f01a2076c628b8ed981",
    "agent_id": "69c3f3a564113e01a2076c628b82f3a2",
    "agent_name": "Write to Ana",
    "name": "send_mail",
    "args": {"to": "ana@example.org", "text": "x \u202e y\x1b[31m"},
    "title": "Mail Ana",
    "why": "She waits",
    "options": ["now", "later"],
    "presence": "other_device",
    "not_after": "2030-01-01T00:00:00Z",
    "state": "pending",
    "idle_verdicts": [
        {
            "verdict": "confirmed",
            "lacks": "other_device",
            "device": "d0a4",
            "device_name": "vm",
            "at": "2026-01-01T00:00:00Z",
        }
    ],
}


def test_arguments_are_shown_as_they_are_and_nothing_hides_in_them(control: FakeControl, placet: Placet):
    control.answers("GET /v1/asks", [ASK])
    result = placet("asks")
    assert result.status == 0
    assert "\u202e" not in result.out
    assert "\x1b[31m" not in result.out
    assert "ana@example.org" in result.out
    words = " ".join(result.out.split())
    assert "counts only if another device decides" in words
    assert "not from another device: it does not count" in words
    assert "placet confirm ASK" in result.err


def test_a_verdict_is_shown_with_its_device_and_its_reason(control: FakeControl, placet: Placet):
    verdict = {
        "at": "2026-01-01T00:00:00Z",
        "device_name": "vm",
        "reason": "Not \x1b[31mnow.",
        "edited": False,
    }
    control.answers("GET /v1/asks", [ASK | {"state": "refused", "verdict": verdict}])
    words = " ".join(placet("asks", "--all").out.split())
    assert "refused on vm" in words
    assert "Not \\x1b[31mnow." in words


def test_nothing_is_asked(control: FakeControl, placet: Placet):
    control.answers("GET /v1/asks", [])
    result = placet("asks", "--all")
    assert (result.status, "No agent asks for a permission." in result.err) == (0, True)


def test_pending_says_that_permissions_are_asked_for(control: FakeControl, placet: Placet):
    control.answers("GET /v1/pending", [])
    control.answers("GET /v1/asks", [ASK])
    result = placet("pending")
    assert "1 permission is asked for: placet confirm ASK" in result.err
    assert "What agents ask permission for" in result.out
    assert "ana@example.org" in result.out
    assert "Nothing waits for you." not in result.err
