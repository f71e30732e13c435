"""What becomes of agents: each step of the table of transitions, on one device, on two, and during a run.

Never sleeps: each test waits, turn by turn of the store's threads, for what it caused.
"""

from collections.abc import Callable
from typing import TypeVar

import pytest

from daemon.agents import agents, lifecycle, permits, wakes
from daemon.agents.agents import AgentCounts, AgentShown
from daemon.agents.models.interface import ToolCall, Turn
from daemon.agents.records import Agent, load, state_id
from daemon.agents.timetable import Outlook
from daemon.journal import log as journal_log
from daemon.journal.errors import Code, Refused
from store import runs, timers
from store.runs import RunStatus
from store.snapshot import Snapshot
from store.threads import StoreThreads
from store.transaction import Transaction
from store.verdicts import Status
from syncproto.commit import By
from syncproto.ids import DeviceId, EntityId, text
from tests.daemon.agents.deciding import confirm, defer, reject, reopen, waiting
from tests.daemon.agents.fleet import Fleet, Home
from tests.daemon.agents.test_runs_that_go_wrong import AtTurn, idle_turns, settled
from tests.daemon.agents.test_scheduler import Scripted, Serving, serving

T = TypeVar("T")
PROPOSES = Turn((ToolCall("update_task_estimate", {"minutes": 90}), ToolCall("update_report", {"tldr": "x"})))


@pytest.fixture
def agent(a: Home, task: EntityId) -> EntityId:
    return a.write(lambda tx: agents.create(tx, text(task), "rules"))


def known(home: Home, agent: EntityId) -> Agent:
    found = home.read(lambda snapshot: load(snapshot, agent))
    assert found is not None
    return found


def shown(home: Home, agent: EntityId) -> AgentShown:
    def outlook(_agent: EntityId) -> Outlook:
        return Outlook(None, "nothing")

    return home.read(lambda snapshot: agents.shown(snapshot, agent, home.now_ms(), outlook))


def device(home: Home) -> DeviceId:
    return home.read(lambda snapshot: snapshot.device)


def ends(*homes: Home) -> list[int]:
    return [home.read(lambda snapshot: snapshot.feed_end()) for home in homes]


# -- each step ----------------------------------------------------------------------------------------


async def test_an_agent_is_created_until_its_first_run_has_ended(a: Home, agent: EntityId) -> None:
    assert shown(a, agent).lifecycle == "created"
    await settled(a, agent)
    assert shown(a, agent).lifecycle == "active"


