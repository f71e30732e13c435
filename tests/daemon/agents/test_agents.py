"""What is shown of agents, and what a person may settle of what two devices made of one.

Never runs one.
"""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daemon.agents import agents, lifecycle, permits
from daemon.agents.records import hindrance, load
from daemon.journal import conflicts, tasks
from daemon.journal.errors import Refused
from store.transaction import Transaction
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


# -- whatever several devices do ----------------------------------------------------------------------

STEPS = (
    "pause",
    "resume",
    "destroy",
    "here",
    "give up",
    "deny",
    "allow",
    "keep",
    "remove",
    "restore",
    "make",
)
STEP = st.tuples(st.integers(0, 2), st.sampled_from(STEPS))
LIFE = st.lists(st.one_of(STEP, STEP, STEP, st.just("sync")), max_size=12)


def _keep(tx: Transaction) -> None:
    """Settle whatever is in conflict, each time by the last value that is shown."""
    for one in conflicts.conflicts(tx, None):
        with suppress(Refused):
            conflicts.keep(tx, conflicts.Keep(one.entity, one.field, len(one.versions)))


def _step(home: Home, step: str, task: EntityId, agent: EntityId) -> None:
    def give_up(tx: Transaction) -> None:
        lifecycle.give_up(tx, known(home, agent), 5, "no answer")

    doing: dict[str, Callable[[Transaction], object]] = {
        "pause": lambda tx: lifecycle.pause(tx, agent),
        "resume": lambda tx: lifecycle.resume(tx, agent),
        "destroy": lambda tx: lifecycle.destroy(tx, agent),
        "here": lambda tx: lifecycle.move(tx, agent, tx.device),
        "give up": give_up,
        "deny": lambda tx: permits.set_policy(tx, agent, "set_task_title", "denied"),
        "allow": lambda tx: permits.set_policy(tx, agent, "set_task_title", "default"),
        "keep": _keep,
        "remove": lambda tx: tasks.remove(tx, text(task)),
        "restore": lambda tx: tasks.restore(tx, text(task)),
        "make": lambda tx: agents.create(tx, text(task), "rules"),
    }
    with suppress(Refused):
        home.write(doing[step])


@settings(max_examples=15, deadline=None)
@given(LIFE)
def test_whatever_several_devices_do_to_an_agent_its_end_is_final_and_it_has_one_home(
    life: list[tuple[int, str] | str],
) -> None:
    with TemporaryDirectory() as folder:
        fleet = Fleet(Path(folder))
        homes = [fleet.home(name) for name in "abc"]
        task = homes[0].new("task", title="Write the report", status="OPEN")
        agent = homes[0].write(lambda tx: agents.create(tx, text(task), "rules"))
        fleet.sync()
        ended = [False, False, False]
        for step in [*life, "sync"]:
            fleet.now_ms += 1000
            if isinstance(step, str):
                fleet.sync()
                ended = [any(ended)] * 3
            else:
                at, what = step
                _step(homes[at], what, task, agent)
                ended[at] = ended[at] or (what == "destroy")
            assert [known(home, agent).lifecycle == "destroyed" for home in homes] == ended
        hindrances = [
            home.read(lambda snapshot: hindrance(snapshot, load(snapshot, agent))) for home in homes
        ]
        assert sum(one is None for one in hindrances) <= 1
        assert len({known(home, agent).home for home in homes}) == 1
        fleet.close()
