"""The routes of agents: made, shown, woken, changed, paused, moved, ended.

Never decides anything: each line names a use case, and what agents propose is for `decision_routes.py`.
"""

from collections.abc import Callable
from typing import Annotated, Literal

from msgspec import Meta, Struct

from daemon.agents.person import (
    activity,
    agent_overview,
    agent_timers,
    lifecycle,
    policy_edits,
    presence_edits,
)
from daemon.agents.person.activity import AgentMessage
from daemon.agents.person.agent_overview import AgentDetails
from daemon.agents.running.scheduler import Scheduler
from daemon.control.route import AsyncHandler, Call, Nothing, ReadHandler, Route, WriteHandler
from daemon.journal.human_input import HumanInput
from daemon.journal.references.names import find_named
from daemon.journal.wishes import WishText
from daemon.peers.roster import device_edits
from daemon.peers.roster.member_records import has_other_members
from daemon.refusal import RefusalCode, Refused, one_of, usage_error
from store.local.run_log import AgentRun, RunStatus
from store.sentence import sentence
from store.snapshot import Snapshot
from store.threads import StoreThreads
from store.transaction import Transaction
from syncproto.ids import DeviceId, EntityId, id_to_text

WAIT_S_MAX = 600
CATEGORIES_MAX = 100
CREATED_AT_ONCE_MAX = 100

Wait = Annotated[float, Meta(ge=0, le=WAIT_S_MAX)]
Mode = Literal["autonomous", "interactive", "hybrid"]
State = Literal["created", "active", "dormant", "destroyed"]
AgentName = Annotated[str, Meta(max_length=80)]
Description = Annotated[str, Meta(max_length=500)]
Names = Annotated[list[str], Meta(max_length=CATEGORIES_MAX)]


class NewAgent(Struct, frozen=True, forbid_unknown_fields=True):
    """An agent to create. `task` is an id or a title.

    Without `model` it gets the model of the settings, and without `mode` it is autonomous. `name` and
    `description` are its own; models read both as data.
    """

    task: str
    model: str | None = None
    mode: Mode | None = None
    name: AgentName | None = None
    description: Description | None = None


class NewAgents(Struct, frozen=True, forbid_unknown_fields=True):
    """Agents to create, for open tasks that never had one: of a category, or of all.

    At most 100 are created at once. The answer lists them; ask again until it is empty.
    """

    category: str | None = None
    model: str | None = None
    mode: Mode | None = None


class AgentEdit(Struct, frozen=True, forbid_unknown_fields=True):
    """What to change of an agent; what is left out stays. An empty name or description takes it away."""

    mode: Mode | None = None
    model: str | None = None
    name: AgentName | None = None
    description: Description | None = None


class AgentsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Which agents: those in a state, or all."""

    state: State | None = None


class Pause(Struct, frozen=True, forbid_unknown_fields=True):
    """Until when an agent sleeps, as people type a time; without it, until it is resumed."""

    until: str | None = None


class Wake(Struct, frozen=True, forbid_unknown_fields=True):
    """When to wake an agent: now, unless `at` or `cancel` is given.

    `wait` is how many seconds to wait for the end of the run. `at` sets a timer, to a time as people type it.
    `every` lets it recur from then on, at the same local time. `cancel` removes all timers of the agent.
    With `all_notes`, a run now reads all notes of the task anew, and not only those since the last run.
    """

    wait: Wait | None = None
    at: str | None = None
    every: Literal["hour", "day", "weekday", "week"] | None = None
    cancel: bool = False
    all_notes: bool = False


class Ask(Struct, frozen=True, forbid_unknown_fields=True):
    """Words for an agent. `wait` is how many seconds to wait for the end of the run that reads them."""

    text: WishText
    wait: Wait | None = None


class Move(Struct, frozen=True, forbid_unknown_fields=True):
    """The device that becomes an agent's home, by name or id; without one, this device."""

    device: str | None = None


class Policy(Struct, frozen=True, forbid_unknown_fields=True):
    """What an agent may do.

    `tools` gives the policy by tool: deferred, denied or default. `allow` and `disallow` add categories to
    those that the agent may work on, or take them away. `presence` says by tool, or for `all`, what verdicts
    on its proposals need: any, other_device, passkey or default. On the agent's own device it only tightens.
    Of an agent of another maker both also take the name of an action that it asks permission for.
    """

    tools: dict[str, str] = {}
    allow: Names = []
    disallow: Names = []
    presence: dict[str, str] = {}


class AgentLogQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """A page of about `limit` messages, those before the message with the id `before`.

    `tools`: show the calls of tools and their answers too. `calls`: show them alone, beneath what woke it.
    """

    tools: bool = False
    calls: bool = False
    limit: Annotated[int, Meta(ge=1, le=activity.MESSAGES_MAX)] = 100
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
        typed: HumanInput,
    ) -> None:
        self._store = store
        self._scheduler = scheduler
        self._now_ms = now_ms
        self._models = models
        self._model = model
        self._typed = typed

    def routes(self) -> list[Route]:
        """Return the agents' part of the table."""
        return [*self._routes_of_all(), *self._routes_of_one("/v1/agents/{ref}")]

    def _routes_of_all(self) -> list[Route]:
        create = AsyncHandler(self._create)
        return [
            Route("POST", "/v1/agents", "Give a task its agent", create, AgentDetails, NewAgent, status=201),
            Route(
                "POST",
                "/v1/agents/all",
                "Give open tasks their agents",
                AsyncHandler(self._create_all),
                list[AgentDetails],
                NewAgents,
                status=201,
            ),
            Route(
                "GET",
                "/v1/agents",
                "List agents",
                ReadHandler(self._list),
                list[AgentDetails],
                query=AgentsQuery,
            ),
        ]

    def _routes_of_one(self, agent: str) -> list[Route]:
        edit = WriteHandler(self._edit)
        return [
            Route("GET", agent, "Show an agent", ReadHandler(self._show), AgentDetails),
            Route(
                "GET",
                f"{agent}/log",
                "Show what an agent did",
                ReadHandler(self._log),
                list[AgentMessage],
                query=AgentLogQuery,
            ),
            Route(
                "PATCH",
                agent,
                "Change an agent's mode, model, name or description",
                edit,
                AgentDetails,
                AgentEdit,
            ),
            Route(
                "POST",
                f"{agent}/wake",
                "Wake an agent, now or later",
                AsyncHandler(self._wake),
                AgentDetails,
                Wake,
            ),
            Route(
                "POST", f"{agent}/ask", "Put words to an agent", AsyncHandler(self._ask), AgentDetails, Ask
            ),
            Route(
                "POST", f"{agent}/pause", "Let an agent sleep", WriteHandler(self._pause), AgentDetails, Pause
            ),
            Route(
                "POST", f"{agent}/resume", "Wake a dormant agent up", WriteHandler(self._resume), AgentDetails
            ),
            Route(
                "POST",
                f"{agent}/move",
                "Give an agent another home",
                WriteHandler(self._move),
                AgentDetails,
                Move,
            ),
            Route(
                "POST", f"{agent}/destroy", "End an agent for good", WriteHandler(self._destroy), AgentDetails
            ),
            Route(
                "PATCH",
                f"{agent}/policy",
                "Say what an agent may do",
                WriteHandler(self._permit),
                AgentDetails,
                Policy,
            ),
        ]

    # -- making, showing, waking ----------------------------------------------------------------------

    async def _create(self, call: Call[NewAgent, Nothing]) -> AgentDetails:
        body = call.body
        model = self._require_model(body.model or self._model)

        def create(tx: Transaction) -> list[EntityId]:
            persona = {"name": body.name, "description": body.description}
            return [lifecycle.create_agent(tx, body.task, model, body.mode, **persona)]

        (agent,) = await self._scheduler.create_and_wake(create)
        return await self._store.read(lambda snapshot: self._details(snapshot, agent))

    async def _create_all(self, call: Call[NewAgents, Nothing]) -> list[AgentDetails]:
        body = call.body
        model = self._require_model(body.model or self._model)

        def create(tx: Transaction) -> list[EntityId]:
            category = None if body.category is None else find_named(tx, "category", body.category).id
            tasks = agent_overview.tasks_without_agent(tx, category, CREATED_AT_ONCE_MAX)
            return [lifecycle.create_agent(tx, id_to_text(task), model, body.mode) for task in tasks]

        agents = await self._scheduler.create_and_wake(create)
        return await self._store.read(lambda snapshot: [self._details(snapshot, agent) for agent in agents])

    def _require_model(self, model: str) -> str:
        if model not in self._models:
            raise usage_error(
                sentence("no-such-model", "no model is called {name!r}", name=model[:80]),
                one_of(sorted(self._models)),
            )
        return model

    def _list(self, snapshot: Snapshot, call: Call[Nothing, AgentsQuery]) -> list[AgentDetails]:
        states = () if call.query.state is None else (call.query.state,)
        return agent_overview.list_agents(snapshot, self._now_ms(), self._scheduler.outlook, states)

    def _show(self, snapshot: Snapshot, call: Call[Nothing, Nothing]) -> AgentDetails:
        return self._details(snapshot, agent_overview.find_agent(snapshot, call.ref))

    def _details(self, snapshot: Snapshot, agent: EntityId) -> AgentDetails:
        return agent_overview.agent_details(snapshot, agent, self._now_ms(), self._scheduler.outlook)

    def _log(self, snapshot: Snapshot, call: Call[Nothing, AgentLogQuery]) -> list[AgentMessage]:
        agent, query = agent_overview.find_agent(snapshot, call.ref), call.query
        return activity.agent_messages(
            snapshot,
            agent,
            tools=query.tools,
            calls=query.calls,
            limit=query.limit,
            before=query.before,
            now_ms=self._now_ms(),
        )

    async def _wake(self, call: Call[Wake, Nothing]) -> AgentDetails:
        body = call.body
        if (body.wait is not None) + (body.at is not None) + body.cancel > 1:
            raise usage_error(sentence("wake-options", "wait, at and cancel exclude each other"))
        if body.all_notes and (body.at is not None or body.cancel):
            raise usage_error(
                sentence("wake-all-notes-now", "all_notes is for a wake now, without at and cancel")
            )
        if body.every is not None and body.at is None:
            raise usage_error(sentence("every-needs-at", "every needs at: the time of the first wake"))
        agent = await self._store.read(lambda snapshot: agent_overview.find_agent(snapshot, call.ref))
        if body.at is not None or body.cancel:
            await self._store.write(lambda tx: self._set_timer(tx, agent, body.at, body.every))
            self._scheduler.on_timers_changed()
        else:
            _require_success(await self._scheduler.wake(agent, wait_s=body.wait, all_notes=body.all_notes))
        return await self._store.read(lambda snapshot: self._details(snapshot, agent))

    async def _ask(self, call: Call[Ask, Nothing]) -> AgentDetails:
        body = call.body
        agent = await self._store.read(lambda snapshot: agent_overview.find_agent(snapshot, call.ref))
        _require_success(await self._scheduler.ask(agent, body.text, wait_s=body.wait))
        return await self._store.read(lambda snapshot: self._details(snapshot, agent))

    def _set_timer(self, tx: Transaction, agent: EntityId, wake_at: str | None, every: str | None) -> None:
        if wake_at is None:
            agent_timers.cancel_timers(tx, agent)
        else:
            agent_timers.set_timer(tx, agent, wake_at, self._typed, every)

    # -- changing -------------------------------------------------------------------------------------

    def _edit(self, tx: Transaction, call: Call[AgentEdit, Nothing]) -> AgentDetails:
        agent, body = agent_overview.find_agent(tx, call.ref), call.body
        model = None if body.model is None else self._require_model(body.model)
        lifecycle.edit_agent(
            tx, agent, mode=body.mode, model=model, name=body.name, description=body.description
        )
        return self._details(tx, agent)

    def _pause(self, tx: Transaction, call: Call[Pause, Nothing]) -> AgentDetails:
        agent, until = agent_overview.find_agent(tx, call.ref), call.body.until
        until_ms = None if until is None else agent_timers.future_ms(until, self._typed, tx.now_ms())
        lifecycle.pause_agent(tx, agent, until_ms)
        return self._details(tx, agent)

    def _resume(self, tx: Transaction, call: Call[Nothing, Nothing]) -> AgentDetails:
        agent = agent_overview.find_agent(tx, call.ref)
        lifecycle.resume_agent(tx, agent)
        return self._details(tx, agent)

    def _move(self, tx: Transaction, call: Call[Move, Nothing]) -> AgentDetails:
        agent = agent_overview.find_agent(tx, call.ref)
        device = member_or_this_device(tx, call.body.device)
        presence_edits.require_movable(tx, agent, device)
        lifecycle.move_agent(tx, agent, device)
        return self._details(tx, agent)

    def _destroy(self, tx: Transaction, call: Call[Nothing, Nothing]) -> AgentDetails:
        agent = agent_overview.find_agent(tx, call.ref)
        lifecycle.destroy_agent(tx, agent)
        return self._details(tx, agent)

    def _permit(self, tx: Transaction, call: Call[Policy, Nothing]) -> AgentDetails:
        agent = agent_overview.find_agent(tx, call.ref)
        permit(tx, agent, call.body)
        return self._details(tx, agent)


