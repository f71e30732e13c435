"""A scheduler at work on one device of a fleet, with models that answer from a script.

Never waits on a clock: the fleet's time moves when a test moves it.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC
from typing import Any

from daemon.agents.models.rules.embedded_model import RulesModel
from daemon.agents.running.runner import RunnerSettings
from daemon.agents.running.scheduler import Scheduler
from daemon.agents.running.timetable import RunPace
from daemon.agents.tools.model_interface import ModelTurn, RunContext
from daemon.notifier import Notifier
from store.local import run_log
from store.local.run_log import AgentRun, RunStatus
from store.sentence import Sentence
from store.threads import StoreThreads
from store.transaction import EntityWrite
from syncproto.ids import EntityId
from tests.support.fleet import Fleet, Home
from tests.support.patience import LIMIT_S, POLL_S

EAGER = RunnerSettings(pace=RunPace(debounce_s=0, throttle_s=0), zone=UTC)


class Scripted:
    """A model that answers from a script, one turn after the other, then with nothing."""

    name = "scripted"

    def __init__(self, *turns: Callable[[RunContext], ModelTurn] | ModelTurn | Exception) -> None:
        self.turns = list(turns)
        self.seen: list[RunContext] = []

    async def turn(self, context: RunContext) -> ModelTurn:
        self.seen.append(context)
        turn = self.turns.pop(0) if self.turns else ModelTurn(())
        if isinstance(turn, Exception):
            raise turn
        return turn(context) if callable(turn) else turn


class Forever:
    """A model that never answers; it says when it was asked."""

    name = "forever"

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def turn(self, context: RunContext) -> ModelTurn:
        self.asked.set()
        await asyncio.Event().wait()
        raise AssertionError(context)


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
        settings: RunnerSettings,
        threads: StoreThreads,
        shortfall: Callable[[], Sentence | None],
    ) -> None:
        self.home = home
        self.threads = threads
        self.scheduler = Scheduler(threads, {"rules": model}, Clock(home.fleet), settings, shortfall)
        self.threads.on_commit.append(self.scheduler.on_store_growth)
        self._committed = Notifier()
        self.threads.on_commit.append(self._committed.notify)

    async def runs(self, agent: EntityId) -> list[AgentRun]:
        return await self.threads.read(lambda snapshot: run_log.runs_of_agent(snapshot, agent, 100))

    async def note(self, task: EntityId, text: str) -> None:
        await self.threads.write(
            lambda tx: tx.commit([EntityWrite(tx.new_id(), "entry", {"task_id": task, "text": text})])
        )

    async def until(self, holds: Callable[[], Awaitable[bool]]) -> None:
        """Wait until something holds; ask after each commit, and now and then for what is not stored."""
        watch = self._committed.watch()
        async with asyncio.timeout(LIMIT_S):
            while not await holds():
                await watch.wait_for_growth(POLL_S)

    async def completed(self, agent: EntityId, number: int) -> list[AgentRun]:
        """Wait until so many runs have completed."""

        async def holds() -> bool:
            runs = await self.runs(agent)
            return sum(run.status is RunStatus.COMPLETED for run in runs) >= number

        await self.until(holds)
        return await self.runs(agent)


@asynccontextmanager
async def serving(
    home: Home,
    model: Any = None,
    settings: RunnerSettings = EAGER,
    threads: StoreThreads | None = None,
    shortfall: Callable[[], Sentence | None] = lambda: None,
) -> AsyncIterator[Serving]:
    service = Serving(home, model or RulesModel(), settings, threads or home.threads(), shortfall)
    task = asyncio.create_task(service.scheduler.serve())
    try:
        yield service
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await service.threads.write(lambda tx: None)  # what a cancelled run had begun to write is over then
