"""Runs from end to end on a real store: an entry, a wake, proposals, a decision, and the next wake.

Never sleeps: pauses are set to nothing, and each test waits for the run that it caused.
"""

from collections.abc import Awaitable, Callable
from datetime import UTC

import pytest

from daemon.agents.person import agent_overview, lifecycle
from daemon.agents.person.agent_overview import AgentCounts, AgentDetails
from daemon.agents.running.runner import RunnerSettings
from daemon.agents.running.timetable import Outlook, RunPace, Timetable
from daemon.agents.tools.agent_record import current_report, load_agent, state_id
from daemon.agents.tools.model_interface import ModelFault, ModelTurn, RunContext, ToolCall
from daemon.journal import tasks
from daemon.refusal import Refused
from store.fold.item import clock_from_value
from store.local.run_log import RunStatus
from store.sentence import foreign_text
from store.transaction import EntityWrite, Transaction
from syncproto.ids import EntityId, id_to_text
from tests.support.decision_verbs import confirm, reject, waiting
from tests.support.fleet import Fleet, Home
from tests.support.patience import LIMIT_S
from tests.support.scheduler_service import EAGER, Forever, Scripted, Serving, serving


class Meanwhile:
    """A model during whose first turn someone writes a note."""

    name = "meanwhile"

    def __init__(self) -> None:
        self.seen: list[RunContext] = []
        self.write: Callable[[], Awaitable[None]] | None = None

    async def turn(self, context: RunContext) -> ModelTurn:
        self.seen.append(context)
        if self.write is not None:
            write, self.write = self.write, None
            await write()
        return ModelTurn(())


@pytest.fixture
def agent(a: Home, task: EntityId) -> EntityId:
    return a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))


def note(home: Home, task: EntityId, text: str) -> EntityId:
    return home.new("entry", task, task_id=task, text=text, source="note")


