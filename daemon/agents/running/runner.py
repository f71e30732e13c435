"""Runs one agent per call: claims the key, runs the agent, and writes the end to the run log.

Never decides when to run, and never forgets an end: if it cannot be written now, it is written later.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import NamedTuple, Protocol

import structlog

from daemon.agents.context.run_inputs import RunInputs, gather_inputs
from daemon.agents.context.triggers import Trigger, unseen_triggers
from daemon.agents.proposing.change_set_builder import ProposalLimits
from daemon.agents.running import wakes
from daemon.agents.running.conversation import AsyncDatabase, run_agent
from daemon.agents.running.observation_summary import reads_observations, with_observations_summary
from daemon.agents.running.run_language import with_writing_language
from daemon.agents.running.timetable import FAILURES_MAX, RunPace, RunStart
from daemon.agents.tools.agent_record import (
    DESTROYED,
    DORMANT,
    INTERACTIVE,
    Agent,
    AgentHindered,
    failed_often_sentence,
    hindrance,
    load_agent,
    state_id,
)
from daemon.agents.tools.model_interface import AvailabilityGuard, Model, ModelFault, ModelUnavailable
from store.file.errors import StoreError
from store.local import run_log
from store.local.run_log import RunRequest, RunStatus, WakeCause
from store.sentence import Sentence, sentence
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, id_to_text

RUN_MAX_S = 600.0
_log = structlog.get_logger(__name__)


class RunnerClock(Protocol):
    """What running agents needs of a clock."""

    def now_ms(self) -> int:
        """Return Unix time in milliseconds."""

    def monotonic_s(self) -> float:
        """Return seconds since some fixed time."""

    def randomness(self, count: int) -> bytes:
        """Return random bytes."""


@dataclass(frozen=True, slots=True)
class RunnerSettings:
    """How agents run on this device. `zone` is the time zone of "tomorrow"; None is the device's own."""

    pace: RunPace = field(default_factory=RunPace)
    limits: ProposalLimits = field(default_factory=ProposalLimits)
    run_max_s: float = RUN_MAX_S
    zone: tzinfo | None = None


class _Plan(NamedTuple):
    """A run that may begin, and its context. A fault in reading the context ends the run later."""

    wanted: RunRequest
    gathered: RunInputs | Exception

    @property
    def key(self) -> str:
        return self.wanted.run_key


class _End(NamedTuple):
    """How a run ended, if the run log does not contain it yet."""

    agent: EntityId
    status: RunStatus
    error: str


