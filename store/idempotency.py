"""Answers kept for retries: a write that names a key is done once, however often it is asked for.

Never grows without bound, and never leaves this device.
"""

from typing import NamedTuple

from store.snapshot import Snapshot
from store.transaction import Transaction

KEPT_MAX = 2000


class Answer(NamedTuple):
    """What was answered, and SHA-256 over what had been asked (32 bytes)."""

    request: bytes
    status: int
    body: bytes


def kept(snapshot: Snapshot, key: str) -> Answer | None:
    """Return the answer that was given under a key, None where none is kept."""
    row = snapshot.db.execute("SELECT request, status, body FROM answer WHERE key = ?", (key,)).fetchone()
    return None if row is None else Answer(*row)


def keep(transaction: Transaction, key: str, answer: Answer) -> None:
    """Keep an answer, in the transaction of the write that it answers; the oldest ones make room."""
    transaction.db.execute(
        "INSERT INTO answer (key, request, status, body) VALUES (?, ?, ?, ?)", (key, *answer)
    )
    transaction.db.execute(
        "DELETE FROM answer WHERE no <= ?", (transaction.db.last_insert_rowid() - KEPT_MAX,)
    )
