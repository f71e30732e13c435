"""The one error by which a use case says no, in words that a person can act on.

Never raised for a bug here (that is an assertion) nor for the world (disk, network).
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple


class Code(StrEnum):
    """Why something was refused; the faces turn it into an HTTP status and an exit code."""

    USAGE = "usage"
    NOT_FOUND = "not_found"
    AMBIGUOUS = "ambiguous"
    NEEDS_CONFIRMATION = "needs_confirmation"
    CONFLICT = "conflict"
    STALE = "stale"
    FORBIDDEN = "forbidden"
    PARTLY = "partly"
    TIMEOUT = "timeout"
    FAILED = "failed"
    DISK = "disk"


class Candidate(NamedTuple):
    """One of the things that an ambiguous reference could mean."""

    id: str
    title: str


class Detail(NamedTuple):
    """One of several faults of one request, with the line of the file that it is on."""

    line: int
    message: str


class Refused(Exception):
    """A request that cannot be done as asked: what was seen (`message`) and what to do (`hint`)."""

    def __init__(
        self,
        code: Code | str,
        message: str,
        hint: str = "",
        candidates: Sequence[Candidate] = (),
        details: Sequence[Detail] = (),
    ) -> None:
        super().__init__(message)
        self.code = Code(code)
        self.message = message
        self.hint = hint
        self.candidates = tuple(candidates)
        self.details = tuple(details)


def usage(message: str, hint: str = "") -> Refused:
    """Make the refusal of a request that cannot mean anything."""
    return Refused(Code.USAGE, message, hint)


def not_found(what: str, ref: str, hint: str = "") -> Refused:
    """Make the refusal of a reference that names nothing."""
    return Refused(Code.NOT_FOUND, f"no {what} matches {ref[:80]!r}", hint)
