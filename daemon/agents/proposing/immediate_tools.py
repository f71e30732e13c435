"""What a run does at once: its report, its observations, its retractions, and the task's language.

Never writes before the run ends, and checks again then, so that what a person did meanwhile is kept.
"""

from collections.abc import Callable, Container, Mapping

from daemon.agents.proposing.authenticity import answers_of_question, authentic_item
from daemon.agents.proposing.redundancy import RedundancyBasis, check_redundancy, language_objection
from daemon.agents.proposing.run_identity import RunIdentity
from daemon.agents.proposing.tool_answers import CallOutcome, ToolAnswer
from daemon.agents.tools import policy
from daemon.agents.tools.arguments import Arguments
from daemon.agents.tools.effects import args_hash
from daemon.agents.tools.policy import Ruling
from daemon.agents.tools.table import RECORD_OBSERVATIONS, RETRACT_PROPOSALS, SET_TASK_LANGUAGE, UPDATE_REPORT
from store.fold.item import Item
from store.fold.verdicts import DecisionStatus, Verdict
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import EntityId, id_from_text

OBSERVATIONS_PER_RUN_MAX = 30


class ImmediateCalls:
    """Handles the calls of one run that need no decision of a person."""

    def __init__(self, run: RunIdentity) -> None:
        self._run = run
        self._language: Arguments | None = None
        self._retracted: dict[EntityId, str] = {}
        self.report: Arguments | None = None
        self.observations: list[str] = []
        self._handlers: Mapping[str, Callable[[Arguments, RedundancyBasis], ToolAnswer]] = {
            UPDATE_REPORT: self._keep_report,
            RECORD_OBSERVATIONS: self._add_observations,
            RETRACT_PROPOSALS: self._retract,
            SET_TASK_LANGUAGE: self._set_language,
        }

    @property
    def is_empty(self) -> bool:
        """Return whether no call had an effect that the end of the run would write."""
        return not (self.report or self.observations or self._language or self._retracted)

    @property
    def retracted_items(self) -> Container[EntityId]:
        """Return the items that the run retracts at its end."""
        return self._retracted.keys()

    def apply_call(self, tool: str, args: Arguments, view: RedundancyBasis) -> ToolAnswer:
        """Apply one call of an immediate tool, with validated arguments."""
        return self._handlers[tool](args, view)

    def _keep_report(self, args: Arguments, view: RedundancyBasis) -> ToolAnswer:
        del view
        self.report = args
        return ToolAnswer("Report updated.", UPDATE_REPORT, args, CallOutcome.DONE)

    def _add_observations(self, args: Arguments, view: RedundancyBasis) -> ToolAnswer:
        del view
        room = OBSERVATIONS_PER_RUN_MAX - len(self.observations)
        accepted, refused = args["observations"][:room], args["observations"][room:]
        self.observations += accepted
        answer = f"Recorded {len(accepted)} observation(s)."
        if refused:
            answer += f" {len(refused)} refused: a run records at most {OBSERVATIONS_PER_RUN_MAX}."
        return ToolAnswer(
            answer,
            RECORD_OBSERVATIONS,
            args,
            CallOutcome.REFUSED if refused and not accepted else CallOutcome.DONE,
        )

    def _set_language(self, args: Arguments, view: RedundancyBasis) -> ToolAnswer:
        checked = check_redundancy(view, SET_TASK_LANGUAGE, args)
        if checked.args is None:
            return ToolAnswer(
                f"Skipped: {checked.redundant_reason}.", SET_TASK_LANGUAGE, args, CallOutcome.SKIPPED
            )
        self._language = args
        return ToolAnswer(
            f"Language set to {args['languageCode']}.", SET_TASK_LANGUAGE, args, CallOutcome.DONE
        )

    def _retract(self, args: Arguments, view: RedundancyBasis) -> ToolAnswer:
        """Note which items the agent retracts, and answer why it may not retract the others."""
        identifiers = [id_from_text(item) for item in args["itemIds"]]
        refusals = {item: self._retraction_refusal(item, view.snapshot) for item in identifiers}
        retracted = tuple(item for item, reason in refusals.items() if reason is None)
        skipped = [
            f"{itemId} {reason}"
            for itemId, reason in zip(args["itemIds"], refusals.values(), strict=True)
            if reason
        ]
        together = (member for item in retracted for member in _decided_together(view.snapshot, item))
        self._retracted |= {item: str(args["reason"]) for item in together}
        lines = [f"Retracted {len(retracted)} proposal(s)."] if retracted else []
        lines += [f"Skipped {len(skipped)}: {'; '.join(skipped)}."] if skipped else []
        outcome = CallOutcome.DONE if retracted else CallOutcome.SKIPPED
        return ToolAnswer("\n".join(lines), RETRACT_PROPOSALS, args, outcome, retracted)

    def retract_replaced(self, reasons: Mapping[EntityId, str]) -> None:
        """Retract, at the end of the run, what it replaces; a reason that the agent gave itself is kept."""
        self._retracted = {**reasons, **self._retracted}

    def _retraction_refusal(self, item: EntityId, snapshot: Snapshot) -> str | None:
        if item in self._retracted:
            return "is retracted already"
        return retraction_refusal(snapshot.item(item), self._run.agent, self._run.now_ms)

    # -- the end of the run ---------------------------------------------------------------------------

    def immediate_writes(self, tx: Transaction) -> list[EntityWrite]:
        """Return what the immediate calls write, if it is still allowed.

        The run itself writes report and observations.
        """
        return [*self._retractions(tx), *self._language_writes(tx)]

    def _retractions(self, tx: Transaction) -> list[EntityWrite]:
        items = ((tx.item(identifier), reason) for identifier, reason in self._retracted.items())
        return [
            retraction_write(tx, item, reason)
            for item, reason in items
            if item is not None and retraction_refusal(item, self._run.agent, tx.now_ms()) is None
        ]

    def _language_writes(self, tx: Transaction) -> list[EntityWrite]:
        """Return the write of the task's language; none if the user has chosen one meanwhile."""
        task, agent = tx.entity(self._run.task), tx.entity(self._run.agent)
        if self._language is None or task is None or not task.visible:
            return []
        allowed = policy.ruling_on(agent, SET_TASK_LANGUAGE) is Ruling.IMMEDIATE
        code = self._language["languageCode"]
        if not allowed or task.value("language") == code or language_objection(task, self._language):
            return []
        return [EntityWrite(task.id, "task", {"language": code}, by=AuthorKind.AGENT)]


