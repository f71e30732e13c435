"""What this device alone knows of its peers: addresses, when they were heard of, newcomers not yet back.

Never decides whom to trust: the roster does, which is synced.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto import codec
from syncproto.heads import EMPTY, Clock
from syncproto.ids import DeviceId

ADDRESSES_MAX = 16
_VECTOR_ITEMS_MAX = 64 * 1024

_vectors = msgspec.msgpack.Decoder(Clock)


class Heard(NamedTuple):
    """When a peer was last linked (Unix time in milliseconds), and what it then held."""

    seen_ms: int
    vector: Clock


class Newcomer(NamedTuple):
    """A device that proved an invitation's secret and must come back over mutual TLS until `expires_ms`."""

    device: DeviceId
    certificate: bytes
    name: str
    addresses: tuple[str, ...]
    expires_ms: int


def heard(snapshot: Snapshot) -> dict[DeviceId, Heard]:
    """Return what is known of each peer that was ever linked."""
    rows: Any = snapshot.db.execute("SELECT device, seen_ms, vector FROM peer")
    return {
        device: Heard(seen_ms, codec.decode(vector, _vectors, _VECTOR_ITEMS_MAX))
        for device, seen_ms, vector in rows
    }


def note_heard(transaction: Transaction, device: DeviceId, vector: Clock, seen_ms: int) -> None:
    """Remember when a peer was heard last, and what it holds."""
    transaction.db.execute(
        "INSERT INTO peer (device, seen_ms, vector) VALUES (?, ?, ?)"
        " ON CONFLICT (device) DO UPDATE SET seen_ms = excluded.seen_ms, vector = excluded.vector",
        (device, seen_ms, codec.encode(vector)),
    )


def differing(snapshot: Snapshot) -> dict[DeviceId, int]:
    """Return the peers that showed another state for the same commits when last compared, and when."""
    rows: Any = snapshot.db.execute("SELECT device, differs_ms FROM peer WHERE differs_ms IS NOT NULL")
    return dict(rows)


def note_differing(transaction: Transaction, device: DeviceId, found_ms: int | None) -> None:
    """Remember since when a peer shows another state for the same commits; None: it does not."""
    if found_ms is None:
        transaction.db.execute("UPDATE peer SET differs_ms = NULL WHERE device = ?", (device,))
        return
    # Where what it holds was not yet noted, it counts as holding nothing until that is.
    transaction.db.execute(
        "INSERT INTO peer VALUES (?, ?, ?, ?)"
        " ON CONFLICT (device) DO UPDATE SET differs_ms = excluded.differs_ms",
        (device, found_ms, codec.encode(EMPTY), found_ms),
    )


def addresses(snapshot: Snapshot) -> dict[DeviceId, list[str]]:
    """Return where each peer may be reached (`host:port`), the address that was good last first."""
    found: dict[DeviceId, list[str]] = {}
    rows: Any = snapshot.db.execute("SELECT device, address FROM peer_address ORDER BY good_ms DESC, address")
    for device, address in rows:
        found.setdefault(device, []).append(address)
    return found


def suggest_addresses(transaction: Transaction, device: DeviceId, suggested: Sequence[str]) -> None:
    """Remember addresses that a peer may have, none of which has been tried."""
    for address in suggested[:ADDRESSES_MAX]:
        transaction.db.execute(
            "INSERT INTO peer_address VALUES (?, ?, 0) ON CONFLICT DO NOTHING", (device, address)
        )
    _keep_best(transaction, device)


def note_good_address(transaction: Transaction, device: DeviceId, address: str) -> None:
    """Remember an address at which a peer was just reached."""
    transaction.db.execute(
        "INSERT INTO peer_address VALUES (?, ?, ?)"
        " ON CONFLICT (device, address) DO UPDATE SET good_ms = excluded.good_ms",
        (device, address, transaction.now_ms()),
    )
    _keep_best(transaction, device)


