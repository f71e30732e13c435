"""Runs whose end cannot be written, disks that are full, clocks that are set, and agents made twice.

Never sleeps: each test waits, turn by turn of the store's threads, for what it caused.
"""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TypeVar

import pytest

from daemon.agents import agents, lifecycle, scheduler, wakes
from daemon.agents.models.interface import ModelFault, RunContext, Turn
from daemon.agents.records import Agent, agent_id, load, state_id
from daemon.agents.runner import Settings
from daemon.agents.timetable import Pace
from daemon.journal.errors import Code, Refused
from store import runs
from store.faults import DiskFull
from store.item import clock_as_value
from store.runs import RunStatus
from store.snapshot import Snapshot
from store.threads import StoreThreads
from store.transaction import Transaction
from syncproto.codec import Value
from syncproto.commit import By
from syncproto.ids import EntityId, text
from tests.daemon.agents.fleet import DAY_MS, Fleet, Home
from tests.daemon.agents.test_scheduler import EAGER, Forever, Scripted, Serving, serving

T = TypeVar("T")


class Troubled(StoreThreads):
    """A store whose disk is full, or whose next reads meet a bug, when a test says so."""

    full = False
    bugs = 0
    writes = 0

    async def write(self, use: Callable[[Transaction], T]) -> T:
        self.writes += 1
        if self.full:
            raise DiskFull("no space left")
        return await super().write(use)

    async def read(self, use: Callable[[Snapshot], T]) -> T:
        if self.bugs and use.__module__ == "daemon.agents.runner":
            self.bugs -= 1
            raise ZeroDivisionError("a bug")
        return await super().read(use)


class AtTurn:
    """A model that does something at each turn, and proposes nothing."""

    name = "at turn"

    def __init__(self, do: Callable[[], None]) -> None:
        self.do = do
        self.turns = 0

    async def turn(self, context: RunContext) -> Turn:
        self.turns += 1
        self.do()
        return Turn(())


class BrokenZone(tzinfo):
    """A zone in which no time can be told."""

    def utcoffset(self, moment: datetime | None, /) -> timedelta:
        raise ZeroDivisionError("no such hour")

    dst = utcoffset

    def tzname(self, moment: datetime | None, /) -> str:
        return "broken"


@pytest.fixture
def agent(a: Home, task: EntityId) -> EntityId:
    return a.write(lambda tx: agents.create(tx, text(task), "rules"))


async def says(at: Serving, agent: EntityId, words: str) -> None:
    async def holds() -> bool:
        await at.runs(agent)  # lets the loop go on
        return words in at.scheduler.outlook(agent).why

    await at.until(holds)


async def idle_turns(at: Serving, agent: EntityId) -> None:
    """Give a loop that goes round without need the time to be seen."""
    for _ in range(50):
        await at.runs(agent)


async def test_a_run_whose_end_cannot_be_written_backs_off_and_completes_later(
    a: Home, agent: EntityId
) -> None:
    threads = Troubled(a.store)

    def fill() -> None:
        threads.full = True

    model = AtTurn(fill)
    async with serving(a, model, threads=threads) as at:
        await says(at, agent, "backing off")
        turns, writes = model.turns, threads.writes
        await idle_turns(at, agent)
        assert (model.turns, threads.writes) == (turns, writes)
        (cut,) = await at.runs(agent)
        assert cut.status is RunStatus.RUNNING
        model.do = lambda: None
        threads.full = False
        a.fleet.now_ms += 60_000
        at.scheduler.grew()
        (done,) = await at.completed(agent, 1)
        assert done.run_key == cut.run_key


async def test_a_moment_of_full_disk_is_no_failure_of_the_agents(a: Home, agent: EntityId) -> None:
    threads = Troubled(a.store)
    threads.full = True
    async with serving(a, threads=threads) as at:
        await says(at, agent, "backing off")
        with pytest.raises(Refused, match="no space left") as refused:
            await at.scheduler.wake(agent, wait_s=20)
        assert refused.value.code is Code.FAILED
        assert a.read(lambda snapshot: runs.failures(snapshot, agent)).number == 0
        threads.full = False
        a.fleet.now_ms += 600_000
        at.scheduler.grew()
        await at.completed(agent, 1)


