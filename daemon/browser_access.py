"""Who may use the page in a browser: one-time secrets, and the sessions that they begin.

Never keeps a secret or a token itself, only its digest; clocks and randomness are parameters.
"""

import base64
import hashlib
import hmac
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

from msgspec import Struct, structs

from store.sentence import sentence

COOKIE: Final = "placet"
"""The cookie of a session."""
SECRET_VALID_S: Final = 300.0
SECRETS_MAX: Final = 8
SESSIONS_MAX: Final = 32
SESSION_IDLE_MS: Final = 30 * 86_400_000
USE_NOTED_MS: Final = 3_600_000
"""The last use of a session is stored at most once an hour."""
BROWSER_CHARS_MAX: Final = 80
_SECRET_BYTES: Final = 20
_TOKEN_BYTES: Final = 32
_ID_BYTES: Final = 6

PAGE_IS_OFF: Final = sentence("page-is-off", "the page is not served")
TURN_PAGE_ON: Final = sentence(
    "turn-page-on", "run `placet config set web.enabled true`, then start the daemon again"
)


class Session(Struct, frozen=True, kw_only=True):
    """A browser that is signed in. `digest` is SHA-256 of its token in hex; times are Unix milliseconds.

    `browser` is what the browser says of itself: a text from outside.
    """

    id: str
    digest: str
    browser: str
    began_ms: int
    used_ms: int


class OneTimeSecret(NamedTuple):
    """A secret that signs one browser in, and for how many seconds it is valid."""

    text: str
    valid_s: float


class BrowserAccess:
    """The open secrets and sessions of one daemon.

    `now_ms` is the wall clock, by which sessions end; `monotonic_s` is the clock by which secrets do.
    `on_change` is called with the sessions that remain whenever they have changed.
    """

    def __init__(
        self,
        now_ms: Callable[[], int],
        monotonic_s: Callable[[], float],
        randomness: Callable[[int], bytes],
    ) -> None:
        self._now_ms = now_ms
        self._monotonic_s = monotonic_s
        self._randomness = randomness
        self._secrets: dict[bytes, float] = {}
        self._sessions: dict[str, Session] = {}
        self.on_change: Callable[[], None] = lambda: None
        self.origins: tuple[str, ...] = ()
        """Where the page is served, as `http://host:port`; none while it is not."""

    def take_over(self, sessions: Iterable[Session]) -> None:
        """Take the sessions that the last start stored."""
        self._sessions = {session.id: session for session in sessions}

    def issue_secret(self) -> OneTimeSecret:
        """Make a secret that signs one browser in. The oldest open one ends if there are too many."""
        self._drop_old_secrets()
        while len(self._secrets) >= SECRETS_MAX:
            del self._secrets[next(iter(self._secrets))]
        text = base64.b32encode(self._randomness(_SECRET_BYTES)).decode().lower()
        self._secrets[_digest(text)] = self._monotonic_s() + SECRET_VALID_S
        return OneTimeSecret(text, SECRET_VALID_S)

    def addresses_with(self, secret: OneTimeSecret) -> list[str]:
        """Return the addresses that sign a browser in with a secret; none while the page is not served."""
        return [f"{origin}/in#{secret.text}" for origin in self.origins]

    def sign_in(self, secret: str, browser: str) -> str | None:
        """Exchange a secret for the token of a new session; None if the secret is not open."""
        self._drop_old_secrets()
        wanted = _digest(secret.strip().lower())
        # Each open secret is compared, in constant time: neither the number nor the moment tells anything.
        matches = [digest for digest in self._secrets if hmac.compare_digest(digest, wanted)]
        if not matches:
            return None
        del self._secrets[matches[0]]
        return self._begin(browser)

    def session_of(self, token: str) -> Session | None:
        """Return the session of a token, and note that it is used; None if there is none."""
        self._drop_idle_sessions()
        wanted = _digest(token).hex()
        matches = [
            session for session in self._sessions.values() if hmac.compare_digest(session.digest, wanted)
        ]
        if not matches:
            return None
        session, now_ms = matches[0], self._now_ms()
        if now_ms - session.used_ms >= USE_NOTED_MS:
            session = self._sessions[session.id] = structs.replace(session, used_ms=now_ms)
            self.on_change()
        return session

    def sessions(self) -> list[Session]:
        """Return the sessions, the last to begin first."""
        self._drop_idle_sessions()
        return sorted(self._sessions.values(), key=lambda session: (-session.began_ms, session.id))

    def end_session(self, session_id: str) -> Session | None:
        """End a session; return it, or None if there is none of this id."""
        session = self._sessions.pop(session_id, None)
        if session is not None:
            self.on_change()
        return session

    def end_all_sessions(self) -> list[Session]:
        """End every session; return those that ended."""
        ended = self.sessions()
        self._sessions.clear()
        self.on_change()
        return ended

    def _begin(self, browser: str) -> str:
        token = base64.urlsafe_b64encode(self._randomness(_TOKEN_BYTES)).decode().rstrip("=")
        now_ms = self._now_ms()
        session = Session(
            id=self._randomness(_ID_BYTES).hex(),
            digest=_digest(token).hex(),
            # A header is bytes: what is not UTF-8 would make a text that no file can hold.
            browser=browser[:BROWSER_CHARS_MAX].encode(errors="replace").decode(),
            began_ms=now_ms,
            used_ms=now_ms,
        )
        while len(self._sessions) >= SESSIONS_MAX:
            del self._sessions[min(self._sessions.values(), key=lambda session: session.used_ms).id]
        self._sessions[session.id] = session
        self.on_change()
        return token

    def _drop_old_secrets(self) -> None:
        now_s = self._monotonic_s()
        self._secrets = {digest: end_s for digest, end_s in self._secrets.items() if end_s > now_s}

    def _drop_idle_sessions(self) -> None:
        since_ms = self._now_ms() - SESSION_IDLE_MS
        idle = [session.id for session in self._sessions.values() if session.used_ms < since_ms]
        for session_id in idle:
            del self._sessions[session_id]


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode(errors="replace")).digest()
