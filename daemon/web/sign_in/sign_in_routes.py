"""The routes by which a browser signs in and out.

Never says whether a secret was wrong, used or too old: none of them opens anything.
"""

from http import HTTPStatus
from typing import Final

from aiohttp import web

from daemon.browser_access import COOKIE
from daemon.web import gate
from daemon.web.forms import read_form
from daemon.web.services import PageServices

PATH: Final = "/in"


def routes(services: PageServices) -> list[web.RouteDef]:
    """Return the routes of this room."""
    room = _SignIn(services)
    return [
        web.get(PATH, room.show),
        web.post(PATH, room.sign_in),
        web.post("/out", room.sign_out),
    ]


class _SignIn:
    def __init__(self, services: PageServices) -> None:
        self._services = services

    async def show(self, request: web.Request) -> web.Response:
        """Show the form; the secret is behind the `#`, which no browser sends, and the script puts it in."""
        del request
        return self._page(HTTPStatus.OK, failed=False)

    async def sign_in(self, request: web.Request) -> web.Response:
        secret = (await read_form(request)).get("secret", "")
        token = self._services.access.sign_in(secret, request.headers.get("User-Agent", ""))
        if token is None:
            return self._page(HTTPStatus.FORBIDDEN, failed=True)
        response = web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": "/"})
        gate.give_cookie(request, response, token, self._services.access.origins)
        return response

    async def sign_out(self, request: web.Request) -> web.Response:
        session = self._services.access.session_of(request.cookies.get(COOKIE, ""))
        if session is not None:
            self._services.access.end_session(session.id)
        response = web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": PATH})
        response.del_cookie(COOKIE)
        # Its worker goes too.
        response.headers["Clear-Site-Data"] = '"storage"'
        return response

    def _page(self, status: HTTPStatus, *, failed: bool) -> web.Response:
        text = self._services.renderer.render("sign_in/sign_in.html", failed=failed)
        return web.Response(status=status, text=text, content_type="text/html", charset="utf-8")
