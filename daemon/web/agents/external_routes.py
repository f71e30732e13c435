"""The routes of agents of other makers: letting one in, its scope and limits, what it may do, its end.

Never lets a program in that the page did not name.
"""

from http import HTTPStatus
from typing import Any, Final

from aiohttp import web
from multidict import MultiDictProxy

from daemon.agents.person import external_agents
from daemon.journal import categories
from daemon.refusal import Refused, usage_error
from daemon.web.agents.agent_deeds import DEEDS, AgentDeeds
from daemon.web.agents.external_rows import external_page
from daemon.web.agents.rights_form import SHOWN, rights_of
from daemon.web.forms import read_form, refuse_form
from daemon.web.page_answer import page_answer
from daemon.web.refusals import refusal_words, sentence_text, shortfall_words
from daemon.web.services import PageServices
from store.sentence import sentence
from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto.ids import EntityId

PATH: Final = "/external-agents"
_AGENT: Final = "{agent:[0-9a-f]{32}}"
_LIMIT: Final = "limit/"
_DIGITS_MAX: Final = 13


def routes(services: PageServices, deeds: AgentDeeds) -> list[web.RouteDef]:
    """Return the routes of agents of other makers; the list of all agents names them."""
    room = _ExternalAgents(services, deeds)
    return [
        web.post(PATH, room.add),
        web.get(f"{PATH}/{_AGENT}", room.show),
        web.post(f"{PATH}/{_AGENT}", room.act),
    ]


class _ExternalAgents:
    def __init__(self, services: PageServices, deeds: AgentDeeds) -> None:
        self._services = services
        self._deeds = deeds

    async def add(self, request: web.Request) -> web.Response:
        """Make an agent of another maker on this device, and show it."""
        form = await read_form(request)
        fault = shortfall_words(self._services)
        if not fault:
            try:
                details = await self._services.store.write(lambda tx: self._add(tx, form))
            except Refused as refused:
                fault = refusal_words(refused)
            else:
                return _redirect(details.id)
        return await self._no_agent_page(fault, HTTPStatus.CONFLICT)

    def _add(self, tx: Transaction, form: MultiDictProxy[str]) -> external_agents.ExternalAgentDetails:
        agent = external_agents.add_external_agent(tx, form.get("name", ""), form.get("scope"))
        return external_agents.external_agent_details(tx, agent, self._services.now_ms())

    async def show(self, request: web.Request) -> web.Response:
        return await self._page(request.match_info["agent"])

    async def act(self, request: web.Request) -> web.Response:
        """Do what a form asks for; what is refused is said above the agent."""
        form, ref = await read_form(request), request.match_info["agent"]
        deed, fault = form.get("do", ""), shortfall_words(self._services)
        if deed not in ("admit", "limits", *DEEDS) or deed == "move":
            raise refuse_form()
        if fault:
            return await self._page(ref, fault=fault)
        try:
            agent = await self._services.store.read(
                lambda snapshot: external_agents.find_external_agent(snapshot, ref)
            )
            if deed in DEEDS:
                await self._deeds.carry_out(agent, form)
            else:
                change = _admit if deed == "admit" else _limit
                await self._services.store.write(lambda tx: change(tx, agent, form))
        except Refused as refused:
            return await self._page(ref, fault=refusal_words(refused), typed=form.get("until", ""))
        return _redirect(ref)

    async def _page(self, ref: str, *, fault: str = "", typed: str = "") -> web.Response:
        now_ms, after = self._services.now_ms(), self._services.store.feed_end

        def read(snapshot: Snapshot) -> Any:
            agent = external_agents.find_external_agent(snapshot, ref)
            details = external_agents.external_agent_details(snapshot, agent, now_ms)
            listed = categories.list_categories(snapshot, removed=False)
            return details, {category.id: category.name for category in listed}

        try:
            details, names = await self._services.store.read(read)
        except Refused as refused:
            # What to do about it is a command: a person here chooses among the agents.
            return await self._no_agent_page(sentence_text(refused.sentence), HTTPStatus.NOT_FOUND)
        return await self._answer(
            "agents/external.html",
            HTTPStatus.CONFLICT if fault else HTTPStatus.OK,
            after=after,
            agent=external_page(details),
            rights=rights_of(
                details.policy,
                details.presence,
                details.allowed_categories,
                names,
                names_actions=True,
            ),
            fault=fault,
            typed=typed,
        )

    async def _no_agent_page(self, fault: str, status: HTTPStatus) -> web.Response:
        after = self._services.store.feed_end
        return await self._answer("agents/no_agent.html", status, after=after, fault=fault)

    async def _answer(self, template: str, status: HTTPStatus, **values: Any) -> web.Response:
        return await page_answer(self._services, template, status, room="agents", **values)


def _admit(tx: Transaction, agent: EntityId, form: MultiDictProxy[str]) -> None:
    external_agents.admit_external_agent(tx, agent, form.get("scope"))


def _limit(tx: Transaction, agent: EntityId, form: MultiDictProxy[str]) -> None:
    """Write the scope and the limits that the person changed."""
    if form.get("scope", "") != form.get(f"{SHOWN}scope"):
        external_agents.set_scope(tx, agent, form.get("scope", ""))
    limits = {
        field.removeprefix(_LIMIT): _number(words)
        for field, words in form.items()
        if field.startswith(_LIMIT) and words != form.get(f"{SHOWN}{field}")
    }
    external_agents.set_daily_limits(tx, agent, limits)


def _number(words: str) -> int | None:
    """Return a limit as a person types it; None, which takes it back to what it was, for nothing."""
    plain = words.strip()
    if not plain:
        return None
    if not (plain.isascii() and plain.isdecimal()) or len(plain) > _DIGITS_MAX:
        raise usage_error(sentence("limit-no-number", "{words!r} is no whole number", words=words[:40]))
    return int(plain)


def _redirect(agent: str) -> web.Response:
    return web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": f"{PATH}/{agent}"})
