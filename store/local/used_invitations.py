"""The invitations through mailboxes that were used, on both sides: each lets in one device, once.

Never holds a secret: a tag is public in the mailbox.
"""

from typing import Any

from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto.ids import DeviceId

KEPT_MS = 90 * 86_400_000
"""Longer than any invitation is open."""


def user_of(snapshot: Snapshot, tag: bytes) -> DeviceId | None:
    """Return the device that used the invitation of a tag (16 bytes), None if nobody has."""
    row: Any = snapshot.db.execute("SELECT device FROM used_invitation WHERE tag = ?", (tag,)).fetchone()
    return None if row is None else DeviceId(row[0])


def note_use(tx: Transaction, tag: bytes, device: DeviceId) -> None:
    """Store who used an invitation; forget those that nobody can use any more."""
    now_ms = tx.now_ms()
    tx.db.execute("DELETE FROM used_invitation WHERE used_ms < ?", (now_ms - KEPT_MS,))
    tx.db.execute("INSERT INTO used_invitation VALUES (?, ?, ?)", (tag, device, now_ms))
