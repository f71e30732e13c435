"""The life of agents: each step of the table of transitions, on one device, on two, and during a run.

Never sleeps: each test waits, turn by turn of the store's threads, for what it caused.
"""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import pytest

from daemon.agents.deciding import orphans
from daemon.agents.person import agent_overview, lifecycle, policy_edits
from daemon.agents.person.agent_overview import AgentCounts
from daemon.agents.running import runner, wakes
from daemon.agents.tools.agent_record import state_id
from daemon.agents.tools.model_interface import ModelTurn, ToolCall
from daemon.journal import change_log as journal_log
from daemon.refusal import RefusalCode, Refused
from store.fold.verdicts import DecisionStatus
from store.local import run_log, timers
from store.local.run_log import RunStatus
from store.snapshot import Snapshot
from store.threads import StoreThreads
from store.transaction import Transaction
from syncproto.commit import AuthorKind
from syncproto.ids import DeviceId, EntityId, id_to_text
from tests.support.agent_queries import agent_details_of, stored_agent
from tests.support.decision_verbs import confirm, defer, reject, reopen, waiting
from tests.support.fleet import Fleet, Home
from tests.support.patience import LIMIT_S
from tests.support.scheduler_faults import AtTurn, spend_idle_turns, wait_until_settled
from tests.support.scheduler_service import Scripted, Serving, serving

T = TypeVar("T")
PROPOSES = ModelTurn(
    (ToolCall("update_task_estimate", {"minutes": 90}), ToolCall("update_report", {"tldr": "x"}))
)


@pytest.fixture
def agent(a: Home, task: EntityId) -> EntityId:
    return a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))


def device(home: Home) -> DeviceId:
    return home.read(lambda snapshot: snapshot.device)


def ends(*homes: Home) -> list[int]:
    return [home.read(lambda snapshot: snapshot.feed_end()) for home in homes]


# -- each step ----------------------------------------------------------------------------------------


async def test_an_agent_is_created_until_its_first_run_has_ended(a: Home, agent: EntityId) -> None:
    assert agent_details_of(a, agent).lifecycle == "created"
    await wait_until_settled(a, agent)
    assert agent_details_of(a, agent).lifecycle == "active"


