"""Who may link with this device at this moment: the roster's members, and newcomers that must come back.

Never trusts longer than the roster does: what it holds is read anew whenever the feed has grown.
"""

import asyncio
from collections.abc import Callable

import structlog

from daemon.clock import Clock
from daemon.peers import let_in, roster
from daemon.peers.announcing import Known
from daemon.peers.roster import Member
from daemon.peers.trust import Gate
from store import peers as table
from store.faults import StoreError
from store.peers import Newcomer
from store.snapshot import Snapshot
from store.threads import StoreThreads
from store.transaction import Transaction
from syncproto.commit import By
from syncproto.ids import DeviceId

log = structlog.get_logger("peers")


class Membership:
    """The roster as it was last read, and what follows from it for TLS."""

    def __init__(self, db: StoreThreads, own: DeviceId, gate: Gate, clock: Clock) -> None:
        self._db = db
        self._own = own
        self._gate = gate
        self._clock = clock
        self._reading = asyncio.Lock()
        self._trusted: frozenset[bytes] | None = None
        self.everyone: dict[DeviceId, Member] = {}
        self._newcomers: dict[bytes, Newcomer] = {}
        self._beacon_is_right = True
        self._is_news = False

    async def refresh(self) -> None:
        """Read the roster; hold new handshakes to it."""

        def use(snapshot: Snapshot) -> tuple[dict[DeviceId, Member], list[Newcomer], bool, bool]:
            everyone, now_ms = roster.read(snapshot), self._clock.now_ms()
            is_news = bool(let_in.changes(snapshot, everyone, now_ms))
            beacon_is_right = roster.beacon_is_right(snapshot, everyone)
            return everyone, table.newcomers(snapshot, now_ms), beacon_is_right, is_news

        # One at a time: an older reading must not be put in place after a newer one.
        async with self._reading:
            read = await self._db.read(use)
            self.everyone, newcomers, self._beacon_is_right, self._is_news = read
        # Who is no member lets nobody in.
        self._newcomers = {} if self.removed else {one.certificate: one for one in newcomers}
        trusted = frozenset(member.certificate for member in self.peers().values()) | self._newcomers.keys()
        if trusted != self._trusted:
            self._gate.trust(trusted)
            # Only now: a fault on the way must not leave a removed device trusted.
            self._trusted = trusted

    async def note_let_in(self) -> None:
        """Remember since when this device sees others as members."""
        if not self._is_news:
            return
        # Before the writing: what is read meanwhile may be news again.
        self._is_news = False
        try:
            await self._db.write(let_in.note)
        except StoreError as fault:
            # The next reading finds it again; until then they are told as news of the moment.
            log.warning("it could not be noted who was let in", error=str(fault))

    async def renew_beacon(self) -> None:
        """Make the key of this device's announcements anew where a device that knows it was removed."""
        if not self._beacon_is_right:
            await self._db.write(lambda transaction: _with_beacon(transaction, self._clock.randomness))
            await self.refresh()

    def known(self) -> Known:
        """Return what announcements are made with, and told by."""
        own = self.everyone.get(self._own)
        others = {device: member.beacon for device, member in self.peers().items() if member.beacon}
        return Known(None if own is None or own.removed else own.beacon, others)

    @property
    def removed(self) -> bool:
        """Say whether this device was removed from its vault, or has left it."""
        own = self.everyone.get(self._own)
        return own is not None and own.removed

    def peers(self) -> dict[DeviceId, Member]:
        """Return the members to link with: others that were not removed; none where this one was."""
        return {} if self.removed else self.others()

    def others(self) -> dict[DeviceId, Member]:
        """Return the other devices of the vault, also where this one was removed from it."""
        return {
            device: member
            for device, member in self.everyone.items()
            if not member.removed and device != self._own
        }

    def admits(self, certificate: bytes) -> bool:
        """Say whether the holder of a certificate may link now."""
        return self._member(certificate) is not None or self._newcomer(certificate) is not None

    async def come_back(self, certificate: bytes) -> DeviceId | None:
        """Return whose certificate it is; a newcomer becomes a member first, durably. None for a stranger."""
        newcomer = self._newcomer(certificate)
        if newcomer is not None:
            joined = await self._db.write(lambda transaction: _let_in(transaction, newcomer))
            await self.refresh()
            if joined:
                log.info("a device joined", device=newcomer.device.hex()[:16], name=newcomer.name)
        member = self._member(certificate)
        return None if member is None else member.device

    def _member(self, certificate: bytes) -> Member | None:
        held = (one for one in self.peers().values() if one.certificate == certificate)
        return next(held, None)

    def _newcomer(self, certificate: bytes) -> Newcomer | None:
        newcomer = self._newcomers.get(certificate)
        if newcomer is None or newcomer.expires_ms <= self._clock.now_ms():
            return None
        return newcomer


def _with_beacon(transaction: Transaction, randomness: Callable[[int], bytes]) -> None:
    write = roster.beacon(transaction, randomness)
    if write is not None:
        transaction.commit([write], by=By.SYSTEM)


def _let_in(transaction: Transaction, newcomer: Newcomer) -> bool:
    """Make a newcomer a member; False where a person has called it off since, or this device was removed."""
    if not table.settle_newcomer(transaction, newcomer.device):
        return False
    own = roster.read(transaction).get(transaction.device)
    if own is not None and own.removed:
        return False
    write = roster.introduce(transaction, newcomer.name, newcomer.certificate, transaction.device)
    if write is not None:
        transaction.commit([write], by=By.SYSTEM)
    table.suggest_addresses(transaction, newcomer.device, newcomer.addresses)
    return True
