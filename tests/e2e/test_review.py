"""A review at a terminal, of what a real agent proposed to a real daemon.

Never looks into a store: what was decided, the installed command says.
"""

import sys
from pathlib import Path
from typing import Any

import pytest

from daemon.clock import SystemClock
from tests.support.devices import Device, MakeDevice
from tests.support.patience import LIMIT_S, wait_until
from tests.support.program import Program
from tests.support.pseudo_terminal import terminal

pytestmark = pytest.mark.e2e

NOTE = "due 2027-03-15; takes 2 hours; todo: write a test, tell support, celebrate"
_NEXT = "?] "
HOUR_MS = 3_600_000


@pytest.fixture
def laptop(device: MakeDevice) -> Device:
    """A device whose agent has proposed a due date, an estimate and three items."""
    other_device = device("laptop")
    other_device.do("add", "Fix the login bug")
    other_device.do("note", "login", NOTE)
    other_device.do("agent", "create", "login")
    wait_until("the agent proposes", lambda: len(other_device.do("pending")) == 5, LIMIT_S)
    return other_device


def _task(laptop: Device) -> dict[str, Any]:
    task: dict[str, Any] = laptop.do("show", "login")
    return task


def _titles(task: dict[str, Any]) -> list[str]:
    return [item["title"] for listed in task["checklists"] for item in listed["items"]]


def test_what_the_keys_say_is_what_the_journal_holds(laptop: Device, tmp_path: Path):
    changed = tmp_path / "changed"
    changed.write_text('{"minutes": 90}')
    editor = f"{sys.executable} -c 'import shutil, sys; shutil.copy(\"{changed}\", sys.argv[1])'"
    with terminal(laptop.home, "review", "login", EDITOR=editor, VISUAL="") as shown_terminal:
        assert "Set due date to Mon 15 Mar 2027" in shown_terminal.until(_NEXT)
        assert "Set estimate to 120 minutes" in shown_terminal.press("y")
        assert 'Add: "write a test"' in shown_terminal.press("e")
        assert "also: makes the checklist “Todos”" in shown_terminal.shown
        shown_terminal.press("n", then="reason) ")
        assert "makes the checklist" in shown_terminal.press("is done\n")
        assert "Confirm these 2? [y,n]" in shown_terminal.press("a", then="[y,n] ")
        assert "4 confirmed, 1 rejected" in shown_terminal.end("y")
        assert shown_terminal.status == 0
    task = _task(laptop)
    assert (task["due"], task["estimate_minutes"]) == ("2027-03-15", 90)
    assert _titles(task) == ["tell support", "celebrate"]
    assert laptop.do("pending") == []


def test_a_decision_is_taken_back_with_what_it_did(laptop: Device):
    with terminal(laptop.home, "review") as shown_terminal:
        shown_terminal.until(_NEXT)
        shown_terminal.press("y")
        assert _task(laptop)["due"] == "2027-03-15"
        assert "1 of 5" in shown_terminal.press("u")
        assert _task(laptop)["due"] is None
        assert "5 are left" in shown_terminal.end("q")
    assert len(laptop.do("pending")) == 5


def test_what_happens_elsewhere_meanwhile_is_seen_before_it_is_decided(laptop: Device):
    due, estimate, first, *_others = laptop.do("pending")
    with terminal(laptop.home, "review") as shown_terminal:
        shown_terminal.until(_NEXT)
        laptop.do("task", "edit", "login", "--due", "2027-01-01")
        laptop.do("reject", estimate["item_id"])
        output = shown_terminal.press("y", then="Apply it all the same? [y,n] ")
        assert "stale" in output
        output = shown_terminal.press("n")
        assert "now                   Fri 1 Jan 2027" in output
        shown_terminal.press("y", then="[y,n] ")
        output = shown_terminal.press("y")
        assert "no longer waits" in output
        assert "3 of 5" in output
        laptop.do("confirm", first["item_id"])
        assert "already" in shown_terminal.press("y")
        assert "2 confirmed" in shown_terminal.end("q")
    assert _task(laptop)["due"] == "2027-03-15"
    assert due["item_id"] not in [item["item_id"] for item in laptop.do("pending")]


def test_a_set_is_listed_and_asked_about_and_leaves_what_was_put_off(laptop: Device):
    due, *others = laptop.do("pending")
    laptop.do("defer", due["item_id"])
    with terminal(laptop.home, "confirm", "--set", due["set_id"]) as displayed:
        answer = displayed.until("[y/N]: ")
        assert "Set estimate to 120 minutes" in answer
        assert "2027-03-15" not in answer
        assert "Confirm these 4?" in answer
        displayed.end("n\n")
    assert len(laptop.do("pending")) == 5
    with terminal(laptop.home, "confirm", "--set", due["set_id"]) as displayed:
        displayed.until("[y/N]: ")
        laptop.do("defer", others[0]["item_id"])
        answer = displayed.end("y\n")
        assert answer.count("you deferred it: name it to decide on it") == 2
        assert displayed.status == 8
    assert [item["item_id"] for item in laptop.do("pending")] == [due["item_id"], others[0]["item_id"]]
    with terminal(laptop.home, "confirm", "--yes", "--set", due["set_id"]) as displayed:
        assert "Confirm" not in displayed.end()
        assert displayed.status == 8


def test_of_a_permission_what_was_edited_is_granted_and_nothing_that_was_taken_back(
    device: MakeDevice, tmp_path: Path
):
    laptop = device("desk")
    laptop.do("agent", "add", "Claude", "--scope", "none")
    program, now_ms = Program(laptop, "Claude"), SystemClock().now_ms()
    first, second = (program.ask(key, now_ms + hours * HOUR_MS) for hours, key in enumerate(("a", "b"), 1))
    changed = tmp_path / "changed"
    changed.write_text('{"to": "ben@example.org"}')
    editor = f"{sys.executable} -c 'import shutil, sys; shutil.copy(\"{changed}\", sys.argv[1])'"
    with terminal(laptop.home, "review", "--asks", EDITOR=editor, VISUAL="") as shown_terminal:
        assert "Permission 1 of 2" in shown_terminal.until(_NEXT)
        assert "Permission 2 of 2" in shown_terminal.press("y")
        assert "Permission 1 of 2" in shown_terminal.press("u")
        assert "Permission 2 of 2" in shown_terminal.press("j")
        assert "1 permission decided" in shown_terminal.end("e")
    (permitted,) = [ask for ask in laptop.do("asks", "--all") if ask["ask_id"] == second["ask_id"]]
    assert permitted["args"] == {"to": "ben@example.org"}
    results = [program.use(ask, "run") for ask in (first, second, permitted)]
    assert results == ["pending", "changed", "granted"]
