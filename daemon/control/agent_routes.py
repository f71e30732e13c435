"""The routes of agents: made, shown, woken, changed, paused, moved, ended.

Never decides anything: each line names a use case, and what agents propose is for `decision_routes.py`.
"""

from collections.abc import Callable
from typing import Annotated, Literal

from msgspec import Meta, Struct

from daemon.agents import activity, agents, alarms, lifecycle, permits
from daemon.agents.activity import Activity
from daemon.agents.agents import AgentShown
from daemon.agents.scheduler import Scheduler
from daemon.control.routes import Asks, Call, Nothing, Reads, Route, Writes
from daemon.journal.errors import Code, Refused, usage
from daemon.journal.typed import Typed
from daemon.peers import editing
from store.runs import Run, RunStatus
from store.snapshot import Snapshot
from store.threads import StoreThreads
from store.transaction import Transaction
from syncproto.ids import DeviceId, EntityId

WAIT_S_MAX = 600
CATEGORIES_MAX = 100

Wait = Annotated[float, Meta(ge=0, le=WAIT_S_MAX)]
Mode = Literal["autonomous", "interactive", "hybrid"]
Names = Annotated[list[str], Meta(max_length=CATEGORIES_MAX)]


class NewAgent(Struct, frozen=True, forbid_unknown_fields=True):
    """The task that gets its agent; without a model, the one of the settings; without a mode, autonomous."""

    task: str
    model: str | None = None
    mode: Mode | None = None


class AgentEdit(Struct, frozen=True, forbid_unknown_fields=True):
    """What to change of an agent; what is left out stays."""

    mode: Mode | None = None
    model: str | None = None


class Wake(Struct, frozen=True, forbid_unknown_fields=True):
    """Now, waiting for the end for so many seconds; or `at` a time as people type it; or `cancel` timers."""

    wait: Wait | None = None
    at: str | None = None
    cancel: bool = False


class Move(Struct, frozen=True, forbid_unknown_fields=True):
    """The device that becomes an agent's home, by name or id; without one, this device."""

    device: str | None = None


class Policy(Struct, frozen=True, forbid_unknown_fields=True):
    """What becomes of calls, by tool (deferred, denied, default); categories to let in, or keep out."""

    tools: dict[str, str] = {}
    allow: Names = []
    disallow: Names = []


class AgentLogQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Whether calls are shown too; about `limit` messages, those before a message by its id."""

    tools: bool = False
    limit: Annotated[int, Meta(ge=1, le=activity.LIMIT_MAX)] = 100
    before: str | None = None


class AgentRoutes:
    """The routes, on one store and one scheduler. `models` are the names that a person may give."""

    def __init__(
        self,
        store: StoreThreads,
        scheduler: Scheduler,
        now_ms: Callable[[], int],
        *,
        models: frozenset[str],
        model: str,
        typed: Typed,
    ) -> None:
        self._store = store
        self._scheduler = scheduler
        self._now_ms = now_ms
        self._models = models
        self._model = model
        self._typed = typed

    def routes(self) -> list[Route]:
        """Return the agents' part of the table."""
        agent = "/v1/agents/{ref}"
        create, edit = Asks(self._create), Writes(self._edit)
        return [
            Route("POST", "/v1/agents", "Give a task its agent", create, AgentShown, NewAgent, status=201),
            Route("GET", "/v1/agents", "List agents", Reads(self._list), list[AgentShown]),
            Route("GET", agent, "Show an agent", Reads(self._show), AgentShown),
            Route(
                "GET",
                f"{agent}/log",
                "Show what an agent did",
                Reads(self._log),
                list[Activity],
                query=AgentLogQuery,
            ),
            Route("PATCH", agent, "Change an agent's mode or model", edit, AgentShown, AgentEdit),
            Route("POST", f"{agent}/wake", "Wake an agent, now or later", Asks(self._wake), AgentShown, Wake),
            Route("POST", f"{agent}/pause", "Let an agent sleep", Writes(self._pause), AgentShown),
            Route("POST", f"{agent}/resume", "Wake a dormant agent up", Writes(self._resume), AgentShown),
            Route(
                "POST", f"{agent}/move", "Give an agent another home", Writes(self._move), AgentShown, Move
            ),
            Route("POST", f"{agent}/destroy", "End an agent for good", Writes(self._destroy), AgentShown),
            Route(
                "PATCH",
                f"{agent}/policy",
                "Say what an agent may do",
                Writes(self._permit),
                AgentShown,
                Policy,
            ),
        ]

    # -- making, showing, waking ----------------------------------------------------------------------

    async def _create(self, call: Call[NewAgent, Nothing]) -> AgentShown:
        asked = call.body
        model = self._checked(asked.model or self._model)
        agent = await self._scheduler.create(lambda tx: agents.create(tx, asked.task, model, asked.mode))
        return await self._store.read(lambda snapshot: self._shown(snapshot, agent))

    def _checked(self, model: str) -> str:
        if model not in self._models:
            raise usage(f"no model is called {model[:80]!r}", f"one of {', '.join(sorted(self._models))}")
        return model

    def _list(self, snapshot: Snapshot, call: Call[Nothing, Nothing]) -> list[AgentShown]:
        del call
        return agents.every(snapshot, self._now_ms(), self._scheduler.outlook)

    def _show(self, snapshot: Snapshot, call: Call[Nothing, Nothing]) -> AgentShown:
        return self._shown(snapshot, agents.find(snapshot, call.ref))

    def _shown(self, snapshot: Snapshot, agent: EntityId) -> AgentShown:
        return agents.shown(snapshot, agent, self._now_ms(), self._scheduler.outlook)

    def _log(self, snapshot: Snapshot, call: Call[Nothing, AgentLogQuery]) -> list[Activity]:
        agent, asked = agents.find(snapshot, call.ref), call.query
        return activity.activity(snapshot, agent, tools=asked.tools, limit=asked.limit, before=asked.before)

    async def _wake(self, call: Call[Wake, Nothing]) -> AgentShown:
        asked = call.body
        if (asked.wait is not None) + (asked.at is not None) + asked.cancel > 1:
            raise usage("wait, at and cancel exclude each other")
        agent = await self._store.read(lambda snapshot: agents.find(snapshot, call.ref))
        if asked.at is not None or asked.cancel:
            await self._store.write(lambda tx: self._set_timer(tx, agent, asked.at))
            self._scheduler.timers_moved()
        else:
            _require_success(await self._scheduler.wake(agent, wait_s=asked.wait))
        return await self._store.read(lambda snapshot: self._shown(snapshot, agent))

    def _set_timer(self, tx: Transaction, agent: EntityId, at: str | None) -> None:
        if at is None:
            alarms.cancel(tx, agent)
        else:
            alarms.wake_at(tx, agent, at, self._typed)

    # -- changing -------------------------------------------------------------------------------------

    def _edit(self, tx: Transaction, call: Call[AgentEdit, Nothing]) -> AgentShown:
        agent, asked = agents.find(tx, call.ref), call.body
        model = None if asked.model is None else self._checked(asked.model)
        lifecycle.edit(tx, agent, mode=asked.mode, model=model)
        return self._shown(tx, agent)

    def _pause(self, tx: Transaction, call: Call[Nothing, Nothing]) -> AgentShown:
        agent = agents.find(tx, call.ref)
        lifecycle.pause(tx, agent)
        return self._shown(tx, agent)

    def _resume(self, tx: Transaction, call: Call[Nothing, Nothing]) -> AgentShown:
        agent = agents.find(tx, call.ref)
        lifecycle.resume(tx, agent)
        return self._shown(tx, agent)

    def _move(self, tx: Transaction, call: Call[Move, Nothing]) -> AgentShown:
        agent = agents.find(tx, call.ref)
        lifecycle.move(tx, agent, device_named(tx, call.body.device))
        return self._shown(tx, agent)

    def _destroy(self, tx: Transaction, call: Call[Nothing, Nothing]) -> AgentShown:
        agent = agents.find(tx, call.ref)
        lifecycle.destroy(tx, agent)
        return self._shown(tx, agent)

    def _permit(self, tx: Transaction, call: Call[Policy, Nothing]) -> AgentShown:
        agent, asked = agents.find(tx, call.ref), call.body
        for tool, policy in asked.tools.items():
            permits.set_policy(tx, agent, tool, policy)
        permits.admit(tx, agent, allow=asked.allow, disallow=asked.disallow)
        return self._shown(tx, agent)


def device_named(snapshot: Snapshot, ref: str | None) -> DeviceId:
    """Return the member of that name, or whose id begins so; None is this device. Raises Refused."""
    return snapshot.device if ref is None else editing.find(snapshot, ref, removed=False).device


def _require_success(run: Run | None) -> None:
    """Tell a person who waited how a run ended that did not complete."""
    if run is None:
        return
    hint = "placet agent show says more"
    if run.status is RunStatus.FAILED:
        raise Refused(Code.FAILED, f"the agent's run failed: {run.error}", hint)
    if run.status is not RunStatus.COMPLETED:
        raise Refused(Code.CONFLICT, f"the agent did not run to an end: {run.error}", hint)
