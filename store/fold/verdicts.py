"""The fold of verdicts: from the decisions on a change item to its status.

Never reads the database or a clock: expiry and obsolescence are computed when an item is shown.
"""

from collections.abc import Iterable
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
    """The part of a decision that the fold needs."""

    decision: EntityId
    verdict: Verdict
    by: AuthorKind
    seen: frozenset[EntityId]


UNDECIDED = ItemStatus(DecisionStatus.PENDING, disputed=False)


def maximal_opinions(opinions: Iterable[Opinion]) -> list[Opinion]:
    """Return the decisions that no other has seen."""
    opinions = list(opinions)
    identifiers: set[EntityId] = set()
    for opinion in opinions:
        identifiers |= opinion.seen
    return [opinion for opinion in opinions if opinion.decision not in identifiers]


def deciding_opinions(opinions: Iterable[Opinion]) -> list[Opinion]:
    """Return the maximal decisions of people, or those of agents if no person has decided."""
    opinions = list(opinions)
    persons = [opinion for opinion in opinions if opinion.by is AuthorKind.USER]
    # The word of a person outweighs that of an agent, even if the agent's decision has seen it.
    return maximal_opinions(persons or opinions)


class VerdictTally:
    """The decisions on one item as they come; each costs what it has seen, however many came before."""

    __slots__ = ("_all", "_persons")

    def __init__(self, opinions: Iterable[Opinion] = ()) -> None:
        self._all = _Track()
        self._persons = _Track()
        for opinion in opinions:
            self.add_opinion(opinion)

    def add_opinion(self, opinion: Opinion) -> None:
        """Count one more decision; the order does not matter."""
        self._all.add(opinion)
        if opinion.by is AuthorKind.USER:
            self._persons.add(opinion)

    @property
    def item_status(self) -> ItemStatus:
        """Return the status by the decisions of people, or by those of agents if no person has decided."""
        # `counts` has an entry for each verdict of a person, also if none is maximal: agents then decide
        # nothing.
        return _item_status_from(self._persons.counts or self._all.counts)


class _Track:
    """The maximal decisions of some authors, and how often each verdict is among them."""

    __slots__ = ("_maximal", "_seen", "counts")

    def __init__(self) -> None:
        self._seen: set[EntityId] = set()
        self._maximal: dict[EntityId, list[Verdict]] = {}
        self.counts: dict[Verdict, int] = {}

    def add(self, opinion: Opinion) -> None:
        new = opinion.seen - self._seen
        self._seen |= new
        for covered in new:
            for verdict in self._maximal.pop(covered, ()):
                self.counts[verdict] -= 1
        self.counts.setdefault(opinion.verdict, 0)
        # Decisions come in any order: one that has seen this one may have come before it.
        if opinion.decision not in self._seen:
            self._maximal.setdefault(opinion.decision, []).append(opinion.verdict)
            self.counts[opinion.verdict] += 1


def fold_verdicts(opinions: Iterable[Opinion]) -> ItemStatus:
    """Fold an item's decisions, in any order, to its status."""
    return VerdictTally(opinions).item_status


def _item_status_from(counts: dict[Verdict, int]) -> ItemStatus:
    """Return the status that maximal verdicts, counted, amount to."""
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
