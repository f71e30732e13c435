"""The routes of permissions: the inbox's asks alone, and a person's verdict on what was shown.

Never changes anything on a GET, and never permits arguments that the page did not show.
"""

from http import HTTPStatus
from typing import Final

from aiohttp import web

from daemon.agents.asks import ask_views
from daemon.agents.asks.ask_views import AskDetails
from daemon.web.decide.ask_rows import ask_row
from daemon.web.decide.verdict_form import Outcome, decide_form
from daemon.web.forms import read_form
from daemon.web.page_answer import page_answer
from daemon.web.services import PageServices
from store.snapshot import Snapshot

PATH: Final = "/permissions"


def routes(services: PageServices) -> list[web.RouteDef]:
    """Return the routes of this room."""
    room = _Permissions(services)
    return [web.get(PATH, room.show), web.post(PATH, room.decide)]


class _Permissions:
    def __init__(self, services: PageServices) -> None:
        self._services = services

    async def show(self, request: web.Request) -> web.Response:
        del request
        return await self._page()

    async def decide(self, request: web.Request) -> web.Response:
        """Decide on one ask, and show what waits then; what is refused is said."""
        return await self._page(await decide_form(self._services, await read_form(request), request.host))

    async def _page(self, outcome: Outcome | None = None) -> web.Response:
        now_ms, after = self._services.now_ms(), self._services.store.feed_end

        def read(snapshot: Snapshot) -> tuple[list[AskDetails], str]:
            return ask_views.list_asks(snapshot, now_ms, waiting=True), snapshot.device.hex()

        asks, own_device = await self._services.store.read(read)
        is_refused = outcome is not None and outcome.refusals
        return await page_answer(
            self._services,
            "inbox/permissions.html",
            HTTPStatus.CONFLICT if is_refused else HTTPStatus.OK,
            room="inbox",
            after=after,
            asks=[ask_row(ask, own_device, now_ms / 1000) for ask in asks],
            outcome=outcome,
        )
