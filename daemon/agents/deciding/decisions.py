"""A person's decisions on change items: confirm, reject, undo, reopen, defer.

Never writes half of a decision: decision, effect and bookkeeping are one commit, and a refusal writes
nothing.

The theory: a decision is a write like any other, and names the decisions that its device had seen. Those that
nobody has seen when deciding stand beside each other; if they differ, the item is disputed, and has no effect
until somebody decides with both in sight. The change that a confirmation causes carries the id of the item,
which follows from the content of the proposal, and so do the ids of what it creates: two devices that confirm
the same while apart make one change. The change counts only while the item folds to *confirmed*
(`store/fold/verdicts.py`). So undo and reopen write a decision and nothing else. Before anything is written,
everything is checked again as it is now (`recheck.py`).
"""

from collections.abc import Mapping
from typing import Any

from msgspec import structs

from daemon.agents.deciding import item_state, messages, recheck, staleness
from daemon.agents.deciding.decision_commit import (
    Confirmation,
    companion_writes,
    confirmation_writes,
    person_decision_write,
)
from daemon.agents.deciding.decision_result import (
    DecisionOutcome,
    DecisionResult,
    decision_result,
    unknown_item_result,
)
from daemon.agents.deciding.item_state import ItemState
from daemon.agents.deciding.passkey_proof import PasskeyProof
from daemon.agents.deciding.verdict_needs import NOT_COUNTED, verdict_lack
from daemon.agents.proposing import reach
from daemon.agents.proposing.change_set_builder import ProposalLimits
from daemon.agents.tools import summaries
from daemon.agents.tools.arguments import ArgumentFault, Arguments
from daemon.agents.tools.effects import args_hash
from daemon.agents.tools.table import TOOLS
from daemon.journal.fields import validation
from store.fold.effects import EFFECTS_MAX
from store.fold.item import Item
from store.fold.item_name import Presence
from store.fold.verdicts import DecisionStatus, Verdict
from store.sentence import Sentence, sentence, sentence_fields
from store.transaction import Transaction
from syncproto.codec import Value
from syncproto.ids import EntityId, id_to_text


class _Refused(Exception):
    """A decision that is refused; nothing has been written."""

    def __init__(
        self, result: DecisionOutcome, message: Sentence, *, can_force: bool = False, **details: Value
    ) -> None:
        super().__init__(message.text)
        self.result = result
        self.message = message
        self.can_force = can_force
        self.shown = details


# -- confirm ------------------------------------------------------------------------------------------


def confirm(
    tx: Transaction,
    item: EntityId,
    *,
    force: bool = False,
    again: bool = False,
    edit: Arguments | None = None,
    shown: bytes | None = None,
    reason: str | None = None,
    via: str,
    reason_min: int = ProposalLimits().reason_chars_min,
    proof: PasskeyProof | None = None,
) -> DecisionResult:
    """Put an item into effect: in one commit, or not at all, with the reason.

    An item that is confirmed without an effect is put into effect like one that waits.
    `force` applies what is stale, expired or overwritten, also against a person's tick. `again` applies what
    was rejected, undone or retracted. `edit` replaces arguments, and the effect is then the person's own.
    `shown` is the hash of the arguments that the person saw: nothing else is applied. `reason_min` is how
    many characters an agent's reason against a person's tick must have. `proof` is given by a face that can
    ask for a passkey. Raises PasskeyNeeded if it has to.
    """
    stored = tx.item(item)
    if stored is None:
        return unknown_item_result(item)
    try:
        case = _require_authentic(tx, stored)
        wanted = _arguments_to_apply(case, edit)
        # A confirmation without its effect is no reason to refuse: confirming it again is what repairs it.
        if not item_state.lacks_effect(tx, case.item):
            contradicted = _contradicts_confirmation(case, edit, wanted)
            again = again or _is_question_disputed(tx, case)
            _require_open(case, again=again, force=force, contradicted=contradicted)
        # Since the person looked, another run may have proposed the item with another reason, or another
        # device may have edited it.
        _require_shown(case, shown)
        _require_place(tx, case)
        _require_current(tx, case, wanted, force=force)
        _require_allowed(tx, case, wanted, force=force, reason_min=reason_min)
    except _Refused as refused:
        answer = _answer(tx, stored, refused.result, refused.message)
        return structs.replace(answer, can_force=refused.can_force, **refused.shown)
    lack = verdict_lack(tx, case.item)
    is_asserted = lack is Presence.PASSKEY and proof is not None
    if lack is not None and not is_asserted:
        return _keep(tx, case, Verdict.CONFIRMED, lack, reason=reason, via=via, edited=wanted)
    confirmation = Confirmation(case, wanted, validation.checked_reason(reason), via, is_asserted)
    writes = confirmation_writes(tx, confirmation)
    tx.commit(
        writes if proof is None else proof.with_assertions(tx, writes), agent=case.item.occurrences[0].agent
    )
    tool, args = case.item.tool, confirmation.args
    summary = summaries.proposal_sentence(tool, args, reach.target_name(tx, tool, args))
    status = tx.item_status(item).status.value
    return decision_result(id_to_text(item), status, DecisionOutcome.APPLIED, summary)


