"""Why a command could not do what was asked, and the exit status that says so.

Never prints and never exits: `daemon.cli.main` does, in one place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from daemon.cli.short import short_ids
from daemon.cli.words import _

if TYPE_CHECKING:
    from collections.abc import Sequence

    from daemon.cli.shapes import Candidate, Detail

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
    """One line for the person: what was seen, and what to do about it; `details` are a line each after it."""

    def __init__(
        self,
        code: str,
        message: str,
        hint: str = "",
        candidates: Sequence[Candidate] = (),
        details: Sequence[Detail] = (),
    ) -> None:
        super().__init__(message)
        self.candidates = candidates
        self.details = details
        self.code = code
        self.message = message
        self.hint = hint

    @property
    def status(self) -> int:
        return _STATUS_BY_CODE.get(self.code, FAILED)

    def as_line(self) -> str:
        """Say it in one line: what was seen, what it could mean, what to do."""
        from daemon.cli.refused import refusal_words  # imported here: most commands are not refused

        ids = short_ids(one["id"] for one in self.candidates)
        named = ", ".join(f"{ids[one['id']]} {one['title']!r}" for one in self.candidates)
        message, hint = refusal_words(self.message.rstrip(".")), refusal_words(self.hint)
        return "; ".join(part for part in (message, named, hint) if part)

    def detail_lines(self) -> list[str]:
        """Say each of several faults in a line of its own."""
        return [
            _("line {number}: ").format(number=one["line"]) * bool(one["line"]) + one["message"]
            for one in self.details
        ]

    def as_json(self) -> dict[str, dict[str, Any]]:
        error: dict[str, Any] = {"code": self.code, "message": self.message, "hint": self.hint}
        lists = {"candidates": list(self.candidates), "details": list(self.details)}
        return {"error": error | {key: told for key, told in lists.items() if told}}


def refusal_from(http_status: int, answer: object) -> Refusal:
    """Read the daemon's error object, or say what came in its place."""
    error = answer.get("error") if isinstance(answer, dict) else None
    if not isinstance(error, dict):
        code = _CODE_BY_HTTP_STATUS.get(http_status, "failed")
        return Refusal(code, _("the daemon answered with HTTP status {status}").format(status=http_status))
    told = {key: str(error.get(key) or "") for key in ("code", "message", "hint")}
    return Refusal(
        told["code"] or "failed", told["message"], told["hint"], _candidates(error), _details(error)
    )


def _candidates(error: dict[str, Any]) -> list[Candidate]:
    found = _objects(error.get("candidates"))
    return [{"id": str(one.get("id")), "title": str(one.get("title") or "")} for one in found]


def _details(error: dict[str, Any]) -> list[Detail]:
    found = _objects(error.get("details"))
    return [{"line": one.get("line"), "message": str(one.get("message") or "")} for one in found]


def _objects(listed: object) -> list[dict[str, Any]]:
    return [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def no_daemon(socket_path: str) -> Refusal:
    return Refusal(
        "no_daemon",
        _("no daemon answers at {socket}").format(socket=socket_path),
        _("start it with `placet up`, or for good with `placet service install`"),
    )
