"""The routes of agents: one agent's page, and what a person does to it; a task's first agent.

Never wakes an agent on a GET.
"""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any, Final, Protocol

from aiohttp import web

from daemon.agents.person import activity, agent_overview, lifecycle
from daemon.agents.person.agent_overview import OutlookLookup
from daemon.refusal import Refused
from daemon.web.agents.agent_rows import agent_page
from daemon.web.forms import read_form, refuse_form
from daemon.web.page_answer import page_answer
from daemon.web.refusals import refusal_words, shortfall_words
from daemon.web.services import PageServices
from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto.ids import EntityId, id_to_text

PATH: Final = "/agents"
MESSAGES_SHOWN: Final = 40
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


def routes(services: PageServices, runs: Runs, model: str) -> list[web.RouteDef]:
    """Return the routes of this room; `model` is that of a new agent."""
    room = _Agents(services, runs, model)
    return [
        web.post(PATH, room.create),
        web.get(f"{PATH}/{_AGENT}", room.show),
        web.post(f"{PATH}/{_AGENT}", room.act),
    ]


class _Agents:
    def __init__(self, services: PageServices, runs: Runs, model: str) -> None:
        self._services = services
        self._runs = runs
        self._model = model

    async def create(self, request: web.Request) -> web.Response:
        """Give a task its agent, and show it."""
        form = await read_form(request)
        task, fault = form.get("task", ""), shortfall_words(self._services)
        if not fault:
            try:
                (agent,) = await self._runs.create_and_wake(
                    lambda tx: [lifecycle.create_agent(tx, task, self._model)]
                )
                return _redirect(id_to_text(agent))
            except Refused as refused:
                fault = refusal_words(refused)
        return await self._no_agent_page(fault)

    async def show(self, request: web.Request) -> web.Response:
        return await self._page(request.match_info["agent"])

    async def act(self, request: web.Request) -> web.Response:
        """Do what a form asks for; what is refused is said above the agent."""
        form, ref = await read_form(request), request.match_info["agent"]
        deed, fault = form.get("do", ""), shortfall_words(self._services)
        if deed not in ("wake", "pause", "resume"):
            raise refuse_form()
        if fault:
            return await self._page(ref, fault=fault)
        try:
            agent = await self._services.store.read(lambda snapshot: agent_overview.find_agent(snapshot, ref))
            if deed == "wake":
                await self._runs.wake(agent)
            else:
                change = lifecycle.pause_agent if deed == "pause" else lifecycle.resume_agent
                await self._services.store.write(lambda tx: change(tx, agent))
        except Refused as refused:
            return await self._page(ref, fault=refusal_words(refused))
        return _redirect(ref)

    async def _page(self, ref: str, *, fault: str = "") -> web.Response:
        now_ms, after = self._services.now_ms(), self._services.store.feed_end

        def read(snapshot: Snapshot) -> Any:
            agent = agent_overview.find_agent(snapshot, ref)
            details = agent_overview.agent_details(snapshot, agent, now_ms, self._runs.outlook)
            messages = activity.agent_messages(snapshot, agent, tools=True, limit=MESSAGES_SHOWN)
            return agent_page(details, messages, now_ms / 1000)

        try:
            page = await self._services.store.read(read)
        except Refused as refused:
            return await self._no_agent_page(refusal_words(refused))
        return await self._answer(
            "agents/agent.html",
            HTTPStatus.CONFLICT if fault else HTTPStatus.OK,
            after=after,
            agent=page,
            fault=fault,
        )

    async def _no_agent_page(self, fault: str) -> web.Response:
        after = self._services.store.feed_end
        return await self._answer("agents/no_agent.html", HTTPStatus.NOT_FOUND, after=after, fault=fault)

    async def _answer(self, template: str, status: HTTPStatus, **values: Any) -> web.Response:
        return await page_answer(self._services, template, status, room="tasks", **values)


def _redirect(agent: str) -> web.Response:
    return web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": f"{PATH}/{agent}"})
