"""Processes that die at any step of a wake: nothing that woke an agent is lost, and no run ends twice.

Never repairs anything between two lives: the next process finds what is in the file.
"""

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, NamedTuple, TypeVar

from hypothesis import given, settings
from hypothesis import strategies as st

from daemon.agents.person import agent_timers, lifecycle
from daemon.agents.running import wakes
from daemon.agents.running.runner import RunnerSettings
from daemon.agents.running.scheduler import Scheduler
from daemon.agents.running.timetable import RunPace
from daemon.agents.tools.model_interface import ModelFault, ModelTurn, RunContext, ToolCall
from daemon.journal.human_input import HumanInput
from store.local import run_log, timers
from store.local.run_log import AgentRun, RunStatus, WakeCause
from store.sentence import foreign_text
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.ids import EntityId, id_to_text
from tests.support.fleet import Fleet, Home

T = TypeVar("T")
HOUR_MS = 3_600_000
SETTLED_TURNS = 60
EXAMPLES = int(os.environ.get("CRASHES") or 12)
"""Each is several processes on a disk of their own; by hand: `CRASHES=1000`."""

Step = Literal["note", "wake", "timer", "hour", "go on"]
Moment = Literal["before", "after"]


class Kill(NamedTuple):
    """The transaction at which a process dies, and whether that transaction had become durable."""

    at: int
    moment: Moment


class Life(NamedTuple):
    """What a person does while a process lives, and when it dies; None: it lives to see everything done."""

    steps: list[Step]
    kill: Kill | None


LIVES = st.lists(
    st.builds(
        Life,
        st.lists(st.sampled_from(["note", "wake", "timer", "hour", "go on"]), max_size=5),
        st.builds(Kill, st.integers(1, 12), st.sampled_from(["before", "after"])),
    ),
    min_size=1,
    max_size=4,
)


class Mortal:
    """A store as asyncio sees it, in a process that dies at a drawn transaction; the dead answer no one."""

    def __init__(self, home: Home, kill: Kill | None) -> None:
        self.home = home
        self.kill = kill
        self.writes = 0
        self.died = asyncio.Event()
        self.tell: Callable[[], None] = lambda: None

    async def read(self, use: Callable[[Snapshot], T]) -> T:
        await self._alive()
        with self.home.store.read() as snapshot:
            return use(snapshot)

    async def write(self, use: Callable[[Transaction], T]) -> T:
        await self._alive()
        self.writes += 1
        due = self.kill is not None and self.kill.at == self.writes
        if due and self.kill is not None and self.kill.moment == "before":
            await self._die()
        with self.home.store.write() as tx:
            result = use(tx)
        if due:
            await self._die()
        self.tell()
        return result

    async def _alive(self) -> None:
        await asyncio.sleep(0)
        if self.died.is_set():
            await asyncio.Event().wait()

    async def _die(self) -> None:
        self.died.set()
        await asyncio.Event().wait()


class Moody:
    """A model that proposes the length of the newest note, reports, and sometimes cannot answer."""

    name = "moody"

    def __init__(self) -> None:
        self.asked = 0

    async def turn(self, context: RunContext) -> ModelTurn:
        self.asked += 1
        await asyncio.sleep(0)
        if self.asked % 7 == 3:
            raise ModelFault(foreign_text("not today"))
        if not context.tool_exchanges and context.new_entries:
            return ModelTurn(
                (ToolCall("update_task_estimate", {"minutes": len(context.new_entries[-1].text) + 10}),)
            )
        if context.required_tool or len(context.tool_exchanges) == 1:
            return ModelTurn(
                (ToolCall("update_report", {"tldr": f"after {len(context.new_entries)} notes"}),)
            )
        return ModelTurn(())


class Clock:
    def __init__(self, home: Home) -> None:
        self._fleet = home.fleet

    def now_ms(self) -> int:
        return self._fleet.now_ms

    def monotonic_s(self) -> float:
        return self._fleet.now_ms / 1000

    def randomness(self, count: int) -> bytes:
        return self._fleet.randomness(count)