def permit(tx: Transaction, agent: EntityId, body: Policy) -> None:
    """Say what an agent may do: policies, categories, and what verdicts need. Raises Refused."""
    for tool, policy in body.tools.items():
        policy_edits.set_tool_policy(tx, agent, tool, policy)
    policy_edits.edit_allowed_categories(tx, agent, allow=body.allow, disallow=body.disallow)
    others = has_other_members(tx)
    for tool, presence in body.presence.items():
        presence_edits.set_presence(tx, agent, tool, presence, has_other_devices=others)


def member_or_this_device(snapshot: Snapshot, ref: str | None) -> DeviceId:
    """Return the member of that name, or whose id begins so; None is this device. Raises Refused."""
    return snapshot.device if ref is None else device_edits.find_device(snapshot, ref, removed=False).device


def _require_success(run: AgentRun | None) -> None:
    """Tell a person who waited how a run ended that did not complete."""
    if run is None:
        return
    hint = sentence("see-agent-show", "placet agent show says more")
    if run.status is RunStatus.FAILED:
        raise Refused(
            RefusalCode.FAILED,
            sentence("run-failed", "the agent's run failed: {fault}", fault=str(run.error)),
            hint,
        )
    if run.status is not RunStatus.COMPLETED:
        raise Refused(
            RefusalCode.CONFLICT,
            sentence("run-not-completed", "the agent's run did not complete: {fault}", fault=str(run.error)),
            hint,
        )
