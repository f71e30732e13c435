"""Runs agents when they are due: reads what grew, keeps the timetable, starts runs and records how they end.

Never decides when (`timetable.py`) or why (`wakes.py`), and keeps nothing that a restart would miss.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import NamedTuple, Protocol

import structlog

from daemon.agents import wakes
from daemon.agents.context import Gathered, gather
from daemon.agents.models.interface import Model, ModelFault
from daemon.agents.proposals import Limits
from daemon.agents.records import load
from daemon.agents.run import Database, run
from daemon.agents.timetable import Outlook, Pace, Start, Timetable, backoff_s
from daemon.journal.errors import Code, Refused
from store import runs
from store.faults import StoreError
from store.runs import RunStatus
from store.snapshot import Snapshot
from syncproto.ids import EntityId, text

RUN_MAX_S = 600.0
_log = structlog.get_logger(__name__)


class Clock(Protocol):
    """What the scheduler asks of the world's clock."""

    def now_ms(self) -> int:
        """Return Unix time in milliseconds."""

    def monotonic_s(self) -> float:
        """Return seconds since some moment."""

    def randomness(self, count: int) -> bytes:
        """Return random bytes."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How agents run on this device. `zone` is where "tomorrow" is reckoned; None is the device's own."""

    pace: Pace = field(default_factory=Pace)
    limits: Limits = field(default_factory=Limits)
    run_max_s: float = RUN_MAX_S
    zone: tzinfo | None = None


class _Due(NamedTuple):
    """What the store says of one agent: whether it has news, and how it failed lately."""

    news: bool
    failures: runs.Failures