async def test_a_paused_agent_sleeps_through_changes_and_sees_them_when_resumed(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    await settled(a, agent)
    a.write(lambda tx: lifecycle.pause(tx, agent))
    assert (shown(a, agent).lifecycle, shown(a, agent).lifecycle_reason) == ("dormant", "it is paused")
    async with serving(a) as at:
        await at.note(task, "takes 2 hours")
        await idle_turns(at, agent)
        assert len(await at.runs(agent)) == 1
        await at.threads.write(lambda tx: lifecycle.resume(tx, agent))
        await at.completed(agent, 2)
    assert [line.tool for line in waiting(a)] == ["update_task_estimate"]
    assert shown(a, agent).lifecycle_reason is None


def test_what_is_so_already_is_not_written_again(a: Home, agent: EntityId) -> None:
    here = device(a)
    for step in (lifecycle.pause, lifecycle.resume, lifecycle.destroy):
        a.write(lambda tx, step=step: step(tx, agent))  # type: ignore[misc]
        before = ends(a)
        a.write(lambda tx, step=step: step(tx, agent))  # type: ignore[misc]
        assert ends(a) == before
        if step is lifecycle.resume:
            a.write(lambda tx: lifecycle.move(tx, agent, here))
            a.write(lambda tx: lifecycle.edit(tx, agent, mode="autonomous", model="rules"))
            assert ends(a) == before


@pytest.mark.parametrize(
    "step",
    [
        lifecycle.pause,
        lifecycle.resume,
        lambda tx, agent: lifecycle.move(tx, agent, DeviceId(bytes(32))),
        lambda tx, agent: lifecycle.edit(tx, agent, mode="hybrid", model=None),
        lambda tx, agent: permits.set_policy(tx, agent, "set_task_title", "denied"),
        lambda tx, agent: permits.admit(tx, agent, allow=[], disallow=[]),
    ],
)
def test_a_destroyed_agent_cannot_be_changed(
    a: Home, agent: EntityId, step: Callable[[Transaction, EntityId], None]
) -> None:
    a.write(lambda tx: lifecycle.destroy(tx, agent))
    before = ends(a)
    with pytest.raises(Refused, match="final") as refused:
        a.write(lambda tx: step(tx, agent))
    assert refused.value.code is Code.CONFLICT
    assert ends(a) == before


def test_an_agent_that_sleeps_because_its_task_was_removed_wakes_when_that_is_restored(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    a.set(task, deleted=True)
    assert shown(a, agent).lifecycle == "dormant"
    with pytest.raises(Refused, match="task was removed"):
        a.write(lambda tx: lifecycle.resume(tx, agent))
    a.set(task, deleted=False)
    assert shown(a, agent).lifecycle == "created"
    assert a.read(lambda snapshot: wakes.due(snapshot, agent))


def test_a_mode_that_is_none_is_refused(a: Home, task: EntityId, agent: EntityId) -> None:
    with pytest.raises(Refused, match="no mode is called 'eager'"):
        a.write(lambda tx: lifecycle.edit(tx, agent, mode="eager", model=None))
    with pytest.raises(Refused, match="which is autonomous"):
        a.write(lambda tx: agents.create(tx, text(task), "rules", "hybrid"))
    assert a.write(lambda tx: agents.create(tx, text(task), "rules", "autonomous")) == agent


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
    a.write(lambda tx: lifecycle.destroy(tx, agent))
    ((_, received),) = a.read(lambda snapshot: snapshot.feed(before, 10))
    kinds = sorted(operation.kind for operation in received.commit.operations)
    assert kinds == ["agent", "decision", "decision"]
    statuses = [a.item(one).status for one in (pending, deferred, turned_down, confirmed, again)]
    assert statuses == [
        Status.RETRACTED,
        Status.DEFERRED,
        Status.REJECTED,
        Status.CONFIRMED,
        Status.RETRACTED,
    ]
    assert a.value(task, "estimate_minutes") == 90
    assert [line.item_id for line in waiting(a)] == [text(deferred)]


def test_more_proposals_than_a_commit_holds_are_taken_back_in_one_transaction(
    a: Home, task: EntityId, agent: EntityId, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lifecycle, "RETRACTED_PER_COMMIT", 2)
    items = [a.add(task, f"Item {n}", f"run {n}") for n in range(5)]
    a.write(lambda tx: lifecycle.destroy(tx, agent))
    assert {a.item(one).status for one in items} == {Status.RETRACTED}


async def test_what_an_agent_proposed_where_its_end_was_not_known_yet_is_taken_back_at_its_home(
    fleet: Fleet, a: Home, b: Home, task: EntityId, agent: EntityId
) -> None:
    await settled(a, agent)
    fleet.sync()
    b.write(lambda tx: lifecycle.destroy(tx, agent))
    late = a.estimate(task, 90)
    fleet.sync()
    assert b.item(late).status is Status.PENDING
    async with serving(a) as at:

        async def taken_back() -> bool:
            await at.runs(agent)
            return a.item(late).status is Status.RETRACTED

        await at.until(taken_back)
        end = ends(a)
        await idle_turns(at, agent)
        assert ends(a) == end
    fleet.sync()
    assert b.item(late).status is Status.RETRACTED


async def test_destroyed_wins_over_whatever_was_done_to_the_agent_elsewhere(
    fleet: Fleet, a: Home, b: Home, agent: EntityId
) -> None:
    fleet.sync()
    a.write(lambda tx: lifecycle.destroy(tx, agent))
    fleet.now_ms += 60_000
    b.write(lambda tx: lifecycle.pause(tx, agent))
    b.write(lambda tx: lifecycle.resume(tx, agent))
    fleet.sync()
    for home in (a, b):
        assert known(home, agent).lifecycle == "destroyed"
        counted = home.read(lambda snapshot: agents.counts(snapshot, 0, 0))
        assert counted == AgentCounts(0, 0, 0, 0)
        with pytest.raises(Refused, match="final"):
            home.write(lambda tx: lifecycle.resume(tx, agent))


# -- during a run -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "why"),
    [
        (lifecycle.pause, "it is paused"),
        (lifecycle.destroy, "it was destroyed"),
        (lambda tx, agent: lifecycle.move(tx, agent, DeviceId(bytes(32))), "its home is another device"),
        (
            lambda tx, agent: permits.admit(tx, agent, allow=["Work"], disallow=[]),
            "this agent may not work on tasks without a category",
        ),
    ],
)
async def test_an_agent_that_may_not_run_any_more_ends_its_run_without_a_word(
    a: Home, agent: EntityId, step: Callable[[Transaction, EntityId], None], why: str
) -> None:
    a.new("category", name="Work")
    model = AtTurn(lambda: a.write(lambda tx: step(tx, agent)))
    async with serving(a, model) as at:

        async def skipped() -> bool:
            return any(run.status is RunStatus.SKIPPED for run in await at.runs(agent))

        await at.until(skipped)
        (run,) = await at.runs(agent)
        assert run.error == why
        await idle_turns(at, agent)
        assert (len(await at.runs(agent)), at.scheduler.counts()) == (1, (0, 0))
    assert model.turns == 2  # the second is asked for a report, before anything is written
    assert a.read(lambda snapshot: snapshot.entity(state_id(agent))) is None
    assert waiting(a) == []


class Between(StoreThreads):
    """A store that lets something happen between the plan of a run and its claim."""

    do: Callable[[], None] | None = None

    async def read(self, use: Callable[[Snapshot], T]) -> T:
        found = await super().read(use)
        if self.do is not None and use.__module__ == "daemon.agents.runner":
            do, self.do = self.do, None
            do()
        return found


@pytest.mark.parametrize("asked", [False, True])
async def test_an_agent_that_is_paused_before_its_run_is_claimed_asks_no_model(
    a: Home, agent: EntityId, asked: bool
) -> None:
    threads, model = Between(a.store), AtTurn(lambda: None)
    threads.do = lambda: a.write(lambda tx: lifecycle.pause(tx, agent))
    a.write(lambda tx: lifecycle.edit(tx, agent, mode="interactive" if asked else "autonomous", model=None))
    async with serving(a, model, threads=threads) as at:
        if asked:
            run = await at.scheduler.wake(agent, wait_s=20)
            assert run is not None
            assert (run.status, run.error) == (RunStatus.SKIPPED, "it is paused")
        await at.until(lambda: _paused(at, agent))
        await idle_turns(at, agent)
        assert [one.status for one in await at.runs(agent)] == [RunStatus.SKIPPED] * asked
    assert model.turns == 0


async def _paused(at: Serving, agent: EntityId) -> bool:
    await at.runs(agent)
    return known(at.home, agent).lifecycle == "dormant"


async def test_a_person_who_waits_for_a_run_that_may_not_end_is_told_why(a: Home, agent: EntityId) -> None:
    model = AtTurn(lambda: a.write(lambda tx: lifecycle.pause(tx, agent)))
    async with serving(a, model) as at:
        run = await at.scheduler.wake(agent, wait_s=20)
    assert run is not None
    assert (run.status, run.error) == (RunStatus.SKIPPED, "it is paused")


async def test_a_skipped_change_is_due_again_when_the_agent_may_run(a: Home, agent: EntityId) -> None:
    model = AtTurn(lambda: a.write(lambda tx: lifecycle.pause(tx, agent)))
    async with serving(a, model) as at:
        await at.until(lambda: over(at, agent))
        (cut,) = await at.runs(agent)
        model.do = lambda: None
        await at.threads.write(lambda tx: lifecycle.resume(tx, agent))
        (done,) = await at.completed(agent, 1)
    assert done.run_key == cut.run_key


async def over(at: Serving, agent: EntityId) -> bool:
    """Say whether the agent has run, and every run has ended."""
    found = await at.runs(agent)
    return bool(found) and all(run.ended_ms is not None for run in found)


# -- moving -------------------------------------------------------------------------------------------


async def test_a_moved_agent_goes_on_at_its_new_home_with_what_is_new(
    fleet: Fleet, a: Home, b: Home, task: EntityId, agent: EntityId
) -> None:
    await settled(a, agent)
    a.write(lambda tx: lifecycle.move(tx, agent, device(b)))
    a.new("entry", task, task_id=task, text="takes 2 hours")
    fleet.sync()
    assert not a.read(lambda snapshot: wakes.due(snapshot, agent))
    await settled(b, agent)
    assert [line.tool for line in waiting(b)] == ["update_task_estimate"]
    fleet.sync()
    assert not a.read(lambda snapshot: wakes.due(snapshot, agent))


async def test_an_agent_that_moved_away_and_back_does_nothing_twice(
    fleet: Fleet, a: Home, b: Home, task: EntityId, agent: EntityId
) -> None:
    await settled(a, agent)
    for home in (b, a):
        a.write(lambda tx, home=home: lifecycle.move(tx, agent, device(home)))  # type: ignore[misc]
        fleet.sync()
        async with serving(home) as at:
            await idle_turns(at, agent)
    assert sum(len(home.read(lambda snapshot: runs.of_agent(snapshot, agent, 9))) for home in (a, b)) == 1


async def test_a_run_under_way_where_an_agent_was_writes_nothing_once_the_move_is_known(
    fleet: Fleet, a: Home, b: Home, task: EntityId, agent: EntityId
) -> None:
    fleet.sync()
    b.write(lambda tx: lifecycle.move(tx, agent, device(b)))
    model = Scripted(PROPOSES)
    at_turn = AtTurn(lambda: fleet.pull(a, b))
    async with serving(a, at_turn) as at:
        await at.until(lambda: over(at, agent))
        (run,) = await at.runs(agent)
        assert (run.status, run.error) == (RunStatus.SKIPPED, "its home is another device")
    async with serving(b, model) as at:
        await at.completed(agent, 1)
    fleet.sync()
    assert len(waiting(a)) == len(waiting(b)) == 1


# -- categories and policies --------------------------------------------------------------------------


async def test_an_agent_may_work_on_the_category_that_its_task_had_when_it_was_made(a: Home) -> None:
    home, work = a.new("category", name="Home"), a.new("category", name="Work")
    task = a.new("task", title="Plan", status="OPEN", category_id=home)
    agent = a.write(lambda tx: agents.create(tx, text(task), "rules"))
    assert shown(a, agent).allowed_categories == ["Home"]
    await settled(a, agent)
    a.set(task, category_id=work)
    async with serving(a) as at:
        await at.note(task, "takes 2 hours")
        await idle_turns(at, agent)
        assert len(await at.runs(agent)) == 1
        with pytest.raises(Refused, match='tasks of the category "Work"') as refused:
            await at.scheduler.wake(agent)
        assert refused.value.hint == "allow it: placet agent policy --allow"
        why = 'this agent may not work on tasks of the category "Work"'
        assert shown(a, agent).next_wake_why == why
        await at.threads.write(lambda tx: permits.admit(tx, agent, allow=["Work"], disallow=["Home"]))
        await at.completed(agent, 2)
    assert shown(a, agent).allowed_categories == ["Work"]


def test_a_policy_only_tightens_and_can_be_taken_back(a: Home, agent: EntityId) -> None:
    def policy(tool: str) -> str:
        return shown(a, agent).policy[tool]

    a.write(lambda tx: permits.set_policy(tx, agent, "Set-Task-Language", "Deferred"))
    a.write(lambda tx: permits.set_policy(tx, agent, "add_checklist_item", "denied"))
    assert (policy("set_task_language"), policy("add_multiple_checklist_items")) == ("deferred", "denied")
    for tool in ("set_task_language", "add_multiple_checklist_items"):
        a.write(lambda tx, tool=tool: permits.set_policy(tx, agent, tool, "default"))  # type: ignore[misc]
    assert (policy("set_task_language"), policy("add_multiple_checklist_items")) == ("immediate", "deferred")
    before = ends(a)
    a.write(lambda tx: permits.set_policy(tx, agent, "set_task_title", "deferred"))
    for tool, wanted in (
        ("set_task_title", "immediate"),
        ("update_report", "deferred"),
        ("set_task_title", "x"),
        ("fly", "denied"),
    ):
        with pytest.raises(Refused) as refused:
            a.write(lambda tx, tool=tool, wanted=wanted: permits.set_policy(tx, agent, tool, wanted))  # type: ignore[misc]
        assert refused.value.code is Code.USAGE
    assert ends(a) == before


# -- who is told --------------------------------------------------------------------------------------


def test_failures_that_made_an_agent_dormant_are_told_on_every_device_until_it_is_resumed(
    fleet: Fleet, a: Home, b: Home, agent: EntityId
) -> None:
    a.write(lambda tx: lifecycle.give_up(tx, known(a, agent), 5, "no answer"))
    fleet.sync()
    for home in (a, b):
        seen = shown(home, agent)
        assert (seen.lifecycle, seen.consecutive_failures) == ("dormant", 5)
        assert seen.lifecycle_reason == "it failed 5 times in a row: no answer"
        assert home.read(lambda snapshot: agents.counts(snapshot, 0, 0)) == AgentCounts(0, 0, 0, 1)
    b.write(lambda tx: lifecycle.resume(tx, agent))
    fleet.sync()
    assert (shown(a, agent).lifecycle, shown(a, agent).consecutive_failures) == ("created", 0)


def test_an_agent_that_is_given_up_is_an_event_of_the_system(a: Home, agent: EntityId) -> None:
    before = ends(a)[0]
    a.write(lambda tx: lifecycle.give_up(tx, known(a, agent), 5, "no answer"))
    (event,) = a.read(lambda snapshot: journal_log.events(snapshot, before, 10))
    assert (event.by, event.touched[0].id) == ("system", text(agent))
    assert {(one.field, one.after) for one in event.changes} == {
        ("lifecycle", "dormant"),
        ("lifecycle_reason", "it failed 5 times in a row: no answer"),
    }


def test_a_person_who_resumes_while_the_agent_is_given_up_elsewhere_is_heeded(
    fleet: Fleet, a: Home, b: Home, agent: EntityId
) -> None:
    a.write(lambda tx: lifecycle.pause(tx, agent))
    fleet.sync()
    b.write(lambda tx: lifecycle.resume(tx, agent))
    a.write(lambda tx: lifecycle.resume(tx, agent))
    fleet.now_ms += 60_000
    a.write(lambda tx: lifecycle.give_up(tx, known(a, agent), 5, "no answer"))
    fleet.sync()
    version = b.entity(agent).version("lifecycle")
    assert version is not None
    assert (known(b, agent).lifecycle, version.source.by) == ("active", By.USER)


def test_an_agent_that_is_not_at_home_here_any_more_is_not_given_up(a: Home, agent: EntityId) -> None:
    a.write(lambda tx: lifecycle.move(tx, agent, DeviceId(bytes(32))))
    before = ends(a)
    a.write(lambda tx: lifecycle.give_up(tx, known(a, agent), 5, "no answer"))
    assert ends(a) == before
    assert a.read(timers.next_ms) is None
