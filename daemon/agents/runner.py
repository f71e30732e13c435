"""One run at a time for each key: claims it, runs the agent, and says in the run log how it ended.

Never decides when to run, and never leaves an end unsaid: what cannot be written now is written later.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import NamedTuple, Protocol

import structlog

from daemon.agents import lifecycle, wakes
from daemon.agents.context import Gathered, gather
from daemon.agents.models.interface import Guarded, Model, ModelFault, ModelUnavailable
from daemon.agents.proposals import Limits
from daemon.agents.records import INTERACTIVE, Agent, Hindered, hindrance, load
from daemon.agents.run import Database, run
from daemon.agents.timetable import FAILURES_MAX, Pace, Start
from store import runs
from store.faults import StoreError
from store.runs import Cause, RunStatus, Wanted
from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto.ids import EntityId, text

RUN_MAX_S = 600.0
_log = structlog.get_logger(__name__)


class Clock(Protocol):
    """What running agents asks of the world's clock."""

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


class _Plan(NamedTuple):
    """A run that may begin, and its context; or what went wrong in reading it, which then ends it."""

    wanted: Wanted
    gathered: Gathered | Exception

    @property
    def key(self) -> str:
        return self.wanted.run_key


class _End(NamedTuple):
    """How a run ended, where the run log does not say so yet."""

    agent: EntityId
    status: RunStatus
    error: str


