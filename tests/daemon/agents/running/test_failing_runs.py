"""Runs whose end cannot be written, disks that are full, clocks that are set, and agents made twice.

Never sleeps: each test waits, turn by turn of the store's threads, for what it caused.
"""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo

import pytest

from daemon.agents.context.triggers import unseen_triggers
from daemon.agents.person import lifecycle
from daemon.agents.running import scheduler, wakes
from daemon.agents.running.runner import RunnerSettings
from daemon.agents.running.timetable import RunPace
from daemon.agents.tools.agent_record import agent_id, load_agent, state_id
from daemon.agents.tools.model_interface import ModelFault
from daemon.refusal import RefusalCode, Refused
from store.fold.item import clock_as_value
from store.local import run_log
from store.local.run_log import RunStatus
from store.sentence import Sentence, foreign_text
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, id_to_text
from tests.support.agent_queries import stored_agent
from tests.support.fleet import DAY_MS, Fleet, Home
from tests.support.patience import LIMIT_S
from tests.support.scheduler_faults import (
    AtTurn,
    Troubled,
    run_count,
    spend_idle_turns,
    wait_for_outlook,
    wait_until_settled,
)
from tests.support.scheduler_service import EAGER, Forever, Scripted, Serving, serving


class BrokenZone(tzinfo):
    """A zone in which every conversion fails."""

    def utcoffset(self, moment: datetime | None, /) -> timedelta:
        raise ZeroDivisionError("no such hour")

    dst = utcoffset

    def tzname(self, moment: datetime | None, /) -> str:
        return "broken"


@pytest.fixture
def agent(a: Home, task: EntityId) -> EntityId:
    return a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))


async def test_a_run_whose_end_cannot_be_written_backs_off_and_completes_later(
    a: Home, agent: EntityId
) -> None:
    threads = Troubled(a.store)

    def fill() -> None:
        threads.full = True

    model = AtTurn(fill)
    async with serving(a, model, threads=threads) as service:
        await wait_for_outlook(service, agent, "backing off")
        turns, writes = model.turns, threads.writes
        await spend_idle_turns(service, agent)
        assert (model.turns, threads.writes) == (turns, writes)
        (cut,) = await service.runs(agent)
        assert cut.status is RunStatus.RUNNING
        model.do = lambda: None
        threads.full = False
        a.fleet.now_ms += 60_000
        service.scheduler.on_store_growth()
        (finished,) = await service.completed(agent, 1)
        assert finished.run_key == cut.run_key


async def test_a_moment_of_full_disk_is_no_failure_of_the_agents(a: Home, agent: EntityId) -> None:
    threads = Troubled(a.store)
    threads.full = True
    async with serving(a, threads=threads) as service:
        await wait_for_outlook(service, agent, "backing off")
        with pytest.raises(Refused, match="no space left") as refused:
            await service.scheduler.wake(agent, wait_s=LIMIT_S)
        assert refused.value.code is RefusalCode.FAILED
        assert a.read(lambda snapshot: run_log.failure_streak(snapshot, agent)).number == 0
        threads.full = False
        a.fleet.now_ms += 600_000
        service.scheduler.on_store_growth()
        await service.completed(agent, 1)


async def test_how_a_run_ended_is_written_with_the_next_run(a: Home, task: EntityId, agent: EntityId) -> None:
    threads = Troubled(a.store)

    def fill() -> None:
        threads.full = True

    model = AtTurn(fill)
    async with serving(a, model, threads=threads) as service:
        await wait_for_outlook(service, agent, "backing off")
        model.do = lambda: None
        threads.full = False
        await service.note(task, "so the next run has another key")
        a.fleet.now_ms += 60_000
        service.scheduler.on_store_growth()
        newest, cut = await service.completed(agent, 1)
        assert (newest.status, cut.status) == (RunStatus.COMPLETED, RunStatus.ABANDONED)
        assert cut.error == "no space left"


