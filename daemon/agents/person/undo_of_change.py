"""The one entry for an undo: it tells whether a change is a person's edit or a verdict on a proposal.

Never writes back what a confirmation replaced: the verdict is taken back, and what it covered shows again by
itself.
"""

from msgspec import Struct

from daemon.agents.asks import ask_decisions
from daemon.agents.deciding.decision_result import DecisionResult
from daemon.agents.deciding.passkey_proof import PasskeyProof
from daemon.agents.deciding.verdict_requests import VerdictRequest, apply_verdict
from daemon.agents.person.shown_verdicts import is_ask
from daemon.journal.references.change_names import find_changes, span_name, span_names
from daemon.journal.undo.undo import TAKEN_BACK_BY, VerdictOn, undo_change, verdicts_of_change
from daemon.journal.undo.undo_answer import Undone
from daemon.refusal import RefusalCode, Refused
from store.sentence import sentence
from store.transaction import Transaction


class UndoResult(Undone, frozen=True, kw_only=True):
    """What an undo did; if the change was verdicts, what became of each."""

    verdicts: tuple[DecisionResult, ...] = ()


class VerdictRules(Struct, frozen=True):
    """How verdicts are taken back: through which face, and with which proof if it can ask for a passkey."""

    via: str
    reason_min: int
    proof: PasskeyProof | None = None


def undo_any(tx: Transaction, name: str, rules: VerdictRules) -> UndoResult:
    """Undo a change: an edit by writing back what it replaced, a verdict by another one. Raises Refused."""
    verdicts = verdicts_of_change(tx, name)
    if not verdicts:
        undone = undo_change(tx, name)
        return UndoResult(**{field: getattr(undone, field) for field in undone.__struct_fields__})
    for on in verdicts:
        if on.verdict not in TAKEN_BACK_BY:
            raise Refused(
                RefusalCode.CONFLICT,
                sentence("verdict-was-taken-back", "this change took a verdict back"),
                sentence("decide-again", "decide again: `placet confirm ITEM` or `placet reject ITEM`"),
            )
    results = tuple([_take_back(tx, on, rules) for on in verdicts])
    return UndoResult(
        change=span_names(find_changes(tx, name)),
        undo=None if tx.written is None else span_name(tx.written),
        verdicts=results,
    )


def _take_back(tx: Transaction, on: VerdictOn, rules: VerdictRules) -> DecisionResult:
    verdict, proof = TAKEN_BACK_BY[on.verdict], rules.proof
    if is_ask(tx, on.item):
        return ask_decisions.decide(tx, on.item, verdict, reason=None, via=rules.via, proof=proof)
    request = VerdictRequest(verdict=verdict, via=rules.via, reason_min=rules.reason_min, proof=proof)
    return apply_verdict(tx, on.item, request)
