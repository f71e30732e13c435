"""A kill at every point of a confirmation: it is there whole or not at all, and a repetition succeeds.

Never samples: the confirmation is repeated, with the kill one point later each time.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from daemon.agents.deciding.decision_result import DecisionOutcome
from store.fold.verdicts import DecisionStatus
from syncproto.ids import EntityId, derived_id, id_to_text
from tests.support.decision_verbs import confirm
from tests.support.fault_points import KILLED, FaultPoints, in_child, kill
from tests.support.fleet import Fleet, Home

POINTS_MAX = 1000
MEMORY = "/dev/shm"


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a folder in memory if the system has one: a hundred syncs are too slow on a disk."""
    with tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as name:
        yield Path(name)


def staged(folder: Path) -> tuple[EntityId, EntityId, EntityId]:
    """Prepare a store in which an update of an item waits; return the task, the item and the proposal."""
    fleet = Fleet(folder)
    home = fleet.home("a")
    task = home.new("task", title="Write the report", status="OPEN")
    identifier = home.add(task, "Tests", "earlier")
    confirm(home, identifier)
    item = derived_id("entity", id_to_text(identifier), time_of=identifier)
    call = {"id": id_to_text(item), "title": "Write tests", "isChecked": True}
    (proposed,) = home.propose(task, "run", ("update_checklist_item", call))
    fleet.close()
    return task, item, proposed


def reopened(before: Path, folder: Path) -> Home:
    """Open a copy of the store as it was staged, with randomness that nothing has drawn before."""
    for suffix in ("", "-wal", "-shm", ".lease"):
        (folder / f"a.db{suffix}").unlink(missing_ok=True)
    shutil.copy(before / "a.db", folder / "a.db")
    return again(folder)


def again(folder: Path) -> Home:
    fleet = Fleet(folder)
    fleet._drawn = 1_000_000
    return fleet.home("a")


def visible_outcome(home: Home, task: EntityId, item: EntityId, proposed: EntityId) -> tuple[object, ...]:
    """Return all that a confirmation changes."""
    messages = home.read(lambda snapshot: snapshot.ids_pointing_at(item, "tool_effect"))
    return (
        home.item(proposed).status,
        len(home.item(proposed).decisions),
        home.value(item, "title"),
        home.value(item, "is_checked"),
        len(messages),
        home.entity(task).clock,
    )


def test_a_kill_at_any_point_leaves_a_confirmation_whole_or_not_made(folder: Path) -> None:
    before, work = folder / "before", folder / "work"
    before.mkdir()
    work.mkdir()
    task, item, proposed = staged(before)
    home = reopened(before, work)
    waiting = visible_outcome(home, task, item, proposed)
    confirm(home, proposed)
    confirmed = visible_outcome(home, task, item, proposed)
    home.store.close()
    assert (waiting[0], confirmed[0]) == (DecisionStatus.PENDING, DecisionStatus.CONFIRMED)
    match = set()
    for index in range(1, POINTS_MAX):
        home = reopened(before, work)
        home.store.close()

        def decide(points: FaultPoints) -> None:
            stored_home = again(work)
            points.counting = True
            confirm(stored_home, proposed)

        if in_child(decide, index, kill, statements=True) != KILLED:
            break
        home = again(work)
        after = visible_outcome(home, task, item, proposed)
        assert after[:5] in (waiting[:5], confirmed[:5]), index
        match.add(after[0])
        result = confirm(home, proposed).result
        assert result is (
            DecisionOutcome.ALREADY if after[0] is DecisionStatus.CONFIRMED else DecisionOutcome.APPLIED
        )
        assert visible_outcome(home, task, item, proposed)[:5] == confirmed[:5]
        home.store.close()
    assert match == {DecisionStatus.PENDING, DecisionStatus.CONFIRMED}
    assert index < POINTS_MAX - 1
