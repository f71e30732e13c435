"""Timers and requests: durable from the moment they are asked for, run once, and told why where they are not.

Never sleeps: the clock is the fleet's, and each test waits for what it caused.
"""

import asyncio
from datetime import UTC
from typing import Any

import pytest

from daemon.agents import agents, alarms, lifecycle
from daemon.agents.models.interface import ModelFault, ModelUnavailable
from daemon.agents.runner import Settings
from daemon.agents.timetable import Pace
from daemon.journal.errors import Code, Refused
from daemon.journal.typed import Typed
from store import runs, timers
from store.runs import Cause, Run, RunStatus
from syncproto.ids import EntityId, text
from tests.daemon.agents.fleet import DAY_MS, Home
from tests.daemon.agents.test_runs_that_go_wrong import Troubled, idle_turns, says, settled
from tests.daemon.agents.test_scheduler import EAGER, Forever, Scripted, Serving, serving

HOUR_MS = 3_600_000


@pytest.fixture
def agent(a: Home, task: EntityId) -> EntityId:
    return a.write(lambda tx: agents.create(tx, text(task), "rules", "hybrid"))


def typed(home: Home) -> Typed:
    return Typed(home.now_ms, UTC, "en")


def set_timer(home: Home, agent: EntityId, words: str) -> None:
    home.write(lambda tx: alarms.wake_at(tx, agent, words, typed(home)))


def log(home: Home, agent: EntityId) -> list[Run]:
    return home.read(lambda snapshot: runs.of_agent(snapshot, agent, 100))


async def over(at: Serving, agent: EntityId) -> bool:
    """Say whether the agent has a run, and every run has ended."""
    found = await at.runs(agent)
    return bool(found) and all(run.ended_ms is not None for run in found)


async def pass_time(at: Serving, agent: EntityId, ms: int) -> None:
    """Let time pass; the scheduler's own look at the clock is not waited for."""
    at.home.fleet.now_ms += ms
    at.scheduler.timers_moved()
    await idle_turns(at, agent)


# -- timers -------------------------------------------------------------------------------------------


