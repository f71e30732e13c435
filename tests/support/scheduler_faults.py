"""Stores and models that fail when a test says so, and waits for what a scheduler then does.

Never sleeps: each wait goes by turns of the store's threads.
"""

from collections.abc import Callable
from typing import TypeVar

from daemon.agents.tools.model_interface import ModelTurn, RunContext
from store.file.errors import DiskFull
from store.local import run_log
from store.sentence import foreign_text
from store.snapshot import Snapshot
from store.threads import StoreThreads
from store.transaction import Transaction
from syncproto.ids import EntityId
from tests.support.fleet import Home
from tests.support.scheduler_service import Serving, serving

T = TypeVar("T")


class Troubled(StoreThreads):
    """A store whose disk is full, or whose next reads meet a bug, when a test says so."""

    full = False
    bugs = 0
    writes = 0

    async def write(self, use: Callable[[Transaction], T]) -> T:
        self.writes += 1
        if self.full:
            raise DiskFull(foreign_text("no space left"))
        return await super().write(use)

    async def read(self, use: Callable[[Snapshot], T]) -> T:
        if self.bugs and use.__module__ == "daemon.agents.running.runner":
            self.bugs -= 1
            raise ZeroDivisionError("a bug")
        return await super().read(use)


class AtTurn:
    """A model that does something at each turn, and proposes nothing."""

    name = "at turn"

    def __init__(self, do: Callable[[], None]) -> None:
        self.do = do
        self.turns = 0

    async def turn(self, context: RunContext) -> ModelTurn:
        self.turns += 1
        self.do()
        return ModelTurn(())


async def wait_for_outlook(service: Serving, agent: EntityId, words: str) -> None:
    async def holds() -> bool:
        await service.runs(agent)  # lets the loop go on
        return words in service.scheduler.outlook(agent).why

    await service.until(holds)


async def spend_idle_turns(service: Serving, agent: EntityId) -> None:
    """Give a loop that goes round without need the time to be seen."""
    for _ in range(50):
        await service.runs(agent)


async def wait_until_settled(home: Home, agent: EntityId, runs_in_all: int = 1) -> None:
    """Serve until an agent has run so often on this device in all, and has nothing to do."""
    async with serving(home) as service:
        await service.completed(agent, runs_in_all)
        await spend_idle_turns(service, agent)
        await wait_for_outlook(service, agent, "nothing has changed")


def run_count(home: Home, agent: EntityId) -> int:
    return len(home.read(lambda snapshot: run_log.runs_of_agent(snapshot, agent, 100)))
