"""Renaming and removing devices from the command line, and what is said beside it.

Never removes a device: the control server is scripted.
"""

from pathlib import Path

import pytest

from tests.daemon.cli import examples
from tests.daemon.cli.conftest import Placet
from tests.daemon.cli.fake_control import FakeControl
from tests.daemon.cli.terminal import terminal

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
    done = placet("devices", "remove", "phone")
    assert (done.status, done.out) == (0, "✓ Removed pocket one\n")
    assert "It keeps what it had." in done.err
    assert "2 agents have their home there" in done.err


def test_a_script_is_told_of_the_device_alone(placet: Placet, control: FakeControl):
    control.answers("DELETE /v1/devices/phone", PHONE | {"removed": True})
    done = placet("devices", "remove", "phone", "--json")
    assert (done.status, done.json["removed"], done.err) == (0, True, "")
    assert not control.asked("GET /v1/agents")


@pytest.mark.parametrize(
    ("told", "line"),
    [
        (["laptop"], "desk is away: it will hear of it from the others"),
        ([], "desk has not heard of it: remove this device there"),
    ],
)
def test_who_has_not_heard_a_goodbye_is_named_with_what_comes_of_it(
    told: list[str], line: str, placet: Placet, control: FakeControl
):
    control.answers("GET /v1/status", examples.STATUS)
    control.answers("POST /v1/leave", {"told": told, "untold": ["desk"]})
    done = placet("devices", "leave")
    assert done.out.splitlines() == [*(f"✓ Said goodbye to {name}" for name in told), f"· {line}"]


# -- leaving -----------------------------------------------------------------------------------------------


def test_whoever_leaves_for_good_is_told_how_to_go_on_as_they_began(placet: Placet, control: FakeControl):
    control.answers("GET /v1/status", examples.STATUS)
    control.answers("POST /v1/leave", {"told": ["desk"], "untold": []})
    assert "run `placet devices leave` again" in placet("devices", "leave").err
    assert "run `placet devices leave --empty` again" in placet("devices", "leave", "--empty").err


def test_leaving_by_force_while_the_others_can_be_told_is_refused(placet: Placet, control: FakeControl):
    control.answers("GET /v1/status", examples.STATUS)
    done = placet("devices", "leave", "--empty", "--force")
    assert (done.status, done.out) == (2, "")
    assert "--force is for when placet is stopped" in done.err
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
    done = placet("devices", "leave")
    assert done.out == "· This device was removed already: nobody is left to tell\n"
    assert "Now stop placet" in done.err


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
    done = placet(*words)
    assert (done.status, done.out) == (2, "")
    assert "empty" in done.err
    assert "path" not in done.err
    assert not control.requests


# -- who let a device in -----------------------------------------------------------------------------------

ME, THIRD = "de" * 32, "7a" * 32
LATELY, LONG_AGO = "2026-03-03T12:00:00Z", "2026-02-02T12:00:00Z"


def entered(by: str, by_id: str, at: str = LATELY) -> dict[str, object]:
    return {"added_by": by, "added_by_id": by_id, "added_at": LATELY, "added_heard_at": at}


def status_of(control: FakeControl, placet: Placet, *peers: dict[str, object]) -> list[str]:
    """Return the lines of the status screen that follow the list of peers."""
    control.forgets("GET /v1/status")
    control.answers("GET /v1/status", examples.STATUS | {"peers": list(peers)})
    lines = placet("status").out.splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith("  peers"))
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
    there = [one | unsaid | {"added_heard_at": None} for one in (first, others[0])]
    control.answers("GET /v1/devices", [*there, others[1] | unsaid | {"added_heard_at": LONG_AGO}])
    assert [line for line in placet("devices").out.splitlines() if "let" in line.split()] == [
        words.format("2 Feb")
    ]


# -- no member any more ------------------------------------------------------------------------------------

APART = "this device is no member of its vault any more"


def test_a_removed_device_says_so_and_calls_no_other_in_step(placet: Placet, control: FakeControl):
    control.answers("GET /v1/status", examples.STATUS | {"removed": True})
    shown = placet("status").out
    assert (
        f"  peers      {APART}\n             to begin anew, stop placet, then: placet devices leave\n"
        in shown
    )
    assert "in step" not in shown
    own = examples.DEVICES[0] | {"removed": True}
    control.answers("GET /v1/devices", [own, *examples.DEVICES[1:]])
    lines = placet("devices").out.splitlines()
    assert "  this one, removed" in lines[1]
    assert lines[-2:] == [APART, "to begin anew, stop placet, then: placet devices leave"]


def test_a_synchronisation_of_a_removed_device_is_refused(placet: Placet, control: FakeControl):
    hint = "to begin anew, stop placet, then: placet devices leave"
    control.refuses("POST /v1/sync", 403, "forbidden", APART, hint)
    done = placet("sync", "--wait")
    assert (done.status, done.err) == (7, f"placet: {APART}; {hint}\n")


def test_a_device_that_is_alone_is_told_how_to_pair(placet: Placet, control: FakeControl):
    control.answers("GET /v1/status", examples.STATUS | {"peers": []})
    assert placet("status").out.endswith("  peers      none yet: placet pair\n")
