"""What this device alone knows of its peers: addresses, last contacts, pending newcomers.

Never decides whom to trust: the roster does, which is synced.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

import apsw
import msgspec

from store.snapshot import Snapshot
from store.transaction import Transaction
from syncproto import codec
from syncproto.ids import DeviceId, ReplicaId
from syncproto.vector_clock import EMPTY_CLOCK, VectorClock

ADDRESSES_MAX = 16

_vectors = msgspec.msgpack.Decoder(VectorClock)


class PeerContact(NamedTuple):
    """When a peer was last heard of (Unix time in milliseconds), and which commits it then had.

    `replica` is as which it then wrote, None if that is not known.
    """

    seen_ms: int
    vector: VectorClock
    replica: ReplicaId | None = None


class Newcomer(NamedTuple):
    """A device that proved an invitation's secret and must come back over mutual TLS until `expires_ms`."""

    device: DeviceId
    certificate: bytes
    name: str
    addresses: tuple[str, ...]
    expires_ms: int


def peer_contacts(
    snapshot: Snapshot, devices: Collection[DeviceId] | None = None
) -> dict[DeviceId, PeerContact]:
    """Return the last contact with each peer that was ever heard of, or with those among `devices`."""
    rows = _rows_of(snapshot, "SELECT device, seen_ms, vector, replica FROM peer", devices)
    return {
        device: PeerContact(seen_ms, codec.decode(vector, _vectors, len(vector)), replica)
        for device, seen_ms, vector, replica in rows
    }


def record_contact(
    transaction: Transaction,
    device: DeviceId,
    vector: VectorClock,
    seen_ms: int,
    replica: ReplicaId | None = None,
) -> None:
    """Store when a peer was last heard of, which commits it has, and as which replica it writes."""
    transaction.db.execute(
        "INSERT INTO peer (device, seen_ms, vector, replica) VALUES (?, ?, ?, ?) ON CONFLICT (device) DO"
        " UPDATE SET seen_ms = excluded.seen_ms, vector = excluded.vector, replica = excluded.replica",
        (device, seen_ms, codec.encode(vector), replica),
    )


def divergence_starts_ms(snapshot: Snapshot) -> dict[DeviceId, int]:
    """Return the peers that showed another state for the same commits when last compared, and when."""
    rows: Any = snapshot.db.execute("SELECT device, differs_ms FROM peer WHERE differs_ms IS NOT NULL")
    return dict(rows)


def record_divergence(transaction: Transaction, device: DeviceId, found_ms: int | None) -> None:
    """Store since when a peer has another state for the same commits; None if it does not."""
    if found_ms is None:
        transaction.db.execute("UPDATE peer SET differs_ms = NULL WHERE device = ?", (device,))
        return
    # A peer without a recorded vector counts as having no commit until one is recorded.
    transaction.db.execute(
        "INSERT INTO peer (device, seen_ms, vector, differs_ms) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (device) DO UPDATE SET differs_ms = excluded.differs_ms",
        (device, found_ms, codec.encode(EMPTY_CLOCK), found_ms),
    )


def peer_addresses(
    snapshot: Snapshot, devices: Collection[DeviceId] | None = None
) -> dict[DeviceId, list[str]]:
    """Return the addresses of each peer (`host:port`), the one that worked last first.

    With `devices`, the others are left out.
    """
    addresses: dict[DeviceId, list[str]] = {}
    rows = _rows_of(
        snapshot, "SELECT device, address FROM peer_address", devices, "ORDER BY good_ms DESC, address"
    )
    for device, address in rows:
        addresses.setdefault(device, []).append(address)
    return addresses


def addresses_reached_last(snapshot: Snapshot) -> dict[DeviceId, str]:
    """Return the address at which each peer was reached last; one that never was has none."""
    rows: Any = snapshot.db.execute(
        "SELECT device, address, max(good_ms) FROM peer_address WHERE good_ms > 0 GROUP BY device"
    )
    return {device: address for device, address, _good_ms in rows}


def add_candidate_addresses(transaction: Transaction, device: DeviceId, suggested: Sequence[str]) -> None:
    """Store addresses that a peer may have, none of which was tried."""
    for address in suggested[:ADDRESSES_MAX]:
        transaction.db.execute(
            "INSERT INTO peer_address VALUES (?, ?, 0) ON CONFLICT DO NOTHING", (device, address)
        )
    _keep_best(transaction, device)


