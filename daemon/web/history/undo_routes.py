"""The routes by which the page undoes a change, and lists what was removed.

Never changes anything on a GET, and never leads to another site.
"""

from http import HTTPStatus
from typing import Final

from aiohttp import web

from daemon.agents.person.undo_of_change import VerdictRules, undo_change
from daemon.journal.removed import bring_back, list_removed
from daemon.journal.undo.changes import last_change
from daemon.refusal import Refused
from daemon.web.forms import read_form
from daemon.web.history.removed_rows import TAKEN_BACK, left_lines, removed_row
from daemon.web.page_answer import page_answer
from daemon.web.refusals import refusal_words, shortfall_words
from daemon.web.services import PageServices

UNDO_PATH: Final = "/undo"
PATH: Final = "/removed"
SHOWN_MAX: Final = 100
_ID_CHARS: Final = 32
_BACK_CHARS_MAX: Final = 500


def routes(services: PageServices) -> list[web.RouteDef]:
    """Return the routes of this room."""
    room = _Undo(services)
    return [
        web.post(UNDO_PATH, room.undo),
        web.get(UNDO_PATH, room.go_home),
        web.get(PATH, room.show),
        web.post(PATH, room.bring_back),
    ]


class _Undo:
    def __init__(self, services: PageServices) -> None:
        self._services = services

    async def undo(self, request: web.Request) -> web.Response:
        """Undo the change that a form names, or the last one, and lead back; what was left is said."""
        form = await read_form(request)
        back, fault, undone = _local(form.get("back", "")), shortfall_words(self._services), None
        if not fault:
            rules = VerdictRules("web", self._services.reason_min)
            try:
                undone = await undo_change(
                    self._services.store, lambda snapshot: form.get("change") or last_change(snapshot), rules
                )
            except Refused as refused:
                fault = refusal_words(refused)
        lines = [] if undone is None else left_lines(undone)
        if undone is not None and not lines:
            return _redirect(back)
        is_partly = undone is not None and (
            undone.undo is not None or any(verdict.result in TAKEN_BACK for verdict in undone.verdicts)
        )
        return await self._answer_left(lines, fault, back, is_partly=is_partly)

    async def go_home(self, request: web.Request) -> web.Response:
        """Lead to the first page: a page asks for its address again, and this one has none to show."""
        del request
        return _redirect("/")

    async def _answer_left(self, lines: list[str], fault: str, back: str, *, is_partly: bool) -> web.Response:
        return await page_answer(
            self._services,
            "history/left.html",
            HTTPStatus.CONFLICT,
            room="tasks",
            after=self._services.store.feed_end,
            fault=fault,
            is_partly=is_partly,
            lines=lines,
            back=back,
        )

    async def show(self, request: web.Request) -> web.Response:
        return await self._page(request)

    async def bring_back(self, request: web.Request) -> web.Response:
        """Bring back what a form names, and show the list as it is then."""
        form, fault = await read_form(request), shortfall_words(self._services)
        if not fault:
            try:
                await self._services.store.write(lambda tx: bring_back(tx, form.get("thing", "")))
            except Refused as refused:
                fault = refusal_words(refused)
        return await self._page(request, fault) if fault else _redirect(PATH)

    async def _page(self, request: web.Request, fault: str = "") -> web.Response:
        now_ms, after_seq = self._services.now_ms(), self._services.store.feed_end
        after = request.query.get("after", "")
        listed = []
        try:
            listed = await self._services.store.read(
                lambda snapshot: list_removed(snapshot, after=after[:_ID_CHARS] or None, limit=SHOWN_MAX)
            )
        except Refused as refused:
            fault = fault or refusal_words(refused)
        return await page_answer(
            self._services,
            "history/removed.html",
            HTTPStatus.CONFLICT if fault else HTTPStatus.OK,
            room="tasks",
            after=after_seq,
            rows=[removed_row(removed, now_ms / 1000) for removed in listed],
            more=listed[-1].id if len(listed) >= SHOWN_MAX else "",
            fault=fault,
        )


def _redirect(address: str) -> web.Response:
    return web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": address})


def _local(address: str) -> str:
    """Return an address of this page; what is none leads to its beginning."""
    is_local = address.startswith("/") and not address.startswith(("//", "/\\")) and address.isprintable()
    return address if is_local and address.isascii() and len(address) <= _BACK_CHARS_MAX else "/"
