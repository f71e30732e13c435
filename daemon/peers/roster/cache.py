"""Who may link with this device at this moment: the members of the roster, and pending newcomers.

Never trusts longer than the roster does: it is read again whenever the feed has grown.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import NamedTuple

import structlog

from daemon.clock import Clock
from daemon.peers.roster import admission_log, member_limit, member_records
from daemon.peers.roster.member_records import BeaconKeys, Member
from daemon.peers.transport.trust import ListenerTrust
from store.file.errors import StoreError
from store.local import peer_records
from store.local.peer_records import Newcomer
from store.snapshot import Snapshot
from store.threads import StoreThreads
from store.transaction import Transaction
from syncproto.commit import AuthorKind
from syncproto.ids import DeviceId

log = structlog.get_logger("peers")


class _Reading(NamedTuple):
    """What one reading of the roster found."""

    mark: tuple[int, int]
    members: Mapping[DeviceId, Member]
    left_out: frozenset[DeviceId]
    newcomers: list[Newcomer]
    beacon_is_current: bool
    has_news: bool


def _roster_mark(snapshot: Snapshot) -> tuple[int, int]:
    return snapshot.kind_mark(member_records.KIND)


class RosterCache:
    """The roster as it was last read, and what follows from it for TLS.

    `trust` is the listener's; it receives the certificates that may connect.
    """

    def __init__(self, db: StoreThreads, own: DeviceId, trust: ListenerTrust, clock: Clock) -> None:
        self._db = db
        self._own = own
        self._trust = trust
        self._clock = clock
        self._reading = asyncio.Lock()
        self._trusted: frozenset[bytes] | None = None
        self._mark: tuple[int, int] | None = None
        self.all_members: Mapping[DeviceId, Member] = {}
        self.left_out: frozenset[DeviceId] = frozenset()
        """The members that this device does not link with, because the roster has too many."""
        self._others: Mapping[DeviceId, Member] = {}
        self._by_certificate: Mapping[bytes, Member] = {}
        self._newcomers: dict[bytes, Newcomer] = {}
        self._beacon_is_current = True
        self._has_news = False

    async def refresh_if_changed(self) -> None:
        """Read the roster if an entry has changed since it was read last."""
        if self._mark is None or self._mark != await self._db.read(_roster_mark):
            await self.refresh()

    async def refresh(self) -> None:
        """Read the roster, and apply it to all handshakes from now on."""

        def read_roster(snapshot: Snapshot) -> _Reading:
            members, now_ms = member_records.read_members(snapshot), self._clock.now_ms()
            return _Reading(
                _roster_mark(snapshot),
                members,
                member_limit.devices_left_out(snapshot, members),
                peer_records.pending_newcomers(snapshot, now_ms),
                member_records.beacon_is_current(snapshot, members),
                bool(admission_log.unsaved_admissions(snapshot, members, now_ms)),
            )

        # One at a time: an older reading must not replace a newer one.
        async with self._reading:
            reading = await self._db.read(read_roster)
            self._apply(reading)
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

    async def save_admissions(self) -> None:
        """Store since when this device sees others as members."""
        if not self._has_news:
            return
        # Set before the write: a reading during the write may find news again.
        self._has_news = False
        try:
            await self._db.write(admission_log.save_admissions_seen)
        except StoreError as fault:
            # The next reading finds them again. Until then they are shown as members since this moment.
            self._mark = None
            log.warning("the times at which devices were let in could not be stored", error=str(fault))

    async def renew_beacon(self) -> None:
        """Replace the key of this device's announcements if a device that knows it was removed."""
        if not self._beacon_is_current:
            await self._db.write(lambda transaction: _renew_beacon(transaction, self._clock.randomness))
            await self.refresh()

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

    def _apply(self, reading: "_Reading") -> None:
        self._mark, self.all_members, self.left_out = reading.mark, reading.members, reading.left_out
        self._beacon_is_current, self._has_news = reading.beacon_is_current, reading.has_news
        # Removed devices stay in the roster, so that they stay outside.
        self._others = {
            device: member
            for device, member in reading.members.items()
            if not member.removed and device != self._own and device not in reading.left_out
        }
        self._by_certificate = {member.certificate: member for member in self._others.values()}

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


def _renew_beacon(transaction: Transaction, randomness: Callable[[int], bytes]) -> None:
    write = member_records.beacon_renewal_write(transaction, randomness)
    if write is not None:
        transaction.commit([write], by=AuthorKind.SYSTEM)


def _admit(transaction: Transaction, newcomer: Newcomer) -> bool:
    """Make a newcomer a member. Return False if a person called it off, or if this device was removed."""
    if not peer_records.remove_pending_newcomer(transaction, newcomer.device):
        return False
    # Read again in the transaction: the removal may have arrived after the handshake.
    own = member_records.read_members(transaction).get(transaction.device)
    if own is not None and own.removed:
        return False
    write = member_records.introduction_write(
        transaction, newcomer.name, newcomer.certificate, transaction.device
    )
    if write is not None:
        transaction.commit([write], by=AuthorKind.SYSTEM)
    peer_records.add_candidate_addresses(transaction, newcomer.device, newcomer.addresses)
    return True
