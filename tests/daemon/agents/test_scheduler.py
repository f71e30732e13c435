"""Runs from end to end on a real store: an entry, a wake, proposals, a decision, and the next wake.

Never sleeps: pauses are set to nothing, and each test waits for the run that it caused.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC
from typing import Any

import pytest

from daemon.agents import agents
from daemon.agents.agents import AgentCounts, AgentShown
from daemon.agents.models.interface import ModelFault, RunContext, ToolCall, Turn
from daemon.agents.models.rules import Rules
from daemon.agents.records import load, report_of, state_id
from daemon.agents.runner import Settings
from daemon.agents.scheduler import Scheduler
from daemon.agents.timetable import Outlook, Pace, Timetable
from daemon.journal import tasks
from daemon.journal.errors import Refused
from store import runs
from store.item import clock_from_value
from store.runs import Run, RunStatus
from store.threads import StoreThreads
from store.transaction import Transaction, Write
from syncproto.ids import EntityId, text
from tests.daemon.agents.deciding import confirm, reject, waiting
from tests.daemon.agents.fleet import Fleet, Home

EAGER = Settings(pace=Pace(debounce_s=0, throttle_s=0), zone=UTC)


class Scripted:
    """A model that answers from a script, one turn after the other, then with nothing."""

    name = "scripted"

    def __init__(self, *turns: Callable[[RunContext], Turn] | Turn | Exception) -> None:
        self.turns = list(turns)
        self.seen: list[RunContext] = []

    async def turn(self, context: RunContext) -> Turn:
        self.seen.append(context)
        turn = self.turns.pop(0) if self.turns else Turn(())
        if isinstance(turn, Exception):
            raise turn
        return turn(context) if callable(turn) else turn


class Forever:
    """A model that never answers; it says when it was asked."""

    name = "forever"

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def turn(self, context: RunContext) -> Turn:
        self.asked.set()
        await asyncio.Event().wait()
        raise AssertionError(context)


class Meanwhile:
    """A model during whose first turn someone writes a note."""

    name = "meanwhile"

    def __init__(self) -> None:
        self.seen: list[RunContext] = []
        self.write: Callable[[], Awaitable[None]] | None = None

    async def turn(self, context: RunContext) -> Turn:
        self.seen.append(context)
        if self.write is not None:
            write, self.write = self.write, None
            await write()
        return Turn(())


class Clock:
    """The fleet's time, and seconds that never move by themselves."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet

    def now_ms(self) -> int:
        return self.fleet.now_ms

    def monotonic_s(self) -> float:
        return self.fleet.now_ms / 1000

    def randomness(self, count: int) -> bytes:
        return self.fleet.randomness(count)


class Serving:
    """A scheduler at work on one device."""

    def __init__(
        self,
        home: Home,
        model: Any,
        settings: Settings,
        threads: StoreThreads,
        shortfall: Callable[[], str | None],
    ) -> None:
        self.home = home
        self.threads = threads
        self.scheduler = Scheduler(threads, {"rules": model}, Clock(home.fleet), settings, shortfall)
        self.threads.on_commit.append(self.scheduler.grew)

    async def runs(self, agent: EntityId) -> list[Run]:
        return await self.threads.read(lambda snapshot: runs.of_agent(snapshot, agent, 100))

    async def note(self, task: EntityId, written: str) -> None:
        await self.threads.write(
            lambda tx: tx.commit([Write(tx.new_id(), "entry", {"task_id": task, "text": written})])
        )

    async def until(self, holds: Callable[[], Awaitable[bool]]) -> None:
        """Wait, turn by turn of the store's threads, until something holds."""
        async with asyncio.timeout(20):
            while not await holds():
                pass

    async def completed(self, agent: EntityId, number: int) -> list[Run]:
        """Wait until so many runs have completed."""

        async def holds() -> bool:
            found = await self.runs(agent)
            return sum(run.status is RunStatus.COMPLETED for run in found) >= number

        await self.until(holds)
        return await self.runs(agent)


@asynccontextmanager
async def serving(
    home: Home,
    model: Any = None,
    settings: Settings = EAGER,
    threads: StoreThreads | None = None,
    shortfall: Callable[[], str | None] = lambda: None,
) -> AsyncIterator[Serving]:
    made = Serving(home, model or Rules(), settings, threads or StoreThreads(home.store), shortfall)
    task = asyncio.create_task(made.scheduler.serve())
    try:
        yield made
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await made.threads.write(lambda tx: None)  # what a cancelled run had begun to write is over then


@pytest.fixture
def agent(a: Home, task: EntityId) -> EntityId:
    return a.write(lambda tx: agents.create(tx, text(task), "rules"))