def _require_authentic(tx: Transaction, item: Item) -> ItemState:
    """Return the state of an item. Raises _Refused if no agent of its task may have proposed it."""
    state = item_state.item_state_of(tx, item)
    if state is not None:
        return state
    if all(occurrence.tool not in TOOLS for occurrence in item.occurrences):
        raise _Refused(
            DecisionOutcome.FAILED,
            sentence("proposal-tool-unknown", "this version of Placet does not know its tool"),
        )
    raise _Refused(
        DecisionOutcome.FAILED,
        sentence("proposal-not-of-agent", "it is not what an agent of its task may propose"),
    )


def _arguments_to_apply(case: ItemState, edit: Arguments | None) -> Arguments | None:
    """Return the arguments to apply if they are not those proposed; None if they are.

    They are what the person edits now. Without an edit, they are what the person edited in a confirmation
    that counts, alone or in a dispute.
    """
    edited = item_state.edited_arguments_of(case.item) if edit is None else edit
    if edited is None:
        return None
    try:
        args = item_state.apply_edit(case.item.tool, case.proposed, edited)
    except ArgumentFault as fault:
        raise _Refused(
            DecisionOutcome.FAILED,
            sentence("edit-not-applicable", "cannot be applied: {fault}", fault=fault.why),
        ) from fault
    return None if args == case.proposed else args


def _contradicts_confirmation(case: ItemState, edit: Arguments | None, wanted: Arguments | None) -> bool:
    """Report whether a person edits to something else than what they had confirmed."""
    return edit is not None and (case.proposed if wanted is None else wanted) != case.args


def _require_shown(case: ItemState, details: bytes | None) -> None:
    """Refuse to apply anything but the arguments that the person saw."""
    if details is not None and details != args_hash(case.item.tool, case.args):
        raise _Refused(
            DecisionOutcome.STALE,
            sentence("proposal-not-as-shown", "it has changed since you saw it: look at it again"),
        )


def _require_allowed(
    tx: Transaction, case: ItemState, wanted: Arguments | None, *, force: bool, reason_min: int
) -> None:
    args = case.proposed if wanted is None else wanted
    reason = recheck.confirmation_refusal(tx, case, args, force=force, reason_min=reason_min)
    if reason is not None:
        # A client offers to force only what forcing helps with.
        forced = recheck.confirmation_refusal(tx, case, args, force=True, reason_min=reason_min)
        raise _Refused(DecisionOutcome.FAILED, reason, can_force=forced is None)