class Scheduler:
    """The agents of one device. Call `grew` whenever the store has grown, and run `serve` as a task."""

    def __init__(
        self, database: Database, models: Mapping[str, Model], clock: Clock, settings: Settings
    ) -> None:
        self._database = database
        self._models = models
        self._clock = clock
        self._settings = settings
        self._timetable = Timetable(settings.pace)
        self._stirred = asyncio.Event()
        self._seq = 0
        self._looks: set[EntityId] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiting: dict[str, asyncio.Future[runs.Run | None]] = {}

    # -- from outside ---------------------------------------------------------------------------------

    def grew(self) -> None:
        """Tell that the store has grown; call it on the event loop. A call that is lost costs delay only."""
        self._stirred.set()

    async def wake(self, agent: EntityId, *, wait_s: float | None = None) -> runs.Run | None:
        """Run an agent because a person asks, now; with `wait_s`, wait for its end and return the run.

        Raises Refused: not_found, conflict where its home is another device or its task is removed, timeout.
        """
        refusal = await self._database.read(lambda snapshot: _wake_refusal(snapshot, agent))
        if refusal is not None:
            raise refusal
        session = text(self._clock.randomness(16))
        done: asyncio.Future[runs.Run | None] = asyncio.get_running_loop().create_future()
        self._waiting[session] = done
        self._timetable.ask(agent, session)
        self._stirred.set()
        if wait_s is None:
            return None
        try:
            return await asyncio.wait_for(asyncio.shield(done), wait_s)
        except TimeoutError:
            raise Refused(Code.TIMEOUT, f"the agent has not ended its run within {wait_s:g} s") from None

    def outlook(self, agent: EntityId) -> Outlook:
        """Say when an agent runs next, and why."""
        return self._timetable.outlook(agent, self._clock.monotonic_s())

    def counts(self) -> tuple[int, int]:
        """Return how many agents are due, and how many are running."""
        return self._timetable.due(), self._timetable.running()

    # -- the loop -------------------------------------------------------------------------------------

    async def serve(self) -> None:
        """Serve until cancelled; runs that are then under way are cut short and due again."""
        try:
            await self._recover()
            while True:
                self._stirred.clear()
                await self._catch_up()
                self._start_ready()
                await self._rest()
        finally:
            await self._stop()

    async def _recover(self) -> None:
        """Abandon what an earlier process left running, and look at every agent once."""
        abandoned = await self._database.write(runs.abandon_running)
        if abandoned:
            _log.info("runs abandoned", number=abandoned)
        self._seq = await self._database.read(lambda snapshot: snapshot.feed_end())
        await self._look_at(set(await self._database.read(wakes.all_agents)))

    async def _catch_up(self) -> None:
        """Read the feed beyond what was read, page by page, and look at the agents that it concerns."""
        ended, self._looks = self._looks, set()
        await self._look_at(ended)
        while True:
            after = self._seq
            found, self._seq = await self._database.read(
                lambda snapshot, after=after: wakes.concerned(snapshot, after)  # type: ignore[misc]
            )
            if self._seq == after:
                return
            await self._look_at(found)

    async def _look_at(self, agents: set[EntityId]) -> None:
        for agent in sorted(agents):
            found = await self._database.read(lambda snapshot, agent=agent: _due(snapshot, agent))  # type: ignore[misc]
            now_s = self._clock.monotonic_s()
            number, last_ms = found.failures
            left_s = backoff_s(number) - (self._clock.now_ms() - last_ms) / 1000
            self._timetable.failed_before(agent, number, now_s + max(left_s, 0.0) if number else 0.0)
            if found.news:
                self._timetable.news(agent, now_s)
            else:
                self._timetable.no_news(agent)

    def _start_ready(self) -> None:
        for start in self._timetable.ready(self._clock.monotonic_s()):
            self._timetable.started(start)
            task = asyncio.create_task(self._run(start))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _rest(self) -> None:
        """Wait until something happens, or the timetable says that it is time."""
        try:
            async with asyncio.timeout(self._timetable.next_s(self._clock.monotonic_s())):
                await self._stirred.wait()
        except TimeoutError:
            return

    async def _stop(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for done in self._waiting.values():
            done.cancel()

    # -- one run --------------------------------------------------------------------------------------

    async def _run(self, start: Start) -> None:
        """Run one agent and record how it ended; whatever happens, its line is freed."""
        ended: runs.Run | None = None
        try:
            ended = await self._recorded(start)
        except StoreError as fault:
            _log.warning("an agent's run could not be recorded", agent=text(start.agent), error=str(fault))
        finally:
            self._timetable.ended(start.agent, self._clock.monotonic_s())
            self._answer(start, ended)
        self._looks.add(start.agent)
        self._stirred.set()

    def _answer(self, start: Start, ended: runs.Run | None) -> None:
        done = self._waiting.pop(start.session or "", None)
        if done is not None and not done.done():
            done.set_result(ended)

    async def _recorded(self, start: Start) -> runs.Run | None:
        """Claim the run key, run, and say in the run log how it went. None where there was nothing to run."""
        gathered = await self._database.read(lambda snapshot: self._gather(snapshot, start))
        if gathered is None:
            return None
        key, agent = gathered.run_key, start.agent
        if not await self._database.write(lambda tx: runs.begin(tx, key, agent, gathered.reason)):
            return None
        error = await self._attempt(gathered)
        if error is not None:
            await self._database.write(lambda tx: runs.end(tx, key, RunStatus.FAILED, error))
        return await self._database.read(lambda snapshot: runs.find(snapshot, key))

    def _gather(self, snapshot: Snapshot, start: Start) -> Gathered | None:
        """Read the context, and the run key that follows from what changed or from the request."""
        agent = load(snapshot, start.agent)
        if agent is None:
            return None
        changed = wakes.triggers(snapshot, agent)
        if start.session is not None:
            key, reason = wakes.session_key(agent.id, start.session, 1), "asked by a person"
        elif changed and wakes.is_scheduled(snapshot, agent):
            key = wakes.subscription_key(agent.id, (one.head for one in changed))
            number = len({one.head for one in changed})
            reason = "one change" if number == 1 else f"{number} changes"
        else:
            return None
        now_ms, zone = self._clock.now_ms(), self._settings.zone
        return gather(snapshot, agent, changed, run_key=key, reason=reason, now_ms=now_ms, zone=zone)

    async def _attempt(self, gathered: Gathered) -> str | None:
        """Run; return what went wrong, in a line, if anything did."""
        settings = self._settings
        model = self._models.get(gathered.agent.model) or next(iter(self._models.values()))
        try:
            await run(
                self._database,
                model,
                gathered,
                limits=settings.limits,
                timeout_s=settings.run_max_s,
                now_ms=self._clock.now_ms(),
            )
        except ModelFault as fault:
            return f"the model could not answer: {fault}"
        except TimeoutError:
            return f"the run took longer than {settings.run_max_s:g} s"
        except StoreError:
            raise
        except Exception as fault:  # noqa: BLE001 - an agent's bug must not stop the others; it is recorded
            _log.exception("an agent's run failed", agent=text(gathered.agent.id))
            return f"{type(fault).__name__}: {fault}"
        return None


def _due(snapshot: Snapshot, agent: EntityId) -> _Due:
    return _Due(wakes.due(snapshot, agent), runs.failures(snapshot, agent))


def _wake_refusal(snapshot: Snapshot, agent: EntityId) -> Refused | None:
    """Say why a person's request cannot be met here; None where it can."""
    known = load(snapshot, agent)
    if known is None:
        return Refused(Code.NOT_FOUND, "there is no such agent")
    if known.home != snapshot.device:
        return Refused(Code.CONFLICT, "its home is another device", "wake it there")
    task = snapshot.entity(known.task)
    if task is None or not task.visible:
        return Refused(Code.CONFLICT, "its task was removed", "restore the task first")
    return None