class Runner:
    """Runs agents when the scheduler asks for it."""

    def __init__(
        self,
        database: AsyncDatabase,
        models: Mapping[str, Model],
        clock: RunnerClock,
        settings: RunnerSettings,
    ) -> None:
        self._database = database
        self._models = models
        self._clock = clock
        self._settings = settings
        self._live_keys: set[str] = set()
        self._unwritten_ends: dict[str, _End] = {}

    async def claim_and_run(self, start: RunStart) -> run_log.AgentRun | None:
        """Run an agent and return how it ended; None if there is nothing to run.

        Raises what kept it from beginning, what the store raised, and ModelUnavailable; then the scheduler
        leaves the agent alone for a while. A run that failed by itself is in the run log, and raises nothing.
        """
        plan = await self._database.read(lambda snapshot: self._plan(snapshot, start))
        if plan is None:
            await self._write_remembered_ends(start.agent)
            request = start.request
            # A run that has read the same words may have answered the request meanwhile.
            return (
                None
                if request is None
                else await self._database.read(lambda snapshot: run_log.find(snapshot, request))
            )
        await self._require_model(plan)
        live = tuple(self._live_keys)
        self._live_keys.add(plan.key)
        try:
            claimed = await self._database.write(lambda tx: self._claim(tx, plan.wanted, live))
            if claimed:
                await self._run_claimed(plan, start.agent)
        finally:
            self._live_keys.discard(plan.key)
        if not claimed and start.request is None:
            return None
        return await self._database.read(lambda snapshot: run_log.find(snapshot, plan.key))

    async def _require_model(self, plan: _Plan) -> None:
        """Raise ModelUnavailable if the model may not be asked now, before the run begins."""
        if isinstance(plan.gathered, RunInputs):
            model = self._model(plan.gathered.agent)
            if isinstance(model, AvailabilityGuard):
                await model.require_available(by_person=plan.wanted.cause is WakeCause.SESSION)

    def _model(self, agent: Agent) -> Model:
        return self._models.get(agent.model) or next(iter(self._models.values()))

    def _claim(self, tx: Transaction, wanted: RunRequest, live: tuple[str, ...]) -> bool:
        """Claim a run's key. Return False if that fails, or if the agent may not run any more.

        Ends of the agent's earlier runs that could not be written are written first.
        """
        for key, end in self._unwritten_ends_of(wanted.agent):
            _write_end(tx, key, end)
        agent = load_agent(tx, wanted.agent)
        reason = _hindrance(tx, agent, wanted.cause)
        if reason is not None:
            run_log.end(tx, wanted.run_key, RunStatus.SKIPPED, reason.text)
            return False
        return run_log.begin(tx, wanted, live)

    async def _run_claimed(self, plan: _Plan, agent: EntityId) -> None:
        """Run what was claimed. A fault of the store or of a server is not the agent's failure."""
        for key, _ in self._unwritten_ends_of(agent):
            del self._unwritten_ends[key]
        try:
            error = await self._attempt(plan, agent)
        except AgentHindered as hindered:
            await self._write_or_remember(plan.key, _End(agent, RunStatus.SKIPPED, str(hindered)))
            return
        except StoreError as fault:
            await self._write_or_log(plan.key, _End(agent, RunStatus.ABANDONED, str(fault)))
            raise
        except ModelUnavailable as fault:
            await self._write_or_remember(
                plan.key, _End(agent, RunStatus.ABANDONED, _model_fault_text(fault))
            )
            raise
        if error is not None:
            await self._write_or_remember(plan.key, _End(agent, RunStatus.FAILED, error))

    async def _write_remembered_ends(self, agent: EntityId) -> None:
        for key, end in self._unwritten_ends_of(agent):
            await self._write_or_remember(key, end)

    def _unwritten_ends_of(self, agent: EntityId) -> list[tuple[str, _End]]:
        return [(key, end) for key, end in self._unwritten_ends.items() if end.agent == agent]

    async def _write_or_remember(self, key: str, end: _End) -> None:
        """Write how a run ended. If that fails, remember it until the agent's next run, and raise."""
        self._unwritten_ends[key] = end
        await self._database.write(lambda tx: _write_end(tx, key, end))
        del self._unwritten_ends[key]

    async def _write_or_log(self, key: str, end: _End) -> None:
        try:
            await self._write_or_remember(key, end)
        except StoreError as fault:
            _log.warning(
                "the end of a run could not be stored, and waits for the next run",
                agent=id_to_text(end.agent),
                error=str(fault),
            )

    # -- before a run ---------------------------------------------------------------------------------

    def _plan(self, snapshot: Snapshot, start: RunStart) -> _Plan | None:
        """Return the run key, from the changes or from the request, and the context."""
        agent = load_agent(snapshot, start.agent)
        if start.request is not None:
            run = run_log.find(snapshot, start.request)
            if run is None or run_log.is_over(run):
                return None
            lifecycle_write = b"" if agent is None else agent.lifecycle_write
            wanted = RunRequest(run.run_key, start.agent, run.cause, run.reason, lifecycle_write)
            refusal_reason = _hindrance(snapshot, agent, run.cause)
            if refusal_reason is not None:
                return _Plan(wanted, AgentHindered(refusal_reason))
            assert agent is not None
            return self._plan_of(snapshot, agent, unseen_triggers(snapshot, agent), wanted)
        changed = [] if agent is None else unseen_triggers(snapshot, agent)
        if agent is None or not changed or not wakes.is_scheduled(snapshot, agent):
            return None
        key = wakes.subscription_key(agent.id, (trigger.head for trigger in changed))
        reason = wakes.changes_reason(changed).text
        wanted = RunRequest(key, agent.id, WakeCause.SUBSCRIPTION, reason, agent.lifecycle_write)
        return self._plan_of(snapshot, agent, changed, wanted)

    def _plan_of(self, snapshot: Snapshot, agent: Agent, changed: list[Trigger], wanted: RunRequest) -> _Plan:
        key, reason = wanted.run_key, wanted.reason
        return _Plan(wanted, self._gather(snapshot, agent, changed, key, reason))

    def _gather(
        self, snapshot: Snapshot, agent: Agent, changed: list[Trigger], key: str, reason: str
    ) -> RunInputs | Exception:
        now_ms, zone = self._clock.now_ms(), self._settings.zone
        try:
            inputs = gather_inputs(
                snapshot,
                agent,
                changed,
                run_key=key,
                reason=reason,
                now_ms=now_ms,
                zone=zone,
                limits=self._settings.limits,
            )
            inputs = with_writing_language(inputs)
            return (
                with_observations_summary(inputs) if reads_observations(self._model(agent).name) else inputs
            )
        except Exception as fault:  # noqa: BLE001 - it is raised in the run, which then fails and says so
            return fault

    # -- a run ----------------------------------------------------------------------------------------

    async def _attempt(self, plan: _Plan, agent: EntityId) -> str | None:
        """Run the agent. Return in one line what went wrong, except for a fault of the store."""
        try:
            await self._run(plan.gathered)
        except (AgentHindered, ModelUnavailable, StoreError):
            raise
        except ModelFault as fault:
            return _model_fault_text(fault)
        except TimeoutError:
            return f"the run took longer than {self._settings.run_max_s:g} s"
        except Exception as fault:  # noqa: BLE001 - an agent's bug must not stop the others; it is recorded
            _log.exception("an agent's run failed", agent=id_to_text(agent))
            return f"{type(fault).__name__}: {fault}"
        return None

    async def _run(self, inputs: RunInputs | Exception) -> None:
        if isinstance(inputs, Exception):
            raise inputs
        receipt = await run_agent(
            self._database,
            self._model(inputs.agent),
            inputs,
            limits=self._settings.limits,
            timeout_s=self._settings.run_max_s,
            now_ms=self._clock.now_ms(),
        )
        if receipt.cut_short:
            _log.warning(
                "an agent's run was cut short; what it had proposed is kept",
                agent=id_to_text(inputs.agent.id),
                error=receipt.cut_short,
            )


