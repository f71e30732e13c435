"""Timers and requests: durable once accepted, run once, and refused with a reason.

Never sleeps: the clock is the fleet's, and each test waits for what it caused.
"""

import asyncio
from datetime import UTC
from typing import Any

import pytest

from daemon.agents.person import agent_timers, lifecycle
from daemon.agents.running.runner import RunnerSettings
from daemon.agents.running.timetable import RunPace
from daemon.agents.tools.model_interface import ModelFault, ModelUnavailable
from daemon.refusal import RefusalCode, Refused
from store.local import run_log, timers
from store.local.run_log import AgentRun, RunStatus, WakeCause
from store.sentence import foreign_text
from syncproto.ids import EntityId, id_to_text
from tests.support.agent_queries import human_input_of
from tests.support.fleet import DAY_MS, Home
from tests.support.patience import LIMIT_S
from tests.support.scheduler_faults import Troubled, spend_idle_turns, wait_for_outlook, wait_until_settled
from tests.support.scheduler_service import EAGER, Forever, Scripted, Serving, serving

HOUR_MS = 3_600_000


@pytest.fixture
def agent(a: Home, task: EntityId) -> EntityId:
    return a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules", "hybrid"))


def set_timer(home: Home, agent: EntityId, words: str) -> None:
    home.write(lambda tx: agent_timers.set_timer(tx, agent, words, human_input_of(home)))


def log(home: Home, agent: EntityId) -> list[AgentRun]:
    return home.read(lambda snapshot: run_log.runs_of_agent(snapshot, agent, 100))


async def over(service: Serving, agent: EntityId) -> bool:
    """Report whether the agent has a run, and every run has ended."""
    runs = await service.runs(agent)
    return bool(runs) and all(run.ended_ms is not None for run in runs)


async def pass_time(service: Serving, agent: EntityId, ms: int) -> None:
    """Let time pass; the scheduler's own look at the clock is not waited for."""
    service.home.fleet.now_ms += ms
    service.scheduler.on_timers_changed()
    await spend_idle_turns(service, agent)


# -- timers -------------------------------------------------------------------------------------------


