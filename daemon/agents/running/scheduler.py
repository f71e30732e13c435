"""Runs agents when they are due: reads new commits, keeps the timetable, starts runs, answers who waits.

Never decides when to run (`timetable.py`) or why (`wakes.py`), and keeps nothing that a restart would miss.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import NamedTuple

import structlog

from daemon.agents.deciding import orphans
from daemon.agents.running import wakes
from daemon.agents.running.conversation import AsyncDatabase
from daemon.agents.running.due_agents import (
    AgentCheck,
    check_agents,
    queue_request,
    queue_wish,
    write_wish,
)
from daemon.agents.running.pause_ends import end_pause
from daemon.agents.running.recurrence import needs_next, set_next_times
from daemon.agents.running.run_answers import (
    fault_words,
    is_queued_again,
    no_run_refusal,
    stopping_sentence,
)
from daemon.agents.running.runner import Runner, RunnerClock, RunnerSettings
from daemon.agents.running.timetable import FAILURE_BACKOFF, FAILURES_MAX, Outlook, RunStart, Timetable
from daemon.agents.tools.agent_record import hindrance, load_agent
from daemon.agents.tools.model_interface import Model, ModelUnavailable
from daemon.clock import local_zone
from daemon.refusal import RefusalCode, Refused
from store.file.errors import StoreError
from store.local import run_log, timers
from store.local.recurring_timers import RecurringTimer, recurring_timers
from store.sentence import Sentence, foreign_text, sentence
from store.transaction import Transaction
from syncproto.errors import CommitTooLarge
from syncproto.ids import EntityId, id_to_text

DISK_ROOM_RECHECK_S = 60.0
CLOCK_CHECK_S = 60.0
"""The longest single wait: a machine may have slept, or its clock may have been set."""
AGENTS_PER_READ = 50
INTERRUPTIONS_FREE = 2
RULES_MODEL = "rules"
AGENT_STAYS_DUE = sentence("agent-stays-due", "free some space; the agent stays due and runs after that")
_log = structlog.get_logger(__name__)


class _Pause(NamedTuple):
    """Until when an agent is left alone, on the monotonic clock, and for which failures.

    `why` is the reason if no run in the run log has it.
    """

    cause: run_log.FailureStreak
    until_s: float
    why: Sentence | None = None


def _always_room() -> Sentence | None:
    return None


class Scheduler:
    """The agents of one device.

    Call `on_store_growth` when the store has grown, and run `serve` as a task.
    """

    def __init__(
        self,
        database: AsyncDatabase,
        models: Mapping[str, Model],
        clock: RunnerClock,
        settings: RunnerSettings,
        shortfall: Callable[[], Sentence | None] = _always_room,
    ) -> None:
        """`shortfall` returns in one line why nothing may be written now; None if there is room."""
        self._database = database
        self._clock = clock
        self._shortfall = shortfall
        self._models = models
        self._settings = settings
        self._runner = Runner(database, models, clock, settings)
        self._timetable = Timetable(settings.pace)
        self._wake_up = asyncio.Event()
        self._feed_position = 0
        self._to_check: set[EntityId] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiters: dict[str, list[asyncio.Future[run_log.AgentRun | Refused]]] = {}
        self._pauses: dict[EntityId, _Pause] = {}
        self._faults: dict[EntityId, _Pause] = {}
        self._room_checked_s: float | None = None
        self._timer_ms: int | None = None
        self._timers_changed = True
        self._timers_not_before_s = 0.0
        self._recurring: list[RecurringTimer] = []
        self._pause_ends: dict[EntityId, int] = {}

    # -- from outside ---------------------------------------------------------------------------------

    def on_store_growth(self) -> None:
        """Note that the store has grown.

        Call it on the event loop. A lost call causes a delay and nothing else.
        """
        self._wake_up.set()

    def on_timers_changed(self) -> None:
        """Note that a timer was set or cancelled. Call it on the event loop."""
        self._timers_changed = True
        self._wake_up.set()

    async def wake(
        self, agent: EntityId, *, wait_s: float | None = None, all_notes: bool = False
    ) -> run_log.AgentRun | None:
        """Run an agent now because a person asks; with `wait_s`, wait for its end and return the run.

        The request is durable when this returns: a restart takes it up. A request that waits already also
        serves further ones, except for those to read all notes anew. Raises Refused: not_found, conflict if
        the agent may not run here, timeout, disk, and failed if the wait ended without a run.
        """
        waiting = None if all_notes else self._timetable.urgent_request(agent)
        key = waiting or await self._queue(agent, all_notes=all_notes)
        self._wake_up.set()
        return None if wait_s is None else await self._wait_for_end(key, wait_s)

    async def ask(
        self, agent: EntityId, words: str, *, wait_s: float | None = None
    ) -> run_log.AgentRun | None:
        """Put a person's words to an agent; with `wait_s`, wait for the end of their run, at home alone.

        The words are durable when this returns. Raises Refused like `wake`, and usage for no words.
        """
        self._require_room()
        waits = wait_s is not None
        key, runs_here = await self._database.write(lambda tx: write_wish(tx, agent, words, waits=waits))
        if runs_here:
            self._timetable.add_urgent_request(agent, key)
            self._wake_up.set()
        return None if wait_s is None else await self._wait_for_end(key, wait_s)

    async def create_and_wake(self, make: Callable[[Transaction], list[EntityId]]) -> list[EntityId]:
        """Create agents, and request their first runs in the same transaction if they may run here.

        No run is requested if nothing was written, because the agents existed before.
        """
        session = id_to_text(self._clock.randomness(16))

        def use(tx: Transaction) -> tuple[list[EntityId], dict[EntityId, str]]:
            agents, keys = make(tx), dict[EntityId, str]()
            for agent in agents if tx.committed else ():
                if hindrance(tx, load_agent(tx, agent)) is None:
                    keys[agent] = wakes.session_key(agent, session, 1)
                    queue_request(tx, agent, keys[agent])
            return agents, keys

        agents, keys = await self._database.write(use)
        for agent, key in keys.items():
            self._timetable.add_urgent_request(agent, key)
        if keys:
            self._wake_up.set()
        return agents

    async def _queue(self, agent: EntityId, *, all_notes: bool) -> str:
        self._require_room()
        key = wakes.session_key(agent, id_to_text(self._clock.randomness(16)), 1)
        try:
            await self._database.write(lambda tx: queue_request(tx, agent, key, all_notes=all_notes))
        except StoreError as fault:
            raise no_run_refusal(foreign_text(str(fault))) from fault
        self._timetable.add_urgent_request(agent, key)
        return key

    async def _wait_for_end(self, key: str, wait_s: float) -> run_log.AgentRun:
        waiter: asyncio.Future[run_log.AgentRun | Refused] = asyncio.get_running_loop().create_future()
        self._waiters.setdefault(key, []).append(waiter)
        try:
            ended = await asyncio.wait_for(waiter, wait_s)
        except TimeoutError:
            raise Refused(
                RefusalCode.TIMEOUT,
                sentence(
                    "agent-run-too-long",
                    "the agent has not ended its run within {seconds} s",
                    seconds=f"{wait_s:g}",
                ),
            ) from None
        finally:
            self._waiters[key].remove(waiter)
            if not self._waiters[key]:
                del self._waiters[key]
        if isinstance(ended, Refused):
            raise ended
        return ended

    def outlook(self, agent: EntityId) -> Outlook:
        """Return when an agent runs next, and why."""
        return self._timetable.outlook(agent, self._clock.monotonic_s())

    def counts(self) -> tuple[int, int]:
        """Return how many agents are due, and how many are running."""
        return self._timetable.waiting_count(), self._timetable.running_count()

    # -- the loop -------------------------------------------------------------------------------------

    async def serve(self) -> None:
        """Serve until cancelled. Runs that are then under way are cut short, and are due again."""
        try:
            await self._recover()
            while True:
                # Cleared before the work, not after: what happens meanwhile then ends the next sleep at once.
                self._wake_up.clear()
                await self._catch_up()
                await self._queue_timers()
                await self._end_pauses()
                self._start_ready()
                await self._sleep()
        finally:
            await self._stop()

    async def _recover(self) -> None:
        """Settle what an earlier process left: the runs that it had begun, and the accepted requests.

        A full disk prevents the first and nothing else: a run can take over the key of an interrupted one.
        """
        try:
            interrupted = await self._database.write(run_log.close_interrupted)
            if interrupted:
                _log.info("runs of an earlier process were cut short", number=interrupted)
        except StoreError as fault:
            _log.warning("runs of an earlier process could not be closed", error=str(fault))
        # The feed is read from its present end, because every agent at home here is checked below in any
        # case.
        self._feed_position = await self._database.read(lambda snapshot: snapshot.feed_end())
        for run in await self._database.read(run_log.waiting_runs):
            self._timetable.add_patient_request(run.agent, run.run_key)
        await self._check(set(await self._database.read(wakes.home_agents)))

    async def _catch_up(self) -> None:
        """Read the feed beyond the last position, page by page, and check the agents that it concerns."""
        ended, self._to_check = self._to_check, set()
        await self._check(ended)
        while True:
            after = self._feed_position
            concerned, self._feed_position = await self._database.read(
                lambda snapshot, after=after: wakes.agents_concerned(snapshot, after)  # type: ignore[misc]
            )
            await self._check(concerned)
            # A page that is not full was the last one.
            if self._feed_position < after + wakes.FEED_PAGE_COMMITS:
                return

    async def _check(self, agents: set[EntityId]) -> None:
        waiting = sorted(agents)
        while waiting:
            page, waiting = waiting[:AGENTS_PER_READ], waiting[AGENTS_PER_READ:]
            now_ms = self._clock.now_ms()
            checks = await self._database.read(
                lambda snapshot, page=page, now_ms=now_ms: check_agents(snapshot, page, now_ms)  # type: ignore[misc]
            )
            for agent, check in zip(page, checks, strict=True):
                if isinstance(check, Exception):
                    self._leave_alone(agent, check)
                else:
                    self._note_check(agent, check)
                    await self._retract_orphans(agent, check)
                    await self._queue_wishes(agent, check)

    def _note_check(self, agent: EntityId, check: AgentCheck) -> None:
        now_s = self._clock.monotonic_s()
        self._pause_ends.pop(agent, None)
        if check.paused_until_ms is not None:
            self._pause_ends[agent] = check.paused_until_ms
        self._hold_back(agent, check.failures)
        if check.has_news:
            self._timetable.set_throttle(agent, self._throttle_s(check.model))
            if check.last_run_ms is not None:
                # The last run is known by the wall clock, which may have been set back since; the timetable's
                # clock never goes back.
                ago_s = max(self._clock.now_ms() - check.last_run_ms, 0) / 1000
                self._timetable.note_last_run(agent, now_s - ago_s)
            self._timetable.note_news(agent, now_s)
        else:
            self._timetable.clear_news(agent)
            self._timetable.forget(agent)

    async def _retract_orphans(self, agent: EntityId, check: AgentCheck) -> None:
        """Retract what a destroyed agent proposed on a device that did not know yet that it was destroyed."""
        if not check.has_orphaned_items:
            return
        try:
            await self._database.write(lambda tx: orphans.retract_orphaned_items(tx, agent))
        except (StoreError, CommitTooLarge) as fault:
            _log.warning(
                "proposals of a destroyed agent could not be retracted, and stay for now",
                agent=id_to_text(agent),
                error=str(fault),
            )

    async def _queue_wishes(self, agent: EntityId, check: AgentCheck) -> None:
        """Queue the runs of wishes that came from other devices, or while the agent could not run."""
        for key in check.wishes:
            try:
                if await self._database.write(lambda tx, key=key: queue_wish(tx, agent, key)):  # type: ignore[misc]
                    self._timetable.add_urgent_request(agent, key)
            except StoreError as fault:
                _log.warning("a wish could not be queued, and waits", error=str(fault))

    def _throttle_s(self, model: str) -> float:
        """Return the time between runs with the model that runs the agent here."""
        used = model if model in self._models else next(iter(self._models))
        pace = self._settings.pace
        return pace.throttle_s if used == RULES_MODEL else pace.remote_throttle_s

    def _hold_back(self, agent: EntityId, failures: run_log.FailureStreak) -> None:
        """Back off after failures, in the run log or beside it; the later end applies.

        The wall clock is read once per failure, and cannot extend the back-off beyond its own length: it may
        be set. Runs during which the process ended count from the third on, because such a run may be what
        ended the process.
        """
        now_s, pause = self._clock.monotonic_s(), self._pauses.get(agent)
        count = failures.number or min(max(failures.cuts - INTERRUPTIONS_FREE, 0), FAILURES_MAX - 1)
        if pause is None or pause.cause != failures:
            whole_s = FAILURE_BACKOFF.delay_s(count)
            left_s = whole_s - (self._clock.now_ms() - failures.last_ms) / 1000
            pause = _Pause(failures, now_s + min(max(left_s, 0.0), whole_s))
            if count:
                self._pauses[agent] = pause
            else:
                self._pauses.pop(agent, None)
        fault = self._faults.get(agent, pause)
        count = max(count, min(fault.cause.number, FAILURES_MAX - 1))
        self._timetable.note_failures(agent, count, max(pause.until_s, fault.until_s), fault.why)

    def _leave_alone(self, agent: EntityId, fault: Exception) -> None:
        """Back off after a fault that is not in the run log, then try again; this is never given up."""
        trace = None if isinstance(fault, StoreError | ModelUnavailable) else fault
        unavailable = fault if isinstance(fault, ModelUnavailable) else None
        if unavailable is None or not unavailable.is_already_reported:
            # The message of a bug may quote the journal, so only its type is logged.
            error = str(fault) if trace is None else type(fault).__name__
            _log.error("an agent could not run", agent=id_to_text(agent), error=error, exc_info=trace)
        before, now_s = self._faults.get(agent), self._clock.monotonic_s()
        count = 1 if before is None else before.cause.number + 1
        asked_s = None if unavailable is None else unavailable.retry_after_s
        reason = None if unavailable is None else unavailable.words
        wait_s = FAILURE_BACKOFF.delay_s(count) if asked_s is None else asked_s
        self._faults[agent] = _Pause(run_log.FailureStreak(count, 0), now_s + wait_s, reason)
        cause = self._pauses[agent].cause if agent in self._pauses else run_log.FailureStreak(0, 0)
        self._hold_back(agent, cause)
        self._timetable.note_news(agent, now_s)

    async def _queue_timers(self) -> None:
        """Queue the runs of timers whose time has come; timers missed while off make one run per agent."""
        now_s = self._clock.monotonic_s()
        if self._timers_changed:
            self._timers_changed = False
            await self._read_timers()
        now_ms = self._clock.now_ms()
        is_due = self._timer_ms is not None and now_ms >= self._timer_ms
        is_due = is_due or any(needs_next(timer, now_ms) for timer in self._recurring)
        if not is_due or now_s < self._timers_not_before_s:
            return
        try:
            fired = await self._database.write(self._fire_timers)
        except StoreError as fault:
            _log.warning("timers could not be fired, and wait", error=str(fault))
            self._timers_not_before_s = now_s + DISK_ROOM_RECHECK_S
            return
        for timer in fired:
            self._timetable.add_patient_request(timer.agent, timer.run_key)
        await self._read_timers()

    def _fire_timers(self, tx: Transaction) -> list[timers.Timer]:
        fired = timers.queue_due_runs(tx, wakes.TIMER_FIRED.text)
        # None is the device's own zone, which may have been changed since the start.
        set_next_times(tx, self._settings.zone or local_zone())
        return fired

    async def _read_timers(self) -> None:
        self._timer_ms = await self._database.read(timers.next_wake_ms)
        self._recurring = await self._database.read(recurring_timers)

    async def _end_pauses(self) -> None:
        """Resume the agents whose pause is over; a pause that ended while the device was off ends now."""
        now_ms = self._clock.now_ms()
        for agent in [agent for agent, until_ms in self._pause_ends.items() if until_ms <= now_ms]:
            # If it cannot be written now, the next check of the agent finds the same.
            del self._pause_ends[agent]
            try:
                await self._database.write(lambda tx, agent=agent: end_pause(tx, agent))  # type: ignore[misc]
            except StoreError as fault:
                _log.warning("the end of a pause could not be written, and waits", error=str(fault))
                self._pause_ends[agent] = now_ms + round(DISK_ROOM_RECHECK_S * 1000)

    def _start_ready(self) -> None:
        starts = self._timetable.take_ready(self._clock.monotonic_s())
        self._room_checked_s = None
        if not starts or not self._has_room(starts):
            return
        for start in starts:
            self._timetable.note_start(start)
            task = asyncio.create_task(self._run(start))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _has_room(self, starts: list[RunStart]) -> bool:
        """Check the disk before runs begin. Without room they stay due, and people who wait get a refusal."""
        shortfall = self._shortfall_now()
        if shortfall is None:
            return True
        _log.warning(
            "no agent may run, because there is no room on the disk", why=shortfall.text, due=len(starts)
        )
        self._room_checked_s = self._clock.monotonic_s()
        refusal = Refused(RefusalCode.DISK, shortfall, AGENT_STAYS_DUE)
        for start in starts:
            self._answer(start, refusal)
        return False

    def _require_room(self) -> None:
        if (shortfall := self._shortfall_now()) is not None:
            raise Refused(RefusalCode.DISK, shortfall, AGENT_STAYS_DUE)

    def _shortfall_now(self) -> Sentence | None:
        try:
            return self._shortfall()
        except OSError as fault:
            return foreign_text(str(fault))

    def _next_s(self) -> float | None:
        now_s = self._clock.monotonic_s()
        waits = [self._timetable.next_s(now_s)]
        if self._room_checked_s is not None:
            waits.append(max(self._room_checked_s + DISK_ROOM_RECHECK_S - now_s, 0.0))
        if self._timer_ms is not None:
            left_s = (self._timer_ms - self._clock.now_ms()) / 1000
            waits.append(max(left_s, self._timers_not_before_s - now_s, 0.0))
        if self._pause_ends:
            waits.append(max((min(self._pause_ends.values()) - self._clock.now_ms()) / 1000, 0.0))
        times_s = [wait_s for wait_s in waits if wait_s is not None]
        # A machine may sleep, or its clock may be set, so no wait is longer than this. Without anything to
        # wait for, only an event ends the sleep.
        return min(*times_s, CLOCK_CHECK_S) if times_s else None

    async def _sleep(self) -> None:
        """Wait until something happens, or until the timetable has something to start."""
        try:
            async with asyncio.timeout(self._next_s()):
                await self._wake_up.wait()
        except TimeoutError:
            return

    async def _stop(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for waiting in self._waiters.values():
            for waiter in waiting:
                if not waiter.done():
                    waiter.set_result(no_run_refusal(stopping_sentence()))

    # -- one run --------------------------------------------------------------------------------------

    async def _run(self, start: RunStart) -> None:
        """Run one agent. In any case its line in the timetable is freed, and who waits gets an answer."""
        fault: Exception | None = None
        answer: run_log.AgentRun | Refused = no_run_refusal(stopping_sentence())
        try:
            ended = await self._runner.claim_and_run(start)
            answer = ended or no_run_refusal(
                sentence("agent-changed-meanwhile", "the agent, its task or its home has changed meanwhile")
            )
        except Exception as error:  # noqa: BLE001 - no agent may stop the others; it is logged, and tried again
            fault, answer = error, no_run_refusal(fault_words(error))
        finally:
            self._timetable.note_end(start, self._clock.monotonic_s())
            self._answer(start, answer)
        # What was asked for is tried again, but patiently: it no longer skips throttle and back-off.
        if start.request is not None and (fault is not None or is_queued_again(answer)):
            self._timetable.add_patient_request(start.agent, start.request)
        if fault is None:
            self._faults.pop(start.agent, None)
            self._to_check.add(start.agent)
        else:
            self._leave_alone(start.agent, fault)
        self._wake_up.set()

    def _answer(self, start: RunStart, answer: run_log.AgentRun | Refused) -> None:
        for waiter in self._waiters.get(start.request or "", ()):
            if not waiter.done():
                waiter.set_result(answer)
