"""The routes of preferences: the lines that agents read beside each task, added, changed and removed.

Never changes anything on a GET, and never shortens a line: a person sees all that an agent is given.
"""

import hashlib
from http import HTTPStatus
from typing import Final

from aiohttp import web
from msgspec import UNSET
from multidict import MultiDictProxy

from daemon.journal import preferences
from daemon.journal.preferences import TEXT_CHARS_MAX, NewPreference, Preference, PreferenceEdit
from daemon.journal.references.names import shown_name
from daemon.refusal import RefusalCode, Refused, usage_error
from daemon.web.forms import read_form, refuse_form
from daemon.web.page_answer import page_answer
from daemon.web.refusals import refusal_words, shortfall_words
from daemon.web.services import PageServices
from daemon.words.terminal_text import escape as visible
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
            rows=[(line.id, line.text, line.category or "", _digest(line.text)) for line in lines],
            categories=categories,
            chars_max=TEXT_CHARS_MAX,
            typed={} if typed is None else {typed.get("line", _ADDED): typed},
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
        # What was not touched stays, also a category that the form cannot show.
        is_same_text, is_same_category = (
            form.get("shown") == _digest(text),
            form.get("was") == (category or ""),
        )
        if not is_same_text:
            _check_shown(tx, ref, form.get("shown"))
        change = PreferenceEdit(UNSET if is_same_text else text, UNSET if is_same_category else category)
        preferences.edit(tx, ref, change)


def _check_shown(tx: Transaction, ref: str, shown: str | None) -> None:
    """Raise Refused for a line that was changed since the form was filled with it."""
    now = [line.text for line in preferences.list_preferences(tx) if line.id == ref]
    if shown is not None and any(_digest(text) != shown for text in now):
        raise Refused(RefusalCode.STALE, sentence("changed-since-shown", "it has changed since it was shown"))


def _digest(text: str) -> str:
    """Name a text as its field shows it, and sends it back."""
    return hashlib.sha256(visible(text.replace("\r\n", "\n")).encode()).hexdigest()
