"""The routes of the history: what was decided, page by page, and taking one verdict back.

Never changes anything on a GET; a form is sent to the address of the page that shows it.
"""

from http import HTTPStatus
from typing import Final

from aiohttp import web

from daemon.agents.person import full_history
from daemon.refusal import Refused
from daemon.web.decide.verdict_form import Outcome, decide_form
from daemon.web.forms import read_form
from daemon.web.inbox.history_rows import decision_row
from daemon.web.page_answer import page_answer
from daemon.web.refusals import refusal_words
from daemon.web.services import PageServices

PATH: Final = "/decisions"
SHOWN_MAX: Final = 100
_DIGITS_MAX: Final = 15


def routes(services: PageServices) -> list[web.RouteDef]:
    """Return the routes of this room."""
    room = _History(services)
    return [web.get(PATH, room.show), web.post(PATH, room.take_back)]


class _History:
    def __init__(self, services: PageServices) -> None:
        self._services = services

    async def show(self, request: web.Request) -> web.Response:
        return await self._page(request)

    async def take_back(self, request: web.Request) -> web.Response:
        """Take a verdict back, and answer with the page as it is then."""
        return await self._page(
            request, await decide_form(self._services, await read_form(request), request.host)
        )

    async def _page(self, request: web.Request, outcome: Outcome | None = None) -> web.Response:
        now_ms, after = self._services.now_ms(), self._services.store.feed_end
        task, before = request.query.get("task", ""), _position(request.query.get("before", ""))
        records, fault = [], ""
        try:
            records = await self._services.store.read(
                lambda snapshot: full_history.list_decided(
                    snapshot, now_ms, task=task or None, before=before, limit=SHOWN_MAX
                )
            )
        except Refused as refused:
            fault = refusal_words(refused)
        is_refused = outcome is not None and outcome.refusals
        return await page_answer(
            self._services,
            "inbox/history.html",
            HTTPStatus.NOT_FOUND if fault else HTTPStatus.CONFLICT if is_refused else HTTPStatus.OK,
            room="inbox",
            after=after,
            rows=[decision_row(record, now_ms / 1000) for record in records],
            task=task,
            task_title=records[0].task_title if task and records else "",
            more=records[-1].seq if len(records) >= SHOWN_MAX else None,
            fault=fault,
            outcome=outcome,
        )


def _position(text: str) -> int | None:
    """Return the feed position that a link of the page names; None for the newest, and for any other text."""
    is_number = text.isascii() and text.isdigit() and len(text) <= _DIGITS_MAX
    return int(text) if is_number else None
