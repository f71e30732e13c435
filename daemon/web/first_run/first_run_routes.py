"""The routes of the first steps: what is done of them, and an example that an agent works on at once.

Never changes anything on a GET. The other buttons send their forms to the rooms that do the work.
"""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any, Final, Protocol

from aiohttp import web

from daemon.agents.person import first_steps
from daemon.refusal import Refused
from daemon.web.first_run.step_values import step_values
from daemon.web.forms import read_form, refuse_form
from daemon.web.page_answer import page_answer
from daemon.web.refusals import refusal_words, shortfall_words
from daemon.web.services import PageServices
from daemon.words.translation import _
from store.transaction import Transaction
from syncproto.ids import EntityId

PATH: Final = "/start"


class Runs(Protocol):
    """What runs the agents."""

    @property
    def create_and_wake(self) -> Callable[[Callable[[Transaction], list[EntityId]]], Awaitable[Any]]:
        """Make agents and wake them."""


def routes(services: PageServices, runs: Runs, model: str) -> list[web.RouteDef]:
    """Return the routes of this room; `model` is that of the example's agent."""
    room = _FirstRun(services, runs, model)
    return [web.get(PATH, room.show), web.post(PATH, room.act)]


class _FirstRun:
    def __init__(self, services: PageServices, runs: Runs, model: str) -> None:
        self._services = services
        self._runs = runs
        self._model = model

    async def show(self, request: web.Request) -> web.Response:
        del request
        return await self._page()

    async def act(self, request: web.Request) -> web.Response:
        """Make the example, and show its task, on which the proposals come up."""
        if (await read_form(request)).get("do") != "example":
            raise refuse_form()
        fault = shortfall_words(self._services)
        if not fault:
            title, note = _("Renew the passport"), example_note()
            try:
                (agent,) = await self._runs.create_and_wake(
                    lambda tx: [first_steps.add_example(tx, title, note, self._model)]
                )
            except Refused as refused:
                fault = refusal_words(refused)
            else:
                task = await self._services.store.read(lambda snapshot: first_steps.task_of(snapshot, agent))
                headers = {"Location": f"/tasks/{task}" if task else "/tasks"}
                return web.Response(status=HTTPStatus.SEE_OTHER, headers=headers)
        return await self._page(fault)

    async def _page(self, fault: str = "") -> web.Response:
        after = self._services.store.feed_end
        values = await self._services.store.read(step_values)
        status = HTTPStatus.CONFLICT if fault else HTTPStatus.OK
        return await page_answer(
            self._services, "first_run/start.html", status, room="inbox", after=after, fault=fault, **values
        )


def example_note() -> str:
    """Return the note of the example, in the language of the daemon."""
    # The words are such that the model that is built in proposes something, in each language.
    return _("We need: two photos, the old passport and the form. It takes about 2 hours.")