class Runner:
    """Runs agents when told to."""

    def __init__(
        self, database: Database, models: Mapping[str, Model], clock: Clock, settings: Settings
    ) -> None:
        self._database = database
        self._models = models
        self._clock = clock
        self._settings = settings
        self._live: set[str] = set()
        self._unsaid: dict[str, _End] = {}

    async def run(self, start: Start) -> runs.Run | None:
        """Run an agent and return how it ended; None where there is nothing to run.

        Raises what kept it from beginning, what the store raised, and ModelUnavailable: then the agent is to
        be left alone for a while. A run that failed by itself is in the run log, and raises nothing.
        """
        plan = await self._database.read(lambda snapshot: self._plan(snapshot, start))
        if plan is None:
            await self._settle(start.agent)
            return None
        await self._require_model(plan)
        held = tuple(self._live)
        self._live.add(plan.key)
        try:
            claimed = await self._database.write(lambda tx: self._claim(tx, plan.wanted, held))
            if claimed:
                await self._to_the_end(plan, start.agent)
        finally:
            self._live.discard(plan.key)
        if not claimed and start.request is None:
            return None
        return await self._database.read(lambda snapshot: runs.find(snapshot, plan.key))

    async def _require_model(self, plan: _Plan) -> None:
        """Raise ModelUnavailable before a run begins, where the model may not be asked now."""
        if isinstance(plan.gathered, Gathered):
            model = self._model(plan.gathered.agent)
            if isinstance(model, Guarded):
                await model.require(asked=plan.wanted.cause is Cause.SESSION)

    def _model(self, agent: Agent) -> Model:
        return self._models.get(agent.model) or next(iter(self._models.values()))

    def _claim(self, tx: Transaction, wanted: Wanted, held: tuple[str, ...]) -> bool:
        """Claim a run's key; False where that cannot be, or where the agent may not run (any more).

        First it is said how the agent's earlier runs ended, where that could not be written.
        """
        for key, end in self._unsaid_of(wanted.agent):
            _write_end(tx, key, end)
        known = load(tx, wanted.agent)
        why = _hindrance(tx, known, wanted.cause)
        if why is not None:
            runs.end(tx, wanted.run_key, RunStatus.SKIPPED, why)
            return False
        return runs.begin(tx, wanted, held)

    async def _to_the_end(self, plan: _Plan, agent: EntityId) -> None:
        """Run what was claimed. A store or server that is away is no fault of the agent's."""
        for key, _ in self._unsaid_of(agent):
            del self._unsaid[key]
        try:
            error = await self._attempt(plan, agent)
        except Hindered as why:
            await self._say(plan.key, _End(agent, RunStatus.SKIPPED, str(why)))
            return
        except StoreError as fault:
            await self._say_later(plan.key, _End(agent, RunStatus.ABANDONED, str(fault)))
            raise
        except ModelUnavailable as fault:
            await self._say(plan.key, _End(agent, RunStatus.ABANDONED, _unanswered(fault)))
            raise
        if error is not None:
            await self._say(plan.key, _End(agent, RunStatus.FAILED, error))

    async def _settle(self, agent: EntityId) -> None:
        for key, end in self._unsaid_of(agent):
            await self._say(key, end)

    def _unsaid_of(self, agent: EntityId) -> list[tuple[str, _End]]:
        return [(key, end) for key, end in self._unsaid.items() if end.agent == agent]

    async def _say(self, key: str, end: _End) -> None:
        """Write how a run ended; where that fails, remember it until the agent's next run, and raise."""
        self._unsaid[key] = end
        await self._database.write(lambda tx: _write_end(tx, key, end))
        del self._unsaid[key]

    async def _say_later(self, key: str, end: _End) -> None:
        try:
            await self._say(key, end)
        except StoreError as fault:
            _log.warning("how a run ended is not written yet", agent=text(end.agent), error=str(fault))

    # -- before a run ---------------------------------------------------------------------------------

    def _plan(self, snapshot: Snapshot, start: Start) -> _Plan | None:
        """Read the run key that follows from what changed or from the request, and the context."""
        agent = load(snapshot, start.agent)
        if start.request is not None:
            row = runs.find(snapshot, start.request)
            if row is None or runs.is_over(row):
                return None
            life = b"" if agent is None else agent.life
            wanted = Wanted(row.run_key, start.agent, row.cause, row.reason, life)
            why = _hindrance(snapshot, agent, row.cause)
            if agent is None or why is not None:
                return _Plan(wanted, Hindered(why or ""))
            return self._planned(snapshot, agent, wakes.triggers(snapshot, agent), wanted)
        changed = [] if agent is None else wakes.triggers(snapshot, agent)
        if agent is None or not changed or not wakes.is_scheduled(snapshot, agent):
            return None
        key = wakes.subscription_key(agent.id, (one.head for one in changed))
        number = len({one.head for one in changed})
        reason = "one change" if number == 1 else f"{number} changes"
        wanted = Wanted(key, agent.id, Cause.SUBSCRIPTION, reason, agent.life)
        return self._planned(snapshot, agent, changed, wanted)

    def _planned(
        self, snapshot: Snapshot, agent: Agent, changed: list[wakes.Trigger], wanted: Wanted
    ) -> _Plan:
        key, reason = wanted.run_key, wanted.reason
        return _Plan(wanted, self._gathered(snapshot, agent, changed, key, reason))

    def _gathered(
        self, snapshot: Snapshot, agent: Agent, changed: list[wakes.Trigger], key: str, reason: str
    ) -> Gathered | Exception:
        now_ms, zone = self._clock.now_ms(), self._settings.zone
        try:
            return gather(
                snapshot,
                agent,
                changed,
                run_key=key,
                reason=reason,
                now_ms=now_ms,
                zone=zone,
                limits=self._settings.limits,
            )
        except Exception as fault:  # noqa: BLE001 - it is raised in the run, which then fails and says so
            return fault

    # -- a run ----------------------------------------------------------------------------------------

    async def _attempt(self, plan: _Plan, agent: EntityId) -> str | None:
        """Run; return what went wrong, in a line, if anything but the store did."""
        try:
            await self._run(plan.gathered)
        except (Hindered, ModelUnavailable, StoreError):
            raise
        except ModelFault as fault:
            return _unanswered(fault)
        except TimeoutError:
            return f"the run took longer than {self._settings.run_max_s:g} s"
        except Exception as fault:  # noqa: BLE001 - an agent's bug must not stop the others; it is recorded
            _log.exception("an agent's run failed", agent=text(agent))
            return f"{type(fault).__name__}: {fault}"
        return None

    async def _run(self, gathered: Gathered | Exception) -> None:
        if isinstance(gathered, Exception):
            raise gathered
        await run(
            self._database,
            self._model(gathered.agent),
            gathered,
            limits=self._settings.limits,
            timeout_s=self._settings.run_max_s,
            now_ms=self._clock.now_ms(),
        )


def _hindrance(snapshot: Snapshot, agent: Agent | None, cause: Cause) -> str | None:
    """Say why an agent does not run for this cause; None where it does."""
    why = hindrance(snapshot, agent)
    if why is None and agent is not None and agent.mode == INTERACTIVE and cause is not Cause.SESSION:
        return "it wakes only when asked"
    return why


def _write_end(tx: Transaction, key: str, end: _End) -> None:
    """Say how a run ended; one failure too many makes its agent dormant in the same transaction."""
    runs.end(tx, key, end.status, end.error)
    known = load(tx, end.agent) if end.status is RunStatus.FAILED else None
    if known is not None:
        failed = runs.failures(tx, known.id, known.life).number
        if failed >= FAILURES_MAX:
            lifecycle.give_up(tx, known, failed, end.error)


def _unanswered(fault: ModelFault) -> str:
    return f"the model could not answer: {fault}"
