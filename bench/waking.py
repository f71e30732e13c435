"""Figures of agents: a wake without its model's time, a start with a thousand of them, and their sleep.

Never asks a model that is one: what is measured is what surrounds it.
"""

import asyncio
import itertools
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC
from pathlib import Path
from random import Random
from statistics import median

from bench.life import CPU_MAX_PERCENT, RSS_MAX_MIB, ready_s, rest
from bench.stores import open_store
from bench.table import Figure, paired
from daemon.agents.person import lifecycle
from daemon.agents.running.runner import Runner, RunnerSettings
from daemon.agents.running.timetable import RunStart
from daemon.agents.tools.agent_record import state_id
from daemon.agents.tools.model_interface import ModelTurn, RunContext, ToolCall
from daemon.peers.transport import identity
from store.fold.item import clock_as_value
from store.store import Store
from store.threads import StoreThreads
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, id_to_text
from tests.support.devices import Device

MESSAGES, WAKES, WAKE_MAX_MS = 1000, 25, 20.0
AGENTS, STARTS = 1000, 5


class Instant:
    """A model that answers at once: an estimate, a report, and no more."""

    name = "instant"

    async def turn(self, context: RunContext) -> ModelTurn:
        if context.tool_exchanges:
            return ModelTurn(())
        minutes = 1 + len(context.new_entries[-1].text) if context.new_entries else 1
        estimate = ToolCall("update_task_estimate", {"minutes": minutes})
        return ModelTurn((estimate, ToolCall("update_report", {"tldr": f"It takes {minutes} minutes."})))


class Clock:
    """A clock that goes on by a millisecond whenever it is asked."""

    def __init__(self) -> None:
        self._numbers, self._random = itertools.count(1_800_000_000_000), Random(3)

    def now_ms(self) -> int:
        return next(self._numbers)

    def monotonic_s(self) -> float:
        return self.now_ms() / 1000

    def randomness(self, count: int) -> bytes:
        return self._random.randbytes(count)


def _with_history(store: Store) -> tuple[EntityId, EntityId]:
    """Make a task whose agent has a thousand messages behind it, in commits of two as turns leave them."""
    with store.write() as tx:
        task = tx.new_id()
        tx.commit([EntityWrite(task, "task", {"title": "Plan the party", "status": "OPEN"})])
        agent = lifecycle.create_agent(tx, id_to_text(task), "instant")
        for number in range(0, MESSAGES, 2):
            shared: dict[str, Value] = {"agent_id": agent, "thread_id": f"run {number}"}
            shared |= {"text": "what was said " * 10}
            kinds = ("action", "tool_result")
            writes = [EntityWrite(tx.new_id(), "message", {**shared, "kind": kind}) for kind in kinds]
            tx.commit(writes, by=AuthorKind.AGENT, agent=agent)
    return task, agent


async def _wake_ms(folder: Path) -> float:
    store = open_store(folder)
    threads = StoreThreads(store)
    task, agent = _with_history(store)
    runner = Runner(threads, {"instant": Instant()}, Clock(), RunnerSettings(zone=UTC))
    durations_ms = []
    for number in range(WAKES):

        def note(tx: Transaction, number: int = number) -> None:
            tx.commit([EntityWrite(tx.new_id(), "entry", {"task_id": task, "text": "x" * number})])

        await threads.write(note)
        start = time.perf_counter()
        run = await runner.claim_and_run(RunStart(agent, None))
        durations_ms.append(1e3 * (time.perf_counter() - start))
        assert run is not None
        assert run.status == "completed"
    threads.close()
    return median(durations_ms)


def _fill(store: Store) -> None:
    """Make agents that have run and have nothing to do, each with a task of its own."""
    with store.write() as tx:
        identifiers = []
        for number in range(AGENTS):
            task = tx.new_id()
            writes = [EntityWrite(task, "task", {"title": f"Task {number}", "status": "OPEN"})]
            writes += [
                EntityWrite(tx.new_id(), "entry", {"task_id": task, "text": "a note"}) for _ in range(5)
            ]
            tx.commit(writes)
            identifiers.append(lifecycle.create_agent(tx, id_to_text(task), "rules"))
        clock = clock_as_value(tx.vector())
        for agent in identifiers:
            fields: dict[str, Value] = {"agent_id": agent, "watermark": clock, "last_wake_at": 1}
            tx.commit([EntityWrite(state_id(agent), "agent_state", fields)], by=AuthorKind.AGENT, agent=agent)


@contextmanager
def _device(folder: Path, name: str) -> Iterator[Device]:
    device = Device(name, folder / name)
    try:
        yield device
    finally:
        if device.daemon is not None and device.daemon.poll() is None:
            device.kill()


def _sleeping(folder: Path) -> list[Figure]:
    with _device(folder, "many") as device, _device(folder, "none") as none:
        signer = identity.load_or_create(device.home, Random(1).randbytes).signer
        clock = itertools.count(1_700_000_000_000)
        store = Store.open(
            device.home / "placet.db",
            signer=signer,
            now_ms=lambda: next(clock),
            randomness=Random(2).randbytes,
        )
        _fill(store)
        store.close()
        mine, theirs = paired(lambda: _started_ms(device, folder), lambda: _started_ms(none, folder), STARTS)
        ready_s(device, folder)
        assert device.do("status")["agents"]["active"] == AGENTS
        rss, cpu = rest(device)
        device.stop()
    what = f"{AGENTS} sleeping agents"
    return [
        Figure(f"start to a first answer, {what}", mine, theirs, "ms", "the same without agents", "<= 1.5"),
        Figure(f"memory at rest, {what}", rss, RSS_MAX_MIB, "MiB", "the budget", "<= 1"),
        Figure(f"processor at rest, {what}", cpu, CPU_MAX_PERCENT, "%", "the budget", "<= 1"),
    ]


def _started_ms(device: Device, folder: Path) -> float:
    """Start a daemon and ask it where things stand: looking at its agents is part of that."""
    start = time.perf_counter()
    ready_s(device, folder)
    device.do("status")
    durations_ms = 1e3 * (time.perf_counter() - start)
    device.stop()
    return durations_ms


def figures() -> list[Figure]:
    """Measure everything here."""
    with tempfile.TemporaryDirectory(prefix="placet-bench-") as name:
        folder = Path(name)
        wake = asyncio.run(_wake_ms(folder))
        history = f"a wake without the model's time, {MESSAGES} messages"
        return [
            Figure(history, wake, WAKE_MAX_MS, "ms", "the budget", "<= 1"),
            *_sleeping(folder),
        ]
