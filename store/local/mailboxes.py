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


class Holder(NamedTuple):
    """Whoever leaves haves: a device, and 8 random bytes for its data folder. A copied one is another holder.

    `id` is empty for a have that does not say it, or that is sealed to others.
    """

    device: DeviceId
    id: bytes


class NoticedHave(NamedTuple):
    """The newest have of a holder: its number, SHA-256 of it, and when it was noticed (Unix time in ms)."""

    number: int
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


def change_place(transaction: Transaction, mailbox: Mailbox) -> None:
    """Store the place of a mailbox anew, in other words."""
    transaction.db.execute("UPDATE mailbox SET place = ? WHERE name = ?", (mailbox.place, mailbox.name))


def remove_mailbox(transaction: Transaction, name: str) -> bool:
    """Forget a mailbox; return False if there is none of this name. What lies in it stays there."""
    transaction.db.execute(
        "DELETE FROM mailbox_have WHERE mailbox = ?1"
        " AND holder NOT IN (SELECT holder FROM own_holder WHERE mailbox = ?1)",
        (name,),
    )
    transaction.db.execute("DELETE FROM mailbox WHERE name = ?", (name,))
    return transaction.db.changes() > 0


def noticed_haves(snapshot: Snapshot, mailbox: str) -> dict[Holder, NoticedHave]:
    """Return the newest have of each holder that was noticed in a mailbox, this device's own among them."""
    rows: Any = snapshot.db.execute(
        "SELECT device, holder, number, digest, noticed_ms FROM mailbox_have WHERE mailbox = ?", (mailbox,)
    )
    return {Holder(device, holder): NoticedHave(*have) for device, holder, *have in rows}


def notice_have(transaction: Transaction, mailbox: str, holder: Holder, have: NoticedHave) -> None:
    """Store the newest have of a holder."""
    transaction.db.execute(
        "INSERT INTO mailbox_have VALUES (?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (mailbox, device, holder) DO UPDATE SET number = excluded.number,"
        " digest = excluded.digest, noticed_ms = excluded.noticed_ms",
        (mailbox, *holder, have.number, *have),
    )


def copied_devices(snapshot: Snapshot, since_ms: int) -> list[DeviceId]:
    """Return the devices of which two holders live: one went on after the other began.

    Both were noticed since a time (Unix time in milliseconds).
    """
    rows: Any = snapshot.db.execute(
        "SELECT DISTINCT one.device FROM mailbox_have AS one"
        " JOIN mailbox_have AS other USING (mailbox, device)"
        " WHERE one.first_number < other.first_number AND one.number > other.first_number"
        " AND one.holder != x'' AND other.holder != x'' AND min(one.noticed_ms, other.noticed_ms) >= ?"
        " ORDER BY one.device",
        (since_ms,),
    )
    return [device for (device,) in rows]


def own_holder(snapshot: Snapshot, mailbox: str) -> bytes | None:
    """Return as which holder this device leaves its haves in a mailbox, None before the first one."""
    row: Any = snapshot.db.execute("SELECT holder FROM own_holder WHERE mailbox = ?", (mailbox,)).fetchone()
    return None if row is None else row[0]


def set_own_holder(transaction: Transaction, mailbox: str, holder: bytes) -> None:
    """Store as which holder this device leaves its haves from now on."""
    transaction.db.execute("INSERT OR REPLACE INTO own_holder VALUES (?, ?)", (mailbox, holder))
