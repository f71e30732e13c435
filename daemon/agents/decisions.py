"""A person's decisions on change items: confirm, reject, undo, reopen, defer.

Never writes half of one: decision, effect and bookkeeping are one commit, and what is refused writes nothing.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct, structs

from daemon.agents import allowing, comparing, judging, targets, telling, wording
from daemon.agents.confirming import Confirmation, confirmation_writes, decision_write
from daemon.agents.effects import args_hash
from daemon.agents.judging import Case
from daemon.agents.queueing import Limits
from daemon.agents.tools import TOOLS, ArgumentFault, Arguments
from daemon.journal import values
from store.item import Item
from store.transaction import Transaction
from store.verdicts import Status, Verdict
from syncproto.codec import Value
from syncproto.ids import EntityId, text


class Outcome(StrEnum):
    """What became of a request to decide."""

    APPLIED = "applied"
    ALREADY = "already"
    STALE = "stale"
    OBSOLETE = "obsolete"
    EXPIRED = "expired"
    CONFLICT = "conflict"
    NOT_FOUND = "not_found"
    FAILED = "failed"


class Result(Struct, frozen=True, kw_only=True):
    """The answer on one item. `base`, `current` and `proposed` are given where the item is stale."""

    item_id: str
    status: str
    result: Outcome
    message: str
    base: Any = None
    current: Any = None
    proposed: Any = None


class _Refused(Exception):
    """A decision that is not taken; nothing has been written."""

    def __init__(self, result: Outcome, message: str, **shown: Value) -> None:
        super().__init__(message)
        self.result = result
        self.shown = shown


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
    reason_min: int = Limits().reason_min,
) -> Result:
    """Put an item into effect: one commit, or none and the reason why not.

    `force` puts through what is stale, expired or overtaken, and over what a person ticked; `again` what was
    rejected, undone or taken back; `edit` replaces arguments, and the effect is then the person's own.
    `shown` is the hash of the arguments that the person was shown: nothing else runs. `reason_min` is how
    many characters an agent's reason against a person's tick must have.
    """
    found = tx.item(item)
    if found is None:
        return not_found(item)
    try:
        case = _case(tx, found)
        wanted = _wanted(case, edit)
        _require_open(case, again=again, force=force, contradicted=_contradicts(case, edit, wanted))
        _require_shown(case, shown)
        _require_current(tx, case, wanted, force=force)
        _require_allowed(tx, case, wanted, force=force, reason_min=reason_min)
    except _Refused as refused:
        return _answer(tx, found, refused.result, str(refused), **refused.shown)
    confirmation = Confirmation(case, wanted, values.reason(reason), via)
    tx.commit(confirmation_writes(tx, confirmation), agent=case.item.occurrences[0].agent)
    tool, args = case.item.tool, confirmation.args
    said = wording.summary(tool, args, targets.name(tx, tool, args))
    status = tx.standing(item).status.value
    return Result(item_id=text(item), status=status, result=Outcome.APPLIED, message=said)


def _case(tx: Transaction, item: Item) -> Case:
    found = judging.case(tx, item)
    if found is not None:
        return found
    if all(one.tool not in TOOLS for one in item.occurrences):
        raise _Refused(Outcome.FAILED, "this version of Placet does not know its tool")
    raise _Refused(Outcome.FAILED, "it is not what an agent of its task may propose")


def _wanted(case: Case, edit: Arguments | None) -> Arguments | None:
    """Return the arguments to apply where they are not those proposed.

    They are what the person edits now, or else what they had edited in a confirmation that stands, alone or
    in dispute.
    """
    words = judging.edited_words(case.item) if edit is None else edit
    if words is None:
        return None
    try:
        args = judging.edited(case.item.tool, case.proposed, words)
    except ArgumentFault as fault:
        raise _Refused(Outcome.FAILED, f"cannot be applied: {fault}") from fault
    return None if args == case.proposed else args


def _contradicts(case: Case, edit: Arguments | None, wanted: Arguments | None) -> bool:
    """Say whether a person now edits to something else than what they had confirmed."""
    return edit is not None and (case.proposed if wanted is None else wanted) != case.args


def _require_shown(case: Case, shown: bytes | None) -> None:
    """Refuse to run anything but the arguments that the person was shown."""
    if shown is not None and shown != args_hash(case.item.tool, case.args):
        raise _Refused(Outcome.STALE, "it is not what you were shown any more: look at it again")


def _require_allowed(
    tx: Transaction, case: Case, wanted: Arguments | None, *, force: bool, reason_min: int
) -> None:
    args = case.proposed if wanted is None else wanted
    why = allowing.refusal(tx, case, args, force=force, reason_min=reason_min)
    if why is not None:
        raise _Refused(Outcome.FAILED, why)


def _require_open(case: Case, *, again: bool, force: bool, contradicted: bool) -> None:
    """Refuse to confirm what is decided already, unless the person asks for just that."""
    item = case.item
    if item.status is Status.CONFIRMED:
        _require_overtaken(case, force=force, contradicted=contradicted)
    elif item.status is Status.REJECTED and not (item.disputed or again):
        raise _Refused(Outcome.CONFLICT, "it was rejected or undone: reopen it, or confirm --again")
    elif item.status is Status.RETRACTED and not again:
        raise _Refused(Outcome.CONFLICT, "the agent took it back: confirm --again takes it anyway")


def _require_overtaken(case: Case, *, force: bool, contradicted: bool) -> None:
    """Refuse to confirm a confirmed item, unless it was written over and is forced."""
    over = judging.overtaken(case)
    if force and over:
        return
    if contradicted:
        raise _Refused(Outcome.CONFLICT, "it is confirmed with other arguments: undo it first")
    if over:
        who = "your edit" if _person_wrote_over(case) else "a later change"
        raise _Refused(Outcome.ALREADY, f"confirmed, but overtaken by {who}: --force applies it anyway")
    raise _Refused(Outcome.ALREADY, "it is confirmed already")


def _person_wrote_over(case: Case) -> bool:
    fields = () if case.target is None else tuple(case.effect.fields)
    return any(comparing.is_own(case.target.version(field)) for field in fields if case.target is not None)


def _require_current(tx: Transaction, case: Case, wanted: Arguments | None, *, force: bool) -> None:
    """Refuse what has no target any more, has nothing left to do, came too late, or rests on old values."""
    gone = judging.gone(tx, case)
    if gone is not None:
        raise _Refused(Outcome.OBSOLETE, gone)
    undecided = case.item.status in (Status.PENDING, Status.DEFERRED)
    so = judging.already_so(tx, case) if undecided else None
    if so is not None and not (force and case.effect.creates):
        raise _Refused(Outcome.OBSOLETE, so)
    if judging.is_expired(case.item, tx.now_ms()) and not force:
        raise _Refused(Outcome.EXPIRED, "nobody decided in time: --force applies it anyway")
    written = judging.rewritten(case, case.proposed if wanted is None else wanted)
    if not force and comparing.is_stale(tx, written):
        told = comparing.compared(written)
        raise _Refused(
            Outcome.STALE,
            telling.changed(written),
            base=told.base,
            current=told.current,
            proposed=told.proposed,
        )


# -- the other verdicts -------------------------------------------------------------------------------

_STANDING_ANSWERS: Mapping[Verdict, Mapping[Status, tuple[Outcome, str]]] = {
    Verdict.REJECTED: {
        Status.REJECTED: (Outcome.ALREADY, "it is rejected already"),
        Status.CONFIRMED: (Outcome.CONFLICT, "it is confirmed: undo takes that back"),
        Status.RETRACTED: (Outcome.OBSOLETE, "the agent took it back"),
    },
    Verdict.UNDONE: {
        Status.REJECTED: (Outcome.ALREADY, "it is not in effect"),
        Status.PENDING: (Outcome.CONFLICT, "it was not confirmed: there is nothing to undo"),
        Status.DEFERRED: (Outcome.CONFLICT, "it was not confirmed: there is nothing to undo"),
        Status.RETRACTED: (Outcome.CONFLICT, "it was not confirmed: there is nothing to undo"),
    },
    Verdict.REOPENED: {
        Status.PENDING: (Outcome.ALREADY, "it is open already"),
    },
    Verdict.DEFERRED: {
        Status.DEFERRED: (Outcome.ALREADY, "it is deferred already"),
        Status.CONFIRMED: (Outcome.CONFLICT, "it is confirmed: undo takes that back"),
        Status.REJECTED: (Outcome.CONFLICT, "it was rejected or undone: reopen it first"),
        Status.RETRACTED: (Outcome.OBSOLETE, "the agent took it back"),
    },
}
_SETTLES = frozenset({Verdict.REJECTED, Verdict.UNDONE, Verdict.REOPENED})
"""Verdicts that settle a dispute by being given; a deferral would only hide it."""

_SAID = {
    Verdict.REJECTED: "rejected",
    Verdict.UNDONE: "undone",
    Verdict.REOPENED: "open again",
    Verdict.DEFERRED: "deferred",
}


def reject(tx: Transaction, item: EntityId, *, reason: str | None = None, via: str) -> Result:
    """Turn an item down; the agent does not propose it again, and sees the reason."""
    return _decide(tx, item, Verdict.REJECTED, reason, via)


def reopen(tx: Transaction, item: EntityId, *, reason: str | None = None, via: str) -> Result:
    """Take back any verdict: the item is open again, and what it had put into effect is not."""
    return _decide(tx, item, Verdict.REOPENED, reason, via)


def defer(tx: Transaction, item: EntityId, *, reason: str | None = None, via: str) -> Result:
    """Put an item off: it stays open and does not expire."""
    return _decide(tx, item, Verdict.DEFERRED, reason, via)


def undo(tx: Transaction, item: EntityId, *, reason: str | None = None, via: str) -> Result:
    """Take a confirmation back; what it had covered shows again, what a person wrote since stays."""
    before = tx.item(item)
    case = None if before is None else judging.case(tx, before)
    result = _decide(tx, item, Verdict.UNDONE, reason, via)
    if result.result is not Outcome.APPLIED or case is None:
        return result
    return structs.replace(result, message=telling.left_by_undo(tx, case))


def _decide(tx: Transaction, item: EntityId, verdict: Verdict, reason: str | None, via: str) -> Result:
    found = tx.item(item)
    if found is None:
        return not_found(item)
    answer = _STANDING_ANSWERS[verdict].get(found.status)
    if found.disputed:
        answer = None if verdict in _SETTLES else (Outcome.CONFLICT, "it is disputed: confirm or reject it")
    if answer is not None:
        return _answer(tx, found, *answer)
    case = judging.case(tx, found)
    held, shown = (found, None) if case is None else (case.item, case.args)
    tx.commit([decision_write(tx, held, verdict, reason=values.reason(reason), via=via, shown=shown)])
    return _answer(tx, found, Outcome.APPLIED, _SAID[verdict])


# -- answers ------------------------------------------------------------------------------------------


def not_found(item: EntityId) -> Result:
    """Answer for an item that was never proposed."""
    return Result(
        item_id=text(item), status="unknown", result=Outcome.NOT_FOUND, message="there is no such proposal"
    )


def _answer(tx: Transaction, item: Item, result: Outcome, message: str, **shown: Value) -> Result:
    """Answer with the item's status as it is now."""
    now = tx.item(item.id)
    assert now is not None
    status = judging.status_now(tx, now, tx.now_ms())
    return Result(item_id=text(item.id), status=status, result=result, message=message, **shown)
