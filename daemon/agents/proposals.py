"""From a model's calls to change items: validate, hold against what is so and what was said before, queue.

Never executes a deferrable call, whatever the limits say: what cannot be queued is refused.
"""

from typing import Any

from daemon.agents import policy, targets, wording
from daemon.agents.answers import QUEUED, Answer, Batch, Outcome, Taken, told
from daemon.agents.own import Own
from daemon.agents.policy import Ruling
from daemon.agents.queueing import SETS_MAX, Full, Limits, Queue, Run
from daemon.agents.recovery import recovered
from daemon.agents.seeing import Seen
from daemon.agents.tools import (
    TOOLS,
    ArgumentFault,
    Arguments,
    Mode,
    Tool,
    Writes,
    elements,
    normalised_name,
    validated,
    without_words,
)
from daemon.agents.weighing import View, weigh
from store.snapshot import Snapshot
from store.transaction import Transaction, Write

__all__ = ["QUEUED", "SETS_MAX", "Answer", "Desk", "Limits", "Run", "Seen", "Taken"]


class Desk:
    """Takes the calls of one run and answers each in words that the model can use."""

    def __init__(self, run: Run, seen: Seen, limits: Limits) -> None:
        self._run = run
        self._seen = seen
        self._limits = limits
        self._queue = Queue(run, seen, limits)
        self._own = Own(run)

    @property
    def report(self) -> Arguments | None:
        """Return the last report that the run was given, None without one."""
        return self._own.report

    @property
    def observations(self) -> list[str]:
        """Return what the run noted for its next wake; the run writes it."""
        return list(self._own.observations)

    def take(self, name: str, written: str | dict[str, Any], snapshot: Snapshot) -> Answer:
        """Take one call, against the journal as it stands. Never raises for what a model wrote."""
        tool = TOOLS.get(normalised_name(name))
        if tool is None:
            said = f"Refused: there is no tool {name.strip()[:60]!r}. Tools: {', '.join(TOOLS)}."
            return Answer(said, None, None, Taken.REFUSED)
        denied = self._denied(tool.name, snapshot)
        if denied is not None:
            return Answer(f"Denied: {denied}.", tool.name, None, Taken.DENIED)
        try:
            args, rationale = without_words(recovered(written))
            if tool.mode is Mode.EXPLODED:
                return self._take_batch(tool, args, rationale, snapshot)
            return self._take_one(tool.name, validated(tool.name, args), rationale, snapshot)
        except ArgumentFault as fault:
            return Answer(f"Refused: {fault}", tool.name, None, Taken.REFUSED)

    def _denied(self, tool: str, snapshot: Snapshot) -> str | None:
        """Say why this agent may not make this call; its policy is read anew, for it may have changed."""
        agent, task = snapshot.entity(self._run.agent), snapshot.entity(self._run.task)
        return policy.denial(agent, tool) or policy.category_refusal(snapshot, agent, task)

    def _take_one(self, tool: str, args: Arguments, rationale: str | None, snapshot: Snapshot) -> Answer:
        if policy.ruling(snapshot.entity(self._run.agent), tool) is Ruling.IMMEDIATE:
            return self._own.take(tool, args, self._view(snapshot))
        outcome = self._propose(tool, args, rationale, snapshot)
        items = () if outcome.item is None else (outcome.item,)
        return Answer(told(outcome), tool, args, outcome.taken, items)

    def _take_batch(self, tool: Tool, args: Arguments, rationale: str | None, snapshot: Snapshot) -> Answer:
        """Queue the members of a batch one by one; those that are malformed are counted, the others go on."""
        assert tool.element is not None
        batch = Batch()
        for member in elements(tool.name, args):
            own, words = without_words(member) if isinstance(member, dict) else ({}, None)
            try:
                checked = validated(tool.element, own)
            except ArgumentFault as fault:
                batch.malformed.append(str(fault))
                continue
            outcome = self._propose(tool.element, checked, words or rationale, snapshot)
            batch.enter(outcome, _subject(tool.element, checked, snapshot))
        return Answer(batch.told(), tool.name, args, batch.taken, tuple(batch.items))

    def _propose(self, tool: str, args: Arguments, rationale: str | None, snapshot: Snapshot) -> Outcome:
        """Queue what is left of a proposal, or say why nothing is."""
        weighed = weigh(self._view(snapshot), tool, args)
        objection = weighed.objection or ""
        if weighed.args is None:
            taken = Taken.REFUSED if weighed.skipped is None else Taken.SKIPPED
            return Outcome(taken, weighed.skipped or weighed.refused or "", objection=objection)
        try:
            queued = self._queue.add(snapshot, tool, weighed.args, rationale, taken_back=self._own.taken_back)
        except Full as limit:
            return Outcome(Taken.REFUSED, str(limit), is_full=True)
        if isinstance(queued, str):
            said = f"{_subject(tool, args, snapshot)} {queued}"
            return Outcome(Taken.SKIPPED, said, objection=objection)
        return Outcome(Taken.QUEUED, item=queued, objection=objection)

    def _view(self, snapshot: Snapshot) -> View:
        return View(snapshot, self._seen, self._limits.reason_min, self._queue.count(Writes.MEMBER))

    # -- the end of the run ---------------------------------------------------------------------------

    def change_sets(self) -> list[Write]:
        """Return the writes of the run's change sets, none where nothing was queued."""
        return self._queue.change_sets()

    def writes(self, tx: Transaction) -> list[Write]:
        """Return all that the run's calls write, what was done at once looked at again in `tx`."""
        return [*self._queue.change_sets(tx.stamp_ms()), *self._own.writes(tx)]


def _subject(tool: str, args: Arguments, snapshot: Snapshot) -> str:
    """Name what a call is about as the person would."""
    return wording.subject(tool, args, targets.name(snapshot, tool, args))
