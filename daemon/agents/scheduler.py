"""Runs agents when they are due: reads what grew, keeps the timetable, starts runs and answers who waits.

Never decides when (`timetable.py`) or why (`wakes.py`), and keeps nothing that a restart would miss.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import NamedTuple

import structlog

from daemon.agents import wakes
from daemon.agents.models.interface import Model, ModelUnavailable
from daemon.agents.records import load
from daemon.agents.run import Database
from daemon.agents.runner import Clock, Runner, Settings
from daemon.agents.timetable import FAILURES_MAX, Outlook, Start, Timetable, backoff_s
from daemon.journal.errors import Code, Refused
from store import runs
from store.faults import StoreError
from store.snapshot import Snapshot
from syncproto.ids import EntityId, text

ROOM_AGAIN_S = 60.0
_log = structlog.get_logger(__name__)


class _Due(NamedTuple):
    """What the store says of one agent: whether it has news, and how it failed lately."""

    news: bool
    failures: runs.Failures


class _Pause(NamedTuple):
    """For how long an agent is left alone, on the monotonic clock, and for what."""

    cause: runs.Failures
    until_s: float


def _always_room() -> str | None:
    return None


class Scheduler:
    """The agents of one device. Call `grew` whenever the store has grown, and run `serve` as a task."""

    def __init__(
        self,
        database: Database,
        models: Mapping[str, Model],
        clock: Clock,
        settings: Settings,
        shortfall: Callable[[], str | None] = _always_room,
    ) -> None:
        """`shortfall` says in one line why nothing may be written now; None where there is room."""
        self._database = database
        self._clock = clock
        self._shortfall = shortfall
        self._runner = Runner(database, models, clock, settings)
        self._timetable = Timetable(settings.pace)
        self._stirred = asyncio.Event()
        self._seq = 0
        self._looks: set[EntityId] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiting: dict[str, asyncio.Future[runs.Run | Refused]] = {}
        self._pauses: dict[EntityId, _Pause] = {}
        self._faults: dict[EntityId, _Pause] = {}
        self._room_asked_s: float | None = None

    # -- from outside ---------------------------------------------------------------------------------

    def grew(self) -> None:
        """Tell that the store has grown; call it on the event loop. A call that is lost costs delay only."""
        self._stirred.set()

    async def wake(self, agent: EntityId, *, wait_s: float | None = None) -> runs.Run | None:
        """Run an agent because a person asks, now; with `wait_s`, wait for its end and return the run.

        Raises Refused: not_found, conflict where its home is another device or its task is removed, timeout,
        disk, and failed where the wait ended without a run.
        """
        refusal = await self._database.read(lambda snapshot: _wake_refusal(snapshot, agent))
        if refusal is not None:
            raise refusal
        session = text(self._clock.randomness(16))
        self._timetable.ask(agent, session)
        self._stirred.set()
        return None if wait_s is None else await self._ended(session, wait_s)

    async def _ended(self, session: str, wait_s: float) -> runs.Run:
        done: asyncio.Future[runs.Run | Refused] = asyncio.get_running_loop().create_future()
        self._waiting[session] = done
        try:
            ended = await asyncio.wait_for(done, wait_s)
        except TimeoutError:
            raise Refused(Code.TIMEOUT, f"the agent has not ended its run within {wait_s:g} s") from None
        finally:
            del self._waiting[session]
        if isinstance(ended, Refused):
            raise ended
        return ended

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
        """Abandon what an earlier process left running, and look at every agent once.

        A disk that is full keeps the first from being written, and nothing else: a run takes such a key over.
        """
        try:
            abandoned = await self._database.write(runs.abandon_running)
            if abandoned:
                _log.info("runs abandoned", number=abandoned)
        except StoreError as fault:
            _log.warning("runs that an earlier process left are not closed", error=str(fault))
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
            try:
                found = await self._database.read(lambda snapshot, agent=agent: _due(snapshot, agent))  # type: ignore[misc]
            except Exception as fault:  # noqa: BLE001 - one agent that cannot be read must not stop the others
                self._leave_alone(agent, fault)
                continue
            self._hold_back(agent, found.failures)
            if found.news:
                self._timetable.news(agent, self._clock.monotonic_s())
            else:
                self._timetable.no_news(agent)

    def _hold_back(self, agent: EntityId, failures: runs.Failures) -> None:
        """Back off from failures, of the run log or beside it; the later end holds.

        The wall clock is asked once for each failure and believed up to the back-off itself: it may be set.
        """
        now_s, known = self._clock.monotonic_s(), self._pauses.get(agent)
        if known is None or known.cause != failures:
            whole_s = backoff_s(failures.number)
            left_s = whole_s - (self._clock.now_ms() - failures.last_ms) / 1000
            known = _Pause(failures, now_s + min(max(left_s, 0.0), whole_s))
            self._pauses[agent] = known
        fault = self._faults.get(agent, known)
        number = max(failures.number, min(fault.cause.number, FAILURES_MAX - 1))
        self._timetable.failed_before(agent, number, max(known.until_s, fault.until_s))

    def _leave_alone(self, agent: EntityId, fault: Exception) -> None:
        """Back off from what is not in the run log, then try again: that is never given up."""
        trace = None if isinstance(fault, StoreError | ModelUnavailable) else fault
        _log.error("an agent could not run", agent=text(agent), error=str(fault), exc_info=trace)
        before, now_s = self._faults.get(agent), self._clock.monotonic_s()
        number = 1 if before is None else before.cause.number + 1
        self._faults[agent] = _Pause(runs.Failures(number, 0), now_s + backoff_s(number))
        cause = self._pauses[agent].cause if agent in self._pauses else runs.Failures(0, 0)
        self._hold_back(agent, cause)
        self._timetable.news(agent, now_s)

    def _start_ready(self) -> None:
        starts = self._timetable.ready(self._clock.monotonic_s())
        self._room_asked_s = None
        if not starts or not self._has_room(starts):
            return
        for start in starts:
            self._timetable.started(start)
            task = asyncio.create_task(self._run(start))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _has_room(self, starts: list[Start]) -> bool:
        """Ask for room before runs begin; without it they stay due, and people who wait are told."""
        try:
            shortfall = self._shortfall()
        except OSError as fault:
            shortfall = str(fault)
        if shortfall is None:
            return True
        _log.warning("no agent runs", why=shortfall, due=len(starts))
        self._room_asked_s = self._clock.monotonic_s()
        refusal = Refused(Code.DISK, shortfall, "free some space; the agent stays due")
        for start in starts:
            if start.session in self._waiting:
                self._timetable.withdraw(start.agent, start.session)
                self._answer(start, refusal)
        return False

    def _next_s(self) -> float | None:
        now_s = self._clock.monotonic_s()
        waits = [self._timetable.next_s(now_s)]
        if self._room_asked_s is not None:
            waits.append(max(self._room_asked_s + ROOM_AGAIN_S - now_s, 0.0))
        return min((one for one in waits if one is not None), default=None)

    async def _rest(self) -> None:
        """Wait until something happens, or the timetable says that it is time."""
        try:
            async with asyncio.timeout(self._next_s()):
                await self._stirred.wait()
        except TimeoutError:
            return

    async def _stop(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for done in self._waiting.values():
            if not done.done():
                done.set_result(_without_run("placet is stopping"))

    # -- one run --------------------------------------------------------------------------------------

    async def _run(self, start: Start) -> None:
        """Run one agent; whatever happens, its line is freed and who waits is answered."""
        fault: Exception | None = None
        answer: runs.Run | Refused = _without_run("placet is stopping")
        try:
            ended = await self._runner.run(start)
            answer = ended or _without_run("the agent, its task or its home has changed meanwhile")
        except Exception as caught:  # noqa: BLE001 - no agent may stop the others; it is logged, and tried again
            fault, answer = caught, _without_run(_in_words(caught))
        finally:
            self._timetable.ended(start.agent, self._clock.monotonic_s())
            self._answer(start, answer)
        if fault is None:
            self._faults.pop(start.agent, None)
            self._looks.add(start.agent)
        else:
            self._leave_alone(start.agent, fault)
        self._stirred.set()

    def _answer(self, start: Start, answer: runs.Run | Refused) -> None:
        done = self._waiting.get(start.session or "")
        if done is not None and not done.done():
            done.set_result(answer)


def _in_words(fault: Exception) -> str:
    return str(fault) if isinstance(fault, ModelUnavailable) else f"{type(fault).__name__}: {fault}"


def _without_run(why: str) -> Refused:
    return Refused(Code.FAILED, f"the agent did not run to an end: {why}", "placet agent show says more")


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
