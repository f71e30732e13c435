"""What a verdict on a whole set leaves out: every item that does not simply wait, with the reason.

Never decides: the caller asks in the transaction that would decide.
"""

from collections.abc import Collection
from typing import Final

from daemon.agents.deciding import item_state
from daemon.agents.deciding.decision_result import (
    DecisionOutcome,
    DecisionResult,
    decision_result,
    unknown_item_result,
)
from daemon.agents.deciding.item_state import DisplayedStatus
from daemon.agents.tools.table import ANSWER_QUESTION
from store.fold.item import Item
from store.sentence import Sentence, sentence
from store.transaction import Transaction
from syncproto.ids import EntityId, id_to_text

_PUT_OFF: Final = sentence("set-leaves-deferred", "you deferred it: name it to decide on it")
_DISPUTED: Final = sentence(
    "set-leaves-disputed", "your devices decided differently: name it to decide on it"
)
_EXPIRED: Final = sentence("set-leaves-expired", "nobody decided in time: name it to decide on it")
_NO_EFFECT: Final = sentence(
    "set-leaves-confirmed", "it is confirmed, and not in effect: name it to put it into effect"
)
_IS_ANSWER: Final = sentence(
    "set-leaves-question", "it is an answer to a question: name the answer that you choose"
)
_NOT_SHOWN: Final = sentence("set-leaves-unshown", "you were not shown it: name it to decide on it")


def answer_if_left_out(
    tx: Transaction, item: EntityId, displayed: Collection[EntityId | str] | None
) -> DecisionResult | None:
    """Return the answer on an open item that a verdict on its set leaves out; None for any other item.

    A set stands for what is pending. What a person put off, what two devices decided differently, and what
    expired is decided only by name, and so is a question: one of its answers is chosen. `displayed` are the
    items that the person saw, and any other is left out too; None if the client does not say.
    """
    stored = tx.item(item)
    if stored is None:
        return unknown_item_result(item)
    lacks_effect = item_state.lacks_effect(tx, stored)
    if stored.status not in item_state.UNDECIDED and not stored.disputed and not lacks_effect:
        return None
    status = item_state.displayed_status_text(tx, stored, tx.now_ms())
    left = (DecisionOutcome.LEFT, _NO_EFFECT) if lacks_effect else _reason(tx, stored, status)
    if left is None and stored.tool == ANSWER_QUESTION:
        left = DecisionOutcome.LEFT, _IS_ANSWER
    if left is None and displayed is not None and item not in displayed:
        left = DecisionOutcome.LEFT, _NOT_SHOWN
    if left is None:
        return None
    outcome, message = left
    return decision_result(id_to_text(item), status, outcome, message)


def _reason(tx: Transaction, item: Item, status: str) -> tuple[DecisionOutcome, Sentence] | None:
    """Return why an open item is left out, whatever its set is told; None for a pending one."""
    if item.disputed:
        return DecisionOutcome.LEFT, _DISPUTED
    if status == DisplayedStatus.EXPIRED:
        return DecisionOutcome.EXPIRED, _EXPIRED
    if status == DisplayedStatus.OBSOLETE:
        state = item_state.item_state_of(tx, item)
        obsolete_reason = None if state is None else item_state.obsolete_reason(tx, state)
        return None if obsolete_reason is None else (DecisionOutcome.OBSOLETE, obsolete_reason)
    return (DecisionOutcome.LEFT, _PUT_OFF) if status == DisplayedStatus.DEFERRED else None