async def test_a_bug_before_a_run_begins_is_told_to_who_waits_and_backs_off(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    threads = Troubled(a.store)
    async with serving(a, threads=threads) as service:
        await service.completed(agent, 1)
        # More than one, because a look of the scheduler's own may meet it first.
        threads.bugs = 9
        with pytest.raises(Refused, match="ZeroDivisionError: a bug") as refused:
            await service.scheduler.wake(agent, wait_s=LIMIT_S)
        threads.bugs = 0
        assert refused.value.code is RefusalCode.FAILED
        await service.note(task, "so that it is due")
        await wait_for_outlook(service, agent, "backing off")
        assert (await service.scheduler.wake(agent, wait_s=LIMIT_S)) is not None


async def test_a_context_that_cannot_be_read_is_a_failed_run(a: Home, agent: EntityId) -> None:
    async with serving(a, settings=RunnerSettings(pace=EAGER.pace, zone=BrokenZone())) as service:
        await wait_for_outlook(service, agent, "backing off")
        (run,) = await service.runs(agent)
    assert (run.status, run.error) == (RunStatus.FAILED, "ZeroDivisionError: no such hour")


async def test_a_model_that_always_fails_makes_its_agent_dormant_until_a_person_resumes_it(
    a: Home, agent: EntityId
) -> None:
    model = Scripted(*(ModelFault(foreign_text("no answer")) for _ in range(5)))
    async with serving(a, model) as service:
        for number in range(1, 5):
            await wait_for_outlook(service, agent, f"after {number} failed")
            a.fleet.now_ms += 3_600_000
            service.scheduler.on_store_growth()
        await service.until(
            lambda: _soon(service, agent, lambda: stored_agent(a, agent).lifecycle == "dormant")
        )
        reason = "it failed 5 times in a row: the model could not answer: no answer"
        assert stored_agent(a, agent).lifecycle_reason == reason
        version = a.entity(agent).version("lifecycle")
        assert version is not None
        assert version.source.by is AuthorKind.SYSTEM
        with pytest.raises(Refused, match="it failed 5 times in a row") as refused:
            await service.scheduler.wake(agent)
        assert refused.value.hint == "wake it up: placet agent resume"
        await spend_idle_turns(service, agent)
        assert len(await service.runs(agent)) == 1
        await service.threads.write(lambda tx: lifecycle.resume_agent(tx, agent))
        await service.completed(agent, 1)
        await wait_for_outlook(service, agent, "nothing has changed since its last run")


async def test_who_waits_is_told_when_the_daemon_stops(a: Home, agent: EntityId) -> None:
    model = Forever()
    async with serving(a, model) as service:
        waiting = asyncio.create_task(service.scheduler.wake(agent, wait_s=LIMIT_S))
        await model.asked.wait()
    with pytest.raises(Refused, match="stopping"):
        await waiting


# -- room, and the clock ------------------------------------------------------------------------------


async def test_no_run_begins_below_the_disk_floor_and_the_agent_stays_due(
    a: Home, agent: EntityId, monkeypatch: pytest.MonkeyPatch
) -> None:
    request: list[Sentence | None] = []
    lack: Sentence | None = foreign_text("only 3 MiB are free")

    def shortfall() -> Sentence | None:
        request.append(lack)
        return lack

    async with serving(a, shortfall=shortfall) as service:
        await service.until(lambda: _soon(service, agent, lambda: bool(request)))
        with pytest.raises(Refused, match="only 3 MiB") as refused:
            await service.scheduler.wake(agent, wait_s=LIMIT_S)
        assert refused.value.code is RefusalCode.DISK
        times = len(request)
        await spend_idle_turns(service, agent)
        assert len(request) == times
        assert service.scheduler.counts() == (1, 0)
        assert await service.runs(agent) == []
        monkeypatch.setattr(scheduler, "DISK_ROOM_RECHECK_S", 0.001)
        service.scheduler.on_store_growth()
        await service.until(lambda: _soon(service, agent, lambda: len(request) > times + 1))
        lack = None
        await service.completed(agent, 1)


async def _soon(service: Serving, agent: EntityId, holds: Callable[[], bool]) -> bool:
    await service.runs(agent)  # lets the loop go on
    return holds()


async def test_a_clock_set_back_by_a_day_adds_no_day_to_the_backoff(
    a: Home, task: EntityId, agent: EntityId
) -> None:
    async with serving(a, Scripted(ModelFault(foreign_text("no answer")))) as service:
        await wait_for_outlook(service, agent, "backing off")
    a.fleet.now_ms -= DAY_MS
    async with serving(a) as service:
        await wait_for_outlook(service, agent, "backing off")
        in_s = service.scheduler.outlook(agent).in_s
        assert in_s is not None
        assert in_s <= 60
        for _ in range(2):
            await service.note(task, "what is looked at again is not put off again")
            await spend_idle_turns(service, agent)
            a.fleet.now_ms += 30_000
            service.scheduler.on_store_growth()
        await service.completed(agent, 1)


# -- the same agent on two devices --------------------------------------------------------------------


async def test_an_agent_made_and_run_on_two_devices_apart_settles_without_another_run(
    fleet: Fleet, a: Home, b: Home, task: EntityId
) -> None:
    fleet.sync()
    agent = agent_id(task)
    for home in (a, b):
        home.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))
        home.new("entry", task, task_id=task, text=f"written on {home.name}")
        await wait_until_settled(home, agent)
    fleet.sync()
    assert len(a.entity(state_id(agent)).versions("watermark")) == 2
    ends = [home.read(lambda snapshot: snapshot.feed_end()) for home in (a, b)]
    for home in (a, b):
        assert not home.read(lambda snapshot: wakes.is_due(snapshot, agent))
        await wait_until_settled(home, agent)
        assert run_count(home, agent) == 1
    assert [home.read(lambda snapshot: snapshot.feed_end()) for home in (a, b)] == ends


