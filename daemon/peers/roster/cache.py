"""Who may link with this device at this moment: the members of the roster, and pending newcomers.

Never trusts longer than the roster does: it is read again whenever the feed has grown.
"""

import asyncio
from bisect import bisect_left, insort
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import structlog

from daemon.clock import Clock
from daemon.peers.roster import admission_log, entry_changes, member_records
from daemon.peers.roster.entry_changes import EntryChange, KnownEntry, RosterChanges
from daemon.peers.roster.listed_roster import ListedRoster
from daemon.peers.roster.member_limit import MemberPlaces
from daemon.peers.roster.member_records import BeaconKeys, Member
from daemon.peers.transport.trust import ListenerTrust
from store.file.errors import StoreError
from store.local import peer_records
from store.local.peer_records import Newcomer
from store.queries import device_entries
from store.snapshot import Snapshot
from store.threads import StoreThreads
from store.transaction import Transaction
from syncproto.codec import Value
from syncproto.commit import AuthorKind
from syncproto.ids import DeviceId, EntityId

log = structlog.get_logger("peers")


class _Reading(NamedTuple):
    """What one reading of the roster found; `unsaved` are devices of which something is to be stored."""

    changes: RosterChanges
    newcomers: list[Newcomer]
    unsaved: set[DeviceId]