async def test_a_timer_wakes_a_hybrid_agent_when_its_time_has_come_and_a_change_does_not(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    async with serving(a) as service:
        await service.note(task, "takes 2 hours")
        set_timer(a, agent, "in 2 hours")
        await pass_time(service, agent, 2 * HOUR_MS - 1)
        assert await service.runs(agent) == []
        await pass_time(service, agent, 1)
        (run,) = await service.completed(agent, 1)
        assert (run.cause, run.reason) == (WakeCause.TIMER, "a timer")
        await pass_time(service, agent, DAY_MS)
        assert len(await service.runs(agent)) == 1


async def test_timers_missed_while_the_daemon_was_off_make_one_run_at_its_start(
    a: Home, agent: EntityId
) -> None:
    for words in ("in 1 hour", "in 2 hours", "in 90 days"):
        set_timer(a, agent, words)
    a.fleet.now_ms += DAY_MS
    async with serving(a) as service:
        await service.completed(agent, 1)
        await spend_idle_turns(service, agent)
        assert len(await service.runs(agent)) == 1
    assert len(a.read(lambda snapshot: timers.times_of_agent(snapshot, agent))) == 1


async def test_a_clock_that_is_set_back_rings_no_timer_twice(a: Home, agent: EntityId) -> None:
    set_timer(a, agent, "in 1 hour")
    async with serving(a) as service:
        await pass_time(service, agent, 2 * HOUR_MS)
        await service.completed(agent, 1)
        a.fleet.now_ms -= DAY_MS
        await pass_time(service, agent, 2 * DAY_MS)
        assert len(await service.runs(agent)) == 1


async def test_a_timers_run_that_failed_is_tried_again_under_its_key(a: Home, agent: EntityId) -> None:
    await asked_once(a, agent)
    set_timer(a, agent, "in 1 hour")
    async with serving(a, Scripted(ModelFault(foreign_text("no answer")))) as service:
        await pass_time(service, agent, HOUR_MS)
        await wait_for_outlook(service, agent, "backing off")
        failed = log(a, agent)[0]
        assert (failed.status, failed.error) == (RunStatus.QUEUED, "the model could not answer: no answer")
        await pass_time(service, agent, 60_000)
        finished, _ = await service.completed(agent, 2)
        assert finished.run_key == failed.run_key


async def asked_once(home: Home, agent: EntityId) -> None:
    async with serving(home) as service:
        await service.scheduler.wake(agent, wait_s=LIMIT_S)


async def test_a_timers_run_that_was_cut_short_is_taken_up_by_the_next_process(
    a: Home, agent: EntityId
) -> None:
    set_timer(a, agent, "in 1 hour")
    forever = Forever()
    async with serving(a, forever) as service:
        service.home.fleet.now_ms += HOUR_MS
        service.scheduler.on_timers_changed()
        await forever.asked.wait()
        assert a.read(timers.next_wake_ms) is None
        (cut,) = await service.runs(agent)
    async with serving(a) as service:
        (finished,) = await service.completed(agent, 1)
    assert finished.run_key == cut.run_key


async def test_a_timer_that_rings_while_its_agent_sleeps_is_skipped_and_says_so(
    a: Home, agent: EntityId
) -> None:
    set_timer(a, agent, "in 1 hour")
    a.write(lambda tx: lifecycle.pause_agent(tx, agent))
    async with serving(a) as service:
        await pass_time(service, agent, HOUR_MS)
        await service.until(lambda: over(service, agent))
        (run,) = await service.runs(agent)
        assert (run.status, run.error) == (RunStatus.SKIPPED, "it is paused")
        await service.threads.write(lambda tx: lifecycle.resume_agent(tx, agent))
        await spend_idle_turns(service, agent)
        assert len(await service.runs(agent)) == 1


async def test_timers_of_an_agent_that_now_wakes_only_when_asked_are_skipped(
    a: Home, agent: EntityId
) -> None:
    set_timer(a, agent, "in 1 hour")
    a.write(lambda tx: lifecycle.edit_agent(tx, agent, mode="interactive", model=None))
    async with serving(a) as service:
        await pass_time(service, agent, HOUR_MS)
        await service.until(lambda: over(service, agent))
        (run,) = await service.runs(agent)
        assert (run.status, run.error) == (RunStatus.SKIPPED, "it wakes only when asked")
        assert (await service.scheduler.wake(agent, wait_s=LIMIT_S)) is not None


async def test_a_timer_taken_back_does_not_ring(a: Home, agent: EntityId) -> None:
    set_timer(a, agent, "in 1 hour")
    a.write(lambda tx: agent_timers.cancel_timers(tx, agent))
    async with serving(a) as service:
        await pass_time(service, agent, DAY_MS)
        assert await service.runs(agent) == []


async def test_a_full_disk_puts_timers_off_and_loses_none(a: Home, agent: EntityId) -> None:
    set_timer(a, agent, "in 1 hour")
    threads = Troubled(a.store)
    async with serving(a, threads=threads) as service:
        threads.full = True
        number = threads.writes
        await pass_time(service, agent, HOUR_MS)
        await service.until(lambda: _tried(service, agent, number))
        writes = threads.writes
        await spend_idle_turns(service, agent)
        assert threads.writes == writes
        threads.full = False
        await pass_time(service, agent, 60_000)
        await service.completed(agent, 1)


async def _tried(service: Serving, agent: EntityId, number: int) -> bool:
    await service.runs(agent)  # lets the loop go on
    assert isinstance(service.threads, Troubled)
    return service.threads.writes > number


def refused(home: Home, agent: EntityId, words: str) -> Refused:
    with pytest.raises(Refused) as refusal:
        set_timer(home, agent, words)
    return refusal.value


def test_timers_that_cannot_be_set_are_refused(a: Home, agent: EntityId) -> None:
    assert refused(a, agent, "2020-01-01").code is RefusalCode.USAGE
    assert refused(a, agent, "when pigs fly").code is RefusalCode.USAGE
    a.write(lambda tx: lifecycle.edit_agent(tx, agent, mode="interactive", model=None))
    assert refused(a, agent, "in 1 hour").message == "it wakes only when asked"
    a.write(lambda tx: lifecycle.pause_agent(tx, agent))
    assert refused(a, agent, "in 1 hour").hint == "wake it up: placet agent resume"
    a.write(lambda tx: lifecycle.destroy_agent(tx, agent))
    assert refused(a, agent, "in 1 hour").message == "it was destroyed"


def test_an_agent_has_a_limited_number_of_timers_and_none_twice(a: Home, agent: EntityId) -> None:
    for hours in range(1, agent_timers.TIMERS_MAX + 1):
        set_timer(a, agent, f"in {hours} hours")
    assert "20 timers" in refused(a, agent, "in 90 days").message
    a.write(lambda tx: agent_timers.cancel_timers(tx, agent))
    for _ in range(2):
        set_timer(a, agent, "in 1 hour")
    assert len(a.read(lambda snapshot: timers.times_of_agent(snapshot, agent))) == 1


# -- requests -----------------------------------------------------------------------------------------


async def test_a_request_that_was_taken_is_run_by_the_next_process(a: Home, agent: EntityId) -> None:
    forever = Forever()
    async with serving(a, forever) as service:
        await service.scheduler.wake(agent)
        await forever.asked.wait()
    async with serving(a) as service:
        (run,) = await service.completed(agent, 1)
    assert (run.cause, run.reason) == (WakeCause.SESSION, "asked by a person")


async def test_requests_that_wait_together_are_one_run(a: Home, agent: EntityId) -> None:
    forever = Forever()
    async with serving(a, forever) as service:
        await service.scheduler.wake(agent)
        await forever.asked.wait()
        for _ in range(3):
            await service.scheduler.wake(agent)
        assert [run.status for run in await service.runs(agent)] == [RunStatus.QUEUED, RunStatus.RUNNING]
    async with serving(a) as service:
        await service.completed(agent, 2)
        await spend_idle_turns(service, agent)
        assert len(await service.runs(agent)) == 2


async def test_making_an_agent_wakes_it_once_whatever_its_mode(a: Home, task: EntityId) -> None:
    async with serving(a) as service:
        (agent,) = await service.scheduler.create_and_wake(
            lambda tx: [lifecycle.create_agent(tx, id_to_text(task), "rules", "interactive")]
        )
        await service.completed(agent, 1)
        await service.note(task, "takes 2 hours")
        (again,) = await service.scheduler.create_and_wake(
            lambda tx: [lifecycle.create_agent(tx, id_to_text(task), "rules", "interactive")]
        )
        await spend_idle_turns(service, agent)
        assert (again, len(await service.runs(agent))) == (agent, 1)


async def test_a_person_who_asks_again_hurries_what_waits_for_a_model_that_was_away(
    a: Home, agent: EntityId
) -> None:
    async with serving(a, Scripted(ModelUnavailable(foreign_text("no route to it")))) as service:
        await service.scheduler.wake(agent)
        await wait_for_outlook(service, agent, "no route to it")
        run = await service.scheduler.wake(agent, wait_s=LIMIT_S)
        assert run is not None
        assert run.status is RunStatus.COMPLETED
        assert len(log(a, agent)) == 1


async def test_a_model_that_is_away_keeps_a_request_waiting(a: Home, agent: EntityId) -> None:
    async with serving(a, Scripted(ModelUnavailable(foreign_text("no route to it")))) as service:
        with pytest.raises(Refused, match="no route to it"):
            await service.scheduler.wake(agent, wait_s=LIMIT_S)
        await wait_for_outlook(service, agent, "no route to it")
        assert log(a, agent)[0].status is RunStatus.QUEUED
        await pass_time(service, agent, 60_000)
        (run,) = await service.completed(agent, 1)
        assert run.cause is WakeCause.SESSION


# -- pace ---------------------------------------------------------------------------------------------


async def paced(a: Home, agent: EntityId, task: EntityId, model: str) -> float | None:
    """Return in how many seconds an agent runs again that has just run by itself."""
    a.write(lambda tx: lifecycle.edit_agent(tx, agent, mode="autonomous", model=model))
    settings = RunnerSettings(pace=RunPace(debounce_s=0), zone=UTC)
    models: Any = Scripted()
    async with serving(a, models, settings) as service:
        service.scheduler._models = {"rules": models, "openai": models}
        service.scheduler._runner._models = service.scheduler._models
        await service.completed(agent, 1)
        await service.note(task, "something new")
        await wait_for_outlook(service, agent, "its task has changed")
        return service.scheduler.outlook(agent).in_s


@pytest.mark.parametrize(("model", "in_s"), [("rules", 5), ("openai", 120), ("one that is not here", 5)])
async def test_an_agent_is_throttled_by_the_model_that_runs_it(
    a: Home, task: EntityId, agent: EntityId, model: str, in_s: float
) -> None:
    assert await paced(a, agent, task, model) == in_s


async def test_a_restart_does_not_shorten_the_throttle(a: Home, task: EntityId, agent: EntityId) -> None:
    a.write(lambda tx: lifecycle.edit_agent(tx, agent, mode="autonomous", model="rules"))
    await wait_until_settled(a, agent)
    a.new("entry", task, task_id=task, text="something new")
    a.fleet.now_ms += 2000
    async with serving(a, settings=RunnerSettings(pace=RunPace(debounce_s=0), zone=UTC)) as service:
        await wait_for_outlook(service, agent, "its task has changed")
        assert service.scheduler.outlook(agent).in_s == 3


async def test_what_a_person_asks_for_does_not_put_off_what_comes_by_itself(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    a.write(lambda tx: lifecycle.edit_agent(tx, agent, mode="autonomous", model="rules"))
    async with serving(
        a, settings=RunnerSettings(pace=RunPace(debounce_s=0, throttle_s=9999), zone=UTC)
    ) as service:
        await service.scheduler.wake(agent, wait_s=LIMIT_S)
        await service.note(task, "something new")
        await service.completed(agent, 2)


async def test_a_process_that_ends_in_every_run_is_held_back_from_the_third_time_on(
    a: Home, agent: EntityId
) -> None:
    for _ in range(3):
        forever = Forever()
        async with serving(a, forever, EAGER) as service:
            if not log(a, agent):
                await service.scheduler.wake(agent)
            await asyncio.wait_for(forever.asked.wait(), LIMIT_S)
    async with serving(a) as service:
        await wait_for_outlook(service, agent, "backing off")
        a.fleet.now_ms += 60_000
        service.scheduler.on_store_growth()
        await service.completed(agent, 1)
