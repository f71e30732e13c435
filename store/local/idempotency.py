"""Responses stored for retries: a write with an idempotency key is done once, however often it is requested.

Never grows without bound, and never leaves this device.
"""

from typing import NamedTuple

from store.snapshot import Snapshot
from store.transaction import Transaction

RESPONSES_MAX = 2000


class StoredResponse(NamedTuple):
    """A response, with SHA-256 of its request (32 bytes), and the name of the change that it made."""

    request: bytes
    status: int
    body: bytes
    change: str = ""


def find_response(snapshot: Snapshot, key: str) -> StoredResponse | None:
    """Return the response that was stored under a key, None if there is none."""
    row = snapshot.db.execute(
        "SELECT request, status, body, change FROM answer WHERE key = ?", (key,)
    ).fetchone()
    return None if row is None else StoredResponse(*row)


def store_response(transaction: Transaction, key: str, answer: StoredResponse) -> None:
    """Store a response, in the transaction of its write; the oldest ones are deleted."""
    transaction.db.execute(
        "INSERT INTO answer (key, request, status, body, change) VALUES (?, ?, ?, ?, ?)", (key, *answer)
    )
    transaction.db.execute(
        "DELETE FROM answer WHERE no <= ?", (transaction.db.last_insert_rowid() - RESPONSES_MAX,)
    )