class RosterCache:
    """The roster as it was last read, and what follows from it for TLS.

    `trust` is the listener's; it receives the certificates that may connect. A change costs what it changes,
    and not what the roster has.
    """

    def __init__(self, db: StoreThreads, own: DeviceId, trust: ListenerTrust, clock: Clock) -> None:
        self._db = db
        self._own = own
        self._trust = trust
        self._clock = clock
        self._reading = asyncio.Lock()
        self._trusted: frozenset[bytes] | None = None
        # What was read up to a position in the feed: only `_apply` changes it, on the event loop.
        self._newest = 0
        self._entries: dict[EntityId, KnownEntry] = {}
        self._all_members: dict[DeviceId, Member] = {}
        self._removed: list[DeviceId] = []
        self._removed_mark = member_records.removed_mark(())
        self._places = MemberPlaces(own)
        self._left_out = frozenset[DeviceId]()
        self._listed: ListedRoster | None = None
        self._others: Mapping[DeviceId, Member] = {}
        self._by_certificate: Mapping[bytes, Member] = {}
        self._newcomers: dict[bytes, Newcomer] = {}
        self._unsaved: set[DeviceId] = set()
        self.own_sealing_key: Sequence[Value] | None = None
        """What this device publishes of the key to which others seal, None if it has none."""

    async def refresh_if_changed(self) -> None:
        """Read what changed in the roster, if anything did."""
        if self._trusted is None or self._newest != await self._db.read(device_entries.newest_change):
            await self.refresh()

    async def refresh(self) -> None:
        """Read what changed in the roster, and apply it to all handshakes from now on."""
        # One at a time: what changed since the last reading is known only after it was applied.
        async with self._reading:
            reading = await self._db.read(self._read)
            self._apply(reading.changes)
            self._unsaved |= reading.unsaved
        newcomers = reading.newcomers
        # A device that is no member lets nobody in.
        self._newcomers = (
            {} if self.is_own_device_removed else {newcomer.certificate: newcomer for newcomer in newcomers}
        )
        trusted = (
            frozenset(member.certificate for member in self.linkable_members().values())
            | self._newcomers.keys()
        )
        if trusted != self._trusted:
            self._trust.replace_trusted(trusted)
            # Only after the listener has them: after a fault there, the next reading must try again.
            self._trusted = trusted

    def _read(self, snapshot: Snapshot) -> _Reading:
        now_ms = self._clock.now_ms()
        changes = entry_changes.read_changes(snapshot, self._entries, self._newest)
        changed: dict[DeviceId, Member | None] = {}
        if not self._newest:
            # After a start: what was stored of devices that are no entries any more is forgotten.
            changed.update(dict.fromkeys(peer_records.admissions_seen(snapshot)))
        for entity, change in changes.entries.items():
            entry = change.entry or self._entries.get(entity)
            if entry is not None and entry.device is not None:
                changed[entry.device] = None if change.entry is None else entry.member
        unsaved = admission_log.unsaved_admissions(snapshot, changed, now_ms)
        return _Reading(changes, peer_records.pending_newcomers(snapshot, now_ms), set(unsaved))

    def _apply(self, changes: RosterChanges) -> None:
        removed_before = list(self._removed)
        for entity, change in changes.entries.items():
            before, entry = self._entries.pop(entity, None), change.entry
            if entry is not None:
                self._entries[entity] = entry
            device = entry.device if entry is not None else before.device if before is not None else None
            if device is not None:
                self._apply_change(device, None if entry is None else entry.member, change)
        if changes.entries:
            if self._removed != removed_before:
                # Once for all of them: each costs what was ever removed.
                self._removed_mark = member_records.removed_mark(self._removed)
            linked = self._places.find_linked()
            # Removed devices stay in the roster, so that they stay outside.
            self._others = {
                device: self._all_members[device] for device in sorted(linked) if device != self._own
            }
            self._by_certificate = {member.certificate: member for member in self._others.values()}
            self._left_out = self._places.members() - self._others.keys() - {self._own}
            self._listed = None
        self._newest = changes.newest

    def _apply_change(self, device: DeviceId, member: Member | None, change: EntryChange) -> None:
        """Apply the change of one device's entry to what is kept of all devices."""
        before = self._all_members.pop(device, None)
        if member is not None:
            self._all_members[device] = member
        was_removed, is_removed = before is not None and before.removed, member is not None and member.removed
        if is_removed and not was_removed:
            insort(self._removed, device)
        elif was_removed and not is_removed:
            del self._removed[bisect_left(self._removed, device)]
        if change.entry is None:
            self._places.forget(device)
        else:
            for writer, position in change.admissions:
                self._places.add_admission(device, writer, position)
            self._places.set_member(device, member is not None and not member.removed)

    async def save_admissions(self) -> None:
        """Store since when this device sees others as members."""
        if not self._unsaved:
            return
        # Before the write: a reading during the write may find more.
        devices, self._unsaved = self._unsaved, set()
        try:
            await self._db.write(lambda tx: admission_log.save_admissions_seen(tx, devices))
        except StoreError as fault:
            # Tried again with the next change. Until then they are shown as members since this moment.
            self._unsaved |= devices
            log.warning("the times at which devices were let in could not be stored", error=str(fault))

    async def renew_beacon(self) -> None:
        """Replace the key of this device's announcements if a device that knows it was removed.

        If others do not know its sealing key yet, that is published too.
        """
        mark, randomness, own = self._removed_mark, self._clock.randomness, self._all_members.get(self._own)
        sealing_key = self.own_sealing_key
        if not (
            member_records.beacon_is_current(own, mark)
            and member_records.sealing_key_is_current(own, sealing_key)
        ):
            await self._db.write(
                lambda transaction: _renew_own_keys(transaction, mark, sealing_key, randomness)
            )
            await self.refresh()

    @property
    def all_members(self) -> Mapping[DeviceId, Member]:
        """Return all that were ever members, removed ones too."""
        return self._all_members

    @property
    def left_out(self) -> frozenset[DeviceId]:
        """Return the members that this device does not link with, because the roster has too many."""
        return self._left_out

    async def read_listed(self) -> ListedRoster:
        """Return the roster as it is now, in the order in which it is shown.

        Only what changed is read; without a change, nothing is put in order again.
        """
        await self.refresh_if_changed()
        if self._listed is None:
            self._listed = ListedRoster(dict(self._all_members), self._own, self._left_out)
        return self._listed

    def beacon_keys(self) -> BeaconKeys:
        """Return the keys by which members recognise each other's announcements."""
        own = self.all_members.get(self._own)
        others = {
            device: member.beacon for device, member in self.linkable_members().items() if member.beacon
        }
        return BeaconKeys(None if own is None or own.removed else own.beacon, others)

    @property
    def is_own_device_removed(self) -> bool:
        """Return whether this device was removed from its vault, or has left it."""
        own = self.all_members.get(self._own)
        return own is not None and own.removed

    def linkable_members(self) -> Mapping[DeviceId, Member]:
        """Return the other members, none if this device was removed."""
        return {} if self.is_own_device_removed else self._others

    def other_members(self) -> Mapping[DeviceId, Member]:
        """Return the other devices of the vault, also if this one was removed from it."""
        return self._others

    def may_link(self, certificate: bytes) -> bool:
        """Return whether the device with a certificate may link now."""
        return self._member(certificate) is not None or self._newcomer(certificate) is not None

    async def admit_returning(self, certificate: bytes) -> DeviceId | None:
        """Return the device that a certificate belongs to, None for a stranger.

        A pending newcomer becomes a member first, durably.
        """
        newcomer = self._newcomer(certificate)
        if newcomer is not None:
            joined = await self._db.write(lambda transaction: _admit(transaction, newcomer))
            await self.refresh()
            if joined:
                log.info("a device joined", device=newcomer.device.hex()[:16], name=newcomer.name)
        member = self._member(certificate)
        return None if member is None else member.device

    def _member(self, certificate: bytes) -> Member | None:
        return None if self.is_own_device_removed else self._by_certificate.get(certificate)

    def _newcomer(self, certificate: bytes) -> Newcomer | None:
        newcomer = self._newcomers.get(certificate)
        if newcomer is None or newcomer.expires_ms <= self._clock.now_ms():
            return None
        return newcomer


def _renew_own_keys(
    transaction: Transaction,
    mark: bytes,
    sealing_key: Sequence[Value] | None,
    randomness: Callable[[int], bytes],
) -> None:
    own = member_records.read_member(transaction, transaction.device)
    if own is None or own.removed:
        return
    write = member_records.own_keys_write(own, mark, sealing_key, randomness)
    if write is not None:
        transaction.commit([write], by=AuthorKind.SYSTEM)


def _admit(transaction: Transaction, newcomer: Newcomer) -> bool:
    """Make a newcomer a member. Return False if a person called it off, or if this device was removed."""
    if not peer_records.remove_pending_newcomer(transaction, newcomer.device):
        return False
    # Read again in the transaction: the removal may have arrived after the handshake.
    own = member_records.read_member(transaction, transaction.device)
    if own is not None and own.removed:
        return False
    member_records.introduce(transaction, newcomer.name, newcomer.certificate, transaction.device)
    peer_records.add_candidate_addresses(transaction, newcomer.device, newcomer.addresses)
    return True
