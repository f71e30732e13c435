"""The invitations through mailboxes that were used, on both sides: each lets in one device, once.

Never holds a secret: a tag is public in the mailbox.
"""

from typing import Any, NamedTuple

from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto.ids import DeviceId

KEPT_MS = 90 * 86_400_000
"""Longer than any invitation is open."""


class Use(NamedTuple):
    """Who used an invitation, and when (Unix time in ms)."""

    device: DeviceId
    used_ms: int


def use_of(snapshot: Snapshot, tag: bytes) -> Use | None:
    """Return the use of the invitation of a tag (16 bytes), None if nobody has used it."""
    rows: Any = snapshot.db.execute("SELECT device, used_ms FROM used_invitation WHERE tag = ?", (tag,))
    return next((Use(DeviceId(device), used_ms) for device, used_ms in rows), None)


def user_of(snapshot: Snapshot, tag: bytes) -> DeviceId | None:
    """Return the device that used the invitation of a tag (16 bytes), None if nobody has."""
    use = use_of(snapshot, tag)
    return None if use is None else use.device


def note_use(tx: Transaction, tag: bytes, device: DeviceId) -> None:
    """Store who used an invitation; forget those that nobody can use any more."""
    now_ms = tx.now_ms()
    tx.db.execute("DELETE FROM used_invitation WHERE used_ms < ?", (now_ms - KEPT_MS,))
    tx.db.execute("INSERT INTO used_invitation VALUES (?, ?, ?)", (tag, device, now_ms))