def _hindrance(snapshot: Snapshot, agent: Agent | None, cause: WakeCause) -> Sentence | None:
    """Return why an agent does not run for this cause; None if it does."""
    reason = hindrance(snapshot, agent)
    if reason is None and agent is not None and agent.mode == INTERACTIVE and cause is not WakeCause.SESSION:
        return sentence("agent-wakes-when-asked", "it wakes only when asked")
    return reason


def _write_end(tx: Transaction, key: str, end: _End) -> None:
    """Write how a run ended. One failure too many makes its agent dormant in the same transaction."""
    run_log.end(tx, key, end.status, end.error)
    agent = load_agent(tx, end.agent) if end.status is RunStatus.FAILED else None
    if agent is not None:
        failed = run_log.failure_streak(tx, agent.id, agent.lifecycle_write).number
        if failed >= FAILURES_MAX:
            stop_failing_agent(tx, agent, failed, end.error)


def stop_failing_agent(tx: Transaction, agent: Agent, failures: int, error: str) -> None:
    """Make an agent dormant that failed too often in a row, and tell the person on every device."""
    if agent.lifecycle in (DORMANT, DESTROYED) or agent.home != tx.device:
        return
    reason = failed_often_sentence(failures, error).text
    fields: dict[str, Value] = {"agent_id": agent.id, "consecutive_failures": failures}
    writes = [
        EntityWrite(agent.id, "agent", {"lifecycle": DORMANT, "lifecycle_reason": reason}),
        EntityWrite(state_id(agent.id), "agent_state", fields),
    ]
    tx.commit(writes, by=AuthorKind.SYSTEM)


def _model_fault_text(fault: ModelFault) -> str:
    return f"the model could not answer: {fault}"
