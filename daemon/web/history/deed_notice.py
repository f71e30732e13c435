"""The notice of what was just done: the page that follows a form has it, with a button for the undo.

Never keeps what was done: a browser gets the name of the change as a cookie, which the next page that it
shows uses up.
"""

import re
from http import HTTPStatus
from typing import Final, NamedTuple

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from daemon.journal.references.change_names import CHANGE_HEADER, span_names
from daemon.journal.undo.changes import show_change
from daemon.journal.undo.undo_answer import UndoView
from daemon.refusal import Refused
from daemon.web.frame.rendering import DEED
from daemon.web.services import PageServices
from daemon.words.deeds import deed_words
from store.snapshot import Snapshot
from store.threads import note_writes

COOKIE: Final = "placet_deed"
REFRESH_HEADER: Final = "Placet-Refresh"
"""What the page sends when it fetches itself anew by itself: nobody has pressed anything then."""
PLACE_HEADER: Final = "Placet-Place"
"""Where the page is that sends a form by a script: an answer from elsewhere is fetched again, to be shown."""
_AGE_S: Final = 60
_NAME_CHARS_MAX: Final = 400
_KEPT: Final = re.compile(r"[0-9a-f.+-]{1,400}")
_SEVERAL, _SEVERAL_KEPT = ", ", "+"
_SHOWN: Final = 'id="deed"'


class Deed(NamedTuple):
    """What was just done, the change that it was, and the address to which its undo leads back.

    `is_undo`: the button brings the change back.
    """

    words: str
    change: str
    back: str
    is_undo: bool


def deed_middleware(services: PageServices) -> Middleware:
    """Tell the page that follows a form what the form did."""

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.method == "POST":
            return await _answer_form(request, handler)
        name = request.cookies.get(COOKIE, "")
        DEED.set(None)
        if not _KEPT.fullmatch(name) or not _will_be_shown(request):
            return await handler(request)
        DEED.set(await _read_deed(services, name.replace(_SEVERAL_KEPT, _SEVERAL), request.path_qs))
        response = await handler(request)
        # A part of a page shows no notice: that of the page is still to come.
        # A script that is packed is no text at all.
        if (
            isinstance(response, web.Response)
            and response.content_type == "text/html"
            and _SHOWN in (response.text or "")
        ):
            response.del_cookie(COOKIE, path="/", httponly=True, samesite="Strict")
        return response

    return middleware


def _will_be_shown(request: web.Request) -> bool:
    """Say whether the answer is a page that a person gets to see."""
    is_there = request.headers.get(PLACE_HEADER, request.path) == request.path
    return request.method == "GET" and REFRESH_HEADER not in request.headers and is_there


async def _answer_form(request: web.Request, handler: Handler) -> web.StreamResponse:
    DEED.set(None)
    with note_writes() as spans:
        response = await handler(request)
    name = span_names(spans)
    if not name or len(name) > _NAME_CHARS_MAX:
        return response
    response.headers[CHANGE_HEADER] = name
    if response.status == HTTPStatus.SEE_OTHER:
        response.set_cookie(
            COOKIE,
            name.replace(_SEVERAL, _SEVERAL_KEPT),
            max_age=_AGE_S,
            path="/",
            httponly=True,
            samesite="Strict",
        )
    return response


async def _read_deed(services: PageServices, name: str, back: str) -> Deed | None:
    """Return what a change did, None if it is nothing that an undo takes back."""
    try:
        view, is_undo = await services.store.read(lambda snapshot: _show_deed(snapshot, name))
    except Refused:
        return None
    if view.is_verdict or view.undone or not view.changes:
        return None
    words = deed_words(msgspec.to_builtins(view.changes), is_undo=is_undo)
    return Deed(words, view.change, back, is_undo)


def _show_deed(snapshot: Snapshot, name: str) -> tuple[UndoView, bool]:
    """Return a change, and whether it is an undo; that of an undo is what was done at first."""
    view = show_change(snapshot, name)
    undone = next((change.undoes for change in view.changes if change.undoes is not None), None)
    if undone is None:
        return view, False
    return view, all(change.undoes is None for change in show_change(snapshot, undone).changes)