def note(home: Home, task: EntityId, written: str) -> EntityId:
    return home.new("entry", task, task_id=task, text=written, source="note")


async def test_a_new_agent_wakes_once_and_an_entry_wakes_it_again(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    async with serving(a) as at:
        await at.completed(agent, 1)
        await at.note(task, "This takes 2 hours, due 2026-12-01.")
        await at.completed(agent, 2)
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
    async with serving(a) as at:
        await at.completed(agent, 1)
    estimate, priority = waiting(a)
    confirm(a, a.read(lambda snapshot: snapshot.items(task)[0].id))
    reject(a, a.read(lambda snapshot: snapshot.items(task)[1].id), "I know better")
    assert (estimate.tool, priority.tool) == ("update_task_estimate", "update_task_priority")
    async with serving(a, model) as at:
        await at.scheduler.wake(agent, wait_s=20)
    decided = [(one.tool, one.verdict, one.reason) for one in model.seen[0].decisions]
    assert decided == [
        ("update_task_estimate", "confirmed", ""),
        ("update_task_priority", "rejected", "I know better"),
    ]


async def test_a_run_ends_in_one_commit_that_moves_watermark_and_report(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    note(a, task, "about 2 hours")
    before = a.read(lambda snapshot: (snapshot.feed_end(), snapshot.vector()))
    async with serving(a) as at:
        await at.completed(agent, 1)
    (_, turn), (_, received) = a.read(lambda snapshot: snapshot.feed(before[0], 10))
    assert {operation.kind for operation in turn.commit.operations} == {"message"}
    kinds = sorted(operation.kind for operation in received.commit.operations)
    assert kinds == ["agent_state", "change_set", "message", "report"]
    assert received.commit.author.agent == agent
    assert clock_from_value(a.value(state_id(agent), "watermark")) == before[1]
    known = a.read(lambda snapshot: load(snapshot, agent))
    assert known is not None
    report = a.read(lambda snapshot: report_of(snapshot, known))
    assert report is not None
    assert report["title"] == "Write the report"


async def test_a_report_that_says_nothing_new_is_not_written_again(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    async with serving(a) as at:
        await at.completed(agent, 1)
        first = a.value(state_id(agent), "report_id")
        a.fleet.now_ms += 1000
        await at.note(task, "nothing to see here")
        await at.completed(agent, 2)
        assert a.value(state_id(agent), "report_id") == first


async def test_what_lands_during_a_run_makes_the_next_one(a: Home, task: EntityId, agent: EntityId) -> None:
    model = Meanwhile()
    async with serving(a, model) as at:
        model.write = lambda: at.note(task, "written meanwhile")
        await at.completed(agent, 2)
    assert [[note.text for note in context.notes] for context in model.seen[::2]] == [
        [],
        ["written meanwhile"],
    ]


async def test_an_entry_whose_text_is_as_it_was_is_not_read_again(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    entry = note(a, task, "about 2 hours")
    model = Scripted()
    async with serving(a, model) as at:
        await at.completed(agent, 1)
        await at.threads.write(lambda tx: tx.commit([Write(entry, "entry", {"source": "import"})]))
        await at.completed(agent, 2)
    assert [len(context.notes) for context in model.seen[::2]] == [1, 0]


async def test_waiting_for_a_run_has_an_end(a: Home, agent: EntityId) -> None:
    async with serving(a, Forever()) as at:
        with pytest.raises(Refused) as refused:
            await at.scheduler.wake(agent, wait_s=0.01)
        assert refused.value.code == "timeout"


async def test_a_request_for_an_agent_whose_task_was_removed_is_refused(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    a.set(task, deleted=True)
    async with serving(a) as at:
        with pytest.raises(Refused, match="task was removed"):
            await at.scheduler.wake(agent)


async def test_a_persons_request_runs_without_news_and_returns_the_run(a: Home, agent: EntityId) -> None:
    async with serving(a) as at:
        await at.completed(agent, 1)
        run = await at.scheduler.wake(agent, wait_s=20)
        assert run is not None
        assert (run.status, run.reason) == (RunStatus.COMPLETED, "asked by a person")


async def test_a_request_on_a_device_that_is_not_its_home_is_refused(
    fleet: Fleet, a: Home, b: Home, agent: EntityId
) -> None:
    fleet.sync()
    async with serving(b) as at:
        with pytest.raises(Refused, match="another device"):
            await at.scheduler.wake(agent)


async def test_a_request_for_an_agent_that_is_not_there_is_refused(a: Home, task: EntityId) -> None:
    async with serving(a) as at:
        with pytest.raises(Refused, match="no such agent"):
            await at.scheduler.wake(task)


async def test_answers_go_back_to_the_model_and_a_forgotten_report_is_asked_for_once(
    a: Home, agent: EntityId
) -> None:
    model = Scripted(
        Turn((ToolCall("updateTaskEstimate", '{"minutes": "sixty"}'), ToolCall("nonsense", "{}"))),
        Turn((ToolCall("update_task_estimate", {"minutes": 60}),)),
    )
    async with serving(a, model) as at:
        await at.completed(agent, 1)
    answers = [exchange.answer for exchange in model.seen[-1].exchanges]
    assert answers[0].startswith("Refused: update_task_estimate")
    assert answers[1].startswith("Refused: there is no tool 'nonsense'")
    assert answers[2] == "Skipped: estimate is already 60 minutes."
    assert "update_report" in model.seen[-1].instruction
    assert [bool(context.instruction) for context in model.seen] == [False, False, False, True]


async def test_a_model_that_never_stops_is_stopped(a: Home, agent: EntityId) -> None:
    model = Scripted(*(Turn((ToolCall("update_task_estimate", {"minutes": 60}),)) for _ in range(50)))
    async with serving(a, model) as at:
        await at.completed(agent, 1)
    assert len(model.seen) == 11


async def test_a_model_that_takes_too_long_fails_and_writes_nothing(a: Home, agent: EntityId) -> None:
    settings = Settings(pace=EAGER.pace, run_max_s=0.01, zone=UTC)
    before = a.read(lambda snapshot: snapshot.feed_end())
    async with serving(a, Forever(), settings) as at:
        await at.until(lambda: _has(at, agent, RunStatus.FAILED))
        (run,) = await at.runs(agent)
    assert "longer than 0.01 s" in run.error
    assert a.read(lambda snapshot: snapshot.feed_end()) == before


async def _has(at: Serving, agent: EntityId, status: RunStatus) -> bool:
    return any(run.status is status for run in await at.runs(agent))


async def test_a_failed_run_is_tried_again_under_the_same_key_after_its_backoff(
    a: Home, agent: EntityId
) -> None:
    model = Scripted(ModelFault("no answer"))
    async with serving(a, model) as at:
        await at.until(lambda: _has(at, agent, RunStatus.FAILED))
        (failed,) = await at.runs(agent)
        await at.until(lambda: _backs_off(at, agent))
        assert len(model.seen) == 1
        a.fleet.now_ms += 60_000
        at.scheduler.grew()
        (done,) = await at.completed(agent, 1)
        assert done.run_key == failed.run_key
        assert (failed.error, done.error) == ("the model could not answer: no answer", "")


async def _backs_off(at: Serving, agent: EntityId) -> bool:
    await at.runs(agent)  # lets the loop go on
    return "backing off" in at.scheduler.outlook(agent).why


async def test_a_bug_in_a_model_fails_its_run_and_leaves_the_others_alone(a: Home, agent: EntityId) -> None:
    other = a.new("task", title="Another", status="OPEN")
    second = a.write(lambda tx: agents.create(tx, text(other), "rules"))
    model = Scripted(ZeroDivisionError("a bug"))
    async with serving(a, model) as at:

        async def both_ended() -> bool:
            found = [*await at.runs(agent), *await at.runs(second)]
            return sum(run.status is not RunStatus.RUNNING for run in found) == 2

        await at.until(both_ended)
        found = [*await at.runs(agent), *await at.runs(second)]
        assert sorted(run.error for run in found) == ["", "ZeroDivisionError: a bug"]
        assert sorted(run.status for run in found) == [RunStatus.COMPLETED, RunStatus.FAILED]


async def test_a_run_cut_short_is_abandoned_and_due_again_under_the_same_key(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    note(a, task, "about 2 hours")
    forever = Forever()
    async with serving(a, forever) as at:
        await forever.asked.wait()
        (cut,) = await at.runs(agent)
        assert cut.status is RunStatus.RUNNING
    async with serving(a) as at:
        (done,) = await at.completed(agent, 1)
    assert done.run_key == cut.run_key
    assert len(waiting(a)) == 1


@pytest.mark.parametrize(
    "happened_at", ["9999-12-31T23:59:59Z", "0001-01-01T00:00:00+14:00", "never", "", "2026-03-20T10:00:00"]
)
async def test_an_entry_from_the_end_of_the_calendar_stops_no_run(
    a: Home, task: EntityId, agent: EntityId, happened_at: str
) -> None:
    a.new("entry", task, task_id=task, text="due tomorrow, by end of March", happened_at=happened_at)
    async with serving(a) as at:
        (run,) = await at.completed(agent, 1)
        assert run.error == ""


async def test_a_restart_runs_nothing_twice(a: Home, task: EntityId, agent: EntityId) -> None:
    note(a, task, "about 2 hours")
    async with serving(a) as at:
        await at.completed(agent, 1)
    end = a.read(lambda snapshot: snapshot.feed_end())
    async with serving(a) as at:
        await at.scheduler.wake(agent, wait_s=20)
        assert len(await at.runs(agent)) == 2
    assert a.read(lambda snapshot: snapshot.feed_end()) == end + 2  # its turn, and its end


async def test_agents_are_shown_with_report_runs_and_when_they_run_next(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    note(a, task, "about 2 hours")
    async with serving(a) as at:
        await at.completed(agent, 1)
        await at.until(lambda: _is_idle(at, agent))
        shown = await at.threads.read(
            lambda snapshot: agents.shown(snapshot, agent, a.now_ms(), at.scheduler.outlook)
        )
    assert (shown.lifecycle, shown.at_home, shown.pending_items) == ("active", True, 1)
    assert shown.next_wake_why == "nothing has changed since its last run"
    assert [run.status for run in shown.runs] == ["completed"]
    assert shown.report is not None


async def _is_idle(at: Serving, agent: EntityId) -> bool:
    await at.runs(agent)  # lets the loop go on
    return "nothing has changed" in at.scheduler.outlook(agent).why


def test_creating_an_agent_twice_makes_one_and_names_reach_it(
    fleet: Fleet, a: Home, b: Home, task: EntityId, agent: EntityId
) -> None:
    assert a.write(lambda tx: agents.create(tx, "Write the", "rules")) == agent
    fleet.sync()
    for ref in (text(agent), text(agent)[:6], "Write the report", text(task)):
        assert b.read(lambda snapshot, ref=ref: agents.find(snapshot, ref)) == agent  # type: ignore[misc]
    with pytest.raises(Refused):
        b.read(lambda snapshot: agents.find(snapshot, "nothing like it"))
    other = b.new("task", title="Without", status="OPEN")
    with pytest.raises(Refused, match="no agent"):
        b.read(lambda snapshot: agents.find(snapshot, text(other)))
    b.write(lambda tx: tasks.remove(tx, text(task)))
    assert b.read(lambda snapshot: agents.find(snapshot, "Write the report")) == agent


def test_agents_say_why_they_do_not_run_and_are_counted(
    fleet: Fleet, a: Home, b: Home, task: EntityId, agent: EntityId
) -> None:
    def outlook(one: EntityId) -> Outlook:
        return Timetable(Pace()).outlook(one, 0)

    def shown(home: Home) -> AgentShown:
        every = home.read(lambda snapshot: agents.every(snapshot, home.now_ms(), outlook))
        (only,) = every
        return only

    fleet.sync()
    assert (shown(b).at_home, shown(b).next_wake_why) == (False, "its home is another device")
    assert shown(a).next_wake_why == "nothing has changed since its last run"
    assert a.read(lambda snapshot: agents.counts(snapshot, 1, 2)) == AgentCounts(1, 1, 2, 0)
    a.set(task, deleted=True)
    assert (shown(a).lifecycle, shown(a).next_wake_at) == ("dormant", None)
    assert a.read(lambda snapshot: agents.counts(snapshot, 0, 0)) == AgentCounts(0, 0, 0, 1)
    a.set(task, deleted=False)
    a.set(agent, lifecycle="destroyed")
    with pytest.raises(Refused, match="final"):
        a.write(lambda tx: agents.create(tx, text(task), "rules"))


def test_a_prefix_that_two_agents_share_is_ambiguous(a: Home) -> None:
    def use(tx: Transaction) -> list[str]:
        tasks = [tx.new_id() for _ in range(300)]
        tx.commit([Write(one, "task", {"title": text(one)}) for one in tasks])
        return [text(agents.create(tx, text(one), "rules")) for one in tasks]

    made = a.write(use)
    shared = next(name[:3] for name in made if sum(other[:3] == name[:3] for other in made) > 1)
    with pytest.raises(Refused) as refused:
        a.read(lambda snapshot: agents.find(snapshot, shared))
    assert refused.value.code == "ambiguous"


def test_the_same_agent_made_on_two_devices_apart_is_one(
    fleet: Fleet, a: Home, b: Home, task: EntityId
) -> None:
    fleet.sync()
    made = {home.write(lambda tx: agents.create(tx, text(task), "rules")) for home in (a, b)}
    assert len(made) == 1
    fleet.sync()
    homes = {home.value(made.copy().pop(), "home_device_id") for home in (a, b)}
    assert len(homes) == 1
