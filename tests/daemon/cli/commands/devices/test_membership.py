"""Renaming and removing devices from the command line, and what is said beside it.

Never removes a device: the control server is scripted.
"""

from pathlib import Path

import pytest

from tests.daemon.cli import examples
from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import Placet
from tests.support.pseudo_terminal import terminal

PHONE = {"device_id": "f0" * 32, "name": "pocket one", "this": False, "removed": False}


def agent(home: str, lifecycle: str) -> dict[str, str]:
    return {"id": "a1" * 16, "home_device_id": home * 32, "lifecycle": lifecycle}


def test_a_name_needs_no_quotes(placet: Placet, control: FakeControl):
    control.answers("PATCH /v1/devices/phone", PHONE)
    assert placet("devices", "rename", "phone", "pocket", "one").out == "✓ Renamed pocket one\n"
    assert control.requests[-1].body == {"name": "pocket one"}


def test_whoever_removes_a_device_hears_of_the_agents_that_live_there(placet: Placet, control: FakeControl):
    control.answers("DELETE /v1/devices/phone", PHONE | {"removed": True})
    homes = [agent("f0", "active"), agent("f0", "dormant"), agent("f0", "destroyed"), agent("de", "active")]
    control.answers("GET /v1/agents", homes)
    result = placet("devices", "remove", "phone")
    assert (result.status, result.out) == (0, "✓ Removed pocket one\n")
    assert "It keeps what it had." in result.err
    assert "2 agents have their home there" in result.err


def test_a_script_is_told_of_the_device_alone(placet: Placet, control: FakeControl):
    control.answers("DELETE /v1/devices/phone", PHONE | {"removed": True})
    result = placet("devices", "remove", "phone", "--json")
    assert (result.status, result.json["removed"], result.err) == (0, True, "")
    assert not control.asked("GET /v1/agents")


@pytest.mark.parametrize(
    ("texts", "line"),
    [
        (["laptop"], "desk is away: the others will tell it"),
        ([], "desk was not told: remove this device there"),
    ],
)
def test_who_has_not_heard_a_goodbye_is_named_with_what_comes_of_it(
    texts: list[str], line: str, placet: Placet, control: FakeControl
):
    control.answers("GET /v1/status", examples.STATUS)
    control.answers("POST /v1/leave", {"told": texts, "untold": ["desk"]})
    result = placet("devices", "leave")
    assert result.out.splitlines() == [*(f"✓ Said goodbye to {name}" for name in texts), f"· {line}"]


def test_a_person_sees_who_goes_with_a_device_and_is_asked(home: Path, control: FakeControl):
    control.answers("GET /v1/admitted", {"count": 300, "names": ["m1", "m2\a"]})
    control.answers("DELETE /v1/devices/phone", PHONE | {"removed": True})
    control.answers("GET /v1/agents", [])
    with terminal(home, "devices", "remove", "phone", "--with-admitted") as screen:
        screen.until(r"300 devices go with it: m1, m2\x07 …. Go on? [y/N]:")
        screen.end("n\n")
        assert screen.status != 0
    assert not control.asked("DELETE /v1/devices/phone")
    for words, keys in ((("--with-admitted",), "y\n"), (("--with-admitted", "--yes"), ""), ((), "")):
        with terminal(home, "devices", "remove", "phone", *words) as screen:
            assert "Removed" in screen.end(keys)
            assert screen.status == 0


def test_nobody_is_asked_if_no_other_device_goes_with_one(home: Path, control: FakeControl):
    control.answers("GET /v1/admitted", {"count": 0, "names": []})
    control.answers("DELETE /v1/devices/phone", PHONE | {"removed": True})
    control.answers("GET /v1/agents", [])
    with terminal(home, "devices", "remove", "phone", "--with-admitted") as screen:
        assert "Removed" in screen.end("")
        assert screen.status == 0


# -- leaving -----------------------------------------------------------------------------------------------


def test_whoever_leaves_for_good_is_told_how_to_go_on_as_they_began(placet: Placet, control: FakeControl):
    control.answers("GET /v1/status", examples.STATUS)
    control.answers("POST /v1/leave", {"told": ["desk"], "untold": []})
    assert "run `placet devices leave` again" in placet("devices", "leave").err
    assert "run `placet devices leave --empty` again" in placet("devices", "leave", "--empty").err


def test_leaving_by_force_while_the_others_can_be_told_is_refused(placet: Placet, control: FakeControl):
    control.answers("GET /v1/status", examples.STATUS)
    result = placet("devices", "leave", "--empty", "--force")
    assert (result.status, result.out) == (2, "")
    assert "--force works only while placet is stopped" in result.err
    assert not control.asked("POST /v1/leave")


def test_a_person_is_asked_before_the_others_are_told_goodbye(home: Path, control: FakeControl):
    control.answers("GET /v1/status", examples.STATUS)
    control.answers("POST /v1/leave", {"told": ["desk"], "untold": []})
    with terminal(home, "devices", "leave") as screen:
        screen.until("Go on? [y/N]:")
        screen.end("n\n")
        assert screen.status != 0
    assert not control.asked("POST /v1/leave")
    for words, keys in (((), "y\n"), (("--yes",), "")):
        with terminal(home, "devices", "leave", *words) as screen:
            assert "Said goodbye to desk" in screen.end(keys)
            assert screen.status == 0


