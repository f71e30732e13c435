"""Renaming and removing devices from the command line, and what is said beside it.

Never removes a device: the control server is scripted.
"""

import pytest

from tests.daemon.cli.conftest import Placet
from tests.daemon.cli.fake_control import FakeControl

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
    control.answers("POST /v1/leave", {"told": told, "untold": ["desk"]})
    done = placet("devices", "leave")
    assert done.out.splitlines() == [*(f"✓ Said goodbye to {name}" for name in told), f"· {line}"]
