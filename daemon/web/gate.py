"""The boundary of the page: who may ask, what may write, and which headers every answer has.

Never lets a request through that another page, another host or a browser without a session made.
"""

import traceback
from collections.abc import Callable, Collection, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Final

import structlog
from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from daemon.browser_access import BrowserAccess

COOKIE: Final = "placet"
COOKIE_MAX_AGE_S: Final = 30 * 86_400
PART_HEADER: Final = "Placet-Part"
"""The header by which the page's own script asks for a part; nothing else depends on it."""
FRAMES_LOGGED: Final = 8

HEADERS: Final[Mapping[str, str]] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
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

SignedOutPage = Callable[[], str]
"""Renders what a browser without a session is shown."""


def headers_middleware() -> Middleware:
    """Put the headers on every answer, those of refusals and bugs included; outermost."""

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            response = await handler(request)
        except web.HTTPException as refusal:
            response = web.Response(status=refusal.status, text=refusal.text)
            response.headers.extend(
                {key: refusal.headers[key] for key in ("Location",) if key in refusal.headers}
            )
        except Exception as bug:  # noqa: BLE001 - the boundary: the browser must hear of a bug, the log must hold it
            _log.error("bug", route=_route(request), kind=type(bug).__name__, at=_frames_words(bug))
            response = web.Response(status=HTTPStatus.INTERNAL_SERVER_ERROR, text="the daemon met a bug\n")
        if not response.prepared:
            for name, value in HEADERS.items():
                response.headers.setdefault(name, value)
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
    access: BrowserAccess, open_paths: Collection[str], signed_out: SignedOutPage
) -> Middleware:
    """Let only browsers with a session pass, except to the paths that begin like one of `open_paths`."""

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        if not request.path.startswith(tuple(open_paths)):
            session = access.session_of(request.cookies.get(COOKIE, ""))
            if session is None:
                return web.Response(
                    status=HTTPStatus.UNAUTHORIZED,
                    text=signed_out(),
                    content_type="text/html",
                    charset="utf-8",
                )
        return await handler(request)

    return middleware


def is_part(request: web.Request) -> bool:
    """Report whether the page's own script asks, which puts the answer into the page that is open."""
    return PART_HEADER in request.headers


def is_proxied(request: web.Request, origins: Collection[str]) -> bool:
    """Report whether a proxy with a certificate passes a request on: then a cookie may be `Secure`."""
    return f"https://{request.headers.get('Host', '').lower()}" in origins


def _route(request: web.Request) -> str:
    """Name the route as it is declared: the path itself may hold a title."""
    resource = request.match_info.route.resource
    return f"{request.method} {resource.canonical if resource else '?'}"


def _frames_words(bug: BaseException) -> str:
    """Name the places that a bug passed through, without its message, which may hold words of the journal."""
    frames = traceback.extract_tb(bug.__traceback__)[-FRAMES_LOGGED:]
    return " > ".join(f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames)
