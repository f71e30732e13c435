"""A person's verdict as a face of the daemon receives it, and how it is written: one commit per item.

Never decides which items are meant, and never lets one item that fails stop the others.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

from msgspec import structs

from daemon.agents.deciding import decisions
from daemon.agents.deciding.decision_result import UNKNOWN, DecisionOutcome, DecisionResult, decision_result
from daemon.agents.deciding.passkey_proof import PasskeyNeeded, PasskeyProof
from daemon.journal import preferences
from daemon.journal.references.names import category_id_of
from store.file.errors import StoreError
from store.sentence import foreign_text, sentence
from store.threads import StoreThreads
from store.transaction import Transaction
from syncproto.errors import CommitTooLarge
from syncproto.ids import EntityId, id_to_text

NEEDS_PASSKEY: Final = sentence("verdict-needs-passkey", "this verdict needs your passkey")

RequestedVerdict = Literal["confirmed", "rejected", "undone", "reopened", "deferred"]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictRequest:
    """What a person wants of each item; the fields mean what the functions of `decisions` say.

    `via` is the face that the person used: "cli", "web" or "api". `remember`: the reason of a rejection
    becomes a preference, for the task's category, or for all tasks if it has none. `proof` is given by a face
    that can ask for a passkey.
    """

    verdict: RequestedVerdict
    via: str
    reason_min: int
    reason: str | None = None
    edit: dict[str, Any] | None = None
    force: bool = False
    again: bool = False
    remember: bool = False
    proof: PasskeyProof | None = None


def apply_verdict(
    tx: Transaction, item: EntityId, request: VerdictRequest, shown: bytes | None = None
) -> DecisionResult:
    """Apply a verdict to an item in this transaction. `shown` is the hash of what the person saw."""
    reason, via, proof = request.reason, request.via, request.proof
    match request.verdict:
        case "confirmed":
            return decisions.confirm(
                tx,
                item,
                force=request.force,
                again=request.again,
                edit=request.edit,
                shown=shown,
                reason=reason,
                via=via,
                reason_min=request.reason_min,
                proof=proof,
            )
        case "rejected":
            rejected = decisions.reject(tx, item, reason=reason, via=via, proof=proof)
            if request.remember and reason is not None and rejected.result is DecisionOutcome.APPLIED:
                _remember(tx, item, reason)
            return rejected
        case "undone":
            return decisions.undo(tx, item, reason=reason, via=via, proof=proof)
        case "reopened":
            return decisions.reopen(tx, item, reason=reason, via=via, proof=proof)
        case "deferred":
            return decisions.defer(tx, item, reason=reason, via=via, proof=proof)


async def decide_item(
    store: StoreThreads, item: EntityId, decide: Callable[[Transaction], DecisionResult]
) -> DecisionResult:
    """Run a decision on one item in a commit of its own; a store that fails is an answer, too."""
    try:
        return await store.write(decide)
    except PasskeyNeeded as needed:
        answer = decision_result(id_to_text(item), UNKNOWN, DecisionOutcome.NOT_COUNTED, NEEDS_PASSKEY)
        return structs.replace(answer, challenges=[challenge.hex() for challenge in needed.challenges])
    except (StoreError, CommitTooLarge) as fault:
        words = fault.sentence if isinstance(fault, StoreError) else foreign_text(str(fault))
        return decision_result(id_to_text(item), UNKNOWN, DecisionOutcome.FAILED, words)


def _remember(tx: Transaction, item: EntityId, reason: str) -> None:
    """Make a preference of the reason of a rejection, in the transaction of the rejection."""
    stored = tx.item(item)
    task = None if stored is None else tx.entity(stored.task)
    if task is not None:
        preferences.remember(tx, reason, category_id_of(task))
