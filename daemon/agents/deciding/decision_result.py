"""The answer on one decision: what became of it, and in which words.

Never decides anything.
"""

from enum import StrEnum
from typing import Any, Final

from msgspec import Struct

from store.sentence import Sentence, sentence, sentence_fields
from syncproto.ids import EntityId, id_to_text


class DecisionOutcome(StrEnum):
    """What became of a request to decide.

    `LEFT` is an item of a set that has to be named. `NOT_COUNTED` is a verdict that is kept and changes
    nothing, since it is not from another device, or is without a passkey.
    """

    APPLIED = "applied"
    ALREADY = "already"
    STALE = "stale"
    OBSOLETE = "obsolete"
    EXPIRED = "expired"
    LEFT = "left"
    NOT_COUNTED = "not_counted"
    CONFLICT = "conflict"
    NOT_FOUND = "not_found"
    FAILED = "failed"


UNKNOWN: Final = "unknown"
"""The status of an item whose status cannot be read."""


class DecisionResult(Struct, frozen=True, kw_only=True):
    """The answer on one item. `base`, `current` and `proposed` are given if the item is stale.

    `message_id` names the sentence of `message`, and `message_params` is what fills it. `can_force` is True
    if the same request with `force` would be granted. `challenges`, in hexadecimal, are what a passkey has to
    sign before the verdict is written; a face that cannot ask for one gets none.
    """

    item_id: str
    status: str
    result: DecisionOutcome
    message: str
    message_id: str = ""
    message_params: dict[str, Any] = {}
    can_force: bool = False
    challenges: list[str] = []
    base: Any = None
    current: Any = None
    proposed: Any = None


def unknown_item_result(item: EntityId) -> DecisionResult:
    """Return the answer for an item that was never proposed."""
    return decision_result(id_to_text(item), UNKNOWN, DecisionOutcome.NOT_FOUND, no_such_proposal())


def no_such_proposal() -> Sentence:
    """Return the message about an item that was never proposed."""
    return sentence("proposal-unknown", "there is no such proposal")


def decision_result(item: str, status: str, result: DecisionOutcome, message: Sentence) -> DecisionResult:
    """Make the answer on one item, which is given by its id as text."""
    return DecisionResult(item_id=item, status=status, result=result, **sentence_fields("message", message))
