"""The one form in which the control API says no, and the HTTP status of each reason.

Never shows the inside of a bug: that goes to the log, and the caller learns only that it is there.
"""

from http import HTTPStatus
from typing import Any

import msgspec
from msgspec import Struct

from daemon.refusal import Detail, RefusalCode, Refused
from store.sentence import json_params

_STATUS = {
    RefusalCode.USAGE: HTTPStatus.BAD_REQUEST,
    RefusalCode.NOT_FOUND: HTTPStatus.NOT_FOUND,
    RefusalCode.AMBIGUOUS: HTTPStatus.CONFLICT,
    RefusalCode.CONFLICT: HTTPStatus.CONFLICT,
    RefusalCode.STALE: HTTPStatus.CONFLICT,
    RefusalCode.NEEDS_CONFIRMATION: HTTPStatus.PRECONDITION_FAILED,
    RefusalCode.FORBIDDEN: HTTPStatus.FORBIDDEN,
    RefusalCode.PARTLY: HTTPStatus.UNPROCESSABLE_ENTITY,
    RefusalCode.FAILED: HTTPStatus.UNPROCESSABLE_ENTITY,
    RefusalCode.TIMEOUT: HTTPStatus.GATEWAY_TIMEOUT,
    RefusalCode.DISK: HTTPStatus.INSUFFICIENT_STORAGE,
}


class Meant(Struct, frozen=True):
    """One of the things that an ambiguous reference could mean."""

    id: str
    title: str


class Fault(Struct, frozen=True, omit_defaults=True):
    """One of the faults of a file, and the line it is on; `id` and `params` as those of the problem."""

    line: int
    message: str
    id: str = ""
    params: dict[str, Any] = {}


class Problem(Struct, frozen=True, omit_defaults=True):
    """What was refused: a code for programs, what was seen, what to do.

    `candidates` are what may have been meant, `details` the faults if there can be several. `id` names the
    sentence of `message` and `params` what fills it, so that clients can translate it; `hint_id` and
    `hint_params` do the same for `hint`. A text without an id is not Placet's own, such as that of the
    operating system.
    """

    code: str
    message: str
    hint: str
    candidates: tuple[Meant, ...] = ()
    details: tuple[Fault, ...] = ()
    id: str = ""
    params: dict[str, Any] = {}
    hint_id: str = ""
    hint_params: dict[str, Any] = {}


class Envelope(Struct, frozen=True):
    """The body of every answer that is not a success."""

    error: Problem


def error_body(refused: Refused) -> bytes:
    """Write the body of a refusal."""
    problem = Problem(
        refused.code.value,
        refused.message,
        refused.hint,
        candidates=tuple(Meant(*candidate) for candidate in refused.candidates),
        details=tuple(map(_fault, refused.details)),
        id=refused.sentence.id,
        params=json_params(refused.sentence),
        hint_id=refused.hint_sentence.id if refused.hint_sentence else "",
        hint_params=json_params(refused.hint_sentence),
    )
    return msgspec.json.encode(Envelope(problem))


def _fault(detail: Detail) -> Fault:
    sentence = detail.sentence
    return Fault(detail.line, sentence.text, sentence.id, json_params(sentence))


def http_status(refused: Refused) -> int:
    """Return the HTTP status of a refusal."""
    return _STATUS[refused.code]


assert set(_STATUS) == set(RefusalCode)
