"""The fold of verdicts: from the decisions on a change item to its status.

Never reads the database or a clock: expiry and obsolescence are computed when an item is shown.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from syncproto.commit import AuthorKind
from syncproto.ids import EntityId


class Verdict(StrEnum):
    """What a decision is."""

    CONFIRMED = "confirmed"
    REJECTED = "rejected"
    DEFERRED = "deferred"
    UNDONE = "undone"
    REOPENED = "reopened"
    RETRACTED = "retracted"


class DecisionStatus(StrEnum):
    """The status that the decisions on an item amount to."""

    PENDING = "pending"
    CONFIRMED = "confirmed"
    REJECTED = "rejected"
    DEFERRED = "deferred"
    RETRACTED = "retracted"


class ItemStatus(NamedTuple):
    """The status of an item; `disputed` if a confirmation and a rejection have not seen each other."""

    status: DecisionStatus
    disputed: bool


class Opinion(NamedTuple):
    """The part of a decision that the fold needs; `counts` says whether it is what its item needs."""

    decision: EntityId
    verdict: Verdict
    by: AuthorKind
    seen: frozenset[EntityId]
    counts: bool = True


UNDECIDED = ItemStatus(DecisionStatus.PENDING, disputed=False)


def maximal_opinions(opinions: Iterable[Opinion]) -> list[Opinion]:
    """Return the decisions that no other has seen."""
    opinions = list(opinions)
    identifiers: set[EntityId] = set()
    for opinion in opinions:
        identifiers |= opinion.seen
    return [opinion for opinion in opinions if opinion.decision not in identifiers]


def deciding_opinions(opinions: Iterable[Opinion]) -> list[Opinion]:
    """Return the maximal decisions of people, or those of agents if no person has decided.

    Decisions that do not count are left out, with what they have seen.
    """
    opinions = [opinion for opinion in opinions if opinion.counts]
    persons = [opinion for opinion in opinions if opinion.by is AuthorKind.USER]
    # The word of a person outweighs that of an agent, even if the agent's decision has seen it.
    return maximal_opinions(persons or opinions)


def item_status_from(counts: Mapping[Verdict, int]) -> ItemStatus:
    """Return the status that maximal verdicts amount to, given how many there are of each."""
    # A rejection that did not see a confirmation wins over it: what somebody rejected has no effect until a
    # person has settled the dispute.
    if counts.get(Verdict.REJECTED) or counts.get(Verdict.UNDONE):
        return ItemStatus(DecisionStatus.REJECTED, disputed=bool(counts.get(Verdict.CONFIRMED)))
    for verdict, status in (
        (Verdict.CONFIRMED, DecisionStatus.CONFIRMED),
        (Verdict.DEFERRED, DecisionStatus.DEFERRED),
        (Verdict.RETRACTED, DecisionStatus.RETRACTED),
    ):
        if counts.get(verdict):
            return ItemStatus(status, disputed=False)
    return UNDECIDED
