"""The answer to a call: its outcome for the run, and the same in words that a model can use.

Never says that something was done if it only waits.
"""

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from daemon.agents.tools.arguments import Arguments
from syncproto.ids import EntityId

QUEUED_TEXT = "Proposal queued for user review."


class CallOutcome(Enum):
    """What became of a call."""

    DONE = "done"
    QUEUED = "queued"
    SKIPPED = "skipped"
    REFUSED = "refused"
    DENIED = "denied"


REFUSALS = frozenset({CallOutcome.REFUSED, CallOutcome.DENIED})
"""The outcomes of which a model is told that a call had no effect, so that it may make it better."""


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The answer to one call. `tool` and `args` are normalised; they are None if nothing could be normalised.

    `items` are the change items that the call queued or retracted. `is_partly_refused` is True if members of
    a batch were refused that the model may send again in another form.
    """

    text: str
    tool: str | None
    args: Arguments | None
    outcome: CallOutcome
    items: tuple[EntityId, ...] = ()
    is_partly_refused: bool = False

    @property
    def has_refusal(self) -> bool:
        """Return whether the call, or a part of it, was refused."""
        return self.outcome in REFUSALS or self.is_partly_refused


class ProposalResult(NamedTuple):
    """What became of one proposal.

    `explanation` is a sentence without its end; `objection` is a line of its own.
    """

    outcome: CallOutcome
    explanation: str = ""
    item: EntityId | None = None
    objection: str = ""
    limit_reached: bool = False


def proposal_answer_text(outcome: ProposalResult) -> str:
    """Return the answer to a call that proposes one thing."""
    line_of_outcome = {
        CallOutcome.QUEUED: QUEUED_TEXT,
        CallOutcome.SKIPPED: f"Skipped: {outcome.explanation}.",
        CallOutcome.REFUSED: f"Refused: {outcome.explanation}." if outcome.explanation else "",
    }[outcome.outcome]
    return "\n".join(line for line in (line_of_outcome, outcome.objection) if line)


@dataclass(slots=True)
class BatchResult:
    """What became of the members of one call."""

    items: list[EntityId] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    objections: list[str] = field(default_factory=list)
    malformed: list[str] = field(default_factory=list)
    over_limit: list[str] = field(default_factory=list)

    def add_result(self, outcome: ProposalResult, subject: str) -> None:
        """Add what became of one member. `subject` is what the member is called."""
        if outcome.objection:
            self.objections.append(f"{subject}: {outcome.objection}")
        if outcome.item is not None:
            self.items.append(outcome.item)
        elif outcome.explanation:
            skipped = outcome.outcome is CallOutcome.SKIPPED
            (self.over_limit if outcome.limit_reached else self.skipped if skipped else self.refused).append(
                outcome.explanation
            )

    @property
    def overall_outcome(self) -> CallOutcome:
        """Return the outcome of the whole call: queued if anything waits, else skipped, else refused."""
        return (
            CallOutcome.QUEUED if self.items else CallOutcome.SKIPPED if self.skipped else CallOutcome.REFUSED
        )

    def answer_text(self) -> str:
        """Return the answer: what was queued, and on lines of their own what was not, and why."""
        lines = []
        if self.items:
            lines.append(f"Proposal queued for user review ({len(self.items)} item(s) queued).")
        if self.skipped:
            lines.append(f"Skipped {len(self.skipped)} redundant update(s): {'; '.join(self.skipped)}.")
        if self.malformed:
            lines += [f"{len(self.malformed)} malformed item(s) skipped.", f"The first: {self.malformed[0]}"]
        if self.refused:
            lines.append(f"Refused {len(self.refused)} item(s): {'; '.join(self.refused)}.")
        if self.over_limit:
            lines.append(f"{len(self.over_limit)} item(s) refused: {self.over_limit[0]}.")
        return "\n".join([*lines, *self.objections])
