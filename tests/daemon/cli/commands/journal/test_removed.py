"""What `placet removed` asks of the daemon, and how it lists what was removed.

Never brings anything back: answers are scripted.
"""

from typing import Any

from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import Placet

REMOVED = "GET /v1/removed"


def removed(**values: Any) -> dict[str, Any]:
    return {
        "id": "3f9a" + "0" * 28,
        "kind": "entry",
        "title": "It takes an hour.",
        "at": "2026-03-01T10:00:00.000Z",
        "by": "user",
        "device": "d" * 64,
        "device_name": "laptop",
        "change": "482-a1b2c3d4e5f6",
        "task_id": "ab" * 16,
        "task_title": "Call Ana",
        "above_removed": False,
    } | values


def test_what_was_removed_is_listed_with_who_removed_it(placet: Placet, control: FakeControl):
    control.answers(
        REMOVED, [removed(), removed(id="71c2" + "0" * 28, kind="task", title="Old", task_title="")]
    )
    result = placet("removed", "--limit", "2")
    first, second = result.out.splitlines()
    assert first.startswith("3f9a  entry  It takes an hour. of “Call Ana”  ")
    assert first.endswith("you on laptop")
    assert second.startswith("71c2  task   Old  ")
    assert result.err == "Bring something back: placet removed --restore ID\n"
    assert control.requests[-1].target == "/v1/removed?limit=2"


def test_nothing_removed_is_said(placet: Placet, control: FakeControl):
    control.answers(REMOVED, [])
    assert placet("removed").err == "Nothing removed.\n"


def test_what_is_named_is_brought_back(placet: Placet, control: FakeControl):
    control.answers(
        "POST /v1/removed/3f9a/restore",
        {"id": "3f9a" + "0" * 28, "kind": "entry", "title": "It takes an hour."},
    )
    result = placet("removed", "--restore", "3f9a")
    assert (result.status, result.out) == (0, "Restored entry 3f9a  It takes an hour.\n")


def test_ids_and_the_option_go_together(placet: Placet, control: FakeControl):
    assert placet("removed", "3f9a").status == 2
    assert placet("removed", "--restore").status == 2
    assert control.requests == []


def test_scripts_read_rows(placet: Placet, control: FakeControl):
    control.answers(REMOVED, [removed()])
    row = placet("removed", "--plain").out.rstrip("\n").split("\t")
    assert row[1:4] == ["entry", "It takes an hour.", "2026-03-01T10:00:00.000Z"]
    assert row[-1] == "482-a1b2c3d4e5f6"
