"""The routes of agents of other makers, and of what they propose.

Never decides on a proposal: that is for the route of decisions, which a person's programs call.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Annotated

from msgspec import Meta, Struct

from daemon.agents.asks.own_asks import AgentRef
from daemon.agents.outside import proposal_views, proposals, readable_tasks
from daemon.agents.outside.own_requests import OwnRequests, decided_requests, waiting_requests
from daemon.agents.outside.proposal_views import ProposedSet
from daemon.agents.outside.proposals import NewProposals
from daemon.agents.outside.readable_tasks import CallableTool, ReadableTask, TaskHead
from daemon.agents.outside.verdicts import Verdicts, verdicts_after
from daemon.agents.person import agent_timers, external_agents, lifecycle
from daemon.agents.person.external_agents import ExternalAgentDetails, find_calling_agent, find_external_agent
from daemon.agents.proposing.change_set_builder import ProposalLimits
from daemon.agents.tools.agent_record import load_external_agent, refusal_of_hindered
from daemon.control.route import CREATED, AsyncHandler, Call, Nothing, ReadHandler, Route, WriteHandler
from daemon.control.routes.agents import Pause, Policy, permit
from daemon.journal.human_input import HumanInput
from daemon.journal.references import entities
from daemon.notifier import Notifier
from daemon.refusal import RefusalCode, Refused, not_found_refusal
from store.sentence import sentence
from store.snapshot import Snapshot
from store.threads import StoreThreads
from store.transaction import Transaction
from syncproto.ids import EntityId, id_from_text

ITEMS_MAX = 30
WAIT_S_MAX = 50.0


class NewExternalAgent(Struct, frozen=True, forbid_unknown_fields=True):
    """An agent of another maker, by its name on this device. `scope` is all, categories or none."""

    name: str
    scope: str | None = None


class Registration(Struct, frozen=True, forbid_unknown_fields=True):
    """The name under which a program works; a new one waits until a person lets it in."""

    name: str


class Admission(Struct, frozen=True, forbid_unknown_fields=True):
    """What an agent that is let in may work on: all, categories or none; all if nothing is said."""

    scope: str | None = None


class ExternalAgentEdit(Struct, frozen=True, forbid_unknown_fields=True):
    """What to change: its scope, and daily limits by kind; null takes a limit back to what it was."""

    scope: str | None = None
    daily_limits: dict[str, int | None] = {}


class ProposalsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The agent that asks, by its name: it is shown its own proposals alone."""

    agent: AgentRef


class RequestsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The agent that asks, by its name; with `decided`, what was decided last instead of what waits."""

    agent: AgentRef
    decided: bool = False


class ProposalWithdrawal(Struct, frozen=True, forbid_unknown_fields=True):
    """Which proposals of a set an agent takes back, all if none is named, and why."""

    agent: AgentRef
    items: Annotated[list[str], Meta(max_length=ITEMS_MAX)] = []
    reason: Annotated[str, Meta(max_length=proposals.WHY_CHARS_MAX)] = ""


class ReadableQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """The agent that reads, by its name: it is shown tasks of its scope alone."""

    agent: AgentRef


class FindQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """Words in tasks, all open tasks if there are none, for the agent that reads, by its name."""

    agent: AgentRef
    q: Annotated[str, Meta(max_length=500)] = ""
    limit: Annotated[int, Meta(ge=1, le=readable_tasks.FOUND_MAX)] = readable_tasks.FOUND_MAX


class VerdictsQuery(Struct, frozen=True, forbid_unknown_fields=True):
    """What was decided after the feed position `after` on what an agent, by its name, proposed and asked.

    Without `after` it is what will be decided from now on. If there is nothing, the answer waits for `wait_s`
    seconds at most.
    """

    agent: AgentRef
    after: Annotated[int, Meta(ge=0)] | None = None
    wait_s: Annotated[float, Meta(ge=0, le=WAIT_S_MAX)] = 0.0


class OutsideRoutes:
    """The routes. `typed` reads what people type; `limits` are those of each set.

    `notifier` tells when the feed has grown.
    """

    def __init__(
        self,
        store: StoreThreads,
        notifier: Notifier,
        now_ms: Callable[[], int],
        typed: HumanInput,
        limits: ProposalLimits,
    ) -> None:
        self._store = store
        self._notifier = notifier
        self._now_ms = now_ms
        self._typed = typed
        self._limits = limits

    def routes(self) -> list[Route]:
        """Return this part of the table."""
        return [
            *self._routes_of_all(),
            *self._routes_of_one(),
            *self._routes_of_proposals(),
            *self._routes_of_reading(),
        ]

    def _routes_of_all(self) -> list[Route]:
        path, details = "/v1/external-agents", ExternalAgentDetails
        add, register = WriteHandler(self._add), WriteHandler(self._register)
        return [
            Route(
                "POST", path, "Make an agent of another maker", add, details, NewExternalAgent, status=CREATED
            ),
            Route(
                "POST",
                f"{path}/register",
                "Name a program that a person may let in as an agent",
                register,
                details,
                Registration,
            ),
            Route(
                "GET",
                path,
                "List agents of other makers",
                ReadHandler(self._list),
                list[ExternalAgentDetails],
            ),
        ]

    def _routes_of_one(self) -> list[Route]:
        path, details = "/v1/external-agents/{ref}", ExternalAgentDetails
        edit, permit_it = WriteHandler(self._edit), WriteHandler(self._permit)
        pause, resume = WriteHandler(self._pause), WriteHandler(self._resume)
        return [
            Route("GET", path, "Show an agent of another maker", ReadHandler(self._show), details),
            Route("PATCH", path, "Change its scope and limits", edit, details, ExternalAgentEdit),
            Route("POST", f"{path}/admit", "Let it in", WriteHandler(self._admit), details, Admission),
            Route("POST", f"{path}/pause", "Let it propose nothing for a time", pause, details, Pause),
            Route("POST", f"{path}/resume", "Let it propose again", resume, details),
            Route("POST", f"{path}/destroy", "End it for good", WriteHandler(self._destroy), details),
            Route("PATCH", f"{path}/policy", "Say what it may do", permit_it, details, Policy),
        ]

    def _routes_of_proposals(self) -> list[Route]:
        path = "/v1/proposals/{ref}"
        return [
            Route(
                "POST",
                "/v1/proposals",
                "Propose changes, as an agent of another maker",
                WriteHandler(self._propose),
                ProposedSet,
                NewProposals,
                status=CREATED,
            ),
            Route(
                "GET",
                "/v1/proposals",
                "Show an agent what of its proposals and asks waits, or was decided last",
                ReadHandler(self._own_requests),
                OwnRequests,
                query=RequestsQuery,
            ),
            Route(
                "GET",
                path,
                "Show what became of a set of proposals",
                ReadHandler(self._show_set),
                ProposedSet,
                query=ProposalsQuery,
            ),
            Route(
                "POST",
                f"{path}/withdraw",
                "Take proposals back",
                WriteHandler(self._withdraw),
                ProposedSet,
                ProposalWithdrawal,
            ),
            Route(
                "GET",
                "/v1/verdicts",
                "Show an agent what was decided on what it proposed and asked",
                AsyncHandler(self._verdicts),
                Verdicts,
                query=VerdictsQuery,
            ),
        ]

    def _routes_of_reading(self) -> list[Route]:
        return [
            Route(
                "GET",
                "/v1/external-agents/{ref}/tools",
                "List the tools that an agent of another maker may call",
                ReadHandler(self._tools),
                list[CallableTool],
            ),
            Route(
                "GET",
                "/v1/readable-tasks",
                "Find tasks, as an agent of another maker",
                ReadHandler(self._find_tasks),
                list[TaskHead],
                query=FindQuery,
            ),
            Route(
                "GET",
                "/v1/readable-tasks/{ref}",
                "Show a task to an agent of another maker",
                ReadHandler(self._read_task),
                ReadableTask,
                query=ReadableQuery,
            ),
        ]

    # -- agents ---------------------------------------------------------------------------------------

    def _add(self, tx: Transaction, call: Call[NewExternalAgent, Nothing]) -> ExternalAgentDetails:
        return self._details(tx, external_agents.add_external_agent(tx, call.body.name, call.body.scope))

    def _register(self, tx: Transaction, call: Call[Registration, Nothing]) -> ExternalAgentDetails:
        return self._details(tx, external_agents.register_external_agent(tx, call.body.name))

    def _list(self, snapshot: Snapshot, call: Call[Nothing, Nothing]) -> list[ExternalAgentDetails]:
        del call
        return external_agents.list_external_agents(snapshot, self._now_ms())

    def _show(self, snapshot: Snapshot, call: Call[Nothing, Nothing]) -> ExternalAgentDetails:
        return self._details(snapshot, find_external_agent(snapshot, call.ref))

    def _edit(self, tx: Transaction, call: Call[ExternalAgentEdit, Nothing]) -> ExternalAgentDetails:
        agent, body = find_external_agent(tx, call.ref), call.body
        if body.scope is not None:
            external_agents.set_scope(tx, agent, body.scope)
        external_agents.set_daily_limits(tx, agent, body.daily_limits)
        return self._details(tx, agent)

    def _admit(self, tx: Transaction, call: Call[Admission, Nothing]) -> ExternalAgentDetails:
        agent = find_external_agent(tx, call.ref)
        external_agents.admit_external_agent(tx, agent, call.body.scope)
        return self._details(tx, agent)

    def _pause(self, tx: Transaction, call: Call[Pause, Nothing]) -> ExternalAgentDetails:
        agent, until = find_external_agent(tx, call.ref), call.body.until
        until_ms = None if until is None else agent_timers.future_ms(until, self._typed, tx.now_ms())
        lifecycle.pause_agent(tx, agent, until_ms)
        return self._details(tx, agent)

    def _resume(self, tx: Transaction, call: Call[Nothing, Nothing]) -> ExternalAgentDetails:
        agent = find_external_agent(tx, call.ref)
        lifecycle.resume_agent(tx, agent)
        return self._details(tx, agent)

    def _destroy(self, tx: Transaction, call: Call[Nothing, Nothing]) -> ExternalAgentDetails:
        agent = find_external_agent(tx, call.ref)
        lifecycle.destroy_agent(tx, agent)
        return self._details(tx, agent)

    def _permit(self, tx: Transaction, call: Call[Policy, Nothing]) -> ExternalAgentDetails:
        agent = find_external_agent(tx, call.ref)
        permit(tx, agent, call.body)
        return self._details(tx, agent)

    def _details(self, snapshot: Snapshot, agent: EntityId) -> ExternalAgentDetails:
        return external_agents.external_agent_details(snapshot, agent, self._now_ms())

    # -- what they read -------------------------------------------------------------------------------

    def _tools(self, snapshot: Snapshot, call: Call[Nothing, Nothing]) -> list[CallableTool]:
        return readable_tasks.callable_tools(snapshot, find_calling_agent(snapshot, call.ref))

    def _find_tasks(self, snapshot: Snapshot, call: Call[Nothing, FindQuery]) -> list[TaskHead]:
        query = call.query
        agent = self._active_agent(snapshot, query.agent)
        return readable_tasks.find_readable_tasks(snapshot, agent, query.q, query.limit, self._now_ms())

    def _read_task(self, snapshot: Snapshot, call: Call[Nothing, ReadableQuery]) -> ReadableTask:
        agent = self._active_agent(snapshot, call.query.agent)
        return readable_tasks.readable_task(snapshot, agent, call.ref, self._now_ms())

    def _active_agent(self, snapshot: Snapshot, ref: str) -> EntityId:
        """Find an agent that may work here. Raises Refused for one that nobody let in."""
        agent = find_calling_agent(snapshot, ref)
        refused = refusal_of_hindered(snapshot, load_external_agent(snapshot, agent))
        if refused is not None:
            raise refused
        return agent

    # -- proposals ------------------------------------------------------------------------------------

    def _propose(self, tx: Transaction, call: Call[NewProposals, Nothing]) -> ProposedSet:
        agent, body = self._active_agent(tx, call.body.agent), call.body
        task = None if body.task is None else readable_tasks.find_task_in_scope(tx, agent, body.task).id
        return proposals.propose(tx, agent, task, body, self._limits)

    def _own_requests(self, snapshot: Snapshot, call: Call[Nothing, RequestsQuery]) -> OwnRequests:
        agent = find_calling_agent(snapshot, call.query.agent)
        list_requests = decided_requests if call.query.decided else waiting_requests
        return list_requests(snapshot, agent, self._now_ms())

    def _show_set(self, snapshot: Snapshot, call: Call[Nothing, ProposalsQuery]) -> ProposedSet:
        return self._set(snapshot, find_calling_agent(snapshot, call.query.agent), call.ref)

    def _withdraw(self, tx: Transaction, call: Call[ProposalWithdrawal, Nothing]) -> ProposedSet:
        agent, body = find_calling_agent(tx, call.body.agent), call.body
        listed = self._set(tx, agent, call.ref)
        own = [item.item for item in listed.items if item.item is not None]
        unknown = next((name for name in body.items if name not in own), None)
        if unknown is not None:
            raise Refused(
                RefusalCode.NOT_FOUND,
                sentence("no-item-of-set", "the set has no item {item}", item=unknown[:80]),
            )
        wanted = [id_from_text(name) for name in body.items or own]
        proposals.withdraw(tx, agent, wanted, body.reason)
        return self._set(tx, agent, call.ref)

    def _set(self, snapshot: Snapshot, agent: EntityId, ref: str) -> ProposedSet:
        """Return a set of an agent's own by its whole id. Raises Refused for any other as for none."""
        stored = entities.find_by_full_id(snapshot, "change_set", ref)
        listed = proposal_views.set_of_agent(snapshot, stored, agent, self._now_ms())
        if listed is None:
            raise not_found_refusal("change set", ref, entities.WHOLE_ID_HINT)
        return listed

    async def _verdicts(self, call: Call[Nothing, VerdictsQuery]) -> Verdicts:
        query = call.query
        watch = self._notifier.watch()
        deadline_s = asyncio.get_running_loop().time() + query.wait_s
        after = query.after
        while True:
            answer = await self._store.read(partial(self._answer_after, query, after))
            remaining_s = deadline_s - asyncio.get_running_loop().time()
            if answer.sets or answer.asks or answer.more or remaining_s <= 0:
                return answer
            after = answer.next
            if not await watch.wait_for_growth(remaining_s):
                return answer

    def _answer_after(self, query: VerdictsQuery, after: int | None, snapshot: Snapshot) -> Verdicts:
        agent = find_calling_agent(snapshot, query.agent)
        return verdicts_after(
            snapshot, agent, snapshot.feed_end() if after is None else after, self._now_ms()
        )