def _require_open(case: ItemState, *, again: bool, force: bool, contradicted: bool) -> None:
    """Refuse to confirm what is decided already, unless the person asks for exactly that."""
    item = case.item
    if item.status is DecisionStatus.CONFIRMED:
        _require_overwritten(case, force=force, contradicted=contradicted)
    # A disputed item folds to rejected, but somebody confirmed it: either verdict settles it directly.
    elif item.status is DecisionStatus.REJECTED and not (item.disputed or again):
        if case.answer is not None:
            raise _Refused(
                DecisionOutcome.CONFLICT,
                sentence(
                    "question-was-answered",
                    "the question is decided already: reopen it, or confirm --again chooses this answer",
                ),
            )
        raise _Refused(
            DecisionOutcome.CONFLICT,
            sentence("proposal-was-rejected", "it was rejected or undone: reopen it, or confirm --again"),
        )
    elif item.status is DecisionStatus.RETRACTED and not again:
        raise _Refused(
            DecisionOutcome.CONFLICT,
            sentence("proposal-was-retracted", "the agent took it back: confirm --again takes it anyway"),
        )


def _is_question_disputed(tx: Transaction, case: ItemState) -> bool:
    """Report whether two devices answered the item's question differently: any answer settles that."""
    return any(tx.item_status(answer).disputed for answer in case.answers)


def _require_overwritten(case: ItemState, *, force: bool, contradicted: bool) -> None:
    """Refuse to confirm a confirmed item, unless a later write replaced its values and `force` is given."""
    overwritten = item_state.is_overwritten(case)
    if force and overwritten:
        return
    if contradicted:
        raise _Refused(
            DecisionOutcome.CONFLICT,
            sentence("proposal-confirmed-otherwise", "it is confirmed with other arguments: undo it first"),
        )
    if overwritten:
        raise _Refused(DecisionOutcome.ALREADY, _overwritten_sentence(case), can_force=True)
    raise _Refused(DecisionOutcome.ALREADY, sentence("proposal-confirmed-already", "it is confirmed already"))


def _overwritten_sentence(case: ItemState) -> Sentence:
    if _person_overwrote(case):
        return sentence("proposal-overtaken-by-you", "confirmed, but overtaken by your edit")
    return sentence("proposal-overtaken", "confirmed, but overtaken by a later change")


def _person_overwrote(case: ItemState) -> bool:
    fields = () if case.target is None else tuple(case.effect.fields)
    return any(
        staleness.is_persons_direct_write(case.target.version(field))
        for field in fields
        if case.target is not None
    )


def _require_place(tx: Transaction, case: ItemState) -> None:
    """Refuse an item whose effect would not count: forged operations have used up its places."""
    if not item_state.has_place(tx, case):
        raise _Refused(
            DecisionOutcome.FAILED,
            sentence(
                "proposal-places-taken",
                "it cannot take effect: {count} other writes in its name come first."
                " Make the change yourself",
                count=EFFECTS_MAX,
            ),
        )


def _require_current(tx: Transaction, case: ItemState, wanted: Arguments | None, *, force: bool) -> None:
    """Refuse an item whose target is gone, that has nothing left to do, that expired, or that is stale."""
    missing_reason = item_state.missing_target_reason(tx, case)
    if missing_reason is not None:
        raise _Refused(DecisionOutcome.OBSOLETE, missing_reason)
    undecided = case.item.status in (DecisionStatus.PENDING, DecisionStatus.DEFERRED)
    # Whoever confirms a decided item again asks for the write itself, even if the value is there already.
    applied = item_state.already_applied_reason(tx, case) if undecided else None
    # A twin of a new item has the same title and nothing more: a person may want both.
    if applied is not None and not (force and case.effect.creates):
        raise _Refused(DecisionOutcome.OBSOLETE, applied)
    if item_state.is_expired(case.item, tx.now_ms()) and not force:
        raise _Refused(
            DecisionOutcome.EXPIRED,
            sentence("proposal-expired", "nobody decided in time"),
            can_force=True,
        )
    with_argument = item_state.with_arguments(case, case.proposed if wanted is None else wanted)
    if not force and staleness.is_stale(tx, with_argument):
        compared = staleness.compare_values(with_argument)
        raise _Refused(
            DecisionOutcome.STALE,
            messages.stale_message(with_argument),
            can_force=True,
            base=compared.base,
            current=compared.current,
            proposed=compared.proposed,
        )


# -- the other verdicts -------------------------------------------------------------------------------

