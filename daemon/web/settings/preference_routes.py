"""The routes of preferences: the lines that agents read beside each task, added, changed and removed.

Never changes anything on a GET, and never shortens a line: a person sees all that an agent is given.
"""

from http import HTTPStatus
from typing import Final

from aiohttp import web
from msgspec import UNSET
from multidict import MultiDictProxy

from daemon.journal import preferences
from daemon.journal.preferences import TEXT_CHARS_MAX, NewPreference, Preference, PreferenceEdit
from daemon.journal.references.names import shown_name
from daemon.refusal import Refused, usage_error
from daemon.web.forms import read_form, refuse_form
from daemon.web.page_answer import page_answer
from daemon.web.refusals import refusal_words, shortfall_words
from daemon.web.services import PageServices
from store.sentence import sentence
from store.snapshot import Snapshot
from store.transaction import Transaction

PATH: Final = "/preferences"
_ADDED: Final = ""
"""What stands in place of an id in the form that adds a line."""


def routes(services: PageServices) -> list[web.RouteDef]:
    """Return the routes of this room."""
    room = _Preferences(services)
    return [web.get(PATH, room.show), web.post(PATH, room.act)]


class _Preferences:
    def __init__(self, services: PageServices) -> None:
        self._services = services

    async def show(self, request: web.Request) -> web.Response:
        """Show the lines in sight."""
        del request
        return await self._page()

    async def act(self, request: web.Request) -> web.Response:
        """Add, change or remove a line; one that is refused is shown with what was typed, and why."""
        form, fault = await read_form(request), shortfall_words(self._services)
        if form.get("do") not in ("add", "save", "remove"):
            raise refuse_form()
        if not fault:
            try:
                await self._services.store.write(lambda tx: _change(tx, form))
            except Refused as refused:
                fault = refusal_words(refused)
        if not fault:
            return web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": PATH})
        return await self._page(fault, form)

    async def _page(self, fault: str = "", typed: MultiDictProxy[str] | None = None) -> web.Response:
        after = self._services.store.feed_end

        def read(snapshot: Snapshot) -> tuple[list[Preference], list[str]]:
            names = {shown_name(entity) for entity in snapshot.entities("category")}
            return preferences.list_preferences(snapshot), sorted(names, key=str.casefold)

        lines, categories = await self._services.store.read(read)
        return await page_answer(
            self._services,
            "settings/preferences.html",
            HTTPStatus.CONFLICT if fault else HTTPStatus.OK,
            room="settings",
            after=after,
            rows=[(line.id, line.text, line.category or "") for line in lines],
            categories=categories,
            chars_max=TEXT_CHARS_MAX,
            typed={} if typed is None else {typed.get("line", _ADDED): typed.get("text", "")},
            fault=fault,
        )


def _change(tx: Transaction, form: MultiDictProxy[str]) -> None:
    """Do what a form says. Raises Refused for a line that is too long, empty or unknown."""
    ref, text, category = form.get("line", ""), form.get("text", ""), form.get("category") or None
    if form.get("do") == "remove":
        preferences.remove(tx, ref)
        return
    if len(text) > TEXT_CHARS_MAX:
        raise usage_error(
            sentence("preference-long", "a preference has {most} characters at most", most=TEXT_CHARS_MAX)
        )
    if form.get("do") == "add":
        preferences.add(tx, NewPreference(text, category))
    else:
        # A category that was not touched stays, also one that the form cannot show.
        is_same = form.get("was") == (category or "")
        preferences.edit(tx, ref, PreferenceEdit(text, UNSET if is_same else category))