async def test_a_paused_agent_sleeps_through_changes_and_sees_them_when_resumed(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    await wait_until_settled(a, agent)
    a.write(lambda tx: lifecycle.pause_agent(tx, agent))
    assert (agent_details_of(a, agent).lifecycle, agent_details_of(a, agent).lifecycle_reason) == (
        "dormant",
        "it is paused",
    )
    async with serving(a) as service:
        await service.note(task, "takes 2 hours")
        await spend_idle_turns(service, agent)
        assert len(await service.runs(agent)) == 1
        await service.threads.write(lambda tx: lifecycle.resume_agent(tx, agent))
        await service.completed(agent, 2)
    assert [line.tool for line in waiting(a)] == ["update_task_estimate"]
    assert agent_details_of(a, agent).lifecycle_reason is None


def test_what_is_so_already_is_not_written_again(a: Home, agent: EntityId) -> None:
    local_device = device(a)
    for step in (lifecycle.pause_agent, lifecycle.resume_agent, lifecycle.destroy_agent):
        a.write(lambda tx, step=step: step(tx, agent))  # type: ignore[misc]
        before = ends(a)
        a.write(lambda tx, step=step: step(tx, agent))  # type: ignore[misc]
        assert ends(a) == before
        if step is lifecycle.resume_agent:
            a.write(lambda tx: lifecycle.move_agent(tx, agent, local_device))
            a.write(lambda tx: lifecycle.edit_agent(tx, agent, mode="autonomous", model="rules"))
            assert ends(a) == before


@pytest.mark.parametrize(
    "step",
    [
        lifecycle.pause_agent,
        lifecycle.resume_agent,
        lambda tx, agent: lifecycle.move_agent(tx, agent, DeviceId(bytes(32))),
        lambda tx, agent: lifecycle.edit_agent(tx, agent, mode="hybrid", model=None),
        lambda tx, agent: policy_edits.set_tool_policy(tx, agent, "set_task_title", "denied"),
        lambda tx, agent: policy_edits.edit_allowed_categories(tx, agent, allow=[], disallow=[]),
    ],
)
def test_a_destroyed_agent_cannot_be_changed(
    a: Home, agent: EntityId, step: Callable[[Transaction, EntityId], None]
) -> None:
    a.write(lambda tx: lifecycle.destroy_agent(tx, agent))
    before = ends(a)
    with pytest.raises(Refused, match="final") as refused:
        a.write(lambda tx: step(tx, agent))
    assert refused.value.code is RefusalCode.CONFLICT
    assert ends(a) == before


def test_an_agent_that_sleeps_because_its_task_was_removed_wakes_when_that_is_restored(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    a.set(task, deleted=True)
    assert agent_details_of(a, agent).lifecycle == "dormant"
    with pytest.raises(Refused, match="task was removed"):
        a.write(lambda tx: lifecycle.resume_agent(tx, agent))
    a.set(task, deleted=False)
    assert agent_details_of(a, agent).lifecycle == "created"
    assert a.read(lambda snapshot: wakes.is_due(snapshot, agent))


def test_a_mode_that_is_none_is_refused(a: Home, task: EntityId, agent: EntityId) -> None:
    with pytest.raises(Refused, match="no mode is called 'eager'"):
        a.write(lambda tx: lifecycle.edit_agent(tx, agent, mode="eager", model=None))
    with pytest.raises(Refused, match="which is autonomous"):
        a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules", "hybrid"))
    assert a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules", "autonomous")) == agent


# -- destroy ------------------------------------------------------------------------------------------


def test_destroying_takes_back_what_nobody_decided_in_the_same_commit_and_leaves_verdicts(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    pending, deferred, turned_down, again = (a.add(task, f"Item {n}", f"run {n}") for n in range(4))
    confirmed = a.estimate(task, 90, "run 5")
    defer(a, deferred)
    reject(a, turned_down)
    confirm(a, confirmed)
    reject(a, again)
    reopen(a, again)
    before = ends(a)[0]
    a.write(lambda tx: lifecycle.destroy_agent(tx, agent))
    ((_, received),) = a.read(lambda snapshot: snapshot.read_feed(before, 10))
    kinds = sorted(operation.kind for operation in received.commit.operations)
    assert kinds == ["agent", "decision", "decision"]
    statuses = [
        a.item(identifier).status for identifier in (pending, deferred, turned_down, confirmed, again)
    ]
    assert statuses == [
        DecisionStatus.RETRACTED,
        DecisionStatus.DEFERRED,
        DecisionStatus.REJECTED,
        DecisionStatus.CONFIRMED,
        DecisionStatus.RETRACTED,
    ]
    assert a.value(task, "estimate_minutes") == 90
    assert [line.item_id for line in waiting(a)] == [id_to_text(deferred)]


def test_more_proposals_than_a_commit_holds_are_taken_back_in_one_transaction(
    a: Home, task: EntityId, agent: EntityId, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(orphans, "RETRACTED_PER_COMMIT", 2)
    items = [a.add(task, f"Item {n}", f"run {n}") for n in range(5)]
    a.write(lambda tx: lifecycle.destroy_agent(tx, agent))
    assert {a.item(item).status for item in items} == {DecisionStatus.RETRACTED}


async def test_what_an_agent_proposed_where_its_end_was_not_known_yet_is_taken_back_at_its_home(
    fleet: Fleet, a: Home, b: Home, task: EntityId, agent: EntityId
) -> None:
    await wait_until_settled(a, agent)
    fleet.sync()
    b.write(lambda tx: lifecycle.destroy_agent(tx, agent))
    late = a.estimate(task, 90)
    fleet.sync()
    assert b.item(late).status is DecisionStatus.PENDING
    async with serving(a) as service:

        async def taken_back() -> bool:
            await service.runs(agent)
            return a.item(late).status is DecisionStatus.RETRACTED

        await service.until(taken_back)
        end = ends(a)
        await spend_idle_turns(service, agent)
        assert ends(a) == end
    fleet.sync()
    assert b.item(late).status is DecisionStatus.RETRACTED


async def test_destroyed_wins_over_whatever_was_done_to_the_agent_elsewhere(
    fleet: Fleet, a: Home, b: Home, agent: EntityId
) -> None:
    fleet.sync()
    a.write(lambda tx: lifecycle.destroy_agent(tx, agent))
    fleet.now_ms += 60_000
    b.write(lambda tx: lifecycle.pause_agent(tx, agent))
    b.write(lambda tx: lifecycle.resume_agent(tx, agent))
    fleet.sync()
    for home in (a, b):
        assert stored_agent(home, agent).lifecycle == "destroyed"
        counted = home.read(lambda snapshot: agent_overview.count_agents(snapshot, 0, 0))
        assert counted == AgentCounts(0, 0, 0, 0)
        with pytest.raises(Refused, match="final"):
            home.write(lambda tx: lifecycle.resume_agent(tx, agent))


# -- during a run -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (lifecycle.pause_agent, "it is paused"),
        (lifecycle.destroy_agent, "it was destroyed"),
        (
            lambda tx, agent: lifecycle.move_agent(tx, agent, DeviceId(bytes(32))),
            "its home is another device",
        ),
        (
            lambda tx, agent: policy_edits.edit_allowed_categories(tx, agent, allow=["Work"], disallow=[]),
            "this agent may not work on tasks without a category",
        ),
    ],
)
async def test_an_agent_that_may_not_run_any_more_ends_its_run_without_a_word(
    a: Home, agent: EntityId, step: Callable[[Transaction, EntityId], None], reason: str
) -> None:
    a.new("category", name="Work")
    model = AtTurn(lambda: a.write(lambda tx: step(tx, agent)))
    async with serving(a, model) as service:

        async def skipped() -> bool:
            return any(run.status is RunStatus.SKIPPED for run in await service.runs(agent))

        await service.until(skipped)
        (run,) = await service.runs(agent)
        assert run.error == reason
        await spend_idle_turns(service, agent)
        assert (len(await service.runs(agent)), service.scheduler.counts()) == (1, (0, 0))
    assert model.turns == 2  # the second is asked for a report, before anything is written
    assert a.read(lambda snapshot: snapshot.entity(state_id(agent))) is None
    assert waiting(a) == []


class Between(StoreThreads):
    """A store that lets something happen between the plan of a run and its claim."""

    do: Callable[[], None] | None = None

    async def read(self, use: Callable[[Snapshot], T]) -> T:
        result = await super().read(use)
        if self.do is not None and use.__module__ == "daemon.agents.running.runner":
            do, self.do = self.do, None
            do()
        return result


@pytest.mark.parametrize("is_requested", [False, True])
async def test_an_agent_that_is_paused_before_its_run_is_claimed_asks_no_model(
    a: Home, agent: EntityId, is_requested: bool
) -> None:
    threads, model = Between(a.store), AtTurn(lambda: None)
    threads.do = lambda: a.write(lambda tx: lifecycle.pause_agent(tx, agent))
    a.write(
        lambda tx: lifecycle.edit_agent(
            tx, agent, mode="interactive" if is_requested else "autonomous", model=None
        )
    )
    async with serving(a, model, threads=threads) as service:
        if is_requested:
            run = await service.scheduler.wake(agent, wait_s=LIMIT_S)
            assert run is not None
            assert (run.status, run.error) == (RunStatus.SKIPPED, "it is paused")
        await service.until(lambda: _paused(service, agent))
        await spend_idle_turns(service, agent)
        assert [element.status for element in await service.runs(agent)] == [RunStatus.SKIPPED] * is_requested
    assert model.turns == 0


async def _paused(service: Serving, agent: EntityId) -> bool:
    await service.runs(agent)
    return stored_agent(service.home, agent).lifecycle == "dormant"


async def test_a_person_who_waits_for_a_run_that_may_not_end_is_told_why(a: Home, agent: EntityId) -> None:
    model = AtTurn(lambda: a.write(lambda tx: lifecycle.pause_agent(tx, agent)))
    async with serving(a, model) as service:
        run = await service.scheduler.wake(agent, wait_s=LIMIT_S)
    assert run is not None
    assert (run.status, run.error) == (RunStatus.SKIPPED, "it is paused")


async def test_a_skipped_change_is_due_again_when_the_agent_may_run(a: Home, agent: EntityId) -> None:
    model = AtTurn(lambda: a.write(lambda tx: lifecycle.pause_agent(tx, agent)))
    async with serving(a, model) as service:
        await service.until(lambda: over(service, agent))
        (cut,) = await service.runs(agent)
        model.do = lambda: None
        await service.threads.write(lambda tx: lifecycle.resume_agent(tx, agent))
        (finished,) = await service.completed(agent, 1)
    assert finished.run_key == cut.run_key


async def over(service: Serving, agent: EntityId) -> bool:
    """Report whether the agent has run, and every run has ended."""
    runs = await service.runs(agent)
    return bool(runs) and all(run.ended_ms is not None for run in runs)


# -- moving -------------------------------------------------------------------------------------------


async def test_a_moved_agent_goes_on_at_its_new_home_with_what_is_new(
    fleet: Fleet, a: Home, b: Home, task: EntityId, agent: EntityId
) -> None:
    await wait_until_settled(a, agent)
    a.write(lambda tx: lifecycle.move_agent(tx, agent, device(b)))
    a.new("entry", task, task_id=task, text="takes 2 hours")
    fleet.sync()
    assert not a.read(lambda snapshot: wakes.is_due(snapshot, agent))
    await wait_until_settled(b, agent)
    assert [line.tool for line in waiting(b)] == ["update_task_estimate"]
    fleet.sync()
    assert not a.read(lambda snapshot: wakes.is_due(snapshot, agent))


async def test_an_agent_that_moved_away_and_back_does_nothing_twice(
    fleet: Fleet, a: Home, b: Home, task: EntityId, agent: EntityId
) -> None:
    await wait_until_settled(a, agent)
    for home in (b, a):
        a.write(lambda tx, home=home: lifecycle.move_agent(tx, agent, device(home)))  # type: ignore[misc]
        fleet.sync()
        async with serving(home) as service:
            await spend_idle_turns(service, agent)
    assert (
        sum(len(home.read(lambda snapshot: run_log.runs_of_agent(snapshot, agent, 9))) for home in (a, b))
        == 1
    )


async def test_a_run_under_way_where_an_agent_was_writes_nothing_once_the_move_is_known(
    fleet: Fleet, a: Home, b: Home, task: EntityId, agent: EntityId
) -> None:
    fleet.sync()
    b.write(lambda tx: lifecycle.move_agent(tx, agent, device(b)))
    model = Scripted(PROPOSES)
    at_turn = AtTurn(lambda: fleet.pull(a, b))
    async with serving(a, at_turn) as service:
        await service.until(lambda: over(service, agent))
        (run,) = await service.runs(agent)
        assert (run.status, run.error) == (RunStatus.SKIPPED, "its home is another device")
    async with serving(b, model) as service:
        await service.completed(agent, 1)
    fleet.sync()
    assert len(waiting(a)) == len(waiting(b)) == 1


# -- categories and policies --------------------------------------------------------------------------


async def test_an_agent_may_work_on_the_category_that_its_task_had_when_it_was_made(a: Home) -> None:
    home, work = a.new("category", name="Home"), a.new("category", name="Work")
    task = a.new("task", title="Plan", status="OPEN", category_id=home)
    agent = a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))
    assert agent_details_of(a, agent).allowed_categories == ["Home"]
    await wait_until_settled(a, agent)
    a.set(task, category_id=work)
    async with serving(a) as service:
        await service.note(task, "takes 2 hours")
        await spend_idle_turns(service, agent)
        assert len(await service.runs(agent)) == 1
        with pytest.raises(Refused, match='tasks of the category "Work"') as refused:
            await service.scheduler.wake(agent)
        assert refused.value.hint == "allow it: placet agent policy AGENT --allow CATEGORY"
        reason = 'this agent may not work on tasks of the category "Work"'
        assert agent_details_of(a, agent).next_wake_why == reason
        await service.threads.write(
            lambda tx: policy_edits.edit_allowed_categories(tx, agent, allow=["Work"], disallow=["Home"])
        )
        await service.completed(agent, 2)
    assert agent_details_of(a, agent).allowed_categories == ["Work"]


