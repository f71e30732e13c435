"""A review at a terminal, of what a real agent proposed to a real daemon.

Never looks into a store: what was decided, the installed command says.
"""

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.daemon.cli.terminal import terminal
from tests.e2e.conftest import Make
from tests.e2e.devices import START_S, Device, wait_until

pytestmark = pytest.mark.e2e

NOTE = "due 2027-03-15; takes 2 hours; todo: write a test, tell support, celebrate"
_NEXT = "?] "


@pytest.fixture
def laptop(device: Make) -> Device:
    """A device whose agent has proposed a due date, an estimate and three items."""
    one = device("laptop")
    one.do("add", "Fix the login bug")
    one.do("note", "login", NOTE)
    one.do("agent", "create", "login")
    wait_until("the agent proposes", lambda: len(one.do("pending")) == 5, START_S)
    return one


def _task(laptop: Device) -> dict[str, Any]:
    task: dict[str, Any] = laptop.do("show", "login")
    return task


def _titles(task: dict[str, Any]) -> list[str]:
    return [item["title"] for listed in task["checklists"] for item in listed["items"]]


def test_what_the_keys_say_is_what_the_journal_holds(laptop: Device, tmp_path: Path):
    changed = tmp_path / "changed"
    changed.write_text('{"minutes": 90}')
    editor = f"{sys.executable} -c 'import shutil, sys; shutil.copy(\"{changed}\", sys.argv[1])'"
    with terminal(laptop.home, "review", "login", EDITOR=editor, VISUAL="") as shown:
        assert "Set due date to 2027-03-15" in shown.until(_NEXT)
        assert "Set estimate to 120 minutes" in shown.press("y")
        assert 'Add: "write a test"' in shown.press("e")
        assert "also: makes the checklist “Todos”" in shown.shown
        shown.press("n", then="reason) ")
        assert "makes the checklist" in shown.press("is done\n")
        assert "Confirm these 2? [y,n]" in shown.press("a", then="[y,n] ")
        assert "4 confirmed, 1 rejected" in shown.end("y")
        assert shown.status == 0
    task = _task(laptop)
    assert (task["due"], task["estimate_minutes"]) == ("2027-03-15", 90)
    assert _titles(task) == ["tell support", "celebrate"]
    assert laptop.do("pending") == []


def test_a_decision_is_taken_back_with_what_it_did(laptop: Device):
    with terminal(laptop.home, "review") as shown:
        shown.until(_NEXT)
        shown.press("y")
        assert _task(laptop)["due"] == "2027-03-15"
        assert "1 of 5" in shown.press("u")
        assert _task(laptop)["due"] is None
        assert "5 are left" in shown.end("q")
    assert len(laptop.do("pending")) == 5


def test_what_happens_elsewhere_meanwhile_is_seen_before_it_is_decided(laptop: Device):
    due, estimate, first, *_others = laptop.do("pending")
    with terminal(laptop.home, "review") as shown:
        shown.until(_NEXT)
        laptop.do("task", "edit", "login", "--due", "2027-01-01")
        laptop.do("reject", estimate["item_id"])
        told = shown.press("y", then="Apply it all the same? [y,n] ")
        assert "stale" in told
        told = shown.press("n")
        assert "now                   2027-01-01" in told
        shown.press("y", then="[y,n] ")
        told = shown.press("y")
        assert "waits no more" in told
        assert "3 of 5" in told
        laptop.do("confirm", first["item_id"])
        assert "already" in shown.press("y")
        assert "2 confirmed" in shown.end("q")
    assert _task(laptop)["due"] == "2027-03-15"
    assert due["item_id"] not in [one["item_id"] for one in laptop.do("pending")]
