"""The one error by which a use case refuses a request, in sentences that a person can act on.

Never raised for a bug here (that is an assertion) nor for a fault of the system (disk, network).
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from store.sentence import Sentence, sentence


class RefusalCode(StrEnum):
    """Why something was refused; it determines the HTTP status and the exit code."""

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
    sentence: Sentence


class Refused(Exception):
    """A request that cannot be fulfilled: what was seen (`message`) and what to do (`hint`).

    `sentence` and `hint_sentence` are the same with their ids, by which clients translate them.
    """

    def __init__(
        self,
        code: RefusalCode | str,
        message: Sentence,
        hint: Sentence | None = None,
        candidates: Sequence[Candidate] = (),
        details: Sequence[Detail] = (),
    ) -> None:
        self.code = RefusalCode(code)
        self.sentence = message
        self.hint_sentence = hint
        self.message = message.text
        self.hint = "" if hint is None else hint.text
        self.candidates = tuple(candidates)
        self.details = tuple(details)
        super().__init__(self.message)


def usage_error(message: Sentence, hint: Sentence | None = None) -> Refused:
    """Make the refusal of a request that cannot mean anything."""
    return Refused(RefusalCode.USAGE, message, hint)


def not_found_refusal(kind: str, reference: str, hint: Sentence | None = None) -> Refused:
    """Make the refusal of a reference that names nothing."""
    return Refused(
        RefusalCode.NOT_FOUND,
        sentence("not-found", "no {kind} matches {ref!r}", kind=kind, ref=reference[:80]),
        hint,
    )


def one_of(choices: Iterable[str]) -> Sentence:
    """Return the hint that lists the known choices."""
    return sentence("one-of", "one of {choices}", choices=", ".join(choices))