def record_working_address(transaction: Transaction, device: DeviceId, address: str) -> None:
    """Store an address at which a peer was just reached."""
    transaction.db.execute(
        "INSERT INTO peer_address VALUES (?, ?, ?)"
        " ON CONFLICT (device, address) DO UPDATE SET good_ms = excluded.good_ms",
        (device, address, transaction.now_ms()),
    )
    _keep_best(transaction, device)


def _keep_best(transaction: Transaction, device: DeviceId) -> None:
    """Delete all but the addresses that worked most recently, so that the table stays small."""
    transaction.db.execute(
        "DELETE FROM peer_address WHERE device = ?1 AND address NOT IN (SELECT address FROM peer_address"
        " WHERE device = ?1 ORDER BY good_ms DESC, address LIMIT ?2)",
        (device, ADDRESSES_MAX),
    )


def forget_addresses(transaction: Transaction, device: DeviceId) -> None:
    """Delete the addresses of a device that is no longer a member."""
    for table in ("peer_address", "newcomer"):
        transaction.db.execute(f"DELETE FROM {table} WHERE device = ?", (device,))


def admissions_seen(
    snapshot: Snapshot, devices: Collection[DeviceId] | None = None
) -> dict[DeviceId, tuple[bytes, int]]:
    """Return the mark under which each member was first seen here, and when that was (Unix time, ms).

    This device's own: empty, and when it joined its vault. With `devices`, the others are left out.
    """
    rows = _rows_of(snapshot, "SELECT device, write, heard_ms FROM let_in", devices)
    return {device: (mark, heard_ms) for device, mark, heard_ms in rows}


def _rows_of(
    snapshot: Snapshot, select: str, devices: Collection[DeviceId] | None, order: str = ""
) -> Iterator[Any]:
    """Return the rows of a table on some devices, None for all."""
    if devices is None:
        return snapshot.db.execute(f"{select} {order}")
    # An empty array has no type.
    wanted_devices = apsw.carray(tuple(devices) or (b"",))
    return snapshot.db.execute(f"{select} WHERE device IN carray(?) {order}", (wanted_devices,))


def record_admission(transaction: Transaction, device: DeviceId, mark: bytes, heard_ms: int) -> None:
    """Store under which mark a member was first seen here, and when; or when this device itself joined."""
    transaction.db.execute(
        "INSERT INTO let_in VALUES (?, ?, ?)"
        " ON CONFLICT (device) DO UPDATE SET write = excluded.write, heard_ms = excluded.heard_ms",
        (device, mark, heard_ms),
    )


def forget_admission(transaction: Transaction, device: DeviceId) -> None:
    """Delete the record of a device that is no longer a member: if it comes back, it is seen anew."""
    transaction.db.execute("DELETE FROM let_in WHERE device = ?", (device,))


def pending_newcomers(snapshot: Snapshot, now_ms: int) -> list[Newcomer]:
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


def add_pending_newcomer(transaction: Transaction, newcomer: Newcomer) -> None:
    """Store a pending device; those that have expired are deleted."""
    transaction.db.execute("DELETE FROM newcomer WHERE expires_ms <= ?", (transaction.now_ms(),))
    transaction.db.execute(
        "INSERT INTO newcomer VALUES (?, ?, ?, ?, ?) ON CONFLICT (device) DO UPDATE SET"
        " certificate = excluded.certificate, name = excluded.name, addresses = excluded.addresses,"
        " expires_ms = excluded.expires_ms",
        (*newcomer[:3], "\n".join(newcomer.addresses), newcomer.expires_ms),
    )


def remove_pending_newcomer(transaction: Transaction, device: DeviceId) -> bool:
    """Delete a pending device, which became a member or no longer may; return whether it was pending."""
    transaction.db.execute("DELETE FROM newcomer WHERE device = ?", (device,))
    return transaction.db.changes() > 0


def clear_pending_newcomers(transaction: Transaction) -> None:
    """Delete all pending devices."""
    transaction.db.execute("DELETE FROM newcomer")


def listener_port(snapshot: Snapshot) -> int:
    """Return the port that the listener had last, 0 if there was none."""
    row = snapshot.db.execute("SELECT port FROM listener").fetchone()
    return 0 if row is None else int(row[0])


def store_listener_port(transaction: Transaction, port: int) -> None:
    """Store the port of the listener."""
    transaction.db.execute(
        "INSERT INTO listener VALUES (1, ?) ON CONFLICT (one) DO UPDATE SET port = excluded.port", (port,)
    )


def holds_journal(snapshot: Snapshot) -> bool:
    """Return whether there is anything but the roster: joining another vault would unite it with that."""
    row: Any = snapshot.db.execute("SELECT EXISTS (SELECT 1 FROM entity WHERE kind != 'device')").fetchone()
    return bool(row[0])
