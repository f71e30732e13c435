"""The routes by which a person lets a browser use the page, lists those that may, and ends them.

Never keeps a secret: an answer that contains one is not stored for a retry.
"""

from collections.abc import Callable

from msgspec import Struct

from daemon.browser_access import PAGE_IS_OFF, TURN_PAGE_ON, BrowserAccess, Session
from daemon.control.route import CREATED, AsyncHandler, Call, Nothing, Route
from daemon.refusal import RefusalCode, Refused, not_found_refusal
from daemon.timestamps import iso_utc


class SignIn(Struct, frozen=True, kw_only=True):
    """A one-time secret, until when it is valid, and where: `addresses` contains those of `web.hosts` too."""

    secret: str
    address: str
    addresses: list[str]
    expires_at: str


class BrowserSession(Struct, frozen=True, kw_only=True):
    """A browser that is signed in. `browser` is what it says of itself; times are ISO 8601 in UTC."""

    id: str
    browser: str
    began_at: str
    used_at: str


class BrowserRoutes:
    """The routes, on the one access that the page asks too."""

    def __init__(self, access: BrowserAccess, now_ms: Callable[[], int]) -> None:
        self._access = access
        self._now_ms = now_ms

    def routes(self) -> list[Route]:
        """Return the browsers' part of the table."""
        sign_in = AsyncHandler(self._sign_in, stores_response=False)
        sessions, session = "/v1/browsers", "/v1/browsers/{ref}"
        return [
            Route("POST", "/v1/browsers/sign-ins", "Let a browser sign in", sign_in, SignIn, status=CREATED),
            Route("GET", sessions, "List browsers", AsyncHandler(self._list), list[BrowserSession]),
            Route("DELETE", sessions, "Sign all out", AsyncHandler(self._end_all), list[BrowserSession]),
            Route("DELETE", session, "Sign a browser out", AsyncHandler(self._end), BrowserSession),
        ]

    async def _sign_in(self, call: Call[Nothing, Nothing]) -> SignIn:
        del call
        if not self._access.origins:
            raise Refused(RefusalCode.FAILED, PAGE_IS_OFF, TURN_PAGE_ON)
        secret = self._access.issue_secret()
        addresses = self._access.addresses_with(secret)
        return SignIn(
            secret=secret.text,
            address=addresses[0],
            addresses=addresses,
            expires_at=iso_utc(self._now_ms() + round(secret.valid_s * 1000)),
        )

    async def _list(self, call: Call[Nothing, Nothing]) -> list[BrowserSession]:
        del call
        return [_present(session) for session in self._access.sessions()]

    async def _end(self, call: Call[Nothing, Nothing]) -> BrowserSession:
        """End the session that an id, or the only beginning of one, names."""
        matches = [session for session in self._access.sessions() if session.id.startswith(call.ref)]
        ended = self._access.end_session(matches[0].id) if len(matches) == 1 else None
        if ended is None:
            raise not_found_refusal("session", call.ref)
        return _present(ended)

    async def _end_all(self, call: Call[Nothing, Nothing]) -> list[BrowserSession]:
        del call
        return [_present(session) for session in self._access.end_all_sessions()]


def _present(session: Session) -> BrowserSession:
    return BrowserSession(
        id=session.id,
        browser=session.browser,
        began_at=iso_utc(session.began_ms),
        used_at=iso_utc(session.used_ms),
    )