_RefusalOfVerdict = tuple[DecisionOutcome, Sentence]
_IS_CONFIRMED: _RefusalOfVerdict = (
    DecisionOutcome.CONFLICT,
    sentence("proposal-is-confirmed", "it is confirmed: undo takes that back"),
)
_WAS_RETRACTED: _RefusalOfVerdict = (
    DecisionOutcome.OBSOLETE,
    sentence("agent-took-back", "the agent took it back"),
)
_NOTHING_TO_UNDO: _RefusalOfVerdict = (
    DecisionOutcome.CONFLICT,
    sentence("nothing-to-undo", "it was not confirmed: there is nothing to undo"),
)
_IS_DISPUTED: _RefusalOfVerdict = (
    DecisionOutcome.CONFLICT,
    sentence("proposal-disputed", "it is disputed: confirm or reject it"),
)

_REFUSALS: Mapping[Verdict, Mapping[DecisionStatus, _RefusalOfVerdict]] = {
    Verdict.REJECTED: {
        DecisionStatus.REJECTED: (
            DecisionOutcome.ALREADY,
            sentence("proposal-rejected-already", "it is rejected already"),
        ),
        DecisionStatus.CONFIRMED: _IS_CONFIRMED,
        DecisionStatus.RETRACTED: _WAS_RETRACTED,
    },
    Verdict.UNDONE: {
        DecisionStatus.REJECTED: (
            DecisionOutcome.ALREADY,
            sentence("proposal-not-in-effect", "it is not in effect"),
        ),
        DecisionStatus.PENDING: _NOTHING_TO_UNDO,
        DecisionStatus.DEFERRED: _NOTHING_TO_UNDO,
        DecisionStatus.RETRACTED: _NOTHING_TO_UNDO,
    },
    Verdict.REOPENED: {
        DecisionStatus.PENDING: (
            DecisionOutcome.ALREADY,
            sentence("proposal-open-already", "it is open already"),
        ),
    },
    Verdict.DEFERRED: {
        DecisionStatus.DEFERRED: (
            DecisionOutcome.ALREADY,
            sentence("proposal-deferred-already", "it is deferred already"),
        ),
        DecisionStatus.CONFIRMED: _IS_CONFIRMED,
        DecisionStatus.REJECTED: (
            DecisionOutcome.CONFLICT,
            sentence("proposal-reopen-first", "it was rejected or undone: reopen it first"),
        ),
        DecisionStatus.RETRACTED: _WAS_RETRACTED,
    },
}
"""The verdicts that an item of a status does not take, each with its outcome and the reason."""
_SETTLES = frozenset({Verdict.REJECTED, Verdict.UNDONE, Verdict.REOPENED})
"""Verdicts that settle a dispute by being given; a deferral would only hide the dispute."""

_APPLIED = {
    Verdict.REJECTED: sentence("proposal-now-rejected", "rejected"),
    Verdict.UNDONE: sentence("proposal-now-undone", "undone"),
    Verdict.REOPENED: sentence("proposal-now-open", "open again"),
    Verdict.DEFERRED: sentence("proposal-now-deferred", "deferred"),
}
_APPLIED_TO_QUESTION = {
    Verdict.REJECTED: sentence("question-now-rejected", "rejected: none of the answers"),
    Verdict.REOPENED: sentence("question-now-open", "the question is open again"),
    Verdict.DEFERRED: sentence("question-now-deferred", "the question is deferred"),
}


def reject(
    tx: Transaction,
    item: EntityId,
    *,
    reason: str | None = None,
    via: str,
    proof: PasskeyProof | None = None,
) -> DecisionResult:
    """Reject an item. The agent does not propose it again, and reads the reason."""
    return _decide(tx, item, Verdict.REJECTED, reason=reason, via=via, proof=proof)


def reopen(
    tx: Transaction,
    item: EntityId,
    *,
    reason: str | None = None,
    via: str,
    proof: PasskeyProof | None = None,
) -> DecisionResult:
    """Reopen an item after any verdict: it waits again, and what it had put into effect is reverted."""
    return _decide(tx, item, Verdict.REOPENED, reason=reason, via=via, proof=proof)


