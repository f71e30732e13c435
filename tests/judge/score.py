"""The judgement on what a run proposed: right, harmless or wrong, by code alone.

Never asks a model or a person, and never looks at the journal.

A *claim* is one line: `due 2026-03-20`, `estimate 90`, `priority P1`, `status BLOCKED`, `title WORDS`,
`add WORDS`, `check WORDS`, `uncheck WORDS`, `reword WORDS`, `archive WORDS`, `label NAME`. WORDS are parts of
words that must all occur in the title, in any order and case and without accents; `a|b` means either.
`*` as the value means any. A claim of the statuses, days and numbers must be met exactly.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from daemon.agents.models.rules.language_choice import certain_language

_BY_WORDS = frozenset({"title", "add", "check", "uncheck", "reword", "archive", "label"})


class Verdict(Enum):
    """What a proposal is worth to the person."""

    RIGHT = "right"
    HARMLESS = "harmless"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on each proposal, and the wanted claims that nothing met."""

    verdicts: tuple[tuple[str, Verdict], ...]
    missing: tuple[str, ...]

    def count(self, verdict: Verdict) -> int:
        """Return how many proposals have a verdict."""
        return sum(given is verdict for _, given in self.verdicts)


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over scenarios."""

    right: int = 0
    harmless: int = 0
    wrong: int = 0
    missing: int = 0

    @property
    def proposals(self) -> int:
        """Return how many proposals were judged."""
        return self.right + self.harmless + self.wrong

    def share(self, count: int) -> float:
        """Return a count as a share of all proposals; 0 without any."""
        return count / self.proposals if self.proposals else 0.0


@dataclass(slots=True)
class _Open:
    """The wanted claims that no proposal has met yet, and those that some proposal has."""

    wanted: list[str]
    met: list[str] = field(default_factory=list)


def judge(proposals: Sequence[str], wanted: Sequence[str], harmless: Sequence[str]) -> Judgement:
    """Judge proposals, each written as a claim with its full words.

    A second proposal of what is wanted once is harmless if nothing else is said against it.
    """
    still, verdicts = _Open(list(wanted)), list[tuple[str, Verdict]]()
    for proposal in proposals:
        verdicts.append((proposal, _verdict(proposal, still, harmless)))
    return Judgement(tuple(verdicts), tuple(still.wanted))


def _verdict(proposal: str, still: _Open, harmless: Sequence[str]) -> Verdict:
    for claim in still.wanted:
        if meets(proposal, claim):
            still.wanted.remove(claim)
            still.met.append(claim)
            return Verdict.RIGHT
    if any(meets(proposal, claim) for claim in (*still.met, *harmless)):
        return Verdict.HARMLESS
    return Verdict.WRONG


def meets(proposal: str, claim: str) -> bool:
    """Return whether a proposal is what a claim says."""
    kind, _, value = proposal.partition(" ")
    claimed_kind, _, claimed = claim.partition(" ")
    if kind != claimed_kind:
        return False
    if claimed == "*":
        return True
    if kind not in _BY_WORDS:
        return value == claimed
    text = _plain(value)
    return all(any(part in text for part in _plain(word).split("|")) for word in claimed.split())


def is_in_language(text: str, language: str) -> bool | None:
    """Return whether a text is clearly in a language; None if it is in no language clearly."""
    certain = certain_language(text)
    return None if certain is None else certain == language


def _plain(text: str) -> str:
    decomposed = unicodedata.normalize("NFD", text.casefold())
    return "".join(sign for sign in decomposed if not unicodedata.combining(sign))