async def test_homes_moved_concurrently_settle_without_doubled_runs(
    fleet: Fleet, a: Home, b: Home, c: Home, task: EntityId
) -> None:
    agent = a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))
    await wait_until_settled(a, agent)
    fleet.sync()
    for home in (b, c):
        home.set(agent, home_device_id=home.read(lambda snapshot: snapshot.device))
        home.new("entry", task, task_id=task, text=f"written on {home.name}")
        await wait_until_settled(home, agent)
    fleet.sync()
    before = [run_count(home, agent) for home in (a, b, c)]
    assert before == [1, 1, 1]
    for home in (a, b, c):
        assert not home.read(lambda snapshot: wakes.is_due(snapshot, agent))
    a.new("entry", task, task_id=task, text="one more")
    fleet.sync()
    assert sum(home.read(lambda snapshot: wakes.is_due(snapshot, agent)) for home in (a, b, c)) == 1


async def test_a_watermark_that_another_device_moved_during_a_run_is_not_lost(
    fleet: Fleet, a: Home, b: Home, task: EntityId
) -> None:
    fleet.sync()
    b.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))
    agent = a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))
    b.new("entry", task, task_id=task, text="seen by the run on b")
    await wait_until_settled(b, agent)
    model = AtTurn(lambda: fleet.pull(a, b))
    async with serving(a, model) as service:
        await service.completed(agent, 1)
    known_agent = a.read(lambda snapshot: load_agent(snapshot, agent))
    assert known_agent is not None
    assert a.read(lambda snapshot: unseen_triggers(snapshot, known_agent)) == []


async def test_a_change_whose_run_completed_is_no_news_though_the_watermark_has_lost_it(
    a: Home, agent: EntityId
) -> None:
    await wait_until_settled(a, agent)
    lost: list[Value] = clock_as_value(())
    a.set(state_id(agent), watermark=lost)
    assert run_count(a, agent) == 1
    slow = RunnerSettings(pace=RunPace(debounce_s=9999, throttle_s=9999), zone=UTC)
    end = a.read(lambda snapshot: snapshot.feed_end())
    async with serving(a, settings=slow) as service:
        await spend_idle_turns(service, agent)
        await wait_for_outlook(service, agent, "nothing has changed")
        assert service.scheduler.counts() == (0, 0)
    assert a.read(lambda snapshot: snapshot.feed_end()) == end
