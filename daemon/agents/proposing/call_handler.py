"""The way of a model's call to a change item: validate, compare with the journal and earlier items, queue.

Never executes a deferrable call, whatever the limits are: a call that cannot be queued is refused.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from daemon.agents.proposing import reach
from daemon.agents.proposing.asking import QuestionRefused, checked_question
from daemon.agents.proposing.baseline import Baseline
from daemon.agents.proposing.change_set_builder import (
    ChangeSetBuilder,
    PersonsWordRefusal,
    ProposalLimitReached,
    ProposalLimits,
)
from daemon.agents.proposing.immediate_tools import ImmediateCalls
from daemon.agents.proposing.redundancy import RedundancyBasis, check_redundancy
from daemon.agents.proposing.run_identity import RunIdentity
from daemon.agents.proposing.sight import Sight
from daemon.agents.proposing.tool_answers import (
    BatchResult,
    CallOutcome,
    ProposalResult,
    ToolAnswer,
    proposal_answer_text,
)
from daemon.agents.tools import policy, summaries
from daemon.agents.tools.argument_recovery import recover_arguments
from daemon.agents.tools.arguments import ArgumentFault, Arguments
from daemon.agents.tools.policy import Ruling
from daemon.agents.tools.short_ids import NO_SHORT_IDS, ShortIds
from daemon.agents.tools.table import (
    ANSWER_QUESTION,
    ASK_QUESTION,
    ASSIGN_TASK_LABEL,
    REMOVE_TASK_LABEL,
    TOOLS,
    CallMode,
    Tool,
    WriteTarget,
    batch_elements,
    normalised_name,
    split_evidence,
    split_rationale,
    validate_arguments,
)
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.hlc import LEAD_MS_MAX
from syncproto.ids import id_from_text, id_ms

CallObjection = Callable[[str, Arguments], str | None]
"""Returns why a call must not be proposed, for what is known besides the journal; None if nothing is."""


def no_objection(tool: str, args: Arguments) -> None:
    """Object to nothing."""


class _Reasoning(NamedTuple):
    """How an agent argues for a call: its own words, and the ids of the entries that it names."""

    rationale: str | None
    evidence: list[str]


class ToolCallHandler:
    """Handles the calls of one run, and answers each in words that the model can use.

    `short_ids` are those by which the model may name what it was shown; a full id does as well. `objection`
    refuses single changes; the answers of a question are not asked about.
    """

    def __init__(
        self,
        run: RunIdentity,
        baseline: Baseline,
        limits: ProposalLimits,
        short_ids: ShortIds = NO_SHORT_IDS,
        objection: CallObjection = no_objection,
    ) -> None:
        self._run = run
        self._short_ids = short_ids
        self._objection = objection
        self._baseline = baseline
        self._limits = limits
        self._change_sets = ChangeSetBuilder(run, baseline, limits)
        self._immediate_calls = ImmediateCalls(run)

    @property
    def report(self) -> Arguments | None:
        """Return the last report that the run submitted; None if there is none."""
        return self._immediate_calls.report

    @property
    def has_results(self) -> bool:
        """Return whether the calls so far brought about anything that the end of the run would write."""
        return not self._change_sets.is_empty or not self._immediate_calls.is_empty

    @property
    def observations(self) -> list[str]:
        """Return what the run noted for its next wake; the run writes it."""
        return list(self._immediate_calls.observations)

    def answer_call(self, name: str, arguments: str | dict[str, Any], snapshot: Snapshot) -> ToolAnswer:
        """Handle one call, with the journal as it is now. Never raises for what a model wrote."""
        answer = self._answer_call(name, arguments, snapshot)
        return replace(answer, text=self._short_ids.abbreviate(answer.text))

    def _answer_call(self, name: str, arguments: str | dict[str, Any], snapshot: Snapshot) -> ToolAnswer:
        tool = TOOLS.get(normalised_name(name))
        if tool is None:
            answer = f"Refused: there is no tool {name.strip()[:60]!r}. Tools: {', '.join(TOOLS)}."
            return ToolAnswer(answer, None, None, CallOutcome.REFUSED)
        denied = self._denial_reason(tool.name, snapshot)
        if denied is not None:
            return ToolAnswer(f"Denied: {denied}.", tool.name, None, CallOutcome.DENIED)
        try:
            recovered = self._short_ids.with_full_ids(recover_arguments(arguments))
            args, rationale = split_rationale(recovered)
            self._short_ids.require_known_ids(tool.name, args)
            args, evidence = split_evidence(tool.name, args)
            reasoning = _Reasoning(rationale, evidence)
            if tool.name in (ASK_QUESTION, ANSWER_QUESTION):
                return self._answer_question_call(args, reasoning, snapshot)
            if tool.mode is CallMode.EXPLODED:
                return self._answer_batch(tool, args, reasoning, snapshot)
            return self._answer_single(tool.name, validate_arguments(tool.name, args), reasoning, snapshot)
        except ArgumentFault as fault:
            return ToolAnswer(f"Refused: {fault}", tool.name, None, CallOutcome.REFUSED)

    def _denial_reason(self, tool: str, snapshot: Snapshot) -> str | None:
        """Return why this agent may not make this call.

        The policy is read anew, because it may have changed.
        """
        agent, task = snapshot.entity(self._run.agent), snapshot.entity(self._run.task)
        denied = policy.denial_reason(agent, tool)
        reason = policy.category_refusal(snapshot, agent, task) if denied is None else None
        return denied if reason is None else reason.text

    def _answer_single(
        self, tool: str, args: Arguments, reasoning: _Reasoning, snapshot: Snapshot
    ) -> ToolAnswer:
        if policy.ruling_on(snapshot.entity(self._run.agent), tool) is Ruling.IMMEDIATE:
            # An immediate call writes nothing yet either: all that a run does is one commit at its end.
            return self._immediate_calls.apply_call(tool, args, self._basis(snapshot))
        outcome = self._propose(tool, args, reasoning, snapshot)
        items = () if outcome.item is None else (outcome.item,)
        return ToolAnswer(proposal_answer_text(outcome), tool, args, outcome.outcome, items)

    def _answer_batch(
        self, tool: Tool, args: Arguments, reasoning: _Reasoning, snapshot: Snapshot
    ) -> ToolAnswer:
        """Queue the members of a batch one by one; malformed ones are counted, and the others are queued."""
        assert tool.element is not None
        batch = BatchResult()
        for member in batch_elements(tool.name, args):
            args_of_member, reason_of_member = (
                split_rationale(member) if isinstance(member, dict) else ({}, None)
            )
            try:
                self._short_ids.require_known_ids(tool.element, args_of_member)
                rest, evidence = split_evidence(tool.element, args_of_member)
                checked = validate_arguments(tool.element, rest)
            except ArgumentFault as fault:
                batch.malformed.append(str(fault))
                continue
            own = _Reasoning(reason_of_member or reasoning.rationale, evidence or reasoning.evidence)
            outcome = self._propose(tool.element, checked, own, snapshot)
            batch.add_result(outcome, _subject(tool.element, checked, snapshot))
        return ToolAnswer(
            batch.answer_text(),
            tool.name,
            args,
            batch.overall_outcome,
            tuple(batch.items),
            is_partly_refused=bool(batch.refused or batch.malformed),
        )

    def _answer_question_call(self, args: Arguments, reasoning: _Reasoning, snapshot: Snapshot) -> ToolAnswer:
        """Queue a question as a whole, or answer why it is not asked."""
        checked = validate_arguments(ASK_QUESTION, args)
        evidence = [id_from_text(entry) for entry in reasoning.evidence]
        try:
            question = checked_question(
                self._basis(snapshot),
                snapshot.entity(self._run.agent),
                checked,
                lambda change: self._change_sets.reason_not_to_offer(snapshot, change, evidence),
            )
            queued = self._change_sets.add_question(snapshot, question, reasoning.rationale)
        except (QuestionRefused, ProposalLimitReached) as refusal:
            return ToolAnswer(f"Refused: {refusal}.", ASK_QUESTION, checked, CallOutcome.REFUSED)
        if isinstance(queued, str):
            return ToolAnswer(f"Skipped: the question {queued}.", ASK_QUESTION, question, CallOutcome.SKIPPED)
        return ToolAnswer(
            f"Question queued for the user, with {len(queued)} answers.",
            ASK_QUESTION,
            question,
            CallOutcome.QUEUED,
            queued,
        )

    def _propose(
        self, tool: str, args: Arguments, reasoning: _Reasoning, snapshot: Snapshot
    ) -> ProposalResult:
        """Queue what is left of a proposal, or answer why nothing is left."""
        checked = check_redundancy(self._basis(snapshot), tool, args)
        objection = checked.objection or ""
        is_value = TOOLS[tool].writes is WriteTarget.TASK or tool == REMOVE_TASK_LABEL
        if checked.redundant_reason is not None and is_value:
            self._change_sets.note_value_in_place(snapshot, tool, args)
        if checked.args is None:
            outcome = CallOutcome.REFUSED if checked.redundant_reason is None else CallOutcome.SKIPPED
            return ProposalResult(
                outcome, checked.redundant_reason or checked.refusal_reason or "", objection=objection
            )
        objected = self._objection(tool, checked.args)
        if objected is not None:
            explanation = f"{_subject(tool, args, snapshot)}: {objected}"
            return ProposalResult(CallOutcome.REFUSED, explanation, objection=objection)
        try:
            queued = self._change_sets.add_proposal(
                snapshot,
                tool,
                checked.args,
                reasoning.rationale,
                taken_back=self._immediate_calls.retracted_items,
                evidence=[id_from_text(entry) for entry in reasoning.evidence],
            )
        except PersonsWordRefusal as refusal:
            explanation = f"{_subject(tool, args, snapshot)} {refusal}"
            return ProposalResult(CallOutcome.REFUSED, explanation, objection=objection)
        except ProposalLimitReached as limit:
            return ProposalResult(CallOutcome.REFUSED, str(limit), limit_reached=True)
        if isinstance(queued, str):
            explanation = f"{_subject(tool, args, snapshot)} {queued}"
            return ProposalResult(CallOutcome.SKIPPED, explanation, objection=objection)
        return ProposalResult(CallOutcome.QUEUED, item=queued, objection=objection)

    def _basis(self, snapshot: Snapshot) -> RedundancyBasis:
        return RedundancyBasis(
            snapshot,
            Sight(snapshot, self._run.agent),
            self._baseline,
            self._limits.reason_chars_min,
            self._change_sets.count_of(ASSIGN_TASK_LABEL),
        )

    # -- the end of the run ---------------------------------------------------------------------------

    def change_sets(self) -> list[EntityWrite]:
        """Return the writes of the run's change sets; none if nothing was queued."""
        return self._change_sets.change_sets()

    def run_end_writes(self, tx: Transaction) -> list[EntityWrite]:
        """Return all that the run's calls write. What was done at once is checked again in `tx`."""
        replaced = self._change_sets.replaced_items(tx)
        self._immediate_calls.retract_replaced(replaced)
        return [
            *self._change_sets.change_sets(_believable_ms(tx)),
            *self._immediate_calls.immediate_writes(tx),
        ]


def _believable_ms(tx: Transaction) -> int:
    """Return when a commit is made: the time of its stamp, or of the clock if stamps lie ahead for good.

    They do after a start with a clock that was ahead, and proposals would be open as long. But a clock that
    shows a time before the log of this device began is behind, as on a machine without a battery: the stamp
    is right then.
    """
    now_ms, replica = tx.now_ms(), tx.replica
    stamp_ms = tx.stamp_ms_at(now_ms)
    is_behind = replica is not None and now_ms < id_ms(replica)
    return stamp_ms if is_behind or stamp_ms <= now_ms + LEAD_MS_MAX else now_ms


def _subject(tool: str, args: Arguments, snapshot: Snapshot) -> str:
    """Return what a call is about, in the words of a person."""
    return summaries.proposal_subject(tool, args, reach.target_name(snapshot, tool, args))