async def test_a_new_agent_wakes_once_and_an_entry_wakes_it_again(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    async with serving(a) as service:
        await service.completed(agent, 1)
        await service.note(task, "This takes 2 hours, due 2026-12-01.")
        await service.completed(agent, 2)
        lines = waiting(a)
        assert [line.summary for line in lines] == [
            "Set due date to 2026-12-01",
            "Set estimate to 120 minutes",
        ]
        assert lines[0].rationale == "The note says: “This takes 2 hours, due 2026-12-01.”"
        assert a.value(task, "due") is None


async def test_the_circle_of_wake_confirm_and_next_wake_that_sees_the_decision(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    model = Scripted()
    note(a, task, "about 2 hours; urgent")
    async with serving(a) as service:
        await service.completed(agent, 1)
    estimate, priority = waiting(a)
    confirm(a, a.read(lambda snapshot: snapshot.items(task)[0].id))
    reject(a, a.read(lambda snapshot: snapshot.items(task)[1].id), "I know better")
    assert (estimate.tool, priority.tool) == ("update_task_estimate", "update_task_priority")
    async with serving(a, model) as service:
        await service.scheduler.wake(agent, wait_s=LIMIT_S)
    decided = [(decision.tool, decision.verdict, decision.reason) for decision in model.seen[0].decisions]
    assert decided == [
        ("update_task_estimate", "confirmed", ""),
        ("update_task_priority", "rejected", "I know better"),
    ]


async def test_a_run_ends_in_one_commit_that_moves_watermark_and_report(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    note(a, task, "about 2 hours")
    before = a.read(lambda snapshot: (snapshot.feed_end(), snapshot.vector()))
    async with serving(a) as service:
        await service.completed(agent, 1)
    (_, turn), (_, received) = a.read(lambda snapshot: snapshot.read_feed(before[0], 10))
    assert {operation.kind for operation in turn.commit.operations} == {"message"}
    kinds = sorted(operation.kind for operation in received.commit.operations)
    assert kinds == ["agent_state", "change_set", "message", "report"]
    assert received.commit.author.agent == agent
    assert clock_from_value(a.value(state_id(agent), "watermark")) == before[1]
    known_agent = a.read(lambda snapshot: load_agent(snapshot, agent))
    assert known_agent is not None
    report = a.read(lambda snapshot: current_report(snapshot, known_agent))
    assert report is not None
    assert report["title"] == "Write the report"


async def test_a_report_that_says_nothing_new_is_not_written_again(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    async with serving(a) as service:
        await service.completed(agent, 1)
        first = a.value(state_id(agent), "report_id")
        a.fleet.now_ms += 1000
        await service.note(task, "nothing to see here")
        await service.completed(agent, 2)
        assert a.value(state_id(agent), "report_id") == first


async def test_what_lands_during_a_run_makes_the_next_one(a: Home, task: EntityId, agent: EntityId) -> None:
    model = Meanwhile()
    async with serving(a, model) as service:
        model.write = lambda: service.note(task, "written meanwhile")
        await service.completed(agent, 2)
    assert [[note.text for note in context.new_entries] for context in model.seen[::2]] == [
        [],
        ["written meanwhile"],
    ]


async def test_an_entry_whose_text_is_as_it_was_is_not_read_again(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    entry = note(a, task, "about 2 hours")
    model = Scripted()
    async with serving(a, model) as service:
        await service.completed(agent, 1)
        await service.threads.write(lambda tx: tx.commit([EntityWrite(entry, "entry", {"source": "import"})]))
        await service.completed(agent, 2)
    assert [len(context.new_entries) for context in model.seen[::2]] == [1, 0]


async def test_waiting_for_a_run_has_an_end(a: Home, agent: EntityId) -> None:
    async with serving(a, Forever()) as service:
        with pytest.raises(Refused) as refused:
            await service.scheduler.wake(agent, wait_s=0.01)
        assert refused.value.code == "timeout"


async def test_a_request_for_an_agent_whose_task_was_removed_is_refused(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    a.set(task, deleted=True)
    async with serving(a) as service:
        with pytest.raises(Refused, match="task was removed"):
            await service.scheduler.wake(agent)


async def test_a_persons_request_runs_without_news_and_returns_the_run(a: Home, agent: EntityId) -> None:
    async with serving(a) as service:
        await service.completed(agent, 1)
        run = await service.scheduler.wake(agent, wait_s=LIMIT_S)
        assert run is not None
        assert (run.status, run.reason) == (RunStatus.COMPLETED, "asked by a person")


async def test_a_request_on_a_device_that_is_not_its_home_is_refused(
    fleet: Fleet, a: Home, b: Home, agent: EntityId
) -> None:
    fleet.sync()
    async with serving(b) as service:
        with pytest.raises(Refused, match="another device"):
            await service.scheduler.wake(agent)


async def test_a_request_for_an_agent_that_is_not_there_is_refused(a: Home, task: EntityId) -> None:
    async with serving(a) as service:
        with pytest.raises(Refused, match="no such agent"):
            await service.scheduler.wake(task)


async def test_answers_go_back_to_the_model_and_a_forgotten_report_is_asked_for_once(
    a: Home, agent: EntityId
) -> None:
    model = Scripted(
        ModelTurn((ToolCall("updateTaskEstimate", '{"minutes": "sixty"}'), ToolCall("nonsense", "{}"))),
        ModelTurn((ToolCall("update_task_estimate", {"minutes": 60}),)),
    )
    async with serving(a, model) as service:
        await service.completed(agent, 1)
    answers = [exchange.answer for exchange in model.seen[-1].tool_exchanges]
    assert answers[0].startswith("Refused: update_task_estimate")
    assert answers[1].startswith("Refused: there is no tool 'nonsense'")
    assert answers[2] == "Skipped: estimate is already 60 minutes."
    assert "update_report" in model.seen[-1].instruction
    assert [bool(context.instruction) for context in model.seen] == [False, False, False, True]


async def test_a_model_that_never_stops_is_stopped(a: Home, agent: EntityId) -> None:
    model = Scripted(*(ModelTurn((ToolCall("update_task_estimate", {"minutes": 60}),)) for _ in range(50)))
    async with serving(a, model) as service:
        await service.completed(agent, 1)
    assert len(model.seen) == 11


async def test_a_model_that_takes_too_long_fails_and_writes_nothing(a: Home, agent: EntityId) -> None:
    settings = RunnerSettings(pace=EAGER.pace, run_max_s=0.01, zone=UTC)
    before = a.read(lambda snapshot: snapshot.feed_end())
    async with serving(a, Forever(), settings) as service:
        await service.until(lambda: _has(service, agent, RunStatus.FAILED))
        (run,) = await service.runs(agent)
    assert "longer than 0.01 s" in run.error
    assert a.read(lambda snapshot: snapshot.feed_end()) == before


async def _has(service: Serving, agent: EntityId, status: RunStatus) -> bool:
    return any(run.status is status for run in await service.runs(agent))


async def test_a_failed_run_is_tried_again_under_the_same_key_after_its_backoff(
    a: Home, agent: EntityId
) -> None:
    model = Scripted(ModelFault(foreign_text("no answer")))
    async with serving(a, model) as service:
        await service.until(lambda: _has(service, agent, RunStatus.FAILED))
        (failed,) = await service.runs(agent)
        await service.until(lambda: _backs_off(service, agent))
        assert len(model.seen) == 1
        a.fleet.now_ms += 60_000
        service.scheduler.on_store_growth()
        (finished,) = await service.completed(agent, 1)
        assert finished.run_key == failed.run_key
        assert (failed.error, finished.error) == ("the model could not answer: no answer", "")


async def _backs_off(service: Serving, agent: EntityId) -> bool:
    await service.runs(agent)  # lets the loop go on
    return "backing off" in service.scheduler.outlook(agent).why


async def test_a_bug_in_a_model_fails_its_run_and_leaves_the_others_alone(a: Home, agent: EntityId) -> None:
    other = a.new("task", title="Another", status="OPEN")
    second = a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(other), "rules"))
    model = Scripted(ZeroDivisionError("a bug"))
    async with serving(a, model) as service:

        async def both_ended() -> bool:
            runs = [*await service.runs(agent), *await service.runs(second)]
            return sum(run.status is not RunStatus.RUNNING for run in runs) == 2

        await service.until(both_ended)
        found_runs = [*await service.runs(agent), *await service.runs(second)]
        assert sorted(run.error for run in found_runs) == ["", "ZeroDivisionError: a bug"]
        assert sorted(run.status for run in found_runs) == [RunStatus.COMPLETED, RunStatus.FAILED]


async def test_a_run_cut_short_is_abandoned_and_due_again_under_the_same_key(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    note(a, task, "about 2 hours")
    forever = Forever()
    async with serving(a, forever) as service:
        await forever.asked.wait()
        (cut,) = await service.runs(agent)
        assert cut.status is RunStatus.RUNNING
    async with serving(a) as service:
        (finished,) = await service.completed(agent, 1)
    assert finished.run_key == cut.run_key
    assert len(waiting(a)) == 1


@pytest.mark.parametrize(
    "happened_at", ["9999-12-31T23:59:59Z", "0001-01-01T00:00:00+14:00", "never", "", "2026-03-20T10:00:00"]
)
async def test_an_entry_from_the_end_of_the_calendar_stops_no_run(
    a: Home, task: EntityId, agent: EntityId, happened_at: str
) -> None:
    a.new("entry", task, task_id=task, text="due tomorrow, by end of March", happened_at=happened_at)
    async with serving(a) as service:
        (run,) = await service.completed(agent, 1)
        assert run.error == ""


async def test_a_restart_runs_nothing_twice(a: Home, task: EntityId, agent: EntityId) -> None:
    note(a, task, "about 2 hours")
    async with serving(a) as service:
        await service.completed(agent, 1)
    end = a.read(lambda snapshot: snapshot.feed_end())
    async with serving(a) as service:
        await service.scheduler.wake(agent, wait_s=LIMIT_S)
        assert len(await service.runs(agent)) == 2
    assert a.read(lambda snapshot: snapshot.feed_end()) == end + 2  # its turn, and its end


async def test_agents_are_shown_with_report_runs_and_when_they_run_next(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    note(a, task, "about 2 hours")
    async with serving(a) as service:
        await service.completed(agent, 1)
        await service.until(lambda: _is_idle(service, agent))
        agent_details = await service.threads.read(
            lambda snapshot: agent_overview.agent_details(
                snapshot, agent, a.now_ms(), service.scheduler.outlook
            )
        )
    assert (agent_details.lifecycle, agent_details.at_home, agent_details.pending_items) == (
        "active",
        True,
        1,
    )
    assert agent_details.next_wake_why == "nothing has changed since its last run"
    assert [run.status for run in agent_details.runs] == ["completed"]
    assert agent_details.report is not None


async def _is_idle(service: Serving, agent: EntityId) -> bool:
    await service.runs(agent)  # lets the loop go on
    return "nothing has changed" in service.scheduler.outlook(agent).why


def test_creating_an_agent_twice_makes_one_and_names_reach_it(
    fleet: Fleet, a: Home, b: Home, task: EntityId, agent: EntityId
) -> None:
    assert a.write(lambda tx: lifecycle.create_agent(tx, "Write the", "rules")) == agent
    fleet.sync()
    for ref in (id_to_text(agent), id_to_text(agent)[:6], "Write the report", id_to_text(task)):
        assert b.read(lambda snapshot, ref=ref: agent_overview.find_agent(snapshot, ref)) == agent  # type: ignore[misc]
    with pytest.raises(Refused):
        b.read(lambda snapshot: agent_overview.find_agent(snapshot, "nothing like it"))
    other = b.new("task", title="Without", status="OPEN")
    with pytest.raises(Refused, match="no agent"):
        b.read(lambda snapshot: agent_overview.find_agent(snapshot, id_to_text(other)))
    b.write(lambda tx: tasks.remove(tx, id_to_text(task)))
    assert b.read(lambda snapshot: agent_overview.find_agent(snapshot, "Write the report")) == agent


def test_agents_say_why_they_do_not_run_and_are_counted(
    fleet: Fleet, a: Home, b: Home, task: EntityId, agent: EntityId
) -> None:
    def outlook(identifier: EntityId) -> Outlook:
        return Timetable(RunPace()).outlook(identifier, 0)

    def agent_details(home: Home) -> AgentDetails:
        listed = home.read(lambda snapshot: agent_overview.list_agents(snapshot, home.now_ms(), outlook))
        (only,) = listed
        return only

    fleet.sync()
    assert (agent_details(b).at_home, agent_details(b).next_wake_why) == (False, "its home is another device")
    assert agent_details(a).next_wake_why == "nothing has changed since its last run"
    assert a.read(lambda snapshot: agent_overview.count_agents(snapshot, 1, 2)) == AgentCounts(1, 1, 2, 0)
    a.set(task, deleted=True)
    assert (agent_details(a).lifecycle, agent_details(a).next_wake_at) == ("dormant", None)
    assert a.read(lambda snapshot: agent_overview.count_agents(snapshot, 0, 0)) == AgentCounts(0, 0, 0, 1)
    a.set(task, deleted=False)
    a.set(agent, lifecycle="destroyed")
    with pytest.raises(Refused, match="final"):
        a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))


def test_a_prefix_that_two_agents_share_is_ambiguous(a: Home) -> None:
    def use(tx: Transaction) -> list[str]:
        tasks = [tx.new_id() for _ in range(300)]
        tx.commit([EntityWrite(task, "task", {"title": id_to_text(task)}) for task in tasks])
        return [id_to_text(lifecycle.create_agent(tx, id_to_text(task), "rules")) for task in tasks]

    texts = a.write(use)
    shared = next(name[:3] for name in texts if sum(other[:3] == name[:3] for other in texts) > 1)
    with pytest.raises(Refused) as refused:
        a.read(lambda snapshot: agent_overview.find_agent(snapshot, shared))
    assert refused.value.code == "ambiguous"


def test_the_same_agent_made_on_two_devices_apart_is_one(
    fleet: Fleet, a: Home, b: Home, task: EntityId
) -> None:
    fleet.sync()
    agents = {home.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules")) for home in (a, b)}
    assert len(agents) == 1
    fleet.sync()
    homes = {home.value(agents.copy().pop(), "home_device_id") for home in (a, b)}
    assert len(homes) == 1
