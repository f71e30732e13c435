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


class Tally:
    """The decisions on one item as they come; each costs what it has seen, however many there are."""

    __slots__ = ("_all", "_persons")

    def __init__(self, opinions: Iterable[Opinion] = ()) -> None:
        self._all = _Track()
        self._persons = _Track()
        for opinion in opinions:
            self.add(opinion)

    def add(self, opinion: Opinion) -> None:
        """Count one more decision; the order in which they come does not matter."""
        self._all.add(opinion)
        if opinion.by is By.USER:
            self._persons.add(opinion)

    @property
    def standing(self) -> Standing:
        """Return what the decisions amount to: people's alone, or agents' where no person has decided."""
        return _standing(self._persons.counts or self._all.counts)


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
        if opinion.decision not in self._seen:
            self._maximal.setdefault(opinion.decision, []).append(opinion.verdict)
            self.counts[opinion.verdict] += 1


def fold_verdicts(opinions: Iterable[Opinion]) -> Standing:
    """Fold an item's decisions, in any order, to its status."""
    return Tally(opinions).standing


def _standing(counts: dict[Verdict, int]) -> Standing:
    """Return the status that maximal verdicts, counted, amount to."""
    if counts.get(Verdict.REJECTED) or counts.get(Verdict.UNDONE):
        return Standing(Status.REJECTED, disputed=bool(counts.get(Verdict.CONFIRMED)))
    for verdict, status in (
        (Verdict.CONFIRMED, Status.CONFIRMED),
        (Verdict.DEFERRED, Status.DEFERRED),
        (Verdict.RETRACTED, Status.RETRACTED),
    ):
        if counts.get(verdict):
            return Standing(status, disputed=False)
    return UNDECIDED
