"""What a person is shown of devices and synchronisation: the shapes, and how they are read from the store.

Never waits, and never asks another device.
"""

from collections.abc import Container, Mapping, Sequence
from typing import Any

import msgspec

from daemon.peers.roster.admission_log import AdmissionsSeen, admission_mark, find_admitter, first_seen_ms
from daemon.peers.roster.member_records import Member
from daemon.peers.transport.happy_eyeballs import FailedCall
from daemon.timestamps import iso_utc
from store.local import peer_records
from store.local.peer_records import PeerContact
from store.sentence import sentence_fields
from store.snapshot import Snapshot
from syncproto.ids import DeviceId
from syncproto.vector_clock import VectorClock


class Unreached(msgspec.Struct, frozen=True):
    """A call that failed.

    `kind`: no_answer, not_listening, no_way, turned_away, busy, another (device), newer or older (version),
    or faulty (it broke the protocol).
    `seen_id` names the sentence of `seen`, and `seen_params` is what fills it.
    """

    kind: str
    seen: str
    seen_id: str = ""
    seen_params: dict[str, Any] = {}


class DeviceState(msgspec.Struct, frozen=True):
    """A device of the roster.

    `lag` counts the commits that it is known to lack. None: it was never heard of, or it gets none from here
    because it or this device was removed. `missing` counts the commits that it is known to have and this
    device lacks; 0 if none of them will come.
    """

    device_id: str
    name: str
    this: bool
    connected: bool
    address: str | None
    lag: int | None
    missing: int
    last_seen: str | None
    removed: bool
    added_by: str | None
    """The name of the device that let it in last, None if no device says so. Names are not unique."""
    added_by_id: str | None
    """The id of that device: the one that signed the write, whatever the write says."""
    added_at: str | None
    """When it was let in, by the clock of the device that let it in."""
    added_heard_at: str | None
    """Since when this device sees it as a member, None if it was in the vault when this device joined."""
    clock_ahead_s: int | None
    """How many seconds its clock was ahead of this one's when last called, None if it was not called."""
    unreached: list[Unreached]
    """What was seen at each address at which the last call failed; empty while it is connected."""
    unanswered: bool = False
    """It is connected, and has not yet answered what it was sent or asked."""
    differs: bool = False
    """It showed another state when both had the same commits last: one of the two is damaged."""
    left_out: bool = False
    """It is not linked with, because the roster has more devices than this one links with."""


class Goodbye(msgspec.Struct, frozen=True):
    """The names of the devices that know that this one leaves the vault, and of those that do not.

    `removed`: another device removed this one earlier, so nobody is told.
    """

    told: list[str]
    untold: list[str]
    removed: bool = False


class SyncReport(msgspec.Struct, frozen=True):
    """The state of all peers.

    `complete`: every connected peer and this device have the same commits as far as is known, no peer owes an
    answer, and no member showed another state for the same commits. `peers` shows what is not complete.
    """

    complete: bool
    paused: bool
    peers: list[DeviceState]


class LinkState(msgspec.Struct, frozen=True):
    """What is known of a live link."""

    address: str
    vector: VectorClock
    unanswered: bool


class PeerObservations(msgspec.Struct, frozen=True):
    """What this process has seen of other devices, as opposed to what the store has."""

    live_links: Mapping[DeviceId, LinkState]
    failed_calls: Mapping[DeviceId, Sequence[FailedCall]]
    clock_leads_s: Mapping[DeviceId, int]
    diverging: Container[DeviceId]
    left_out: Container[DeviceId] = ()


class _DeviceRecords(msgspec.Struct, frozen=True):
    """What the store has on devices beside the roster."""

    contacts: Mapping[DeviceId, PeerContact]
    addresses: Mapping[DeviceId, Sequence[str]]
    admissions: AdmissionsSeen


def read_device_states(
    snapshot: Snapshot,
    members: Mapping[DeviceId, Member],
    observations: PeerObservations,
    *,
    own_address: str,
    now_ms: int,
) -> list[DeviceState]:
    """Return every device of the roster: this one, then members by name, then removed ones."""
    records = _DeviceRecords(
        contacts=peer_records.peer_contacts(snapshot),
        addresses=peer_records.peer_addresses(snapshot),
        admissions=peer_records.admissions_seen(snapshot),
    )
    states = [
        _device_state(
            snapshot, members, member, observations, records=records, own_address=own_address, now_ms=now_ms
        )
        for member in members.values()
    ]
    return sorted(states, key=lambda state: (not state.this, state.removed, state.name, state.device_id))


def _device_state(
    snapshot: Snapshot,
    members: Mapping[DeviceId, Member],
    member: Member,
    observations: PeerObservations,
    *,
    records: _DeviceRecords,
    own_address: str,
    now_ms: int,
) -> DeviceState:
    device, own = member.device, members.get(snapshot.device)
    this, link = device == snapshot.device, observations.live_links.get(device)
    contact = records.contacts.get(device)
    last_vector = link.vector if link else contact.vector if contact else None
    # Nothing is exchanged with a removed device, so it has no lag, and nothing of it will come.
    removed = member.removed or (own is not None and own.removed)
    vector = None if removed else last_vector
    admitter, admitter_id, admitted_at = _admission(snapshot, members, device)
    seen_ms = now_ms if link or this else contact.seen_ms if contact else None
    known_address = next(iter(records.addresses.get(device, [])), None)
    failed_calls = () if link else observations.failed_calls.get(device, ())
    return DeviceState(
        device_id=device.hex(),
        name=member.name,
        this=this,
        connected=this or link is not None,
        address=own_address if this else link.address if link else known_address,
        lag=0 if this else None if vector is None else snapshot.count_behind(vector),
        missing=0 if this or vector is None else snapshot.log.count_missing_here(vector),
        last_seen=None if seen_ms is None else iso_utc(seen_ms),
        removed=member.removed,
        added_by=admitter,
        added_by_id=admitter_id,
        added_at=admitted_at,
        added_heard_at=_member_since(snapshot, records.admissions, member, now_ms),
        clock_ahead_s=observations.clock_leads_s.get(device),
        unreached=[
            Unreached(call.kind.value, **sentence_fields("seen", call.sentence)) for call in failed_calls
        ],
        unanswered=link is not None and link.unanswered,
        differs=device in observations.diverging,
        left_out=device in observations.left_out,
    )


def _admission(
    snapshot: Snapshot, members: Mapping[DeviceId, Member], device: DeviceId
) -> tuple[str | None, str | None, str | None]:
    """Return who let a device in, by name and by id, and when.

    The name is the beginning of the id if that device is not in the roster.
    """
    admitter = find_admitter(snapshot, device)
    if admitter is None:
        return None, None, None
    member, device_id = members.get(admitter.device), admitter.device.hex()
    return device_id[:8] if member is None else member.name, device_id, iso_utc(admitter.at_ms)


def _member_since(
    snapshot: Snapshot, admissions_seen: AdmissionsSeen, member: Member, now_ms: int
) -> str | None:
    """Return since when this device sees another one as a member, None if that is no news."""
    own, device = snapshot.device, member.device
    if member.removed or device == own:
        return None
    since_ms = first_seen_ms(admissions_seen, own, device, admission_mark(snapshot, device), now_ms)
    return iso_utc(since_ms) if since_ms else None
