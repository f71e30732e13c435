"""Agents whose homes are apart: moved while a home is away, and moved by two devices at once."""

from collections import Counter
from typing import Any

import pytest

from tests.e2e.networks.conftest import Trio
from tests.support.networks.residents import Resident, wait_for_equal_state, wait_until_with_logs

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def _agent(device: Resident, task: str) -> dict[str, Any]:
    listed = device.do("agent", "list")
    return dict(next(element for element in listed if element["task_id"] == task))


def _runs(device: Resident, task: str) -> Counter[str]:
    """Return how many runs of a task's agent ended on each device, as this one knows."""
    words = device.do("agent", "log", _agent(device, task)["id"])
    return Counter(word["device_name"] for word in words if word["kind"] == "summary")


def _proposed(device: Resident, task: str) -> list[tuple[str, str]]:
    pending = device.do("pending")
    return sorted((item["tool"], str(item["args"])) for item in pending if item["task_id"] == task)


def _task_with_agent(trio: Trio, title: str) -> str:
    """Add a task to the desk with an agent that lives there, wait for its first run, and return its id."""
    task: str = trio.desk.do("add", title)["id"]
    trio.desk.do("agent", "create", task)
    wait_until_with_logs("it ran", lambda: _runs(trio.desk, task) == {"desk": 1}, trio.desk)
    wait_for_equal_state(*trio.all)
    return task


def test_an_agent_moved_while_its_old_home_was_away_runs_once_for_each_change(trio: Trio):
    task = _task_with_agent(trio, "Fix the login bug")
    cable = trio.desk.machine.plugs[0]
    cable.drop_frames()
    trio.phone.do("agent", "move", task)
    trio.phone.do("note", task, "due 2031-05-01; takes 2 hours")
    wait_until_with_logs("it ran at its new home", lambda: len(_proposed(trio.phone, task)) == 2, trio.phone)
    assert _runs(trio.phone, task) == {"desk": 1, "phone": 1}
    cable.forward()
    wait_for_equal_state(*trio.all)
    # Time enough for the old home to run, if it would: a change after the meeting is answered by the new one.
    trio.desk.do("note", task, "todo: write a test")
    wait_until_with_logs("it runs where it lives", lambda: len(_proposed(trio.desk, task)) == 3, *trio.all)
    wait_for_equal_state(*trio.all)
    for device in trio.all:
        assert _runs(device, task) == {"desk": 1, "phone": 2}
        assert [tool for tool, _ in _proposed(device, task)] == [
            "add_checklist_item",
            "update_task_due_date",
            "update_task_estimate",
        ]
        assert _agent(device, task)["home_device_name"] == "phone"


def test_two_homes_by_moves_at_once_settle_on_one(trio: Trio):
    task = _task_with_agent(trio, "Paint the fence")
    for device in trio.all:
        device.machine.plugs[0].drop_frames()
    trio.phone.do("agent", "move", task)
    trio.tablet.do("agent", "move", task)
    # Both believe that they are its home, and run it for what they know.
    trio.phone.do("note", task, "due 2031-06-01")
    trio.tablet.do("note", task, "due 2031-06-01")
    wait_until_with_logs("it ran on one", lambda: bool(_proposed(trio.phone, task)), trio.phone)
    wait_until_with_logs("it ran on the other", lambda: bool(_proposed(trio.tablet, task)), trio.tablet)
    for device in trio.all:
        device.machine.plugs[0].forward()
    wait_for_equal_state(*trio.all)
    homes = {_agent(device, task)["home_device_name"] for device in trio.all}
    assert len(homes) == 1
    assert sum(_agent(device, task)["at_home"] for device in trio.all) == 1
    (home,) = homes
    # What both ran for was told to each of them alone, and what both propose for it is one proposal.
    both = {"desk": 1, "phone": 1, "tablet": 1}
    for device in trio.all:
        assert _runs(device, task) == both
        assert [tool for tool, _ in _proposed(device, task)] == ["update_task_due_date"]
    trio.desk.do("note", task, "takes 3 hours")

    wait_until_with_logs("it runs where it lives", lambda: len(_proposed(trio.desk, task)) > 1, *trio.all)
    wait_for_equal_state(*trio.all)
    # A change that reaches the one that lost is told to it too: one more makes sure that it had the time.
    trio.desk.do("note", task, "todo: buy brushes")
    wait_until_with_logs("it runs again", lambda: len(_proposed(trio.desk, task)) > 2, *trio.all)
    wait_for_equal_state(*trio.all)
    for device in trio.all:
        assert _runs(device, task) == both | {home: 3}
        assert [tool for tool, _ in _proposed(device, task)] == [
            "add_checklist_item",
            "update_task_due_date",
            "update_task_estimate",
        ]
