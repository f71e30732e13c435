"""The boundary of the page: who may ask, what may write, and which headers every answer has.

Never lets a request through that another page, another host or a browser without a session made.
"""

import traceback
from collections.abc import Awaitable, Callable, Collection, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Final

import structlog
from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from daemon.browser_access import COOKIE, BrowserAccess
from store.file.errors import StoreError
from store.sentence import Sentence

COOKIE_MAX_AGE_S: Final = 30 * 86_400
FRAMES_LOGGED: Final = 8

HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "worker-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types placet"
    ),
    "X-Content-Type-Options": "nosniff",
    # `no-referrer` would make browsers send `Origin: null` with a form, which the check below needs.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_SAFE_METHODS: Final = frozenset({"GET", "HEAD"})

_log = structlog.get_logger("web")

RenderPage = Callable[[], str]
"""Renders a page that needs no values."""
RenderSignedOut = Callable[[web.Request], Awaitable[str]]
"""Renders what a browser without a session is shown; of a form that it sent, what was typed."""


def refusal_middleware(no_page: RenderPage, sentence_text: Callable[[Sentence], str]) -> Middleware:
    """Answer refusals in their words, wrong addresses with `no_page`, and bugs without words; outermost.

    If the database does not serve, the answer is 503 with what was seen and what to do, both put into the
    language of the person by `sentence_text`.
    """

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            response = await handler(request)
        except web.HTTPException as refusal:
            if isinstance(refusal, web.HTTPNotFound) and request.match_info.http_exception is not None:
                return web.Response(
                    status=refusal.status, text=no_page(), content_type="text/html", charset="utf-8"
                )
            response = web.Response(status=refusal.status, text=refusal.text)
            response.headers.extend(
                {key: refusal.headers[key] for key in ("Location", "Allow") if key in refusal.headers}
            )
        except StoreError as fault:
            _log.warning("the database did not serve", route=_route(request), reason=fault.sentence.text)
            words = f"{sentence_text(fault.sentence)}: {sentence_text(fault.hint_sentence)}\n"
            response = web.Response(status=HTTPStatus.SERVICE_UNAVAILABLE, text=words)
        except Exception as bug:  # noqa: BLE001 - the boundary: the browser gets an answer, and the log the bug
            _log.error("bug", route=_route(request), kind=type(bug).__name__, at=_frames_words(bug))
            response = web.Response(status=HTTPStatus.INTERNAL_SERVER_ERROR, text="the daemon met a bug\n")
        return response

    return middleware


def origin_middleware(origins: Collection[str]) -> Middleware:
    """Refuse every Host that the page does not have, and every write that its own pages did not make.

    `origins` are those of the page, as `scheme://host[:port]`. A browser says where a request comes from in
    Sec-Fetch-Site; one that does not is held to its Origin.
    """
    own_by_host = {origin.partition("://")[2]: origin for origin in origins}

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        own_origin = own_by_host.get(request.headers.get("Host", "").lower())
        if own_origin is None:
            raise web.HTTPForbidden(text="the page is not served under this name: see `placet web --print`\n")
        if request.method not in _SAFE_METHODS:
            site = request.headers.get("Sec-Fetch-Site")
            is_own = (
                site == "same-origin" if site is not None else request.headers.get("Origin") == own_origin
            )
            if not is_own:
                raise web.HTTPForbidden(text="only the page itself may write\n")
        return await handler(request)

    return middleware


def session_middleware(
    access: BrowserAccess, open_paths: Collection[str], open_folder: str, signed_out: RenderSignedOut
) -> Middleware:
    """Let only browsers with a session pass, except to `open_paths` and what is in `open_folder`.

    A session lasts from its last use on, so each page that it is shown carries its cookie anew.
    """

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.path in open_paths or request.path.startswith(open_folder):
            return await handler(request)
        token = request.cookies.get(COOKIE, "")
        if access.session_of(token) is None:
            return web.Response(
                status=HTTPStatus.UNAUTHORIZED,
                text=await signed_out(request),
                content_type="text/html",
                charset="utf-8",
            )
        response = await handler(request)
        if not response.prepared and COOKIE not in response.cookies:
            give_cookie(request, response, token, access.origins)
        return response

    return middleware


def give_cookie(
    request: web.Request, response: web.StreamResponse, token: str, origins: Collection[str]
) -> None:
    """Put the cookie of a session on an answer, so that it lasts COOKIE_MAX_AGE_S from now on.

    It is `Secure` if a proxy with a certificate passed the request on.
    """
    response.set_cookie(
        COOKIE,
        token,
        max_age=COOKIE_MAX_AGE_S,
        httponly=True,
        samesite="Strict",
        secure=f"https://{request.headers.get('Host', '').lower()}" in origins,
    )


async def put_headers(request: web.Request, response: web.StreamResponse) -> None:
    """Put the headers on an answer that is about to be sent: pages, refusals, bugs and streams."""
    del request
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)


def _route(request: web.Request) -> str:
    """Name the route as it is declared: the path itself may hold a title."""
    resource = request.match_info.route.resource
    return f"{request.method} {resource.canonical if resource else '?'}"


def _frames_words(bug: BaseException) -> str:
    """Name the places that a bug passed through, without its message, which may hold words of the journal."""
    frames = traceback.extract_tb(bug.__traceback__)[-FRAMES_LOGGED:]
    return " > ".join(f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames)
