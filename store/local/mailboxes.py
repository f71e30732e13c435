"""The mailboxes that this device looks into, and when each member was noticed there.

Never replicated: another device may reach the same place by another way, or not at all.
"""

from typing import Any, NamedTuple

from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto.ids import DeviceId


class Mailbox(NamedTuple):
    """A mailbox as a person gave it: its name here, its kind of carrier, and its place in words of that."""

    name: str
    kind: str
    place: str
    added_ms: int


class NoticedHave(NamedTuple):
    """The newest have of a member in a mailbox: SHA-256 of it, and when it was noticed (Unix time in ms)."""

    digest: bytes
    noticed_ms: int


def all_mailboxes(snapshot: Snapshot) -> list[Mailbox]:
    """Return the mailboxes, by name."""
    rows: Any = snapshot.db.execute("SELECT name, kind, place, added_ms FROM mailbox ORDER BY name")
    return [Mailbox(*row) for row in rows]


def add_mailbox(transaction: Transaction, mailbox: Mailbox) -> bool:
    """Store a mailbox; return False if there is one of this name."""
    transaction.db.execute("INSERT INTO mailbox VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", mailbox)
    return transaction.db.changes() > 0


def remove_mailbox(transaction: Transaction, name: str) -> bool:
    """Forget a mailbox; return False if there is none of this name. What lies in it stays there."""
    transaction.db.execute("DELETE FROM mailbox_have WHERE mailbox = ?", (name,))
    transaction.db.execute("DELETE FROM mailbox WHERE name = ?", (name,))
    return transaction.db.changes() > 0


def noticed_haves(snapshot: Snapshot, mailbox: str) -> dict[DeviceId, NoticedHave]:
    """Return the newest have of each member that was noticed in a mailbox."""
    rows: Any = snapshot.db.execute(
        "SELECT device, digest, noticed_ms FROM mailbox_have WHERE mailbox = ?", (mailbox,)
    )
    return {device: NoticedHave(digest, noticed_ms) for device, digest, noticed_ms in rows}


def notice_have(transaction: Transaction, mailbox: str, device: DeviceId, have: NoticedHave) -> None:
    """Store the newest have of a member."""
    transaction.db.execute(
        "INSERT INTO mailbox_have VALUES (?, ?, ?, ?) ON CONFLICT (mailbox, device) DO UPDATE SET"
        " digest = excluded.digest, noticed_ms = excluded.noticed_ms",
        (mailbox, device, *have),
    )
