"""Letting devices in, and being let in: what pairing leaves behind on both sides.

Never joins a vault where that would mix or lose what a person did not mean to.
"""

import asyncio
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet

import structlog

from daemon.clock import Clock
from daemon.journal.errors import Code, Refused
from daemon.peers import addresses, joining, let_in, roster
from daemon.peers.dial import Dialling
from daemon.peers.identity import Identity, device_of
from daemon.peers.joining import Inviting, Offer
from daemon.peers.membership import Membership
from daemon.peers.pace import Pace
from daemon.peers.pairing import VAULT_BYTES, Admitted, Host, Joined, Newcomer
from daemon.peers.tried import TriedCodes
from daemon.peers.wire import Wire
from store import peers as table
from store.snapshot import Snapshot
from store.threads import StoreThreads
from store.transaction import Transaction, Write
from syncproto.commit import By
from syncproto.ids import DeviceId

log = structlog.get_logger("peers")


class Admission:
    """The durable side of pairing. `name` is what this device is called where the roster does not say."""

    def __init__(
        self,
        db: StoreThreads,
        clock: Clock,
        *,
        identity: Identity,
        members: Membership,
        dialling: Dialling,
        name: str,
        pace: Pace,
    ) -> None:
        self._db = db
        self._clock = clock
        self._identity = identity
        self._members = members
        self._dialling = dialling
        self._name = name
        self._pace = pace
        self._joining = asyncio.Lock()
        self._tried = TriedCodes()

    @property
    def joining(self) -> bool:
        """Say whether this device is about to enter another vault."""
        return self._joining.locked()

    def establish(self, transaction: Transaction) -> int:
        """Make what the first start makes; return the port that the listener had before."""
        if transaction.vault() is None:
            transaction.set_vault(self._clock.randomness(VAULT_BYTES))
        if self._identity.device not in roster.read(transaction):
            write = roster.introduce(transaction, self._name, self._identity.certificate)
            beacon = roster.beacon(transaction, self._clock.randomness)
            assert write is not None
            fields = {**write.fields} if beacon is None else {**write.fields, **beacon.fields}
            transaction.commit([Write(write.entity, write.kind, fields)], by=By.SYSTEM)
        return table.listener_port(transaction)

    # -- letting in -----------------------------------------------------------------------------------

    async def host(self) -> Host:
        """Return what a newcomer is told."""

        def use(snapshot: Snapshot) -> Host:
            vault = snapshot.vault()
            assert vault is not None, "an invitation before the first start was over"
            own = roster.read(snapshot).get(self._identity.device)
            return Host(self._name if own is None else own.name, vault)

        return await self._db.read(use)

    async def keep_newcomer(self, joined: Joined) -> None:
        """Make a device that proved the secret durably pending."""
        said = joined.newcomer
        usable = tuple(str(addresses.parse(one)) for one in said.addresses if addresses.is_address(one))
        expires_ms = self._clock.now_ms() + self._pace.newcomer_ms
        device = device_of(joined.certificate)
        pending = table.Newcomer(device, joined.certificate, said.name, usable, expires_ms)
        await self._db.write(lambda transaction: table.await_newcomer(transaction, pending))
        try:
            await self._members.refresh()
        except Exception:
            # Both sides will hear that it was not kept, and it must not be let in by the next start.
            await self._db.write(lambda transaction: table.settle_newcomer(transaction, device))
            raise
        log.info("a device proved the secret", device=device.hex()[:16], name=said.name, brings=said.brings)

    async def send_away(self) -> AbstractSet[DeviceId]:
        """Forget who proved a secret and has not come back, whichever it was; return who that was."""

        def use(transaction: Transaction) -> AbstractSet[DeviceId]:
            waiting = {one.device for one in table.newcomers(transaction, transaction.now_ms())}
            table.forget_newcomers(transaction)
            return waiting

        gone = await self._db.write(use)
        await self._members.refresh()
        return gone

    # -- being let in ---------------------------------------------------------------------------------

    async def join(
        self,
        offer: Offer,
        *,
        unite: bool,
        first: str | None,
        own: list[str],
        inviting: Sequence[Inviting],
        begins: Callable[[], None],
    ) -> Admitted:
        """Pair with the inviter and adopt its vault, durably. Raises Refused.

        `first` is an address that a person gave; `own` are those where this device listens; `inviting` are
        the devices nearby that say that they invite; `begins` is told once nothing here forbids it.
        """
        places = joining.candidates(first, offer, inviting)
        async with self._joining:
            by_code = offer.device is None
            if offer.device is not None:
                await self._may_join(offer.device, unite, own)
            else:
                self._tried.require(offer.secret)
            wire, certificate = await joining.knock(self._dialling, offer, places, self._pace)
            newcomer = await self._may_pair(wire, device_of(certificate), unite, own)
            # Whoever came here now would be told of a vault that this device is about to exchange for
            # another, and two devices that joined each other would only change places.
            begins()
            admitted = await joining.pair(
                wire,
                certificate,
                offer,
                identity=self._identity,
                newcomer=newcomer,
                randomness=self._clock.randomness,
                pace=self._pace,
                charge=lambda: self._tried.charge(offer.secret) if by_code else None,
            )
            await self._db.write(lambda transaction: self._adopt(transaction, admitted, wire.remote))
            await self._members.refresh()
        return admitted

    async def _may_pair(self, wire: Wire, inviter: DeviceId, unite: bool, own: list[str]) -> Newcomer:
        """Leave again, with nothing said, where this device may not join the one that it found."""
        try:
            return await self._may_join(inviter, unite, own)
        except BaseException:
            await wire.close()
            raise

    async def _may_join(self, inviter: DeviceId, unite: bool, places: list[str]) -> Newcomer:
        """Refuse, before anything is sent, what a person may not have meant."""
        if inviter == self._identity.device:
            raise Refused(Code.USAGE, "this invitation is this device's own", "join from another device")
        known = self._members.everyone
        own = known.get(self._identity.device)
        peers = self._members.peers()
        # A member of this very vault may let in a device that the vault does not know: one that a backup was
        # restored on, under a key of its own.
        others = [] if inviter in peers else [one.name for one in peers.values()]
        hint = "leave that vault first: placet devices leave"
        if others:
            seen = f"this device already shares a vault with {', '.join(others)}"
            raise Refused(Code.FORBIDDEN, seen, hint)
        if own is not None and own.removed and inviter not in known:
            raise Refused(Code.FORBIDDEN, "this device was removed from its vault", hint)
        brings = await self._db.read(table.holds_journal)
        if brings and not unite and inviter not in known:
            hint = "to unite both journals, join again with --unite"
            raise Refused(Code.NEEDS_CONFIRMATION, "this device has entries of its own", hint)
        return Newcomer(own.name if own is not None else self._name, places, brings)

    def _adopt(self, transaction: Transaction, admitted: Admitted, place: str) -> None:
        """Enter the inviter's vault. This device's own entry is renewed too, in case it had been removed."""
        inviter, anew = device_of(admitted.certificate), transaction.vault() != admitted.host.vault
        if anew:
            # A member that has begun anew, under the key that it had, is known here and in no vault of these.
            self._require_alone(transaction, inviter)
        # Those who were to come back were told of the vault that this device is leaving, or had been invited
        # before it was removed.
        table.forget_newcomers(transaction)
        writes = [
            roster.introduce(transaction, self._name, self._identity.certificate),
            roster.introduce(transaction, admitted.host.name, admitted.certificate),
        ]
        made = [write for write in writes if write is not None]
        if made:
            transaction.commit(made, by=By.SYSTEM)
        transaction.set_vault(admitted.host.vault)
        let_in.note_joined(transaction, anew=anew)
        table.note_good_address(transaction, inviter, place)

    def _require_alone(self, transaction: Transaction, inviter: DeviceId) -> None:
        """Refuse to leave those behind with whom this device shares a vault."""
        both = (self._identity.device, inviter)
        members = roster.read(transaction)
        others = [one.name for one in members.values() if not one.removed and one.device not in both]
        if others:
            seen = f"it is in another vault than this device, which shares one with {', '.join(others)}"
            raise Refused(Code.FORBIDDEN, seen, "invite it from here instead: placet pair --invite")