def test_a_policy_only_tightens_and_can_be_taken_back(a: Home, agent: EntityId) -> None:
    def policy(tool: str) -> str:
        return agent_details_of(a, agent).policy[tool]

    a.write(lambda tx: policy_edits.set_tool_policy(tx, agent, "Set-Task-Language", "Deferred"))
    a.write(lambda tx: policy_edits.set_tool_policy(tx, agent, "add_checklist_item", "denied"))
    assert (policy("set_task_language"), policy("add_multiple_checklist_items")) == ("deferred", "denied")
    for tool in ("set_task_language", "add_multiple_checklist_items"):
        a.write(lambda tx, tool=tool: policy_edits.set_tool_policy(tx, agent, tool, "default"))  # type: ignore[misc]
    assert (policy("set_task_language"), policy("add_multiple_checklist_items")) == ("immediate", "deferred")
    before = ends(a)
    a.write(lambda tx: policy_edits.set_tool_policy(tx, agent, "set_task_title", "deferred"))
    for tool, wanted in (
        ("set_task_title", "immediate"),
        ("update_report", "deferred"),
        ("set_task_title", "x"),
        ("fly", "denied"),
    ):
        with pytest.raises(Refused) as refused:
            a.write(partial(policy_edits.set_tool_policy, agent=agent, tool_name=tool, policy=wanted))
        assert refused.value.code is RefusalCode.USAGE
    assert ends(a) == before


