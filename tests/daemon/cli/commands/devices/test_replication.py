"""Other devices: how they stand, how one joins, and what a sync can claim.

Never links a device: answers are scripted.
"""

from typing import Any

import pytest

from tests.daemon.cli import examples
from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import Placet


def _body(control: FakeControl, line: str) -> Any:
    return control.asked(line)[-1].body


def test_status_is_one_screen(placet: Placet, control: FakeControl):
    control.answers("GET /v1/status", examples.STATUS)
    assert placet("status").out == (
        "laptop  dededededede\n"
        "  holds      1 204 entities in 3 411 commits\n"
        "  state      5a5a5a5a5a5a\n"
        "  agents     3 active · 1 due · 0 running · 2 dormant\n"
        "  proposals  4 wait for you: placet pending\n"
        "  peers      ● phone  connected  in step\n"
        "             ○ tablet  away, seen 2 h ago  lacks 12 commits\n"
    )
    assert "state_hash\t" + "5a" * 32 in placet("status", "--plain").out


@pytest.mark.parametrize(("linked", "words"), [(True, "12345 commits to come"), (False, "lacks 1 commit")])
def test_status_tells_how_much_is_to_come_from_a_device_that_is_linked(
    placet: Placet, control: FakeControl, linked: bool, words: str
):
    peer = examples.STATUS["peers"][0] | {"connected": linked, "missing": 12345, "lag": 1}
    control.answers("GET /v1/status", examples.STATUS | {"peers": [peer]})
    assert f"  {words}\n" in placet("status").out


def test_devices_tell_who_let_each_of_them_in_and_when(placet: Placet, control: FakeControl):
    fields = {**examples.DEVICES[0], "added_by": "desk", "added_at": "2026-03-04T10:00:00Z"}
    lost = {**fields, "device_id": "ab" * 32, "name": "lost", "this": False, "removed": True}
    control.answers("GET /v1/devices", [fields, lost])
    lines = placet("devices").out.splitlines()[3:]
    assert len(lines) == 1
    assert lines[0].startswith(f"{fields['name']} was let in by desk, ")
    rows = placet("devices", "--plain").out.splitlines()
    assert rows[0].split("\t")[-3:] == ["desk", "2026-03-04T10:00:00Z", "false"]


def test_devices_are_a_table(placet: Placet, control: FakeControl):
    control.answers("GET /v1/devices", examples.DEVICES)
    assert placet("devices").out == (
        "ID    NAME    LINK       LACKS  SEEN       ADDRESS\n"
        "dede  laptop  this one\n"
        "f0f0  phone   connected  0      1 min ago  192.168.1.5:4433\n"
        "7a7a  tablet  away       12     2 h ago\n"
    )


def test_an_invitation_is_a_line_of_its_own(placet: Placet, control: FakeControl):
    invitation = {"token": "placet-1-abc", "address": "10.0.0.1:9", "expires_at": "2026-03-04T12:05:00Z"}
    control.answers("POST /v1/invitations", invitation)
    result = placet("pair", "--invite")
    assert result.out == "placet-1-abc\n"
    assert "placet join" in result.err
    assert "in 5 min" in result.err


@pytest.mark.parametrize("typed", ["tok\n", "\ufefftok"])
def test_join_reads_the_token_from_standard_input(typed, placet: Placet, control: FakeControl):
    control.answers("POST /v1/join", {"device_id": "de" * 32, "name": "laptop", "linked": True})
    finished = placet("join", typed=typed)
    assert (finished.status, finished.out, finished.err) == (0, "✓ Joined laptop\n", "")
    assert _body(control, "POST /v1/join") == {"token": "tok"}


def test_join_passes_on_an_address_and_the_wish_to_unite(placet: Placet, control: FakeControl):
    control.answers("POST /v1/join", {"device_id": "de" * 32, "name": "laptop"})
    placet("join", "--addr", "10.0.0.1:9", "--unite", typed="tok")
    assert _body(control, "POST /v1/join") == {"token": "tok", "address": "10.0.0.1:9", "unite": True}