async def test_a_timer_wakes_a_hybrid_agent_when_its_time_has_come_and_a_change_does_not(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    async with serving(a) as at:
        await at.note(task, "takes 2 hours")
        set_timer(a, agent, "in 2 hours")
        await pass_time(at, agent, 2 * HOUR_MS - 1)
        assert await at.runs(agent) == []
        await pass_time(at, agent, 1)
        (run,) = await at.completed(agent, 1)
        assert (run.cause, run.reason) == (Cause.TIMER, "a timer")
        await pass_time(at, agent, DAY_MS)
        assert len(await at.runs(agent)) == 1


async def test_timers_missed_while_the_daemon_was_off_make_one_run_at_its_start(
    a: Home, agent: EntityId
) -> None:
    for words in ("in 1 hour", "in 2 hours", "in 90 days"):
        set_timer(a, agent, words)
    a.fleet.now_ms += DAY_MS
    async with serving(a) as at:
        await at.completed(agent, 1)
        await idle_turns(at, agent)
        assert len(await at.runs(agent)) == 1
    assert len(a.read(lambda snapshot: timers.of_agent(snapshot, agent))) == 1


async def test_a_clock_that_is_set_back_rings_no_timer_twice(a: Home, agent: EntityId) -> None:
    set_timer(a, agent, "in 1 hour")
    async with serving(a) as at:
        await pass_time(at, agent, 2 * HOUR_MS)
        await at.completed(agent, 1)
        a.fleet.now_ms -= DAY_MS
        await pass_time(at, agent, 2 * DAY_MS)
        assert len(await at.runs(agent)) == 1


async def test_a_timers_run_that_failed_is_tried_again_under_its_key(a: Home, agent: EntityId) -> None:
    await asked_once(a, agent)
    set_timer(a, agent, "in 1 hour")
    async with serving(a, Scripted(ModelFault("no answer"))) as at:
        await pass_time(at, agent, HOUR_MS)
        await says(at, agent, "backing off")
        failed = log(a, agent)[0]
        assert (failed.status, failed.error) == (RunStatus.QUEUED, "the model could not answer: no answer")
        await pass_time(at, agent, 60_000)
        done, _ = await at.completed(agent, 2)
        assert done.run_key == failed.run_key


async def asked_once(home: Home, agent: EntityId) -> None:
    async with serving(home) as at:
        await at.scheduler.wake(agent, wait_s=20)


async def test_a_timers_run_that_was_cut_short_is_taken_up_by_the_next_process(
    a: Home, agent: EntityId
) -> None:
    set_timer(a, agent, "in 1 hour")
    forever = Forever()
    async with serving(a, forever) as at:
        at.home.fleet.now_ms += HOUR_MS
        at.scheduler.timers_moved()
        await forever.asked.wait()
        assert a.read(timers.next_ms) is None
        (cut,) = await at.runs(agent)
    async with serving(a) as at:
        (done,) = await at.completed(agent, 1)
    assert done.run_key == cut.run_key


async def test_a_timer_that_rings_while_its_agent_sleeps_is_skipped_and_says_so(
    a: Home, agent: EntityId
) -> None:
    set_timer(a, agent, "in 1 hour")
    a.write(lambda tx: lifecycle.pause(tx, agent))
    async with serving(a) as at:
        await pass_time(at, agent, HOUR_MS)
        await at.until(lambda: over(at, agent))
        (run,) = await at.runs(agent)
        assert (run.status, run.error) == (RunStatus.SKIPPED, "it is paused")
        await at.threads.write(lambda tx: lifecycle.resume(tx, agent))
        await idle_turns(at, agent)
        assert len(await at.runs(agent)) == 1


async def test_timers_of_an_agent_that_now_wakes_only_when_asked_are_skipped(
    a: Home, agent: EntityId
) -> None:
    set_timer(a, agent, "in 1 hour")
    a.write(lambda tx: lifecycle.edit(tx, agent, mode="interactive", model=None))
    async with serving(a) as at:
        await pass_time(at, agent, HOUR_MS)
        await at.until(lambda: over(at, agent))
        (run,) = await at.runs(agent)
        assert (run.status, run.error) == (RunStatus.SKIPPED, "it wakes only when asked")
        assert (await at.scheduler.wake(agent, wait_s=20)) is not None


async def test_a_timer_taken_back_does_not_ring(a: Home, agent: EntityId) -> None:
    set_timer(a, agent, "in 1 hour")
    a.write(lambda tx: alarms.cancel(tx, agent))
    async with serving(a) as at:
        await pass_time(at, agent, DAY_MS)
        assert await at.runs(agent) == []


async def test_a_full_disk_puts_timers_off_and_loses_none(a: Home, agent: EntityId) -> None:
    set_timer(a, agent, "in 1 hour")
    threads = Troubled(a.store)
    async with serving(a, threads=threads) as at:
        threads.full = True
        begun = threads.writes
        await pass_time(at, agent, HOUR_MS)
        await at.until(lambda: _tried(at, agent, begun))
        writes = threads.writes
        await idle_turns(at, agent)
        assert threads.writes == writes
        threads.full = False
        await pass_time(at, agent, 60_000)
        await at.completed(agent, 1)


async def _tried(at: Serving, agent: EntityId, begun: int) -> bool:
    await at.runs(agent)  # lets the loop go on
    assert isinstance(at.threads, Troubled)
    return at.threads.writes > begun


def refused(home: Home, agent: EntityId, words: str) -> Refused:
    with pytest.raises(Refused) as caught:
        set_timer(home, agent, words)
    return caught.value


def test_timers_that_cannot_be_set_are_refused(a: Home, agent: EntityId) -> None:
    assert refused(a, agent, "2020-01-01").code is Code.USAGE
    assert refused(a, agent, "when pigs fly").code is Code.USAGE
    a.write(lambda tx: lifecycle.edit(tx, agent, mode="interactive", model=None))
    assert refused(a, agent, "in 1 hour").message == "it wakes only when asked"
    a.write(lambda tx: lifecycle.pause(tx, agent))
    assert refused(a, agent, "in 1 hour").hint == "wake it up: placet agent resume"
    a.write(lambda tx: lifecycle.destroy(tx, agent))
    assert refused(a, agent, "in 1 hour").message == "it was destroyed"


def test_an_agent_has_a_limited_number_of_timers_and_none_twice(a: Home, agent: EntityId) -> None:
    for hours in range(1, alarms.TIMERS_MAX + 1):
        set_timer(a, agent, f"in {hours} hours")
    assert "20 timers" in refused(a, agent, "in 90 days").message
    a.write(lambda tx: alarms.cancel(tx, agent))
    for _ in range(2):
        set_timer(a, agent, "in 1 hour")
    assert len(a.read(lambda snapshot: timers.of_agent(snapshot, agent))) == 1


# -- requests -----------------------------------------------------------------------------------------


async def test_a_request_that_was_taken_is_run_by_the_next_process(a: Home, agent: EntityId) -> None:
    forever = Forever()
    async with serving(a, forever) as at:
        await at.scheduler.wake(agent)
        await forever.asked.wait()
    async with serving(a) as at:
        (run,) = await at.completed(agent, 1)
    assert (run.cause, run.reason) == (Cause.SESSION, "asked by a person")


async def test_requests_that_wait_together_are_one_run(a: Home, agent: EntityId) -> None:
    forever = Forever()
    async with serving(a, forever) as at:
        await at.scheduler.wake(agent)
        await forever.asked.wait()
        for _ in range(3):
            await at.scheduler.wake(agent)
        assert [run.status for run in await at.runs(agent)] == [RunStatus.QUEUED, RunStatus.RUNNING]
    async with serving(a) as at:
        await at.completed(agent, 2)
        await idle_turns(at, agent)
        assert len(await at.runs(agent)) == 2


async def test_making_an_agent_wakes_it_once_whatever_its_mode(a: Home, task: EntityId) -> None:
    async with serving(a) as at:
        agent = await at.scheduler.create(lambda tx: agents.create(tx, text(task), "rules", "interactive"))
        await at.completed(agent, 1)
        await at.note(task, "takes 2 hours")
        again = await at.scheduler.create(lambda tx: agents.create(tx, text(task), "rules", "interactive"))
        await idle_turns(at, agent)
        assert (again, len(await at.runs(agent))) == (agent, 1)


async def test_a_person_who_asks_again_hurries_what_waits_for_a_model_that_was_away(
    a: Home, agent: EntityId
) -> None:
    async with serving(a, Scripted(ModelUnavailable("no route to it"))) as at:
        await at.scheduler.wake(agent)
        await says(at, agent, "no route to it")
        run = await at.scheduler.wake(agent, wait_s=20)
        assert run is not None
        assert run.status is RunStatus.COMPLETED
        assert len(log(a, agent)) == 1


async def test_a_model_that_is_away_keeps_a_request_waiting(a: Home, agent: EntityId) -> None:
    async with serving(a, Scripted(ModelUnavailable("no route to it"))) as at:
        with pytest.raises(Refused, match="no route to it"):
            await at.scheduler.wake(agent, wait_s=20)
        await says(at, agent, "no route to it")
        assert log(a, agent)[0].status is RunStatus.QUEUED
        await pass_time(at, agent, 60_000)
        (run,) = await at.completed(agent, 1)
        assert run.cause is Cause.SESSION


# -- pace ---------------------------------------------------------------------------------------------


async def paced(a: Home, agent: EntityId, task: EntityId, model: str) -> float | None:
    """Return in how many seconds an agent runs again that has just run by itself."""
    a.write(lambda tx: lifecycle.edit(tx, agent, mode="autonomous", model=model))
    settings = Settings(pace=Pace(debounce_s=0), zone=UTC)
    models: Any = Scripted()
    async with serving(a, models, settings) as at:
        at.scheduler._models = {"rules": models, "openai": models}
        at.scheduler._runner._models = at.scheduler._models
        await at.completed(agent, 1)
        await at.note(task, "something new")
        await says(at, agent, "its task has changed")
        return at.scheduler.outlook(agent).in_s


@pytest.mark.parametrize(("model", "in_s"), [("rules", 5), ("openai", 120), ("one that is not here", 5)])
async def test_an_agent_is_throttled_by_the_model_that_runs_it(
    a: Home, task: EntityId, agent: EntityId, model: str, in_s: float
) -> None:
    assert await paced(a, agent, task, model) == in_s


async def test_a_restart_does_not_shorten_the_throttle(a: Home, task: EntityId, agent: EntityId) -> None:
    a.write(lambda tx: lifecycle.edit(tx, agent, mode="autonomous", model="rules"))
    await settled(a, agent)
    a.new("entry", task, task_id=task, text="something new")
    a.fleet.now_ms += 2000
    async with serving(a, settings=Settings(pace=Pace(debounce_s=0), zone=UTC)) as at:
        await says(at, agent, "its task has changed")
        assert at.scheduler.outlook(agent).in_s == 3


async def test_what_a_person_asks_for_does_not_put_off_what_comes_by_itself(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    a.write(lambda tx: lifecycle.edit(tx, agent, mode="autonomous", model="rules"))
    async with serving(a, settings=Settings(pace=Pace(debounce_s=0, throttle_s=9999), zone=UTC)) as at:
        await at.scheduler.wake(agent, wait_s=20)
        await at.note(task, "something new")
        await at.completed(agent, 2)


async def test_a_process_that_ends_in_every_run_is_held_back_from_the_third_time_on(
    a: Home, agent: EntityId
) -> None:
    for _ in range(3):
        forever = Forever()
        async with serving(a, forever, EAGER) as at:
            if not log(a, agent):
                await at.scheduler.wake(agent)
            await asyncio.wait_for(forever.asked.wait(), 20)
    async with serving(a) as at:
        await says(at, agent, "backing off")
        a.fleet.now_ms += 60_000
        at.scheduler.grew()
        await at.completed(agent, 1)
