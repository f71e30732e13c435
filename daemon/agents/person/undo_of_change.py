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
from daemon.journal.references.change_names import find_changes, span_names
from daemon.journal.references.names import shown_name
from daemon.journal.undo.undo import TAKEN_BACK_BY, VerdictOn, parts_of_change, undo_commits
from daemon.journal.undo.undo_answer import SHOWN_MAX, LeftChange, Undone
from daemon.journal.views.lookup import NameLookup
from daemon.refusal import RefusalCode, Refused
from store.fold.entity_state import DELETED
from store.fold.item import Decision
from store.fold.verdicts import deciding_opinions
from store.sentence import sentence, sentence_fields
from store.transaction import Transaction
from syncproto.ids import id_to_text


class UndoResult(Undone, frozen=True, kw_only=True):
    """What an undo did; if the change was verdicts, what became of each.

    Verdicts that were taken back are decided on again: of them, `undo` names nothing.
    """

    verdicts: tuple[DecisionResult, ...] = ()


class VerdictRules(Struct, frozen=True):
    """How verdicts are taken back: through which face, and with which proof if it can ask for a passkey."""

    via: str
    reason_min: int
    proof: PasskeyProof | None = None


def undo_any(tx: Transaction, name: str, rules: VerdictRules) -> UndoResult:
    """Undo a change: an edit by writing back what it replaced, a verdict by another one. Raises Refused."""
    edits, verdicts = parts_of_change(tx, name)
    for on in verdicts:
        if on.verdict not in TAKEN_BACK_BY:
            raise Refused(
                RefusalCode.CONFLICT,
                sentence("verdict-was-taken-back", "this change took a verdict back"),
                sentence("decide-again", "decide again: `placet confirm ITEM` or `placet reject ITEM`"),
            )
    undone = undo_commits(tx, name, edits) if edits or not verdicts else None
    results, left = list[DecisionResult](), list[LeftChange]()
    for on in verdicts:
        later = _later_decision(tx, on)
        if later is None:
            results.append(_take_back(tx, on, rules))
        else:
            left.append(_left_verdict(tx, on, later))
    if undone is not None:
        fields = {field: getattr(undone, field) for field in undone.__struct_fields__}
        fields["left"] = [*undone.left, *left][:SHOWN_MAX]
        fields["left_count"] = undone.left_count + len(left)
        return UndoResult(**fields, verdicts=tuple(results))
    return UndoResult(
        change=span_names(find_changes(tx, name)),
        undo=None,
        verdicts=tuple(results),
        left=left[:SHOWN_MAX],
        left_count=len(left),
    )


def _later_decision(tx: Transaction, on: VerdictOn) -> Decision | None:
    """Return the newest other decision that the status of an item rests on, None if a verdict still decides.

    What took this verdict back already is no other one: asked again, the item says so itself.
    """
    decisions = tx.decisions_on(on.item)
    deciding = {opinion.decision for opinion in deciding_opinions(decision.opinion for decision in decisions)}
    others = [
        decision
        for decision in decisions
        if decision.id in deciding
        and decision.id != on.decision
        and decision.verdict.value != TAKEN_BACK_BY[on.verdict][0]
    ]
    return max(others, key=lambda decision: (decision.stamp_ms, decision.n, decision.id), default=None)


def _left_verdict(tx: Transaction, on: VerdictOn, later: Decision) -> LeftChange:
    names, entity = NameLookup(tx), tx.entity(on.item)
    item = None if entity is not None else tx.item(on.item)
    shown = tx.entity(item.task) if item is not None and item.task is not None else entity
    device = names.device_name(later.device) or later.device.hex()[:8]
    why = sentence("decided-since", "it was decided on since, on {device}", device=device)
    return LeftChange(
        entity=id_to_text(on.item),
        kind="decision",
        title="" if shown is None else shown_name(shown),
        field=DELETED,
        **sentence_fields("why", why),
    )


def _take_back(tx: Transaction, on: VerdictOn, rules: VerdictRules) -> DecisionResult:
    verdict, proof = TAKEN_BACK_BY[on.verdict], rules.proof
    if is_ask(tx, on.item):
        return ask_decisions.decide(tx, on.item, verdict, reason=None, via=rules.via, proof=proof)
    request = VerdictRequest(verdict=verdict, via=rules.via, reason_min=rules.reason_min, proof=proof)
    return apply_verdict(tx, on.item, request)
