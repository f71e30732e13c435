"""What people see of agents, and how they settle conflicts of two devices about one agent.

Never runs an agent.
"""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from daemon.agents.person import lifecycle, policy_edits
from daemon.agents.running import runner
from daemon.agents.tools.agent_record import hindrance, load_agent, state_id
from daemon.journal import conflicts, tasks
from daemon.refusal import Refused
from store.fold.item import clock_as_value
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, id_to_text
from tests.support.agent_queries import agent_details_of, stored_agent
from tests.support.decision_verbs import confirm, defer, reject, waiting
from tests.support.fleet import Fleet, Home


@pytest.fixture
def agent(a: Home, task: EntityId) -> EntityId:
    return a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))


def test_an_agent_shows_as_many_proposals_as_wait(a: Home, task: EntityId, agent: EntityId) -> None:
    first, second = a.estimate(task, 90), a.add(task, "Buy milk", "two")
    assert agent_details_of(a, agent).pending_items == 2
    a.set(task, estimate_minutes=90)
    assert agent_details_of(a, agent).pending_items == len(waiting(a)) == 1
    defer(a, second)
    assert agent_details_of(a, agent).pending_items == len(waiting(a)) == 1
    reject(a, second)
    reject(a, first)
    assert agent_details_of(a, agent).pending_items == len(waiting(a)) == 0


def test_no_conflict_that_is_settled_takes_back_that_an_agent_was_destroyed(
    fleet: Fleet, a: Home, b: Home, agent: EntityId
) -> None:
    fleet.sync()
    a.write(lambda tx: lifecycle.destroy_agent(tx, agent))
    b.write(lambda tx: lifecycle.pause_agent(tx, agent))
    fleet.sync()
    assert a.read(lambda snapshot: conflicts.list_conflicts(snapshot, None)) == []
    assert a.read(conflicts.count_conflicts) == 0
    for field in ("lifecycle", "lifecycle_reason"):
        for number in (1, 2):
            wanted = conflicts.Keep(id_to_text(agent), field, number)
            with pytest.raises(Refused):
                a.write(lambda tx, wanted=wanted: conflicts.keep_version(tx, wanted))  # type: ignore[misc]
    assert stored_agent(a, agent).lifecycle == "destroyed"


def test_a_pause_and_a_resume_of_two_devices_are_settled_by_a_person(
    fleet: Fleet, a: Home, b: Home, agent: EntityId
) -> None:
    a.write(lambda tx: lifecycle.pause_agent(tx, agent))
    fleet.sync()
    a.write(lambda tx: lifecycle.resume_agent(tx, agent))
    a.write(lambda tx: lifecycle.pause_agent(tx, agent))
    b.write(lambda tx: lifecycle.resume_agent(tx, agent))
    fleet.sync()
    (conflict,) = [
        listed_conflict
        for listed_conflict in a.read(lambda s: conflicts.list_conflicts(s, None))
        if listed_conflict.field == "lifecycle"
    ]
    number = [version.value for version in conflict.versions].index("active") + 1
    a.write(lambda tx: conflicts.keep_version(tx, conflicts.Keep(id_to_text(agent), "lifecycle", number)))
    assert stored_agent(a, agent).lifecycle == "active"


def test_an_agent_that_another_client_calls_created_is_given_up_as_any(a: Home, agent: EntityId) -> None:
    a.set(agent, lifecycle="created")
    a.write(lambda tx: runner.stop_failing_agent(tx, stored_agent(a, agent), 5, "no answer"))
    assert stored_agent(a, agent).lifecycle == "dormant"


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
    """Settle each conflict, by the last value that is shown."""
    for conflict in conflicts.list_conflicts(tx, None):
        with suppress(Refused):
            conflicts.keep_version(
                tx, conflicts.Keep(conflict.entity, conflict.field, len(conflict.versions))
            )


def _step(home: Home, step: str, task: EntityId, agent: EntityId) -> None:
    def give_up(tx: Transaction) -> None:
        runner.stop_failing_agent(tx, stored_agent(home, agent), 5, "no answer")

    doing: dict[str, Callable[[Transaction], object]] = {
        "pause": lambda tx: lifecycle.pause_agent(tx, agent),
        "resume": lambda tx: lifecycle.resume_agent(tx, agent),
        "destroy": lambda tx: lifecycle.destroy_agent(tx, agent),
        "here": lambda tx: lifecycle.move_agent(tx, agent, tx.device),
        "give up": give_up,
        "deny": lambda tx: policy_edits.set_tool_policy(tx, agent, "set_task_title", "denied"),
        "allow": lambda tx: policy_edits.set_tool_policy(tx, agent, "set_task_title", "default"),
        "keep": _keep,
        "remove": lambda tx: tasks.remove(tx, id_to_text(task)),
        "restore": lambda tx: tasks.restore(tx, id_to_text(task)),
        "make": lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"),
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
        agent = homes[0].write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))
        fleet.sync()
        ended = [False, False, False]
        for step in [*life, "sync"]:
            fleet.now_ms += 1000
            if isinstance(step, str):
                fleet.sync()
                ended = [any(ended)] * 3
            else:
                index, what = step
                _step(homes[index], what, task, agent)
                ended[index] = ended[index] or (what == "destroy")
            assert [stored_agent(home, agent).lifecycle == "destroyed" for home in homes] == ended
        hindrances = [
            home.read(lambda snapshot: hindrance(snapshot, load_agent(snapshot, agent))) for home in homes
        ]
        assert sum(listed_hindrance is None for listed_hindrance in hindrances) <= 1
        assert len({stored_agent(home, agent).home for home in homes}) == 1
        fleet.close()


def test_a_report_is_older_than_what_was_decided_since_on_any_device(
    fleet: Fleet, a: Home, b: Home, task: EntityId, agent: EntityId
) -> None:
    first, second = a.estimate(task, 90), a.add(task, "Buy milk", "two")

    def end_run(tx: Transaction) -> None:
        report = tx.new_id()
        fields: dict[str, Value] = {"agent_id": agent, "report_id": report, "last_wake_at": tx.now_ms()}
        state = EntityWrite(
            state_id(agent), "agent_state", {**fields, "watermark": clock_as_value(tx.vector())}
        )
        content = EntityWrite(report, "report", {"agent_id": agent, "content": {"tldr": "Half done."}})
        tx.commit([state, content], by=AuthorKind.AGENT, agent=agent)

    a.write(end_run)
    assert agent_details_of(a, agent).report_decisions_since == 0
    fleet.sync()
    reject(b, first)
    confirm(b, second)
    fleet.sync()
    for home in (a, b):
        assert agent_details_of(home, agent).report_decisions_since == 2
    a.write(end_run)
    assert agent_details_of(a, agent).report_decisions_since == 0
