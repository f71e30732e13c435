"""The one form in which the control API says no, and the HTTP status of each reason.

Never shows the inside of a bug: that goes to the log, and the caller is told that it is there.
"""

from http import HTTPStatus

import msgspec
from msgspec import Struct

from daemon.journal.errors import Code, Refused

_STATUS = {
    Code.USAGE: HTTPStatus.BAD_REQUEST,
    Code.NOT_FOUND: HTTPStatus.NOT_FOUND,
    Code.AMBIGUOUS: HTTPStatus.CONFLICT,
    Code.CONFLICT: HTTPStatus.CONFLICT,
    Code.STALE: HTTPStatus.CONFLICT,
    Code.NEEDS_CONFIRMATION: HTTPStatus.PRECONDITION_FAILED,
    Code.FORBIDDEN: HTTPStatus.FORBIDDEN,
    Code.PARTLY: HTTPStatus.UNPROCESSABLE_ENTITY,
    Code.FAILED: HTTPStatus.UNPROCESSABLE_ENTITY,
    Code.TIMEOUT: HTTPStatus.GATEWAY_TIMEOUT,
    Code.DISK: HTTPStatus.INSUFFICIENT_STORAGE,
}


class Meant(Struct, frozen=True):
    """One of the things that an ambiguous reference could mean."""

    id: str
    title: str


class Fault(Struct, frozen=True):
    """One of the faults of a file, and the line it is on."""

    line: int
    message: str


class Problem(Struct, frozen=True, omit_defaults=True):
    """What was refused: a code for programs, what was seen, what to do.

    `candidates` are what may have been meant, `details` the faults where there may be several.
    """

    code: str
    message: str
    hint: str
    candidates: tuple[Meant, ...] = ()
    details: tuple[Fault, ...] = ()


class Envelope(Struct, frozen=True):
    """The body of every answer that is not a success."""

    error: Problem


def envelope(refused: Refused) -> bytes:
    """Write the body of a refusal."""
    meant = tuple(Meant(*one) for one in refused.candidates)
    faults = tuple(Fault(*one) for one in refused.details)
    problem = Problem(refused.code.value, refused.message, refused.hint, meant, faults)
    return msgspec.json.encode(Envelope(problem))


def status_of(refused: Refused) -> int:
    """Return the HTTP status of a refusal."""
    return _STATUS[refused.code]


assert set(_STATUS) == set(Code)
