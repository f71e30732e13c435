"""What a person is shown of devices and synchronisation: the shapes, and how they are read from the store.

Never waits, and never asks another device.
"""

from collections.abc import Container, Mapping, Sequence
from typing import Any, Final

import msgspec

from daemon.peers.linking.exchange_faults import ExchangeFaults
from daemon.peers.roster.admission_log import AdmissionsSeen, admission_mark, find_admitter, first_seen_ms
from daemon.peers.roster.listed_roster import ListedRoster
from daemon.peers.roster.member_records import Member
from daemon.refusal import not_found_refusal
from daemon.timestamps import iso_utc
from store.local import peer_records
from store.local.peer_records import PeerContact
from store.sentence import sentence, sentence_fields
from store.snapshot import Snapshot
from syncproto.ids import DeviceId
from syncproto.vector_clock import VectorClock

DEVICES_SHOWN_MAX: Final = 500
"""One answer has at most so many devices. The roster may have any number, but few of them are linked with."""


class Unreached(msgspec.Struct, frozen=True):
    """A call that failed, or a fault that ended a link.

    `kind` of a call: no_answer, not_listening, no_way, turned_away, busy, another (device). Of a fault: newer
    or older (version), faulty (it broke the protocol), ended_there (it ended the link because of a fault),
    failed_here (its changes could not be stored on this device).
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
    """What was seen at each address at which the last call failed; empty while it is connected.

    If a link came later and ended by a fault, that fault.
    """
    unanswered: bool = False
    """It is connected, and has not yet answered what it was sent or asked."""
    differs: bool = False
    """It showed another state when both had the same commits last: one of the two is damaged."""
    left_out: bool = False
    """It is not linked with, because the roster has more devices than this one links with."""
    link_fault: Unreached | None = None
    """The fault by which its last link ended, null if it ended without one, or if a later link works."""


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
    answer, no member showed another state for the same commits, and the last link of no member ended by a
    fault. `peers` shows what is not complete. `peers_left_out` counts the devices that it does not show.
    """

    complete: bool
    paused: bool
    peers: list[DeviceState]
    peers_left_out: int = 0


class DeviceList(msgspec.Struct, frozen=True):
    """Some of the devices of the roster, and how many more there are: current members, and removed ones."""

    states: list[DeviceState]
    members_left_out: int
    removed_left_out: int


class AdmittedDevices(msgspec.Struct, frozen=True):
    """How many members came in by one device alone, and the names of the first few of these."""

    count: int
    names: list[str]


class LinkState(msgspec.Struct, frozen=True):
    """What is known of a live link."""

    address: str
    vector: VectorClock
    unanswered: bool


class PeerObservations(msgspec.Struct, frozen=True):
    """What this process has seen of other devices, as opposed to what the store has."""

    live_links: Mapping[DeviceId, LinkState]
    faults: ExchangeFaults
    clock_leads_s: Mapping[DeviceId, int]
    diverging: Container[DeviceId]
    left_out: Container[DeviceId] = ()


class _DeviceRecords(msgspec.Struct, frozen=True):
    """What the store has on devices beside the roster."""

    contacts: Mapping[DeviceId, PeerContact]
    addresses: Mapping[DeviceId, Sequence[str]]
    admissions: AdmissionsSeen


def list_device_states(
    snapshot: Snapshot,
    roster: ListedRoster,
    observations: PeerObservations,
    *,
    own_address: str,
    now_ms: int,
    after: str | None = None,
) -> DeviceList:
    """Return the devices of the roster in their order, from the first one or the one after the id `after`.

    It costs what it returns, and not what the roster has. Raises Refused if no device has that id.
    """
    page = roster.page(after, DEVICES_SHOWN_MAX)
    if page is None:
        raise not_found_refusal("device", str(after), sentence("see-devices", "see placet devices"))
    return DeviceList(
        read_device_states(
            snapshot, roster.members, page.shown, observations, own_address=own_address, now_ms=now_ms
        ),
        page.members_left_out,
        page.removed_left_out,
    )


def read_device_states(
    snapshot: Snapshot,
    members: Mapping[DeviceId, Member],
    shown: Sequence[Member],
    observations: PeerObservations,
    *,
    own_address: str,
    now_ms: int,
) -> list[DeviceState]:
    """Return what is known of some devices of the roster, in their order."""
    devices = [member.device for member in shown]
    records = _DeviceRecords(
        contacts=peer_records.peer_contacts(snapshot, devices),
        addresses=peer_records.peer_addresses(snapshot, devices),
        admissions=peer_records.admissions_seen(snapshot, [snapshot.device, *devices]),
    )
    return [
        _device_state(
            snapshot, members, member, observations, records=records, own_address=own_address, now_ms=now_ms
        )
        for member in shown
    ]


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
    failed_calls, link_fault = _faults(observations.faults, member)
    if link is None and not failed_calls and link_fault is not None:
        failed_calls = [link_fault]
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
        unreached=[] if link else failed_calls,
        unanswered=link is not None and link.unanswered,
        differs=device in observations.diverging,
        left_out=device in observations.left_out,
        link_fault=link_fault,
    )


def _faults(faults: ExchangeFaults, member: Member) -> tuple[list[Unreached], Unreached | None]:
    """Return the calls to a device that failed last, and the fault by which its last link ended."""
    calls = [
        Unreached(call.kind.value, **sentence_fields("seen", call.sentence))
        for call in faults.failed_calls(member.device)
    ]
    fault = faults.link_fault(member.device)
    if fault is None:
        return calls, None
    return calls, Unreached(fault.kind.value, **sentence_fields("seen", fault.sentence(member.name)))


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
    return (
        device_id[:8] if member is None else member.name,
        device_id,
        iso_utc(snapshot.shown_ms(admitter.at_ms)),
    )


def _member_since(
    snapshot: Snapshot, admissions_seen: AdmissionsSeen, member: Member, now_ms: int
) -> str | None:
    """Return since when this device sees another one as a member, None if that is no news."""
    own, device = snapshot.device, member.device
    if member.removed or device == own:
        return None
    since_ms = first_seen_ms(admissions_seen, own, device, admission_mark(snapshot, device), now_ms)
    return iso_utc(since_ms) if since_ms else None