def defer(
    tx: Transaction,
    item: EntityId,
    *,
    reason: str | None = None,
    via: str,
    proof: PasskeyProof | None = None,
) -> DecisionResult:
    """Defer an item: it stays open and does not expire."""
    return _decide(tx, item, Verdict.DEFERRED, reason=reason, via=via, proof=proof)


def undo(
    tx: Transaction,
    item: EntityId,
    *,
    reason: str | None = None,
    via: str,
    proof: PasskeyProof | None = None,
) -> DecisionResult:
    """Undo a confirmation. The values that it replaced show again; what a person wrote since is kept."""
    before = tx.item(item)
    case = None if before is None else item_state.item_state_of(tx, before)
    result = _decide(tx, item, Verdict.UNDONE, reason=reason, via=via, proof=proof)
    if result.result is not DecisionOutcome.APPLIED or case is None:
        return result
    return structs.replace(result, **sentence_fields("message", messages.undo_message(tx, case)))


def _decide(
    tx: Transaction,
    item: EntityId,
    verdict: Verdict,
    *,
    reason: str | None,
    via: str,
    proof: PasskeyProof | None,
) -> DecisionResult:
    stored = tx.item(item)
    if stored is None:
        return unknown_item_result(item)
    refusal = _REFUSALS[verdict].get(stored.status)
    # Nobody decided on an expired item: to reopen it asks for it again, and it does not expire any more.
    if verdict is Verdict.REOPENED and item_state.is_expired(stored, tx.now_ms()):
        refusal = None
    # The status of a disputed item is one side of the dispute, so the table does not apply to it.
    if stored.disputed:
        refusal = None if verdict in _SETTLES else _IS_DISPUTED
    if refusal is not None:
        return _answer(tx, stored, *refusal)
    state = item_state.item_state_of(tx, stored)
    lack = verdict_lack(tx, stored)
    is_asserted = lack is Presence.PASSKEY and proof is not None
    if lack is not None and not is_asserted:
        return _keep(tx, stored if state is None else state, verdict, lack, reason=reason, via=via)
    decided, details = (stored, None) if state is None else (state.item, state.args)
    checked = validation.checked_reason(reason)
    how: dict[str, Any] = {"reason": checked, "via": via, "shown_args": details, "is_asserted": is_asserted}
    decision = person_decision_write(tx, decided, verdict, **how)
    companions = [] if state is None else companion_writes(tx, state, verdict, decision, via=via)
    writes = [decision, *companions]
    tx.commit(writes if proof is None else proof.with_assertions(tx, writes))
    is_answer = state is not None and state.answer is not None
    words = _APPLIED_TO_QUESTION.get(verdict) if is_answer else None
    return _answer(tx, stored, DecisionOutcome.APPLIED, words or _APPLIED[verdict])


# -- verdicts that do not count ------------------------------------------------------------------------


def _keep(
    tx: Transaction,
    case: ItemState | Item,
    verdict: Verdict,
    lack: Presence,
    *,
    reason: str | None,
    via: str,
    edited: Arguments | None = None,
) -> DecisionResult:
    """Write a verdict that does not count, alone: without an effect, which could count later.

    The same verdict again is not written again: whoever tries without end writes once.
    """
    item, details = (case, None) if isinstance(case, Item) else (case.item, case.args)
    if not any(
        decision.verdict is verdict and decision.device == tx.device and not decision.counts
        for decision in item.all_decisions
    ):
        checked = validation.checked_reason(reason)
        how: dict[str, Any] = {"reason": checked, "via": via, "edited": edited, "shown_args": details}
        tx.commit([person_decision_write(tx, item, verdict, **how)])
    return _answer(tx, item, DecisionOutcome.NOT_COUNTED, NOT_COUNTED[lack])


# -- answers ------------------------------------------------------------------------------------------


def _answer(tx: Transaction, item: Item, result: DecisionOutcome, message: Sentence) -> DecisionResult:
    """Return an answer with the item's status as it is now."""
    now = tx.item(item.id)
    assert now is not None
    status = item_state.displayed_status_text(tx, now, tx.now_ms())
    return decision_result(id_to_text(item.id), status, result, message)
