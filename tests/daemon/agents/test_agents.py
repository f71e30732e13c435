"""What is shown of agents, and what a person may settle of what two devices made of one.

Never runs one.
"""

import pytest

from daemon.agents import agents, lifecycle
from daemon.journal import conflicts
from daemon.journal.errors import Refused
from syncproto.ids import EntityId, text
from tests.daemon.agents.deciding import defer, reject, waiting
from tests.daemon.agents.fleet import Fleet, Home
from tests.daemon.agents.test_lifecycle import known, shown


@pytest.fixture
def agent(a: Home, task: EntityId) -> EntityId:
    return a.write(lambda tx: agents.create(tx, text(task), "rules"))


def test_an_agent_shows_as_many_proposals_as_wait(a: Home, task: EntityId, agent: EntityId) -> None:
    first, second = a.estimate(task, 90), a.add(task, "Buy milk", "two")
    assert shown(a, agent).pending_items == 2
    a.set(task, estimate_minutes=90)
    assert shown(a, agent).pending_items == len(waiting(a)) == 1
    defer(a, second)
    assert shown(a, agent).pending_items == len(waiting(a)) == 1
    reject(a, second)
    reject(a, first)
    assert shown(a, agent).pending_items == len(waiting(a)) == 0


def test_no_conflict_that_is_settled_takes_back_that_an_agent_was_destroyed(
    fleet: Fleet, a: Home, b: Home, agent: EntityId
) -> None:
    fleet.sync()
    a.write(lambda tx: lifecycle.destroy(tx, agent))
    b.write(lambda tx: lifecycle.pause(tx, agent))
    fleet.sync()
    assert a.read(lambda snapshot: conflicts.conflicts(snapshot, None)) == []
    assert a.read(conflicts.count) == 0
    for field in ("lifecycle", "lifecycle_reason"):
        for number in (1, 2):
            wanted = conflicts.Keep(text(agent), field, number)
            with pytest.raises(Refused):
                a.write(lambda tx, wanted=wanted: conflicts.keep(tx, wanted))  # type: ignore[misc]
    assert known(a, agent).lifecycle == "destroyed"


def test_a_pause_and_a_resume_of_two_devices_are_settled_by_a_person(
    fleet: Fleet, a: Home, b: Home, agent: EntityId
) -> None:
    a.write(lambda tx: lifecycle.pause(tx, agent))
    fleet.sync()
    a.write(lambda tx: lifecycle.resume(tx, agent))
    a.write(lambda tx: lifecycle.pause(tx, agent))
    b.write(lambda tx: lifecycle.resume(tx, agent))
    fleet.sync()
    (one,) = [one for one in a.read(lambda s: conflicts.conflicts(s, None)) if one.field == "lifecycle"]
    number = [version.value for version in one.versions].index("active") + 1
    a.write(lambda tx: conflicts.keep(tx, conflicts.Keep(text(agent), "lifecycle", number)))
    assert known(a, agent).lifecycle == "active"


def test_an_agent_that_another_client_calls_created_is_given_up_as_any(a: Home, agent: EntityId) -> None:
    a.set(agent, lifecycle="created")
    a.write(lambda tx: lifecycle.give_up(tx, known(a, agent), 5, "no answer"))
    assert known(a, agent).lifecycle == "dormant"
