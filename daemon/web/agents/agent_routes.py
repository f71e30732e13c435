"""The routes of agents: all of them, one task's agent, and what a person does to it; a task's first agent.

Never wakes an agent on a GET.
"""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any, Final, Protocol

from aiohttp import web

from daemon.agents.person import activity, agent_overview, external_agents, lifecycle, token_use
from daemon.agents.person.agent_overview import OutlookLookup
from daemon.agents.tools.agent_record import load_agent
from daemon.journal import categories
from daemon.refusal import Refused
from daemon.web.agents.agent_deeds import DEEDS, AgentDeeds
from daemon.web.agents.agent_rows import CostOf, agent_page, first_whole_run
from daemon.web.agents.external_rows import external_lines
from daemon.web.agents.rights_form import rights_of
from daemon.web.decide.agent_line import agent_line
from daemon.web.forms import read_form, refuse_form
from daemon.web.page_answer import page_answer
from daemon.web.refusals import refusal_words, shortfall_words
from daemon.web.services import PageServices
from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto.ids import EntityId, id_to_text

PATH: Final = "/agents"
MESSAGES_SHOWN: Final = 120
LISTED_MAX: Final = 50
_ID_CHARS: Final = 32
_HEX: Final = frozenset("0123456789abcdef")
_AGENT: Final = "{agent:[0-9a-f]{32}}"


class Runs(Protocol):
    """What runs the agents: when one runs next, waking one, and making one that runs at once."""

    @property
    def outlook(self) -> OutlookLookup:
        """Say when an agent runs next, and why."""

    @property
    def wake(self) -> Callable[..., Awaitable[Any]]:
        """Wake an agent without waiting for its end."""

    @property
    def create_and_wake(self) -> Callable[[Callable[[Transaction], list[EntityId]]], Awaitable[Any]]:
        """Make agents and wake them."""


def routes(
    services: PageServices,
    runs: Runs,
    model: str,
    deeds: AgentDeeds,
    cost_of: CostOf = lambda _run: None,
) -> list[web.RouteDef]:
    """Return the routes of tasks' agents; `model` is that of a new one, `cost_of` says what a run cost."""
    room = _Agents(services, runs, model, deeds, cost_of)
    return [
        web.get(PATH, room.show_all),
        web.post(PATH, room.create),
        web.get(f"{PATH}/{_AGENT}", room.show),
        web.post(f"{PATH}/{_AGENT}", room.act),
    ]


class _Agents:
    def __init__(
        self, services: PageServices, runs: Runs, model: str, deeds: AgentDeeds, cost_of: CostOf
    ) -> None:
        self._services = services
        self._runs = runs
        self._model = model
        self._deeds = deeds
        self._cost_of = cost_of

    async def show_all(self, request: web.Request) -> web.Response:
        """List the agents of tasks a page at a time, and all of other makers before them."""
        now_ms, after = self._services.now_ms(), self._services.store.feed_end
        place = _place(request)

        def read(snapshot: Snapshot) -> Any:
            own = agent_overview.agents_page(snapshot, now_ms, self._runs.outlook, place, LISTED_MAX)
            return own, [] if place else external_agents.list_external_agents(snapshot, now_ms)

        try:
            own, others = await self._services.store.read(read)
        except Refused as refused:
            return await self._no_agent_page(refusal_words(refused))
        return await self._answer(
            "agents/agents.html",
            HTTPStatus.OK,
            after=after,
            own=[agent_line(details, now_ms / 1000) for details in own],
            others=external_lines(others),
            more=own[-1].id if len(own) == LISTED_MAX else "",
        )

    async def create(self, request: web.Request) -> web.Response:
        """Give a task its agent, and show the task, on which its proposals come up."""
        form = await read_form(request)
        task, fault = form.get("task", ""), shortfall_words(self._services)
        if not fault:
            try:
                (agent,) = await self._runs.create_and_wake(
                    lambda tx: [lifecycle.create_agent(tx, task, self._model)]
                )
                details = await self._services.store.read(lambda snapshot: load_agent(snapshot, agent))
                assert details is not None, "it was made just now"
                place = f"/tasks/{id_to_text(details.task)}"
                return web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": place})
            except Refused as refused:
                fault = refusal_words(refused)
        return await self._no_agent_page(fault)

    async def show(self, request: web.Request) -> web.Response:
        return await self._page(request)

    async def act(self, request: web.Request) -> web.Response:
        """Do what a form asks for; what is refused is said above the agent."""
        form, ref = await read_form(request), request.match_info["agent"]
        deed, fault = form.get("do", ""), shortfall_words(self._services)
        if deed not in ("wake", *DEEDS):
            raise refuse_form()
        if fault:
            return await self._page(request, fault=fault)
        try:
            agent = await self._services.store.read(lambda snapshot: agent_overview.find_agent(snapshot, ref))
            if deed == "wake":
                await self._runs.wake(agent)
            else:
                await self._deeds.carry_out(agent, form)
        except Refused as refused:
            return await self._page(request, fault=refusal_words(refused), typed=form.get("until", ""))
        return _redirect(ref)

    async def _page(self, request: web.Request, *, fault: str = "", typed: str = "") -> web.Response:
        now_ms, after = self._services.now_ms(), self._services.store.feed_end
        ref = request.match_info["agent"]
        before = request.query.get("before") or None

        def read(snapshot: Snapshot) -> Any:
            agent = agent_overview.find_agent(snapshot, ref)
            details = agent_overview.agent_details(snapshot, agent, now_ms, self._runs.outlook)
            messages = activity.agent_messages(
                snapshot, agent, tools=True, limit=MESSAGES_SHOWN, before=before, now_ms=now_ms
            )
            # A sentence on half of a run would not be true: the next page begins with the whole of it.
            if len(messages) == MESSAGES_SHOWN:
                messages = messages[first_whole_run(messages) :]
                older = messages[0].id
            else:
                older = ""
            tokens = token_use.tokens_of_runs(snapshot, agent, now_ms)
            listed = categories.list_categories(snapshot, removed=False)
            names = {category.id: category.name for category in listed}
            rights = rights_of(details.policy, details.presence, details.allowed_categories, names)
            return details, messages, older, tokens, rights

        try:
            details, messages, older, tokens, rights = await self._services.store.read(read)
        except Refused as refused:
            return await self._no_agent_page(refusal_words(refused))
        return await self._answer(
            "agents/agent.html",
            HTTPStatus.CONFLICT if fault else HTTPStatus.OK,
            after=after,
            agent=agent_page(details, messages, tokens, now_ms / 1000, self._cost_of),
            rights=rights,
            homes=await self._deeds.list_homes(),
            older=older,
            fault=fault,
            typed=typed,
        )

    async def _no_agent_page(self, fault: str) -> web.Response:
        after = self._services.store.feed_end
        return await self._answer("agents/no_agent.html", HTTPStatus.NOT_FOUND, after=after, fault=fault)

    async def _answer(self, template: str, status: HTTPStatus, **values: Any) -> web.Response:
        return await page_answer(self._services, template, status, room="agents", **values)


def _place(request: web.Request) -> str:
    """Return the agent after which the page of the list begins; "" for the first."""
    place = request.query.get("before", "")
    return place if len(place) == _ID_CHARS and set(place) <= _HEX else ""


def _redirect(agent: str) -> web.Response:
    return web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": f"{PATH}/{agent}"})
