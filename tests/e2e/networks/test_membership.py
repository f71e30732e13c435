"""Members that meet only through others, are away for long, or are members no more."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.networks.residents import (
    Resident,
    World,
    pair_by_code,
    wait_for_equal_state,
    wait_until_with_logs,
)
from tests.support.patience import LIMIT_S

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

COMMITS = 10_000


def _chain(world: World) -> tuple[Resident, Resident, Resident]:
    """Return three members, of which the first and the last share no network, and never did."""
    left, right = world.networks.segment("left"), world.networks.segment("right")
    first, last = world.at(left, "first", "10.77.1.1/24"), world.at(right, "last", "10.77.2.3/24")
    middle = world.at(left, "middle", "10.77.1.2/24")
    middle.machine.plug(right, "10.77.2.2/24")
    world.start(first, middle, last)
    pair_by_code(middle, first, last)
    wait_for_equal_state(first, middle, last)
    return first, middle, last


def test_two_that_never_meet_share_everything_through_a_third(world: World):
    first, middle, last = _chain(world)
    task = first.do("add", "call the plumber")["id"]
    wait_for_equal_state(first, middle, last)
    last.do("note", task, "done by noon")
    wait_for_equal_state(first, middle, last)
    assert not first.linked(last)


def test_what_an_agent_proposes_where_it_lives_is_confirmed_on_a_device_that_it_never_meets(world: World):
    first, middle, last = _chain(world)
    first.do("add", "Fix the login bug")
    first.do("note", "login", "due 2031-05-01; takes 2 hours")
    first.do("agent", "create", "login")
    wait_until_with_logs("the agent proposes", lambda: bool(first.do("pending")), first)
    wait_for_equal_state(first, middle, last)
    item = last.do("pending")[0]["item_id"]
    last.do("confirm", item)
    wait_for_equal_state(first, middle, last)
    for device in (first, middle, last):
        assert item not in [element["item_id"] for element in device.do("pending")]
    assert not first.linked(last)


def _connections(device: Resident) -> int:
    return len(device.machine.connections())


def test_two_that_call_each_other_at_once_settle_on_one_link(world: World):
    segment = world.networks.segment("lan")
    desk, phone = world.at(segment, "desk", "10.77.0.1/24"), world.at(segment, "phone", "10.77.0.2/24")
    world.start(desk, phone)
    pair_by_code(desk, phone)
    wait_for_equal_state(desk, phone)
    for number in range(5):
        for device in (desk, phone):
            device.do("sync", "--pause")
        wait_until_with_logs("they are apart", lambda: not _connections(desk), desk, phone)
        with ThreadPoolExecutor() as hands:
            list(hands.map(lambda device: device.do("sync", "--resume"), (desk, phone)))
        desk.do("add", f"round {number}")
        wait_for_equal_state(desk, phone)
        wait_until_with_logs("there is one link", lambda: _connections(desk) == _connections(phone) == 1)


def test_a_removed_device_gets_nothing_more_also_where_it_learns_of_it_late(world: World):
    segment = world.networks.segment("lan")
    names = ("desk", "phone", "tablet")
    residents = [
        world.at(segment, name, f"10.77.0.{number}/24") for number, name in enumerate(names, start=1)
    ]
    world.start(*residents)
    desk, phone, tablet = residents
    pair_by_code(desk, phone, tablet)
    wait_for_equal_state(*residents)

    # Removed while it is there: its links end, also that to the one that heard of the removal.
    desk.do("devices", "remove", "phone")
    wait_for_equal_state(desk, tablet)
    wait_until_with_logs("the phone has no link", lambda: not _connections(phone), phone)
    desk.do("add", "after the phone was removed")
    refused = phone.run("sync")
    assert refused.status
    assert "no longer a member of its vault" in refused.err
    wait_for_equal_state(desk, tablet)
    assert not phone.holds("after the phone was removed")

    # Removed while it is away: it comes back with what it wrote, knows nothing, and finds the door closed.
    assert tablet.stop() == 0
    desk.do("devices", "remove", "tablet")
    desk.do("add", "after the tablet was removed")
    tablet.start()
    tablet.do("add", "written in ignorance")
    wait_until_with_logs(
        "the tablet is turned away",
        lambda: "turned_away" in str(tablet.sees(desk)["unreached"]),
        tablet,
        desk,
    )
    assert not tablet.holds("after the tablet was removed")
    assert not desk.holds("written in ignorance")


def test_a_tls_session_that_was_saved_before_a_removal_opens_nothing(world: World):
    segment = world.networks.segment("lan")
    desk, phone = world.at(segment, "desk", "10.77.0.1/24"), world.at(segment, "phone", "10.77.0.2/24")
    world.start(desk, phone)
    pair_by_code(desk, phone)
    wait_for_equal_state(desk, phone)
    assert phone.stop() == 0
    script = Path(__file__).with_name("stranger.py")
    place = ["10.77.0.1", str(desk.port_listened), str(phone.home / "identity.pem")]
    command = phone.machine.command(sys.executable, script, "resumed", *place)
    returning = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert returning.stdout is not None
        assert "101 Switching" in json.loads(returning.stdout.readline())
        desk.do("devices", "remove", "phone")
    finally:
        text = returning.communicate("go on\n", timeout=LIMIT_S)[0]
    for answer in text.splitlines():
        assert "HTTP" not in json.loads(answer)


def test_a_device_that_was_away_for_ten_thousand_commits_catches_up(world: World, tmp_path: Path):
    segment = world.networks.segment("lan")
    desk, phone = world.at(segment, "desk", "10.77.0.1/24"), world.at(segment, "phone", "10.77.0.2/24")
    world.start(desk, phone)
    pair_by_code(desk, phone)
    phone.machine.plugs[0].cut()
    listed = tmp_path / "long.txt"
    listed.write_text("".join(f"task number {number}\n" for number in range(COMMITS)))
    desk.do("import", "todotxt", str(listed))
    phone.do("add", "written while away")
    phone.machine.plugs[0].reconnect()
    wait_for_equal_state(desk, phone)
    assert desk.holds("written while away")