def test_a_device_that_was_removed_before_has_nobody_to_tell(placet: Placet, control: FakeControl):
    control.answers("GET /v1/status", examples.STATUS | {"removed": True})
    control.answers("POST /v1/leave", {"told": [], "untold": [], "removed": True})
    result = placet("devices", "leave")
    assert result.out == "· This device was removed already: nobody is left to tell\n"
    assert "Now stop placet" in result.err


# -- references --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ("devices", "rename", "", "x"),
        ("devices", "remove", ""),
        ("label", "remove", ""),
        ("category", "edit", "", "--name", "x"),
        ("timer", "remove", ""),
        ("label", "restore", ""),
        ("check", "edit", "", "x"),
    ],
)
def test_an_empty_reference_is_refused_in_the_words_of_a_person(
    words: tuple[str, ...], placet: Placet, control: FakeControl
):
    result = placet(*words)
    assert (result.status, result.out) == (2, "")
    assert "empty" in result.err
    assert "path" not in result.err
    assert not control.requests


# -- who let a device in -----------------------------------------------------------------------------------

ME, THIRD = "de" * 32, "7a" * 32
LATELY, LONG_AGO = "2026-03-03T12:00:00Z", "2026-02-02T12:00:00Z"


def entered(by: str, by_id: str, added_at: str = LATELY) -> dict[str, object]:
    return {"added_by": by, "added_by_id": by_id, "added_at": LATELY, "added_heard_at": added_at}


def status_of(control: FakeControl, placet: Placet, *peers: dict[str, object]) -> list[str]:
    """Return the lines of the status screen that follow the list of peers."""
    control.forgets("GET /v1/status")
    control.answers("GET /v1/status", examples.STATUS | {"peers": list(peers)})
    lines = placet("status").out.splitlines()
    first = next(moment for moment, line in enumerate(lines) if line.startswith("  peers"))
    return [line.strip() for line in lines[first + len(peers) :]]


def test_the_status_tells_of_whom_another_device_let_in_lately(placet: Placet, control: FakeControl):
    phone, tablet = examples.STATUS["peers"]
    assert status_of(control, placet, phone, tablet | entered("phone", phone["device_id"])) == [
        "tablet was let in by phone, yesterday"
    ]
    assert status_of(control, placet, tablet | entered("phone", phone["device_id"], LONG_AGO), phone) == []
    assert status_of(control, placet, phone, tablet | entered("laptop", ME)) == []


def test_a_device_with_this_ones_name_does_not_let_others_in_unseen(placet: Placet, control: FakeControl):
    phone, tablet = examples.STATUS["peers"]
    alike = phone | {"name": "laptop"}
    assert status_of(control, placet, alike, tablet | entered("laptop", phone["device_id"])) == [
        "tablet was let in by laptop (f0f0), yesterday"
    ]
    assert "● laptop (f0f0)  connected" in placet("status").out
    # Nor does one that is no member any more.
    assert status_of(control, placet, phone, tablet | entered("laptop", "ab" * 32)) == [
        "tablet was let in by laptop (abab), yesterday"
    ]


def test_a_device_that_let_itself_in_is_told_so(placet: Placet, control: FakeControl):
    phone, tablet = examples.STATUS["peers"]
    assert status_of(control, placet, phone, tablet | entered("tablet", THIRD)) == [
        "tablet let itself in again, yesterday"
    ]


def test_a_device_that_nobody_says_who_let_in_is_told(placet: Placet, control: FakeControl):
    phone, tablet = examples.STATUS["peers"]
    unsaid = {"added_by": None, "added_by_id": None, "added_at": None}
    words = "tablet was first seen {}; nobody says who let it in"
    assert status_of(control, placet, phone, tablet | unsaid | {"added_heard_at": LATELY}) == [
        words.format("yesterday")
    ]
    for heard_at in (LONG_AGO, None):
        assert status_of(control, placet, phone, tablet | unsaid | {"added_heard_at": heard_at}) == []
    first, *others = examples.DEVICES
    remote = [fields | unsaid | {"added_heard_at": None} for fields in (first, others[0])]
    control.answers("GET /v1/devices", [*remote, others[1] | unsaid | {"added_heard_at": LONG_AGO}])
    assert [line for line in placet("devices").out.splitlines() if "let" in line.split()] == [
        words.format("2 Feb")
    ]


# -- no member any more ------------------------------------------------------------------------------------

APART = "this device is no longer a member of its vault"


def test_a_removed_device_says_so_and_calls_no_other_in_step(placet: Placet, control: FakeControl):
    control.answers("GET /v1/status", examples.STATUS | {"removed": True})
    out = placet("status").out
    assert (
        f"  peers      {APART}\n             to start again, stop placet, then run: placet devices leave\n"
        in out
    )
    assert "in step" not in out
    own = examples.DEVICES[0] | {"removed": True}
    control.answers("GET /v1/devices", [own, *examples.DEVICES[1:]])
    lines = placet("devices").out.splitlines()
    assert "  this one, removed" in lines[1]
    assert lines[-2:] == [APART, "to start again, stop placet, then run: placet devices leave"]


def test_a_synchronisation_of_a_removed_device_is_refused(placet: Placet, control: FakeControl):
    hint = "to start again, stop placet, then run: placet devices leave"
    control.refuses("POST /v1/sync", 403, "forbidden", APART, hint)
    result = placet("sync", "--wait")
    assert (result.status, result.err) == (7, f"placet: {APART}; {hint}\n")


def test_a_device_that_is_alone_is_told_how_to_pair(placet: Placet, control: FakeControl):
    control.answers("GET /v1/status", examples.STATUS | {"peers": []})
    assert placet("status").out.endswith("  peers      none yet: placet pair\n")
