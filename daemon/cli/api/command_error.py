"""The error by which a command fails, and the exit status of each kind of error.

Never prints and never exits: `daemon.cli.main` does, in one place.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from daemon.paths import find_paths
from daemon.words.translation import _, sentence_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from daemon.shapes.answers import CandidateJson, DetailJson, SentenceJson

EXIT_DONE: Final = 0
EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 2
EXIT_NO_DAEMON: Final = 3
EXIT_NOT_FOUND: Final = 4
EXIT_NEEDS_CONFIRMATION: Final = 5
EXIT_CONFLICT: Final = 6
EXIT_FORBIDDEN: Final = 7
EXIT_PARTLY: Final = 8
EXIT_TIMED_OUT: Final = 9
EXIT_INTERRUPTED: Final = 130

_START_BYTES: Final = 1 << 20
"""With less free space than this, a daemon may not start."""

_STATUS_BY_CODE: Final = {
    "usage": EXIT_USAGE,
    "ambiguous": EXIT_USAGE,
    "no_daemon": EXIT_NO_DAEMON,
    "not_found": EXIT_NOT_FOUND,
    "needs_confirmation": EXIT_NEEDS_CONFIRMATION,
    "conflict": EXIT_CONFLICT,
    "stale": EXIT_CONFLICT,
    "forbidden": EXIT_FORBIDDEN,
    "partly": EXIT_PARTLY,
    "timeout": EXIT_TIMED_OUT,
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


class CommandError(Exception):
    """What was seen (`message`), and what to do about it (`hint`).

    `candidates` are what an ambiguous reference could mean, and `details` several faults of one request.
    `sentence` and `hint_sentence` are the ids and parameters by which the daemon's words are translated; None
    for words of the command line itself, which are translated already. `kept_text` is the path of the file in
    which a text that was refused is kept, empty without one.
    """

    def __init__(
        self,
        code: str,
        message: str,
        hint: str = "",
        candidates: Sequence[CandidateJson] = (),
        details: Sequence[DetailJson] = (),
        *,
        sentence: SentenceJson | None = None,
        hint_sentence: SentenceJson | None = None,
        kept_text: str = "",
    ) -> None:
        super().__init__(message)
        self.kept_text = kept_text
        self.candidates = candidates
        self.details = details
        self.code = code
        self.message = message
        self.hint = hint
        self.sentence = sentence
        self.hint_sentence = hint_sentence

    def with_kept_text(self, path: str) -> CommandError:
        """Return the same refusal with the path of the file in which the text is kept."""
        return CommandError(
            self.code,
            self.message,
            self.hint,
            self.candidates,
            self.details,
            sentence=self.sentence,
            hint_sentence=self.hint_sentence,
            kept_text=path,
        )

    @property
    def exit_status(self) -> int:
        return _STATUS_BY_CODE.get(self.code, EXIT_FAILED)

    def as_json(self) -> dict[str, dict[str, Any]]:
        """Return the error object as the daemon writes it; what is empty is left out."""
        error: dict[str, Any] = {"code": self.code, "message": self.message, "hint": self.hint}
        optional: dict[str, Any] = {
            "candidates": list(self.candidates),
            "details": list(self.details),
            "kept_text": self.kept_text,
        }
        if self.sentence is not None:
            optional |= self.sentence
        if self.hint_sentence is not None:
            optional |= {f"hint_{key}": value for key, value in self.hint_sentence.items()}
        return {"error": error | {key: value for key, value in optional.items() if value}}


def error_from_response(http_status: int, answer: object) -> CommandError:
    """Read the daemon's error object; if the answer has none, report its HTTP status."""
    error = answer.get("error") if isinstance(answer, dict) else None
    if not isinstance(error, dict):
        code = _CODE_BY_HTTP_STATUS.get(http_status, "failed")
        return CommandError(
            code, _("the daemon answered with HTTP status {status}").format(status=http_status)
        )
    texts = {key: str(error.get(key) or "") for key in ("code", "message", "hint")}
    return CommandError(
        texts["code"] or "failed",
        texts["message"],
        texts["hint"],
        _candidates(error),
        _details(error),
        sentence=sentence_of(error),
        hint_sentence=sentence_of(error, "hint_"),
    )


def _candidates(error: dict[str, Any]) -> list[CandidateJson]:
    return [
        {"id": str(candidate.get("id")), "title": str(candidate.get("title") or "")}
        for candidate in _objects(error.get("candidates"))
    ]


def _details(error: dict[str, Any]) -> list[DetailJson]:
    return [_detail(detail) for detail in _objects(error.get("details"))]


def _detail(fields: dict[str, Any]) -> DetailJson:
    line = fields.get("line")
    detail: DetailJson = {
        "line": line if isinstance(line, int) else 0,
        "message": str(fields.get("message") or ""),
    }
    sentence = sentence_of(fields)
    if sentence is not None:
        detail |= {"id": sentence["id"], "params": sentence["params"]}
    return detail


def _objects(values: object) -> list[dict[str, Any]]:
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []


def no_daemon_error(socket_path: str) -> CommandError:
    """Return that no daemon answers, and what to do about it: a full disk is what a start cannot mend."""
    message = _("no daemon answers at {socket}").format(socket=socket_path)
    folder = full_folder()
    if folder:
        hint = _("free some space in {folder}: a service starts by itself then, else run `placet up`")
        return CommandError("no_daemon", message, hint.format(folder=folder))
    return CommandError(
        "no_daemon", message, _("start it with `placet up`, or for good with `placet service install`")
    )


def full_folder() -> str:
    """Return the folder of the journal if its disk has no room for a daemon to start; else nothing."""
    folder = find_paths().data
    try:
        status = os.statvfs(folder)
    except OSError:
        return ""
    return folder if status.f_bavail * status.f_frsize < _START_BYTES else ""
