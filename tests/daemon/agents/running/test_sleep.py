"""Agents of a machine that slept: what was due meanwhile runs once, within a minute of its waking.

Never sleeps: tests move the time by hand, and the loop's own clock for one look alone.
"""

import asyncio

import pytest

from daemon.agents.person import agent_timers, lifecycle
from daemon.agents.running.scheduler import CLOCK_CHECK_S
from daemon.agents.tools.model_interface import ModelFault
from store.local.run_log import RunStatus, WakeCause
from store.sentence import foreign_text
from syncproto.ids import EntityId, id_to_text
from tests.support.agent_queries import human_input_of
from tests.support.fleet import DAY_MS, Home
from tests.support.patience import LIMIT_S
from tests.support.scheduler_faults import spend_idle_turns, wait_for_outlook
from tests.support.scheduler_service import Scripted, Serving, serving


@pytest.fixture
def agent(a: Home, task: EntityId) -> EntityId:
    return a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules", "hybrid"))


def sleep(service: Serving, monkeypatch: pytest.MonkeyPatch, by_ms: int) -> None:
    """Let the machine sleep, and be awake for one look at the clock."""
    loop = asyncio.get_running_loop()
    time = loop.time
    service.home.fleet.now_ms += by_ms
    monkeypatch.setattr(loop, "time", lambda: time() + CLOCK_CHECK_S)


async def test_timers_that_were_due_meanwhile_ring_once(
    a: Home, agent: EntityId, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(a) as service:
        await service.scheduler.wake(agent, wait_s=LIMIT_S)
        for words in ("in 1 hour", "in 2 hours"):
            a.write(lambda tx, words=words: agent_timers.set_timer(tx, agent, words, human_input_of(a)))  # type: ignore[misc]
        service.scheduler.on_timers_changed()
        await spend_idle_turns(service, agent)
        sleep(service, monkeypatch, DAY_MS)
        runs = await service.completed(agent, 2)
        await spend_idle_turns(service, agent)
        assert len(await service.runs(agent)) == len(runs)
        assert [run.cause for run in runs].count(WakeCause.TIMER) == 1


async def test_a_back_off_ends_while_the_machine_sleeps(
    a: Home, task: EntityId, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = a.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))
    fault = ModelFault(foreign_text("no answer"))
    async with serving(a, Scripted(fault, fault)) as service:
        for number in (1, 2):
            # The second is longer than one look.
            await wait_for_outlook(service, agent, f"backing off after {number} failed runs")
            await spend_idle_turns(service, agent)
            sleep(service, monkeypatch, DAY_MS)
        runs = await service.completed(agent, 1)
        assert [run.status for run in runs].count(RunStatus.COMPLETED) == 1
