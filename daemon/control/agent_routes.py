"""The routes of agents: made, shown, woken.

Never decides anything: each line names a use case, and what agents propose is for `decision_routes.py`.
"""

from collections.abc import Callable
from typing import Annotated

from msgspec import Meta, Struct

from daemon.agents import agents
from daemon.agents.agents import AgentShown
from daemon.agents.scheduler import Scheduler
from daemon.control.routes import Asks, Call, Nothing, Reads, Route
from daemon.journal.errors import Code, Refused, usage
from store.runs import Run, RunStatus
from store.snapshot import Snapshot
from store.threads import StoreThreads
from syncproto.ids import EntityId

WAIT_S_MAX = 600

Wait = Annotated[float, Meta(ge=0, le=WAIT_S_MAX)]


class NewAgent(Struct, frozen=True, forbid_unknown_fields=True):
    """The task that gets its agent; without a model, the one of the settings."""

    task: str
    model: str | None = None


class Wake(Struct, frozen=True, forbid_unknown_fields=True):
    """Whether to wait for the run to end, and for how many seconds."""

    wait: Wait | None = None


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
    ) -> None:
        self._store = store
        self._scheduler = scheduler
        self._now_ms = now_ms
        self._models = models
        self._model = model

    def routes(self) -> list[Route]:
        """Return the agents' part of the table."""
        agent = "/v1/agents/{ref}"
        return [
            Route(
                "POST",
                "/v1/agents",
                "Give a task its agent",
                Asks(self._create),
                AgentShown,
                NewAgent,
                status=201,
            ),
            Route("GET", "/v1/agents", "List agents", Reads(self._list), list[AgentShown]),
            Route("GET", agent, "Show an agent", Reads(self._show), AgentShown),
            Route("POST", f"{agent}/wake", "Wake an agent", Asks(self._wake), AgentShown, Wake),
        ]

    # -- agents ---------------------------------------------------------------------------------------

    async def _create(self, call: Call[NewAgent, Nothing]) -> AgentShown:
        model = call.body.model or self._model
        if model not in self._models:
            raise usage(f"no model is called {model[:80]!r}", f"one of {', '.join(sorted(self._models))}")
        agent = await self._store.write(lambda tx: agents.create(tx, call.body.task, model))
        shown = await self._store.read(lambda snapshot: self._shown(snapshot, agent))
        if not shown.at_home:
            return shown
        await self._scheduler.wake(agent)
        return await self._store.read(lambda snapshot: self._shown(snapshot, agent))

    def _list(self, snapshot: Snapshot, call: Call[Nothing, Nothing]) -> list[AgentShown]:
        del call
        return agents.every(snapshot, self._now_ms(), self._scheduler.outlook)

    def _show(self, snapshot: Snapshot, call: Call[Nothing, Nothing]) -> AgentShown:
        return self._shown(snapshot, agents.find(snapshot, call.ref))

    def _shown(self, snapshot: Snapshot, agent: EntityId) -> AgentShown:
        return agents.shown(snapshot, agent, self._now_ms(), self._scheduler.outlook)

    async def _wake(self, call: Call[Wake, Nothing]) -> AgentShown:
        agent = await self._store.read(lambda snapshot: agents.find(snapshot, call.ref))
        run = await self._scheduler.wake(agent, wait_s=call.body.wait)
        _require_success(run)
        return await self._store.read(lambda snapshot: self._shown(snapshot, agent))


def _require_success(run: Run | None) -> None:
    if run is not None and run.status is RunStatus.FAILED:
        raise Refused(Code.FAILED, f"the agent's run failed: {run.error}", "placet agent show says more")