@pytest.mark.parametrize(
    ("words", "sent"),
    [
        ([], {}),
        (["--wait"], {"wait": 30.0}),
        (["--wait", "5"], {"wait": 5.0}),
        (["--pause"], {"pause": True}),
        (["--resume"], {"pause": False}),
    ],
)
def test_sync_may_wait_pause_and_resume(words, sent, placet: Placet, control: FakeControl):
    control.answers("POST /v1/sync", {})
    assert placet("sync", *words).status == 0
    assert _body(control, "POST /v1/sync") == sent


def test_a_sync_never_claims_more_than_is_known(placet: Placet, control: FakeControl):
    peers = examples.STATUS["peers"]
    line = "POST /v1/sync"
    control.answers(line, {"complete": True, "paused": False, "peers": peers})
    control.answers(line, {"complete": False, "paused": False, "peers": peers})
    control.answers(line, {"complete": True, "paused": False, "peers": peers[1:]})
    control.answers(line, {"complete": True, "paused": True, "peers": peers})
    control.answers(line, {"complete": True, "paused": False, "peers": []})
    assert [placet("sync").out.splitlines()[0] for _ in range(5)] == [
        "✓ In step with 1 device",
        "Not in step yet",
        "No other device is connected",
        "Exchange is paused: placet sync --resume",
        "No other device yet",
    ]


def test_a_device_that_shows_another_state_is_in_step_nowhere(placet: Placet, control: FakeControl):
    phone, tablet = examples.STATUS["peers"]
    peers = [phone | {"differs": True}, tablet]
    words = [
        "phone showed something else when it last held the same changes",
        "run 'placet verify' on both devices",
    ]
    control.answers("GET /v1/status", examples.STATUS | {"peers": peers})
    control.answers("GET /v1/devices", peers)
    control.answers("POST /v1/sync", {"complete": False, "paused": False, "peers": peers})
    status, devices, sync = placet("status"), placet("devices"), placet("sync", "--wait")
    for result in (status, devices, sync):
        lines = [line.strip() for line in result.out.splitlines()]
        assert lines.index(words[1]) == lines.index(words[0]) + 1
        assert "in step" not in result.out.lower()
        assert all(len(line) <= 80 for line in lines)
    assert "● phone  connected  differs" in status.out
    assert (status.status, devices.status, sync.status) == (0, 0, 1)
    reported_result = placet("sync", "--json")
    assert (
        reported_result.status,
        reported_result.json["complete"],
        reported_result.json["peers"][0]["differs"],
    ) == (1, False, True)


def test_a_pause_is_no_failure_because_a_device_differs(placet: Placet, control: FakeControl):
    peers = [examples.STATUS["peers"][0] | {"differs": True}]
    control.answers("POST /v1/sync", {"complete": False, "paused": True, "peers": peers})
    assert [placet("sync", f"--{what}").status for what in ("pause", "resume")] == [0, 0]
    assert placet("sync", "--resume", "--wait").status == 1


def test_what_a_device_lacks_stands_beside_that_its_state_differed(placet: Placet, control: FakeControl):
    """It is compared again when both hold the same: until then, what it showed is past."""
    phone = examples.STATUS["peers"][0] | {"differs": True, "lag": 5}
    peers = [phone, phone | {"missing": 2, "connected": True}]
    control.answers("GET /v1/status", examples.STATUS | {"peers": peers})
    lines = placet("status").out.splitlines()
    assert any(line.endswith("differs  lacks 5 commits") for line in lines)
    assert any(line.endswith("differs  2 commits to come") for line in lines)


def test_what_is_said_of_devices_with_long_names_ends_where_the_terminal_does(
    placet: Placet, control: FakeControl
):
    long = "Maria's old notebook in the kitchen, on the second shelf"
    entered = {"added_by": long, "added_by_id": "ab" * 32, "added_at": "2026-03-04T10:00:00Z"}
    phone = examples.STATUS["peers"][0] | entered
    peers = [
        phone
        | {"name": long, "differs": True, "unanswered": True}
        | {"added_heard_at": "2099-01-01T00:00:00Z"}
    ]
    control.answers("GET /v1/status", examples.STATUS | {"peers": peers})
    control.answers("GET /v1/devices", peers)
    control.answers("POST /v1/sync", {"complete": False, "paused": False, "peers": peers})
    for texts in (placet(name, COLUMNS="80").out.splitlines() for name in ("status", "devices", "sync")):
        lines = [line for line in texts if "connected" not in line]
        assert all(len(line) <= 80 for line in lines), texts


