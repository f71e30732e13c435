"""The fold of verdicts: from the decisions on a change item to its status.

Never reads the database or a clock: expiry and obsolescence are computed where an item is shown.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from syncproto.commit import By
from syncproto.ids import EntityId


class Verdict(StrEnum):
    """What a decision says."""

    CONFIRMED = "confirmed"
    REJECTED = "rejected"
    DEFERRED = "deferred"
    UNDONE = "undone"
    REOPENED = "reopened"
    RETRACTED = "retracted"


class Status(StrEnum):
    """What the decisions on an item amount to."""

    PENDING = "pending"
    CONFIRMED = "confirmed"
    REJECTED = "rejected"
    DEFERRED = "deferred"
    RETRACTED = "retracted"


class Standing(NamedTuple):
    """An item's status; `disputed` where a confirmation meets a rejection and neither saw the other."""

    status: Status
    disputed: bool


class Opinion(NamedTuple):
    """What the fold needs of a decision."""

    decision: EntityId
    verdict: Verdict
    by: By
    seen: frozenset[EntityId]


UNDECIDED = Standing(Status.PENDING, disputed=False)


def maximal(opinions: Iterable[Opinion]) -> list[Opinion]:
    """Return the decisions that no other has seen."""
    held = list(opinions)
    seen: set[EntityId] = set()
    for opinion in held:
        seen |= opinion.seen
    return [opinion for opinion in held if opinion.decision not in seen]


def deciding(opinions: Iterable[Opinion]) -> list[Opinion]:
    """Return the maximal decisions of people, or of agents where no person has decided."""
    held = list(opinions)
    persons = [opinion for opinion in held if opinion.by is By.USER]
    return maximal(persons or held)


def fold_verdicts(opinions: Iterable[Opinion]) -> Standing:
    """Fold an item's decisions, in any order, to its status."""
    verdicts = {opinion.verdict for opinion in deciding(opinions)}
    if verdicts & {Verdict.REJECTED, Verdict.UNDONE}:
        return Standing(Status.REJECTED, disputed=Verdict.CONFIRMED in verdicts)
    for verdict, status in (
        (Verdict.CONFIRMED, Status.CONFIRMED),
        (Verdict.DEFERRED, Status.DEFERRED),
        (Verdict.RETRACTED, Status.RETRACTED),
    ):
        if verdict in verdicts:
            return Standing(status, disputed=False)
    return UNDECIDED