# -- retractions --------------------------------------------------------------------------------------


def _decided_together(snapshot: Snapshot, item: EntityId) -> list[EntityId]:
    """Return an item with the other answers of its question, if it answers one."""
    stored = snapshot.item(item)
    authentic = None if stored is None else authentic_item(snapshot, stored)
    if authentic is None or authentic.answer is None:
        return [item]
    return answers_of_question(snapshot, item, authentic.item.task, authentic.answer)


def retraction_refusal(item: Item | None, agent: EntityId, now_ms: int) -> str | None:
    """Return why an agent may not retract an item; None if it may.

    An agent retracts its own proposals alone, and never touches a person's verdict.
    """
    if item is None or any(occurrence.agent != agent for occurrence in item.occurrences):
        return "is no proposal of yours"
    if any(decision.by is not AuthorKind.AGENT for decision in item.decisions):
        return "was decided by the user"
    if item.status is DecisionStatus.RETRACTED:
        return "is retracted already"
    return "has expired" if item.expires_ms <= now_ms else None


def retraction_write(tx: Transaction, item: Item, reason: str) -> EntityWrite:
    """Return the agent's decision to retract an item, which has seen every decision known here."""
    fields: dict[str, Value] = {
        "item_id": item.id,
        "verdict": Verdict.RETRACTED.value,
        "device": tx.device,
        "seen": [decision.id for decision in item.all_decisions],
        "reason": reason,
        "via": "agent",
    }
    authentic = authentic_item(tx, item)
    if authentic is not None:
        fields["args_hash"] = args_hash(authentic.item.tool, authentic.args)
    return EntityWrite(tx.new_id(), "decision", fields, by=AuthorKind.AGENT)
