"""Runs agents when they are due: reads what grew, keeps the timetable, starts runs and answers who waits.

Never decides when (`timetable.py`) or why (`wakes.py`), and keeps nothing that a restart would miss.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import NamedTuple

import structlog

from daemon.agents import lifecycle, wakes
from daemon.agents.alarms import BY_TIMER
from daemon.agents.looking import Due, looked, queue_request
from daemon.agents.models.interface import Model, ModelUnavailable
from daemon.agents.records import hindrance, load
from daemon.agents.run import Database
from daemon.agents.runner import Clock, Runner, Settings
from daemon.agents.timetable import FAILURES_MAX, Outlook, Start, Timetable, backoff_s
from daemon.journal.errors import Code, Refused
from store import runs, timers
from store.faults import StoreError
from store.runs import RunStatus
from store.transaction import Transaction
from syncproto.faults import CommitTooLarge
from syncproto.ids import EntityId, text

ROOM_AGAIN_S = 60.0
CLOCK_LOOK_S = 60.0
"""How long anything is waited for at once: a machine may have slept, or its clock been set."""
LOOKS_A_READ = 50
CUTS_FREE = 2
RULES = "rules"
_log = structlog.get_logger(__name__)


class _Pause(NamedTuple):
    """For how long an agent is left alone, on the monotonic clock, and for what; `why` if no run says it."""

    cause: runs.Failures
    until_s: float
    why: str = ""


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
        self._models = models
        self._settings = settings
        self._runner = Runner(database, models, clock, settings)
        self._timetable = Timetable(settings.pace)
        self._stirred = asyncio.Event()
        self._seq = 0
        self._looks: set[EntityId] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiting: dict[str, list[asyncio.Future[runs.Run | Refused]]] = {}
        self._pauses: dict[EntityId, _Pause] = {}
        self._faults: dict[EntityId, _Pause] = {}
        self._room_asked_s: float | None = None
        self._timer_ms: int | None = None
        self._timers_moved = True
        self._fire_from_s = 0.0

    # -- from outside ---------------------------------------------------------------------------------

    def grew(self) -> None:
        """Tell that the store has grown; call it on the event loop. A call that is lost costs delay only."""
        self._stirred.set()

    def timers_moved(self) -> None:
        """Tell that a timer was set or taken back; call it on the event loop."""
        self._timers_moved = True
        self._stirred.set()

    async def wake(self, agent: EntityId, *, wait_s: float | None = None) -> runs.Run | None:
        """Run an agent because a person asks, now; with `wait_s`, wait for its end and return the run.

        The request is durable when this returns: a restart takes it up. One that waits for its turn already
        stands for further ones. Raises Refused: not_found, conflict where the agent may not run here,
        timeout, disk, and failed where the wait ended without a run.
        """
        key = self._timetable.hurry(agent) or await self._queue(agent)
        self._stirred.set()
        return None if wait_s is None else await self._ended(key, wait_s)

    async def create(self, make: Callable[[Transaction], EntityId]) -> EntityId:
        """Make an agent, and note in the same transaction that it is to wake once, if it may run here.

        One that was there already is not asked to.
        """
        session = text(self._clock.randomness(16))

        def use(tx: Transaction) -> tuple[EntityId, str | None]:
            agent = make(tx)
            if not tx.committed or hindrance(tx, load(tx, agent)) is not None:
                return agent, None
            key = wakes.session_key(agent, session, 1)
            queue_request(tx, agent, key)
            return agent, key

        agent, key = await self._database.write(use)
        if key is not None:
            self._timetable.ask(agent, key)
            self._stirred.set()
        return agent

    async def _queue(self, agent: EntityId) -> str:
        shortfall = self._lacking()
        if shortfall is not None:
            raise Refused(Code.DISK, shortfall, "free some space; the agent stays due")
        key = wakes.session_key(agent, text(self._clock.randomness(16)), 1)
        try:
            await self._database.write(lambda tx: queue_request(tx, agent, key))
        except StoreError as fault:
            raise _without_run(str(fault)) from fault
        self._timetable.ask(agent, key)
        return key

    async def _ended(self, key: str, wait_s: float) -> runs.Run:
        done: asyncio.Future[runs.Run | Refused] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key, []).append(done)
        try:
            ended = await asyncio.wait_for(done, wait_s)
        except TimeoutError:
            raise Refused(Code.TIMEOUT, f"the agent has not ended its run within {wait_s:g} s") from None
        finally:
            self._waiting[key].remove(done)
            if not self._waiting[key]:
                del self._waiting[key]
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
                await self._fire()
                self._start_ready()
                await self._rest()
        finally:
            await self._stop()

    async def _recover(self) -> None:
        """Settle what an earlier process left: what it was running, and what was asked of it.

        A disk that is full keeps the first from being written, and nothing else: a run takes such a key over.
        """
        try:
            found = await self._database.write(runs.recover)
            if found:
                _log.info("runs were cut short", number=found)
        except StoreError as fault:
            _log.warning("runs that an earlier process left are not closed", error=str(fault))
        self._seq = await self._database.read(lambda snapshot: snapshot.feed_end())
        for run in await self._database.read(runs.waiting):
            self._timetable.ask_patiently(run.agent, run.run_key)
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
            await self._look_at(found)
            if self._seq < after + wakes.FEED_PAGE:
                return

    async def _look_at(self, agents: set[EntityId]) -> None:
        waiting = sorted(agents)
        while waiting:
            some, waiting = waiting[:LOOKS_A_READ], waiting[LOOKS_A_READ:]
            now_ms = self._clock.now_ms()
            found = await self._database.read(
                lambda snapshot, some=some, now_ms=now_ms: looked(snapshot, some, now_ms)  # type: ignore[misc]
            )
            for agent, due in zip(some, found, strict=True):
                if isinstance(due, Exception):
                    self._leave_alone(agent, due)
                else:
                    self._note(agent, due)
                    await self._tidy(agent, due)

    def _note(self, agent: EntityId, due: Due) -> None:
        now_s = self._clock.monotonic_s()
        self._hold_back(agent, due.failures)
        if due.news:
            self._timetable.paced(agent, self._throttle_s(due.model))
            if due.ran_ms is not None:
                ago_s = max(self._clock.now_ms() - due.ran_ms, 0) / 1000
                self._timetable.ran_before(agent, now_s - ago_s)
            self._timetable.news(agent, now_s)
        else:
            self._timetable.no_news(agent)
            self._timetable.forget(agent)

    async def _tidy(self, agent: EntityId, due: Due) -> None:
        """Take back what a destroyed agent proposed elsewhere before that was known there."""
        if not due.orphaned:
            return
        try:
            await self._database.write(lambda tx: lifecycle.retract_leftovers(tx, agent))
        except (StoreError, CommitTooLarge) as fault:
            _log.warning("proposals of a destroyed agent stay for now", agent=text(agent), error=str(fault))

    def _throttle_s(self, model: str) -> float:
        """Return how much time lies between runs with the model that the agent is run by here."""
        used = model if model in self._models else next(iter(self._models))
        pace = self._settings.pace
        return pace.throttle_s if used == RULES else pace.remote_throttle_s

    def _hold_back(self, agent: EntityId, failures: runs.Failures) -> None:
        """Back off from failures, of the run log or beside it; the later end holds.

        The wall clock is asked once for each failure and believed up to the back-off itself: it may be set.
        What a process ended in the middle of counts from the third time on: it may be what ended it.
        """
        now_s, known = self._clock.monotonic_s(), self._pauses.get(agent)
        number = failures.number or min(max(failures.cuts - CUTS_FREE, 0), FAILURES_MAX - 1)
        if known is None or known.cause != failures:
            whole_s = backoff_s(number)
            left_s = whole_s - (self._clock.now_ms() - failures.last_ms) / 1000
            known = _Pause(failures, now_s + min(max(left_s, 0.0), whole_s))
            if number:
                self._pauses[agent] = known
            else:
                self._pauses.pop(agent, None)
        fault = self._faults.get(agent, known)
        number = max(number, min(fault.cause.number, FAILURES_MAX - 1))
        self._timetable.failed_before(agent, number, max(known.until_s, fault.until_s), fault.why)

    def _leave_alone(self, agent: EntityId, fault: Exception) -> None:
        """Back off from what is not in the run log, then try again: that is never given up."""
        trace = None if isinstance(fault, StoreError | ModelUnavailable) else fault
        unavailable = fault if isinstance(fault, ModelUnavailable) else ModelUnavailable()
        if not unavailable.is_known:
            # A bug may quote the note that it arose from.
            error = str(fault) if trace is None else type(fault).__name__
            _log.error("an agent could not run", agent=text(agent), error=error, exc_info=trace)
        before, now_s = self._faults.get(agent), self._clock.monotonic_s()
        number = 1 if before is None else before.cause.number + 1
        wait_s = backoff_s(number) if unavailable.again_s is None else unavailable.again_s
        self._faults[agent] = _Pause(runs.Failures(number, 0), now_s + wait_s, str(unavailable))
        cause = self._pauses[agent].cause if agent in self._pauses else runs.Failures(0, 0)
        self._hold_back(agent, cause)
        self._timetable.news(agent, now_s)

    async def _fire(self) -> None:
        """Queue the runs of timers whose time has come; those that were missed while off, once."""
        now_s = self._clock.monotonic_s()
        if self._timers_moved:
            self._timers_moved = False
            self._timer_ms = await self._database.read(timers.next_ms)
        if self._timer_ms is None or self._clock.now_ms() < self._timer_ms or now_s < self._fire_from_s:
            return
        try:
            fired = await self._database.write(lambda tx: timers.fire(tx, BY_TIMER))
        except StoreError as fault:
            _log.warning("timers wait", error=str(fault))
            self._fire_from_s = now_s + ROOM_AGAIN_S
            return
        for timer in fired:
            self._timetable.ask_patiently(timer.agent, timer.run_key)
        self._timer_ms = await self._database.read(timers.next_ms)

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
        shortfall = self._lacking()
        if shortfall is None:
            return True
        _log.warning("no agent runs", why=shortfall, due=len(starts))
        self._room_asked_s = self._clock.monotonic_s()
        refusal = Refused(Code.DISK, shortfall, "free some space; the agent stays due")
        for start in starts:
            self._answer(start, refusal)
        return False

    def _lacking(self) -> str | None:
        try:
            return self._shortfall()
        except OSError as fault:
            return str(fault)

    def _next_s(self) -> float | None:
        now_s = self._clock.monotonic_s()
        waits = [self._timetable.next_s(now_s)]
        if self._room_asked_s is not None:
            waits.append(max(self._room_asked_s + ROOM_AGAIN_S - now_s, 0.0))
        if self._timer_ms is not None:
            left_s = (self._timer_ms - self._clock.now_ms()) / 1000
            waits.append(max(left_s, self._fire_from_s - now_s, 0.0))
        known = [one for one in waits if one is not None]
        return min(*known, CLOCK_LOOK_S) if known else None

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
        for waiting in self._waiting.values():
            for done in waiting:
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
            self._timetable.ended(start, self._clock.monotonic_s())
            self._answer(start, answer)
        if start.request is not None and (fault is not None or _waits(answer)):
            self._timetable.ask_patiently(start.agent, start.request)
        if fault is None:
            self._faults.pop(start.agent, None)
            self._looks.add(start.agent)
        else:
            self._leave_alone(start.agent, fault)
        self._stirred.set()

    def _answer(self, start: Start, answer: runs.Run | Refused) -> None:
        for done in self._waiting.get(start.request or "", ()):
            if not done.done():
                done.set_result(answer)


def _in_words(fault: Exception) -> str:
    return str(fault) if isinstance(fault, ModelUnavailable) else f"{type(fault).__name__}: {fault}"


def _without_run(why: str) -> Refused:
    return Refused(Code.FAILED, f"the agent did not run to an end: {why}", "placet agent show says more")


def _waits(answer: runs.Run | Refused) -> bool:
    """Say whether a request is queued again: its run failed, and nobody is there to ask once more."""
    return isinstance(answer, runs.Run) and answer.status is RunStatus.QUEUED
