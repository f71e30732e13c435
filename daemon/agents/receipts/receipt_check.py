"""Checks a receipt again, on any machine: no daemon, no journal, no clock.

Never says that something is true which the signatures do not show.
"""

import json
from typing import Any

from daemon.agents.receipts.receipt_form import ReceiptFault, facts_in, parse_receipt
from daemon.agents.receipts.statement import statement_of
from store.sentence import sentence
from syncproto.ids import EntityId, id_from_text, id_to_text


def check_receipt(text: bytes) -> dict[str, Any]:
    """Return what a receipt states, if its proofs show exactly that. Raises ReceiptFault."""
    receipt = parse_receipt(text)
    name = _id_in(receipt["id"])
    follows = None if receipt["follows"] is None else _id_in(receipt["follows"])
    statement = statement_of(name, follows, facts_in(receipt))
    if _canonical(statement) != _canonical(receipt["statement"]):
        raise ReceiptFault(
            sentence("receipt-statement", "it states something else than what was signed: it was altered")
        )
    return statement


def _id_in(text: object) -> EntityId:
    try:
        identifier = id_from_text(text if isinstance(text, str) else "")
    except ValueError as fault:
        raise ReceiptFault(sentence("receipt-id", "it contains an id that is not valid")) from fault
    if id_to_text(identifier) != text:
        raise ReceiptFault(sentence("receipt-id", "it contains an id that is not valid"))
    return identifier


def _canonical(value: object) -> str:
    # For Python 1, 1.0 and True are equal; as text they differ.
    return json.dumps(value, sort_keys=True)
