"""Why a command could not do what was asked, and the exit status that says so.

Never prints and never exits: `daemon.cli.main` does, in one place.
"""

from __future__ import annotations

from typing import Final

DONE: Final = 0
FAILED: Final = 1
USAGE: Final = 2
NO_DAEMON: Final = 3
NOT_FOUND: Final = 4
NEEDS_CONFIRMATION: Final = 5
CONFLICT: Final = 6
FORBIDDEN: Final = 7
PARTLY: Final = 8
TIMED_OUT: Final = 9
INTERRUPTED: Final = 130

_STATUS_BY_CODE: Final = {
    "usage": USAGE,
    "ambiguous": USAGE,
    "no_daemon": NO_DAEMON,
    "not_found": NOT_FOUND,
    "needs_confirmation": NEEDS_CONFIRMATION,
    "conflict": CONFLICT,
    "stale": CONFLICT,
    "forbidden": FORBIDDEN,
    "partly": PARTLY,
    "timeout": TIMED_OUT,
}

# For an answer whose body is not the error object that the daemon writes.
_CODE_BY_HTTP_STATUS: Final = {
    400: "usage",
    403: "forbidden",
    404: "not_found",
    409: "conflict",
    412: "needs_confirmation",
    504: "timeout",
}


class Refusal(Exception):
    """One line for the person: what was seen, and what to do about it."""

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint

    @property
    def status(self) -> int:
        return _STATUS_BY_CODE.get(self.code, FAILED)

    def as_json(self) -> dict[str, dict[str, str]]:
        return {"error": {"code": self.code, "message": self.message, "hint": self.hint}}


def refusal_from(http_status: int, answer: object) -> Refusal:
    """Read the daemon's error object, or say what came in its place."""
    error = answer.get("error") if isinstance(answer, dict) else None
    if not isinstance(error, dict):
        code = _CODE_BY_HTTP_STATUS.get(http_status, "failed")
        return Refusal(code, f"the daemon answered with HTTP status {http_status}")
    candidates = error.get("candidates")
    hint = str(error.get("hint") or "")
    if isinstance(candidates, list) and candidates:
        hint = f"{hint} It could be {_listed(candidates)}.".strip()
    return Refusal(str(error.get("code") or "failed"), str(error.get("message") or ""), hint)


def _listed(candidates: list[object]) -> str:
    return ", ".join(_named(candidate) for candidate in candidates)


def _named(candidate: object) -> str:
    if not isinstance(candidate, dict):
        return str(candidate)
    words = (candidate.get("short") or candidate.get("id"), candidate.get("title"))
    return " ".join(str(word) for word in words if word)


def no_daemon(socket_path: str) -> Refusal:
    return Refusal(
        "no_daemon",
        f"no daemon answers at {socket_path}",
        "start it with `placet up`, or `systemctl --user start placet`",
    )