async def test_how_a_run_ended_is_written_with_the_next_run(a: Home, task: EntityId, agent: EntityId) -> None:
    threads = Troubled(a.store)

    def fill() -> None:
        threads.full = True

    model = AtTurn(fill)
    async with serving(a, model, threads=threads) as at:
        await says(at, agent, "backing off")
        model.do = lambda: None
        threads.full = False
        await at.note(task, "so the next run has another key")
        a.fleet.now_ms += 60_000
        at.scheduler.grew()
        newest, cut = await at.completed(agent, 1)
        assert (newest.status, cut.status) == (RunStatus.COMPLETED, RunStatus.ABANDONED)
        assert cut.error == "no space left"


async def test_a_bug_before_a_run_begins_is_told_to_who_waits_and_backs_off(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    threads = Troubled(a.store)
    async with serving(a, threads=threads) as at:
        await at.completed(agent, 1)
        # More than one, because a look of the scheduler's own may meet it first.
        threads.bugs = 9
        with pytest.raises(Refused, match="ZeroDivisionError: a bug") as refused:
            await at.scheduler.wake(agent, wait_s=20)
        threads.bugs = 0
        assert refused.value.code is Code.FAILED
        await at.note(task, "so that it is due")
        await says(at, agent, "backing off")
        assert (await at.scheduler.wake(agent, wait_s=20)) is not None


async def test_a_context_that_cannot_be_read_is_a_failed_run(a: Home, agent: EntityId) -> None:
    async with serving(a, settings=Settings(pace=EAGER.pace, zone=BrokenZone())) as at:
        await says(at, agent, "backing off")
        (run,) = await at.runs(agent)
    assert (run.status, run.error) == (RunStatus.FAILED, "ZeroDivisionError: no such hour")


async def test_a_model_that_always_fails_makes_its_agent_dormant_until_a_person_resumes_it(
    a: Home, agent: EntityId
) -> None:
    model = Scripted(*(ModelFault("no answer") for _ in range(5)))
    async with serving(a, model) as at:
        for number in range(1, 5):
            await says(at, agent, f"after {number} failed")
            a.fleet.now_ms += 3_600_000
            at.scheduler.grew()
        await at.until(lambda: _soon(at, agent, lambda: known(a, agent).lifecycle == "dormant"))
        why = "it failed 5 times in a row: the model could not answer: no answer"
        assert known(a, agent).lifecycle_reason == why
        version = a.entity(agent).version("lifecycle")
        assert version is not None
        assert version.source.by is By.SYSTEM
        with pytest.raises(Refused, match="it failed 5 times in a row") as refused:
            await at.scheduler.wake(agent)
        assert refused.value.hint == "wake it up: placet agent resume"
        await idle_turns(at, agent)
        assert len(await at.runs(agent)) == 1
        await at.threads.write(lambda tx: lifecycle.resume(tx, agent))
        await at.completed(agent, 1)
        await says(at, agent, "nothing has changed since its last run")


def known(home: Home, agent: EntityId) -> Agent:
    found = home.read(lambda snapshot: load(snapshot, agent))
    assert found is not None
    return found


async def test_who_waits_is_told_when_the_daemon_stops(a: Home, agent: EntityId) -> None:
    model = Forever()
    async with serving(a, model) as at:
        waiting = asyncio.create_task(at.scheduler.wake(agent, wait_s=20))
        await model.asked.wait()
    with pytest.raises(Refused, match="stopping"):
        await waiting


# -- room, and the clock ------------------------------------------------------------------------------


async def test_no_run_begins_below_the_disk_floor_and_the_agent_stays_due(
    a: Home, agent: EntityId, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str | None] = []
    lack: str | None = "only 3 MiB are free"

    def shortfall() -> str | None:
        asked.append(lack)
        return lack

    async with serving(a, shortfall=shortfall) as at:
        await at.until(lambda: _soon(at, agent, lambda: bool(asked)))
        with pytest.raises(Refused, match="only 3 MiB") as refused:
            await at.scheduler.wake(agent, wait_s=20)
        assert refused.value.code is Code.DISK
        times = len(asked)
        await idle_turns(at, agent)
        assert len(asked) == times
        assert at.scheduler.counts() == (1, 0)
        assert await at.runs(agent) == []
        monkeypatch.setattr(scheduler, "ROOM_AGAIN_S", 0.001)
        at.scheduler.grew()
        await at.until(lambda: _soon(at, agent, lambda: len(asked) > times + 1))
        lack = None
        await at.completed(agent, 1)


async def _soon(at: Serving, agent: EntityId, holds: Callable[[], bool]) -> bool:
    await at.runs(agent)  # lets the loop go on
    return holds()


async def test_a_clock_set_back_by_a_day_adds_no_day_to_the_backoff(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    async with serving(a, Scripted(ModelFault("no answer"))) as at:
        await says(at, agent, "backing off")
    a.fleet.now_ms -= DAY_MS
    async with serving(a) as at:
        await says(at, agent, "backing off")
        in_s = at.scheduler.outlook(agent).in_s
        assert in_s is not None
        assert in_s <= 60
        for _ in range(2):
            await at.note(task, "what is looked at again is not put off again")
            await idle_turns(at, agent)
            a.fleet.now_ms += 30_000
            at.scheduler.grew()
        await at.completed(agent, 1)


# -- the same agent on two devices --------------------------------------------------------------------


async def settled(home: Home, agent: EntityId, runs_in_all: int = 1) -> None:
    """Serve until an agent has run so often on this device in all, and has nothing to do."""
    async with serving(home) as at:
        await at.completed(agent, runs_in_all)
        await idle_turns(at, agent)
        await says(at, agent, "nothing has changed")


def run_count(home: Home, agent: EntityId) -> int:
    return len(home.read(lambda snapshot: runs.of_agent(snapshot, agent, 100)))


async def test_an_agent_made_and_run_on_two_devices_apart_settles_without_another_run(
    fleet: Fleet, a: Home, b: Home, task: EntityId
) -> None:
    fleet.sync()
    agent = agent_id(task)
    for home in (a, b):
        home.write(lambda tx: agents.create(tx, text(task), "rules"))
        home.new("entry", task, task_id=task, text=f"written on {home.name}")
        await settled(home, agent)
    fleet.sync()
    assert len(a.entity(state_id(agent)).versions("watermark")) == 2
    ends = [home.read(lambda snapshot: snapshot.feed_end()) for home in (a, b)]
    for home in (a, b):
        assert not home.read(lambda snapshot: wakes.due(snapshot, agent))
        await settled(home, agent)
        assert run_count(home, agent) == 1
    assert [home.read(lambda snapshot: snapshot.feed_end()) for home in (a, b)] == ends


async def test_homes_moved_concurrently_settle_without_doubled_runs(
    fleet: Fleet, a: Home, b: Home, c: Home, task: EntityId
) -> None:
    agent = a.write(lambda tx: agents.create(tx, text(task), "rules"))
    await settled(a, agent)
    fleet.sync()
    for home in (b, c):
        home.set(agent, home_device_id=home.read(lambda snapshot: snapshot.device))
        home.new("entry", task, task_id=task, text=f"written on {home.name}")
        await settled(home, agent)
    fleet.sync()
    before = [run_count(home, agent) for home in (a, b, c)]
    assert before == [1, 1, 1]
    for home in (a, b, c):
        assert not home.read(lambda snapshot: wakes.due(snapshot, agent))
    a.new("entry", task, task_id=task, text="one more")
    fleet.sync()
    assert sum(home.read(lambda snapshot: wakes.due(snapshot, agent)) for home in (a, b, c)) == 1


async def test_a_watermark_that_another_device_moved_during_a_run_is_not_lost(
    fleet: Fleet, a: Home, b: Home, task: EntityId
) -> None:
    fleet.sync()
    b.write(lambda tx: agents.create(tx, text(task), "rules"))
    agent = a.write(lambda tx: agents.create(tx, text(task), "rules"))
    b.new("entry", task, task_id=task, text="seen by the run on b")
    await settled(b, agent)
    model = AtTurn(lambda: fleet.pull(a, b))
    async with serving(a, model) as at:
        await at.completed(agent, 1)
    known = a.read(lambda snapshot: load(snapshot, agent))
    assert known is not None
    assert a.read(lambda snapshot: wakes.triggers(snapshot, known)) == []


async def test_a_change_whose_run_completed_is_no_news_though_the_watermark_has_lost_it(
    a: Home, agent: EntityId
) -> None:
    await settled(a, agent)
    lost: list[Value] = clock_as_value(())
    a.set(state_id(agent), watermark=lost)
    assert run_count(a, agent) == 1
    slow = Settings(pace=Pace(debounce_s=9999, throttle_s=9999), zone=UTC)
    end = a.read(lambda snapshot: snapshot.feed_end())
    async with serving(a, settings=slow) as at:
        await idle_turns(at, agent)
        await says(at, agent, "nothing has changed")
        assert at.scheduler.counts() == (0, 0)
    assert a.read(lambda snapshot: snapshot.feed_end()) == end
