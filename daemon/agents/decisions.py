"""A person's decisions on change items: confirm, reject, undo, reopen, defer.

Never writes half of one: decision, effect and bookkeeping are one commit, and what is refused writes nothing.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct, structs

from daemon.agents import judging, wording
from daemon.agents.confirming import Confirmation, confirmation_writes, decision_write
from daemon.agents.judging import Case
from daemon.agents.recovery import recovered
from daemon.agents.tools import ArgumentFault, Arguments, validated
from daemon.journal import values
from store.item import Item
from store.transaction import Transaction
from store.verdicts import Status, Verdict
from syncproto.codec import Value
from syncproto.heads import covers
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
    reason: str | None = None,
    via: str,
) -> Result:
    """Put an item into effect: one commit, or none and the reason why not.

    `force` puts through what is stale, expired or overtaken; `again` what was rejected, undone or taken
    back; `edit` replaces arguments, and the effect is then the person's own.
    """
    found = tx.item(item)
    if found is None:
        return not_found(item)
    try:
        case = _case(tx, found)
        wanted = _wanted(case, edit)
        _require_open(
            case, again=again, force=force, contradicted=edit is not None and wanted != _standing(case)
        )
        _require_current(tx, case, force=force)
    except _Refused as refused:
        return _answer(tx, found, refused.result, str(refused), **refused.shown)
    confirmation = Confirmation(case, wanted, values.reason(reason), via)
    tx.commit(confirmation_writes(tx, confirmation), agent=found.occurrences[0].agent)
    return _answer(tx, found, Outcome.APPLIED, wording.summary(found.tool, confirmation.args))


def _case(tx: Transaction, item: Item) -> Case:
    found = judging.case(tx, item)
    if found is None:
        raise _Refused(Outcome.FAILED, f"this version cannot run {item.tool[:60]!r} with these arguments")
    return found


def _wanted(case: Case, edit: Arguments | None) -> Arguments | None:
    """Return the arguments to apply where they are not those proposed.

    They are what the person edits now, or else what they had edited in a confirmation that stands, alone or
    in dispute.
    """
    words = _standing(case) if edit is None else edit
    if words is None:
        return None
    try:
        args = validated(case.item.tool, {**case.args, **recovered(words)})
    except ArgumentFault as fault:
        raise _Refused(Outcome.FAILED, f"cannot be applied: {fault}") from fault
    return None if args == case.args else args


def _standing(case: Case) -> Arguments | None:
    return judging.edited_words(case.item)


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
    return any(judging.is_own(case.target.version(field)) for field in fields if case.target is not None)


def _require_current(tx: Transaction, case: Case, *, force: bool) -> None:
    """Refuse what has no target any more, has nothing left to do, came too late, or rests on old values."""
    gone = judging.gone(case)
    if gone is not None:
        raise _Refused(Outcome.OBSOLETE, gone)
    undecided = case.item.status in (Status.PENDING, Status.DEFERRED)
    so = judging.already_so(tx, case) if undecided else None
    if so is not None and not (force and case.effect.creates):
        raise _Refused(Outcome.OBSOLETE, so)
    if judging.is_expired(case.item, tx.now_ms()) and not force:
        raise _Refused(Outcome.EXPIRED, "nobody decided in time: --force applies it anyway")
    if not force and judging.is_stale(tx, case):
        shown = judging.compared(case)
        message = (
            f"{_named(case)} changed since: it was {_told(shown.base)}, is {_told(shown.current)},"
            f" and would be {_told(shown.proposed)}; --force applies it anyway"
        )
        raise _Refused(
            Outcome.STALE, message, base=shown.base, current=shown.current, proposed=shown.proposed
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
    result = _decide(tx, item, Verdict.UNDONE, reason, via)
    found = tx.item(item)
    case = None if found is None else judging.case(tx, found)
    if result.result is not Outcome.APPLIED or case is None:
        return result
    return structs.replace(result, message=_left_by_undo(tx, case))


def _left_by_undo(tx: Transaction, case: Case) -> str:
    """Say what shows after an undo."""
    if case.effect.creates:
        stays = case.target is not None and case.target.visible
        return "undone, but the item stays: you changed it since" if stays else "undone: the item is gone"
    told = [_left_of_field(tx, case, field) for field in case.effect.fields]
    return f"undone: {'; '.join(told)}"


def _left_of_field(tx: Transaction, case: Case, field: str) -> str:
    """Name the value that shows, and say where it is one that a person wrote since the proposal."""
    value, version = judging.current(case, field), None if case.target is None else case.target.version(field)
    since = version is not None and not any(
        covers(one.base, version.source.head, tx.log) for one in case.item.occurrences
    )
    stays = "your later edit stays, " if since and judging.is_own(version) else ""
    return f"{stays}{wording.field_name(field)} is {_told(value)}"


def _named(case: Case) -> str:
    return ", ".join(wording.field_name(field) for field in judging.differing(case))


def _told(value: Value) -> str:
    return "empty" if value is None else str(value)


def _decide(tx: Transaction, item: EntityId, verdict: Verdict, reason: str | None, via: str) -> Result:
    found = tx.item(item)
    if found is None:
        return not_found(item)
    answer = _STANDING_ANSWERS[verdict].get(found.status)
    if found.disputed:
        answer = None if verdict in _SETTLES else (Outcome.CONFLICT, "it is disputed: confirm or reject it")
    if answer is not None:
        return _answer(tx, found, *answer)
    tx.commit([decision_write(tx, found, verdict, reason=values.reason(reason), via=via)])
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