def _keep_best(transaction: Transaction, device: DeviceId) -> None:
    """Forget all but the addresses that were good most recently, so that the table stays small."""
    transaction.db.execute(
        "DELETE FROM peer_address WHERE device = ?1 AND address NOT IN (SELECT address FROM peer_address"
        " WHERE device = ?1 ORDER BY good_ms DESC, address LIMIT ?2)",
        (device, ADDRESSES_MAX),
    )


def forget(transaction: Transaction, device: DeviceId) -> None:
    """Forget how a device was reached, once it is a member no longer."""
    for table in ("peer_address", "newcomer"):
        transaction.db.execute(f"DELETE FROM {table} WHERE device = ?", (device,))


def heard_let_in(snapshot: Snapshot) -> dict[DeviceId, tuple[bytes, int]]:
    """Return the mark under which each member was first seen here, and when that was (Unix time, ms).

    This device's own: empty, and when it joined its vault.
    """
    rows: Any = snapshot.db.execute("SELECT device, write, heard_ms FROM let_in")
    return {device: (mark, heard_ms) for device, mark, heard_ms in rows}


def note_let_in(transaction: Transaction, device: DeviceId, mark: bytes, heard_ms: int) -> None:
    """Remember under which mark a member was first seen here, and when; or when this device joined itself."""
    transaction.db.execute(
        "INSERT INTO let_in VALUES (?, ?, ?)"
        " ON CONFLICT (device) DO UPDATE SET write = excluded.write, heard_ms = excluded.heard_ms",
        (device, mark, heard_ms),
    )


def forget_let_in(transaction: Transaction, device: DeviceId) -> None:
    """Forget a device that is a member no longer: should it come back, that is heard anew."""
    transaction.db.execute("DELETE FROM let_in WHERE device = ?", (device,))


def newcomers(snapshot: Snapshot, now_ms: int) -> list[Newcomer]:
    """Return the devices that may still come back, by device id."""
    rows: Any = snapshot.db.execute(
        "SELECT device, certificate, name, addresses, expires_ms FROM newcomer"
        " WHERE expires_ms > ? ORDER BY device",
        (now_ms,),
    )
    return [
        Newcomer(device, certificate, name, tuple(lines.splitlines()), expires_ms)
        for device, certificate, name, lines, expires_ms in rows
    ]


def await_newcomer(transaction: Transaction, newcomer: Newcomer) -> None:
    """Keep a device as pending; those whose time is over make room."""
    transaction.db.execute("DELETE FROM newcomer WHERE expires_ms <= ?", (transaction.now_ms(),))
    transaction.db.execute(
        "INSERT INTO newcomer VALUES (?, ?, ?, ?, ?) ON CONFLICT (device) DO UPDATE SET"
        " certificate = excluded.certificate, name = excluded.name, addresses = excluded.addresses,"
        " expires_ms = excluded.expires_ms",
        (*newcomer[:3], "\n".join(newcomer.addresses), newcomer.expires_ms),
    )


def settle_newcomer(transaction: Transaction, device: DeviceId) -> bool:
    """Drop a pending device: it becomes a member, or may not any more. False where it was not pending."""
    transaction.db.execute("DELETE FROM newcomer WHERE device = ?", (device,))
    return transaction.db.changes() > 0


def forget_newcomers(transaction: Transaction) -> None:
    """Drop all pending devices."""
    transaction.db.execute("DELETE FROM newcomer")


def listener_port(snapshot: Snapshot) -> int:
    """Return the port that the listener had last, 0 where there was none."""
    row = snapshot.db.execute("SELECT port FROM listener").fetchone()
    return 0 if row is None else int(row[0])


def keep_listener_port(transaction: Transaction, port: int) -> None:
    """Remember the listener's port."""
    transaction.db.execute(
        "INSERT INTO listener VALUES (1, ?) ON CONFLICT (one) DO UPDATE SET port = excluded.port", (port,)
    )


def holds_journal(snapshot: Snapshot) -> bool:
    """Say whether the log holds anything but the roster: what joining another vault would unite with it."""
    row: Any = snapshot.db.execute("SELECT EXISTS (SELECT 1 FROM entity WHERE kind != 'device')").fetchone()
    return bool(row[0])