# -- who is told --------------------------------------------------------------------------------------


def test_failures_that_made_an_agent_dormant_are_told_on_every_device_until_it_is_resumed(
    fleet: Fleet, a: Home, b: Home, agent: EntityId
) -> None:
    a.write(lambda tx: runner.stop_failing_agent(tx, stored_agent(a, agent), 5, "no answer"))
    fleet.sync()
    for home in (a, b):
        agent_details = agent_details_of(home, agent)
        assert (agent_details.lifecycle, agent_details.consecutive_failures) == ("dormant", 5)
        assert agent_details.lifecycle_reason == "it failed 5 times in a row: no answer"
        assert agent_details.lifecycle_reason_id == "agent-failed-because"
        assert home.read(lambda snapshot: agent_overview.count_agents(snapshot, 0, 0)) == AgentCounts(
            0, 0, 0, 1
        )
    b.write(lambda tx: lifecycle.resume_agent(tx, agent))
    fleet.sync()
    assert (agent_details_of(a, agent).lifecycle, agent_details_of(a, agent).consecutive_failures) == (
        "created",
        0,
    )


def test_an_agent_that_is_given_up_is_an_event_of_the_system(a: Home, agent: EntityId) -> None:
    before = ends(a)[0]
    a.write(lambda tx: runner.stop_failing_agent(tx, stored_agent(a, agent), 5, "no answer"))
    (event,) = a.read(lambda snapshot: journal_log.feed_events(snapshot, before, 10))
    assert (event.by, event.touched[0].id) == ("system", id_to_text(agent))
    assert {(change.field, change.after) for change in event.changes} == {
        ("lifecycle", "dormant"),
        ("lifecycle_reason", "it failed 5 times in a row: no answer"),
    }


def test_a_person_who_resumes_while_the_agent_is_given_up_elsewhere_is_heeded(
    fleet: Fleet, a: Home, b: Home, agent: EntityId
) -> None:
    a.write(lambda tx: lifecycle.pause_agent(tx, agent))
    fleet.sync()
    b.write(lambda tx: lifecycle.resume_agent(tx, agent))
    a.write(lambda tx: lifecycle.resume_agent(tx, agent))
    fleet.now_ms += 60_000
    a.write(lambda tx: runner.stop_failing_agent(tx, stored_agent(a, agent), 5, "no answer"))
    fleet.sync()
    version = b.entity(agent).version("lifecycle")
    assert version is not None
    assert (stored_agent(b, agent).lifecycle, version.source.by) == ("active", AuthorKind.USER)


def test_an_agent_that_is_not_at_home_here_any_more_is_not_given_up(a: Home, agent: EntityId) -> None:
    a.write(lambda tx: lifecycle.move_agent(tx, agent, DeviceId(bytes(32))))
    before = ends(a)
    a.write(lambda tx: runner.stop_failing_agent(tx, stored_agent(a, agent), 5, "no answer"))
    assert ends(a) == before
    assert a.read(timers.next_wake_ms) is None