@dataclass
class World:
    """One device through several lives of its daemon, and what its person was promised."""

    home: Home
    task: EntityId
    agent: EntityId
    model: Moody = field(default_factory=Moody)
    promised: set[str] = field(default_factory=set)
    timed: list[int] = field(default_factory=list)
    notes: int = 0

    async def live(self, life: Life) -> None:
        """Let a process do what it can until it dies, or until everything is done."""
        database = Mortal(self.home, life.kill)
        pace = RunPace(debounce_s=0, throttle_s=0, remote_throttle_s=0)
        scheduler = Scheduler(
            database, {"rules": self.model}, Clock(self.home), RunnerSettings(pace=pace, zone=UTC)
        )
        database.tell = scheduler.on_store_growth
        serving = asyncio.create_task(scheduler.serve())
        acting = asyncio.create_task(self._act(life, database, scheduler))
        dying = asyncio.create_task(database.died.wait())
        await asyncio.wait({acting, dying}, return_when=asyncio.FIRST_COMPLETED)
        if acting.done():
            await acting
        for task in (acting, serving, dying):
            task.cancel()
        await asyncio.gather(acting, serving, dying, return_exceptions=True)
        self.home.store.close()
        self.home.store = self.home.opened()

    async def _act(self, life: Life, database: Mortal, scheduler: Scheduler) -> None:
        for step in life.steps:
            await self._step(step, database, scheduler)
        # The dead do nothing in all that time; the last process has all of it to be done.
        for _ in range(8 if life.kill is None else 2):
            await _turns(SETTLED_TURNS)
            self.home.fleet.now_ms += 6 * HOUR_MS
            scheduler.on_timers_changed()

    async def _step(self, step: Step, database: Mortal, scheduler: Scheduler) -> None:
        if step == "note":
            self.notes += 1
            fields: dict[str, Value] = {"task_id": self.task, "text": "x" * self.notes}
            await database.write(lambda tx: tx.commit([EntityWrite(tx.new_id(), "entry", fields)]))
        elif step == "wake":
            await scheduler.wake(self.agent)
            waiting = self.home.read(run_log.waiting_runs)
            self.promised |= {run.run_key for run in waiting if run.cause is WakeCause.SESSION}
        elif step == "timer":
            typed = HumanInput(self.home.now_ms, UTC, "en")
            at_ms = self.home.now_ms() + HOUR_MS
            await database.write(lambda tx: agent_timers.set_timer(tx, self.agent, "in 1 hour", typed))
            self.timed.append(at_ms)
            scheduler.on_timers_changed()
        elif step == "hour":
            self.home.fleet.now_ms += HOUR_MS
            scheduler.on_timers_changed()
        await _turns(3)

    def log(self) -> list[AgentRun]:
        return self.home.read(lambda snapshot: run_log.runs_of_agent(snapshot, self.agent, 1000))


async def _turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


# -- what must hold in the end ------------------------------------------------------------------------


def ends_by_run(snapshot: Snapshot, agent: EntityId) -> dict[str, int]:
    """Count the commits that ended runs, by the key of the run: each contains the state and a summary."""
    result: dict[str, int] = {}
    for _, received in snapshot.read_feed(0, 100_000):
        operations = received.commit.operations
        if received.commit.author.agent != agent or all(
            operation.kind != "agent_state" for operation in operations
        ):
            continue
        for listed_operation in operations:
            if listed_operation.kind == "message" and listed_operation.fields.get("kind") == "summary":
                key = str(listed_operation.fields["thread_id"])
                result[key] = result.get(key, 0) + 1
    return result


def judge(world: World) -> None:
    """Check what is in the file against the laws."""
    log = {run.run_key: run for run in world.log()}
    completed = {key for key, run in log.items() if run.status is RunStatus.COMPLETED}
    ended = world.home.read(lambda snapshot: ends_by_run(snapshot, world.agent))
    assert ended == dict.fromkeys(completed, 1), "a run is completed by one commit, and none without it"
    assert not world.home.read(lambda snapshot: wakes.is_due(snapshot, world.agent)), "every change was seen"
    assert world.home.read(run_log.waiting_runs) == [], "nothing waits for ever"
    for key in world.promised:
        # A request that fails is told, and answered by that.
        assert log[key].status in (RunStatus.COMPLETED, RunStatus.FAILED), "every request was answered"
    rung = [run.ended_ms or 0 for run in log.values() if run.cause is WakeCause.TIMER]
    assert world.home.read(timers.next_wake_ms) is None
    assert all(any(index >= number for index in rung) for number in world.timed), "every timer has rung"


@given(lives=LIVES)
@settings(max_examples=EXAMPLES)
def test_no_wake_is_lost_and_no_run_ends_twice_whenever_processes_die(lives: list[Life]) -> None:
    with TemporaryDirectory() as folder:
        fleet = Fleet(Path(folder))
        home = fleet.home("a")
        task = home.new("task", title="Plan", status="OPEN")
        agent = home.write(lambda tx: lifecycle.create_agent(tx, id_to_text(task), "rules"))
        world = World(home, task, agent)
        try:
            for life in [*lives, Life([], None)]:
                asyncio.run(world.live(life))
            judge(world)
        finally:
            fleet.close()