def test_who_owes_an_answer_is_named(placet: Placet, control: FakeControl):
    peers = [examples.STATUS["peers"][0] | {"unanswered": True}]
    control.answers("POST /v1/sync", {"complete": False, "paused": False, "peers": peers})
    result = placet("sync")
    assert result.out.splitlines()[:2] == ["Not in step yet", "phone has not answered yet"]
    assert result.status == 0


FAULT = {
    "kind": "ended_there",
    "seen": "phone ended the link: a gap\x1b[31m",
    "seen_id": "peer-ended-link",
    "seen_params": {"device": "phone", "words": "a gap\x1b[31m"},
}


def test_a_device_whose_link_ended_by_a_fault_is_in_step_nowhere(placet: Placet, control: FakeControl):
    phone, tablet = examples.STATUS["peers"]
    peers = [phone | {"connected": False, "link_fault": FAULT}, tablet | {"link_fault": None}]
    control.answers("GET /v1/status", examples.STATUS | {"peers": peers})
    control.answers("GET /v1/devices", peers)
    control.answers("POST /v1/sync", {"complete": False, "paused": False, "peers": peers})
    results = [placet("status"), placet("devices"), placet("sync", "--wait"), placet("sync")]
    for result in results:
        lines = [line.strip() for line in result.out.splitlines()]
        assert "phone ended the link: a gap\\x1b[31m" in lines
        assert "in step" not in result.out.lower().replace("not in step yet", "")
    assert [result.status for result in results] == [0, 0, 1, 1]
    assert placet("sync", "--pause").status == 0


@pytest.mark.parametrize(("words", "status"), [(["--wait"], 1), ([], 0), (["--wait", "0"], 0)])
def test_a_wait_that_ends_and_is_not_complete_has_failed(
    placet: Placet, control: FakeControl, words: list[str], status: int
):
    """A lost race may have ended a link: no device is named for it, and none is called in step."""
    peers = examples.STATUS["peers"]
    control.answers("POST /v1/sync", {"complete": False, "paused": False, "peers": peers})
    assert placet("sync", *words).status == status


def test_devices_that_are_not_shown_are_counted(placet: Placet, control: FakeControl):
    left_out = {"peers_left_out": 12, "names_left_out": ["m1", "m2\a"]}
    control.answers("GET /v1/status", examples.STATUS | left_out)
    words = " ".join(placet("status").out.split())
    assert "12 devices are left out" in words
    assert r"left out: m1, m2\x07 …" in words
    page = [examples.DEVICES[1] | {"device_id": f"{number:064x}"} for number in range(500)]
    control.answers("GET /v1/devices", page)
    assert placet("devices").err == (
        "The first 500 devices are shown. The others are left out, or removed.\n"
    )
    control.forgets("GET /v1/devices")
    control.answers("GET /v1/devices", page[:499])
    assert placet("devices").err == ""


def test_mailboxes_are_named_with_what_they_brought_and_hold_for_whom(placet: Placet, control: FakeControl):
    waits = [{"device_id": "f0" * 32, "name": "phone\x1b", "waits": 2}]
    box = {"mailbox": "box", "brought": 1, "holds": 3, "looked_at": None, "devices": waits}
    stick = {"mailbox": "stick", "brought": 0, "holds": 0, "looked_at": None, "devices": []}
    answer = {"seq": 7, "entity": None, "commits": 3, "devices": [], "mailboxes": [box, stick]}
    control.answers("GET /v1/where", answer)
    *_, first, second = placet("log", "--where", "7").out.splitlines()
    assert first.startswith("mailbox box: 1 came through it, 3 lie in it, waiting for phone")
    assert first.endswith(" 2")
    assert "\x1b" not in first
    assert second == "mailbox stick: 0 came through it, 0 lie in it"
