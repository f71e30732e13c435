"""Agents of a machine that slept: what was due meanwhile runs once, within a minute of its waking.

Never sleeps: time goes on by hand, and the loop's own clock for one look alone.
"""

import asyncio

import pytest

from daemon.agents import agents, alarms
from daemon.agents.models.interface import ModelFault
from daemon.agents.scheduler import CLOCK_LOOK_S
from store.runs import Cause, RunStatus
from syncproto.ids import EntityId, text
from tests.daemon.agents.fleet import DAY_MS, Home
from tests.daemon.agents.test_runs_that_go_wrong import idle_turns, says
from tests.daemon.agents.test_scheduler import Scripted, Serving, serving
from tests.daemon.agents.test_waking_later import typed


@pytest.fixture
def agent(a: Home, task: EntityId) -> EntityId:
    return a.write(lambda tx: agents.create(tx, text(task), "rules", "hybrid"))


def sleep(at: Serving, monkeypatch: pytest.MonkeyPatch, by_ms: int) -> None:
    """Let the machine sleep, and be awake for one look at the clock."""
    loop = asyncio.get_running_loop()
    time = loop.time
    at.home.fleet.now_ms += by_ms
    monkeypatch.setattr(loop, "time", lambda: time() + CLOCK_LOOK_S)


async def test_timers_that_were_due_meanwhile_ring_once(
    a: Home, agent: EntityId, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(a) as at:
        await at.scheduler.wake(agent, wait_s=20)
        for words in ("in 1 hour", "in 2 hours"):
            a.write(lambda tx, words=words: alarms.wake_at(tx, agent, words, typed(a)))  # type: ignore[misc]
        at.scheduler.timers_moved()
        await idle_turns(at, agent)
        sleep(at, monkeypatch, DAY_MS)
        found = await at.completed(agent, 2)
        await idle_turns(at, agent)
        assert len(await at.runs(agent)) == len(found)
        assert [run.cause for run in found].count(Cause.TIMER) == 1


async def test_a_back_off_ends_while_the_machine_sleeps(
    a: Home, task: EntityId, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = a.write(lambda tx: agents.create(tx, text(task), "rules"))
    fault = ModelFault("no answer")
    async with serving(a, Scripted(fault, fault)) as at:
        for number in (1, 2):
            # The second is longer than one look.
            await says(at, agent, f"backing off after {number} failed runs")
            await idle_turns(at, agent)
            sleep(at, monkeypatch, DAY_MS)
        found = await at.completed(agent, 1)
        assert [run.status for run in found].count(RunStatus.COMPLETED) == 1
