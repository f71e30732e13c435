"""A person's decisions on asks: yes, no, later, and taking a yes back that nobody has used.

Never uses a permission, and never refuses a yes because it is late: `not_after` bounds the use.
"""

from typing import Any, Final

from daemon.agents.asks.ask_bounds import require_keepable
from daemon.agents.asks.ask_record import Ask, is_withdrawn, read_ask
from daemon.agents.asks.ask_views import AskState, state_of
from daemon.agents.deciding.decision_result import (
    DecisionOutcome,
    DecisionResult,
    decision_result,
    unknown_item_result,
)
from daemon.agents.deciding.passkey_proof import PasskeyProof, decision_id
from daemon.agents.deciding.verdict_needs import NOT_COUNTED, lack_here
from daemon.agents.deciding.verdict_requests import RequestedVerdict
from daemon.journal.fields import validation
from daemon.refusal import usage_error
from store.fold.item_name import Presence
from store.fold.verdicts import Verdict
from store.sentence import Sentence, sentence
from store.snapshot import Snapshot
from store.transaction import EntityWrite, Transaction
from syncproto.codec import Value
from syncproto.ids import EntityId, id_to_text

_DONE: Final = {
    Verdict.CONFIRMED: sentence("ask-now-permitted", "permitted, once"),
    Verdict.REJECTED: sentence("ask-now-refused", "refused"),
    Verdict.UNDONE: sentence("ask-now-taken-back", "the permission is taken back"),
    Verdict.REOPENED: sentence("ask-now-open", "open again"),
    Verdict.DEFERRED: sentence("ask-now-deferred", "deferred"),
}
_LATE: Final = sentence("ask-permitted-late", "permitted, but too late: the agent has to ask again")
_LEADS_TO: Final = {
    Verdict.CONFIRMED: (AskState.PERMITTED, AskState.TOO_LATE),
    Verdict.REJECTED: (AskState.REFUSED,),
    Verdict.UNDONE: (AskState.REFUSED,),
    Verdict.DEFERRED: (AskState.DEFERRED,),
    Verdict.REOPENED: (AskState.PENDING, AskState.EXPIRED),
}


def decide(
    tx: Transaction,
    ask: EntityId,
    requested: Verdict | RequestedVerdict,
    *,
    reason: str | None,
    via: str,
    edit: dict[str, Any] | None = None,
    option: str | None = None,
    shown: bytes | None = None,
    proof: PasskeyProof | None = None,
) -> DecisionResult:
    """Decide on an ask. `shown` is the hash of what the person saw: a yes to anything else is refused.

    `edit` replaces arguments, and `option` is one of those that the agent offers. `proof` is given by a face
    that can ask for a passkey. Raises Refused for another option, for a yes without one if the agent offers
    some, and for an edit that could not be asked either; raises PasskeyNeeded.
    """
    verdict, original = Verdict(requested), read_ask(tx, ask)
    if original is None:
        return unknown_item_result(ask)
    _require_offered(original, option)
    is_changed = edit is not None or option is not None
    refusal = _refusal(tx, original, verdict, tx.now_ms(), edited=is_changed)
    if refusal is not None:
        return _answer(tx, original, *refusal)
    if verdict is Verdict.CONFIRMED and option is None:
        _require_no_options(original)
    if verdict is Verdict.CONFIRMED and shown is not None and shown != original.args_hash:
        return _answer(
            tx,
            original,
            DecisionOutcome.STALE,
            sentence("proposal-not-as-shown", "it has changed since you saw it: look at it again"),
        )
    fields = _decision_fields(tx, original, verdict, reason, via)
    if edit is not None:
        edited = {**original.args, **edit}
        require_keepable(original.name, edited)
        fields["edited_args"] = edited
    if option is not None:
        fields["option"] = option
    lack = lack_here(tx, tx.requirement_of(ask))
    if lack is Presence.PASSKEY and proof is not None:
        write = EntityWrite(decision_id(ask, fields), "decision", fields)
        tx.commit(proof.with_assertions(tx, [write]))
        lack = None
    elif lack is None or not _was_kept(tx, ask, verdict):
        tx.commit([EntityWrite(tx.new_id(), "decision", fields)])
    if lack is not None:
        return _answer(tx, original, DecisionOutcome.NOT_COUNTED, NOT_COUNTED[lack])
    is_late = verdict is Verdict.CONFIRMED and tx.now_ms() > original.not_after_ms
    return _answer(tx, original, DecisionOutcome.APPLIED, _LATE if is_late else _DONE[verdict])


def require_no_choice(snapshot: Snapshot, ask: EntityId, now_ms: int) -> None:
    """Raise Refused if a yes to an ask, as it stands, has to choose among what the agent offers."""
    original = read_ask(snapshot, ask)
    if original is not None and _refusal(snapshot, original, Verdict.CONFIRMED, now_ms, edited=False) is None:
        _require_no_options(original)


def _require_offered(ask: Ask, option: str | None) -> None:
    if option is not None and option not in ask.options:
        raise usage_error(
            sentence("ask-option-unknown", "the agent does not offer {option!r}", option=option[:80])
        )


def _require_no_options(ask: Ask) -> None:
    if ask.options:
        offered = ", ".join(map(repr, ask.options))
        raise usage_error(
            sentence(
                "ask-needs-option",
                "a yes to {title!r} has to choose one of: {options}",
                title=ask.title,
                options=offered,
            ),
            sentence(
                "choose-ask-option",
                "choose one: placet confirm {ask} --option CHOICE",
                ask=id_to_text(ask.id),
            ),
        )


def _decision_fields(
    tx: Transaction, ask: Ask, verdict: Verdict, reason: str | None, via: str
) -> dict[str, Value]:
    fields: dict[str, Value] = {
        "item_id": ask.id,
        "verdict": verdict.value,
        "device": tx.device,
        "seen": [opinion.decision for opinion in tx.opinions_on(ask.id)],
        "via": via,
        "args_hash": ask.args_hash,
    }
    checked = validation.checked_reason(reason)
    if checked is not None:
        fields["reason"] = checked
    return fields


def _was_kept(tx: Transaction, ask: EntityId, verdict: Verdict) -> bool:
    """Report whether this device gave the same verdict before, which did not count."""
    return any(
        decision.verdict is verdict and decision.device == tx.device and not decision.counts
        for decision in tx.decisions_on(ask)
    )


def _refusal(
    snapshot: Snapshot, ask: Ask, verdict: Verdict, now_ms: int, *, edited: bool
) -> tuple[DecisionOutcome, Sentence] | None:
    """Return why a verdict on an ask says nothing new, or comes to nothing; None if it is to be written."""
    state = state_of(snapshot, ask, now_ms)
    if state is AskState.USED:
        return DecisionOutcome.OBSOLETE, sentence("ask-was-used", "the permission was used already")
    if is_withdrawn(snapshot.decisions_on(ask.id)):
        return DecisionOutcome.OBSOLETE, sentence("agent-took-back", "the agent took it back")
    if state in _LEADS_TO[verdict] and not edited:
        return DecisionOutcome.ALREADY, sentence("ask-decided-already", "it is decided so already")
    if verdict is Verdict.UNDONE and state not in (
        AskState.PERMITTED,
        AskState.TOO_LATE,
        AskState.DISPUTED,
    ):
        return DecisionOutcome.CONFLICT, sentence("ask-not-permitted", "nothing was permitted")
    return None


def _answer(tx: Transaction, ask: Ask, outcome: DecisionOutcome, message: Sentence) -> DecisionResult:
    return decision_result(id_to_text(ask.id), state_of(tx, ask, tx.now_ms()).value, outcome, message)
