"""The answer to a call: what became of it, for the run, and the same in words that a model can use.

Never says that something was done which only waits.
"""

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from daemon.agents.tools import Arguments
from syncproto.ids import EntityId

QUEUED = "Proposal queued for user review."


class Taken(Enum):
    """What became of a call."""

    DONE = "done"
    QUEUED = "queued"
    SKIPPED = "skipped"
    REFUSED = "refused"
    DENIED = "denied"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one call. `tool` and `args` are normalised, None where there was nothing to normalise.

    `items` are the change items that the call queued, or took back.
    """

    text: str
    tool: str | None
    args: Arguments | None
    taken: Taken
    items: tuple[EntityId, ...] = ()


class Outcome(NamedTuple):
    """What became of one thing asked for: `said` without its end; an `objection` is a line of its own."""

    taken: Taken
    said: str = ""
    item: EntityId | None = None
    objection: str = ""
    is_full: bool = False


def told(outcome: Outcome) -> str:
    """Answer a call that proposes one thing."""
    said = {
        Taken.QUEUED: QUEUED,
        Taken.SKIPPED: f"Skipped: {outcome.said}.",
        Taken.REFUSED: f"Refused: {outcome.said}." if outcome.said else "",
    }[outcome.taken]
    return "\n".join(line for line in (said, outcome.objection) if line)


@dataclass(slots=True)
class Batch:
    """What became of the members of one call."""

    items: list[EntityId] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    objections: list[str] = field(default_factory=list)
    malformed: list[str] = field(default_factory=list)
    full: list[str] = field(default_factory=list)

    def enter(self, outcome: Outcome, subject: str) -> None:
        """Enter what became of one member, which is called `subject`."""
        if outcome.objection:
            self.objections.append(f"{subject}: {outcome.objection}")
        if outcome.item is not None:
            self.items.append(outcome.item)
        elif outcome.said:
            skipped = outcome.taken is Taken.SKIPPED
            (self.full if outcome.is_full else self.skipped if skipped else self.refused).append(outcome.said)

    @property
    def taken(self) -> Taken:
        """Return what became of the call as a whole: something waits, or else nothing had to, or could."""
        return Taken.QUEUED if self.items else Taken.SKIPPED if self.skipped else Taken.REFUSED

    def told(self) -> str:
        """Say what was queued, and on lines of their own what was not (DOMAIN.md §3, Answer)."""
        lines = []
        if self.items:
            lines.append(f"Proposal queued for user review ({len(self.items)} item(s) queued).")
        if self.skipped:
            lines.append(f"Skipped {len(self.skipped)} redundant update(s): {'; '.join(self.skipped)}.")
        if self.malformed:
            lines += [f"{len(self.malformed)} malformed item(s) skipped.", f"The first: {self.malformed[0]}"]
        if self.refused:
            lines.append(f"Refused {len(self.refused)} item(s): {'; '.join(self.refused)}.")
        if self.full:
            lines.append(f"{len(self.full)} item(s) refused: {self.full[0]}.")
        return "\n".join([*lines, *self.objections])
